"""Decide which covers of XGBoost are people, and prove it.

The cover of a node (``sum_hessian``) is the sum over its training rows of
``w * h``: the weight of the row times the second derivative of the loss. Where
``h`` is one known number for all rows, ``cover / h`` is the weight in the node.

1. Squared, absolute and quantile error have ``h = 1`` in every round.
2. In the first round all rows have the same prediction, from ``base_score``:
   logistic loss has ``h = p (1 - p)``, softmax ``h = 2 p (1 - p)`` with
   ``p`` the softmax of the base scores. Later rounds mix predictions.
3. ``cover / h`` is accepted as people only if it is whole in every leaf (to
   1e-4, and to a hundredth of a person), the inner nodes are the sums of their
   leaves, ``scale_pos_weight`` is 1, there are at least eight leaves (weights
   in halves come out whole in fewer by chance), and these have no common
   divisor, which a weight common to all rows would leave.
4. Whole weights that differ between rows leave no trace in the file. So the
   reader always says: people, *if no sample weights were given*.

The gradients follow from the weights of the nodes, ``-G / (H + lambda)``; those
of leaves are stored times the learning rate. ``G`` adds up over children, which
gives lambda and the learning rate back without being told; a class then has
``n p - G`` people. That is stated only where it is whole in every leaf.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.readers.links import sums
from treeaudit.readers.xgboost.trees import StoredTree

_ONE = ("reg:squarederror", "reg:linear", "reg:absoluteerror", "reg:quantileerror")
_LOGISTIC = ("binary:logistic", "reg:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
_MOST_PEOPLE = 1 << 24  # where 32-bit floats stop being whole
_RELATIVE, _ABSOLUTE, _NEAR = 1e-4, 1e-2, 2e-3
_FEWEST_SPLITS = 3
_FEWEST_LEAVES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What the model says of its training."""

    objective: str  # Name of the loss
    # The prediction before the first round, one per output or one for all
    base_score: tuple[float, ...]
    scale_pos_weight: float | None  # Weight of positive rows; None where the file does not tell
    n_outputs: int  # Classes of a multi-class model, otherwise 1
    n_first_round: int  # How many trees were grown in the first round
    # What no step of a leaf is larger than, where its objective says so
    max_delta_step: float | None = None

    def probability(self, output: int) -> float | None:
        """Return the prediction for one class before the first round."""
        if self.objective in _LOGISTIC and len(self.base_score) == 1:
            return self.base_score[0]
        if self.objective in _SOFTMAX and len(self.base_score) in (1, self.n_outputs):
            base = np.asarray(self.base_score, dtype=np.float64)
            share = np.exp(base - base.max())
            if len(base) == 1:
                return 1 / self.n_outputs
            return float(share[output] / share.sum())
        return None

    def per_person(self, tree: int, output: int) -> float | None:
        """Return the cover of one row of weight 1, where it is the same for all."""
        if self.objective in _ONE:
            # Squared error takes scale_pos_weight too; the others have no such thing.
            return 1.0 if self.scale_pos_weight in (None, 1.0) else None
        p = self.probability(output)
        if p is None or not 0 < p < 1 or tree >= self.n_first_round:
            return None
        if self.objective in _LOGISTIC:
            return p * (1 - p) if self.scale_pos_weight == 1.0 else None
        return 2 * p * (1 - p)


def people(trees: Sequence[StoredTree], outputs: Sequence[int], loss: Loss) -> list[Wide | None]:
    """Return the people per node of every tree, None where the cover does not prove them."""
    units = [loss.per_person(i, output) for i, output in enumerate(outputs)]
    found = [None if unit is None else _whole(trees[i], unit) for i, unit in enumerate(units)]
    shared = tested = 0
    for i, n in enumerate(found):
        if n is not None:
            leaf = trees[i].links.is_leaf
            shared = math.gcd(shared, int(np.gcd.reduce(n[leaf])))
            tested += int(np.count_nonzero(leaf))
    proved = tested >= _FEWEST_LEAVES
    if loss.objective in _ONE and any(n is None for n in found):
        proved = False  # one fraction anywhere means that rows had weights
    return found if proved and shared == 1 else [None] * len(trees)


def _whole(tree: StoredTree, unit: float) -> Wide | None:
    """Return cover / unit where it is whole."""
    if tree.cover is None or tree.value is None:
        return None
    leaf = tree.links.is_leaf
    estimate = tree.cover / unit
    if not np.all(estimate <= _MOST_PEOPLE):
        return None
    near = np.rint(estimate)
    slack = np.minimum(_RELATIVE * np.maximum(near, 1), _ABSOLUTE)
    if np.any(np.abs(estimate - near)[leaf] > slack[leaf]) or np.any(near[leaf] < 1):
        return None
    n = sums(tree.links.parent, np.where(leaf, near, 0)).astype(np.int64)
    if np.any(np.abs(estimate - n) > _RELATIVE * np.maximum(n, 1)):
        return None
    return n


def class_counts(tree: StoredTree, n: Wide, p: float) -> Wide | None:
    """Return how many people of its class are in each leaf of a first-round tree.

    Parameters
    ----------
    tree
        A tree of the first round of a logistic or softmax model.
    n
        People per node.
    p
        The prediction of the class before the first round.

    Returns
    -------
    numpy.ndarray or None
        Shape ``(n_leaves,)``, or None where the numbers do not come out whole.
    """
    found = _how(tree)
    if found is None or tree.value is None or tree.cover is None:
        return None
    leaf, h = tree.links.is_leaf, tree.cover
    _, per_rate, both = found
    of_class = (n * p + np.where(leaf, tree.value, 0.0) * (h * per_rate + both))[leaf]
    near = np.rint(of_class)
    if np.any(np.abs(of_class - near) > _ABSOLUTE) or np.any((near < 0) | (near > n[leaf])):
        return None
    counts: Wide = near.astype(np.int64)
    return counts


def rate_and_penalty(tree: StoredTree) -> tuple[float, float] | None:
    """Return the learning rate and the penalty of a tree, as the round numbers they are near.

    None where they are near none, or the file does not tell.
    """
    found = _how(tree)
    if found is None:
        return None
    penalty, per_rate, _ = found
    rate, penalty = 1 / per_rate, max(penalty, 0.0)
    rounded = float(f"{rate:.3g}"), round(float(f"{penalty:.3g}"), 3)
    near = abs(rounded[0] - rate) <= _RELATIVE * rate
    return rounded if near and abs(rounded[1] - penalty) <= _NEAR * (1 + penalty) else None


def _how(tree: StoredTree) -> tuple[float, float, float] | None:
    """Return the penalty, 1 by the rate, and the penalty by the rate, as gradients add up."""
    if tree.weight is None or tree.value is None or tree.cover is None:
        return None
    inner, left, right = tree.links.inner, tree.links.left, tree.links.right
    leaf, h = tree.links.is_leaf, tree.cover
    weight, value = np.where(leaf, 0.0, tree.weight), np.where(leaf, tree.value, 0.0)
    if len(inner) < _FEWEST_SPLITS or not np.all(np.isfinite(weight)):
        return None
    # G adds up: w (H + lambda) of a node is the sum of its children's, where the
    # weight of a leaf is its value / eta. Unknown: lambda, 1 / eta, lambda / eta.
    table = np.column_stack(
        [
            weight[inner] - weight[left] - weight[right],
            -(value[left] * h[left] + value[right] * h[right]),
            -(value[left] + value[right]),
        ]
    )
    rest = weight[left] * h[left] + weight[right] * h[right] - weight[inner] * h[inner]
    size = np.abs(table).max(axis=0)
    if np.any(size == 0):
        return None
    solved, _, rank, _ = np.linalg.lstsq(table / size, rest, rcond=None)
    penalty, per_rate, both = (float(x) for x in solved / size)
    off = np.abs(table @ (solved / size) - rest)
    if rank < 3 or per_rate <= 0 or np.any(off > 1e-4 * (1 + h[inner])):
        return None
    if penalty < -_ABSOLUTE or abs(both / per_rate - penalty) > _ABSOLUTE * (1 + penalty):
        return None
    return penalty, per_rate, both
