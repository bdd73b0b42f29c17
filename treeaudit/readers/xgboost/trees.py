"""One tree as XGBoost stores it: checked, and turned into a `Tree`; and which covers are people.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Array, Flag, Float, Wide
from treeaudit.errors import MalformedModelError, ReadError
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Links, link, sums

_KINDS: Mapping[type, type] = {int: np.int64, float: np.float64, bool: np.bool_}
_MOST_CATEGORY = 1 << 24  # categories are 32-bit floats: above, they are no whole numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """The columns of one tree, by position in `links`."""

    links: Links  # The nodes that hang on the root
    # What an inner node asks: left where ``x < threshold`` as 32-bit floats
    feature: Wide
    threshold: Float
    default_left: Flag
    categories: Mapping[int, Wide]  # The codes that go right, by position of the inner node
    cover: Float | None  # ``sum_hessian``, or None where it is not stored
    weight: Float | None  # ``base_weights``, or None where there is not one per node
    value: Float | None  # Leaf values, 0 at inner nodes. None for leaves that hold a vector.

    def tree(self, n_categories: Mapping[int, int], n_records: Wide | None, scale: float) -> Tree:
        """Return the tree, with the people per node where known, leaf values times the scale."""
        inner = self.links.inner
        # For every float32 x: x < t is x <= the double below t, and x >= t is x > it.
        bound = np.nextafter(self.threshold[inner], -np.inf)
        edges = self.links.edges(self.feature[inner], bound, self.default_left[inner])
        sets = self.links.sets(edges, self.categories, n_categories, left=False)
        value = self.value
        if value is not None and self.cover is not None:
            value = _means(self.links, value, self.cover)
        value = None if value is None else value * scale
        return edges.tree(categories=sets, n_records=n_records, value=value)


def _means(links: Links, value: Float, cover: Float) -> Float:
    """Give inner nodes the mean of the leaves below, weighted with cover."""
    leaf = links.is_leaf
    with np.errstate(all="ignore"):
        below = np.where(leaf, cover, 0.0)
        total = sums(links.parent, np.stack([value * cover, below], axis=1))
        mean = total[:, 0] / total[:, 1]
    return np.where(~leaf & np.isfinite(mean), mean, value)


@np.errstate(all="ignore")  # signalling NaNs warn too, and decimals beyond 32 bits
def read_tree(raw: object, n_features: int, width: int) -> StoredTree:
    """Check one tree of the file."""
    if not isinstance(raw, dict):
        raise ReadError("it is no object")
    left = _whole_numbers(raw, "left_children")
    n = len(left)
    if n == 0:
        raise ReadError("it has no nodes")
    stored_right = _whole_numbers(raw, "right_children", n)
    if (left < -1).any():
        raise MalformedModelError(f"node {int(np.argmax(left < -1))} has a negative child")
    # Leaves that hold vectors keep the number of the vector in place of the right child.
    right = np.where(left < 0, -1, stored_right) if width > 1 else stored_right
    if ((left < 0) != (right < 0)).any():
        raise MalformedModelError(f"node {int(np.argmax((left < 0) != (right < 0)))} has one child")
    if (right < -1).any():
        raise MalformedModelError(f"node {int(np.argmax(right < -1))} has a negative child")
    parents = np.flatnonzero(left >= 0)
    links = link(parents, left[parents], right[parents], n)
    at = links.order
    feature = _whole_numbers(raw, "split_indices", n)[at]
    condition = _numbers(raw, "split_conditions", n)[at]
    inner = left[at] >= 0
    if feature[inner].min(initial=0) < 0 or feature[inner].max(initial=0) >= n_features:
        raise MalformedModelError(f"it tests a feature that is none of the {n_features:,}")
    goes_left = _whole_numbers(raw, "default_left", n)
    # XGBoost keeps one bit of it.
    if goes_left.min(initial=0) < 0 or goes_left.max(initial=1) > 1:
        raise ReadError("a split sends missing values neither left nor right")
    kind = _whole_numbers(raw, "split_type", n)[at] if "split_type" in raw else np.zeros(len(at))
    numeric, categorical = inner & (kind == 0), inner & (kind == 1)
    if np.isnan(condition[numeric]).any():
        raise MalformedModelError("a threshold is not a number", "wrong")
    categories = _categories(raw, at, categorical)
    if ((numeric | categorical) != inner).any():
        raise ReadError("a split is neither numeric nor categorical")
    leaf_value = np.where(inner, 0.0, condition)
    if width == 1 and not np.isfinite(leaf_value).all():
        raise MalformedModelError("a leaf value is not a number", "wrong")
    cover = _cover(raw, n, links, at)
    weight = _numbers(raw, "base_weights", n)[at] if _fits(raw, "base_weights", n) else None
    return StoredTree(
        links=links,
        feature=np.where(inner, feature, 0),
        threshold=np.where(numeric, condition, 0.0),
        default_left=goes_left[at] == 1,
        categories=categories,
        cover=cover,
        weight=weight,
        value=leaf_value if width == 1 else None,
    )


def _cover(raw: Mapping[str, object], n: int, links: Links, at: Wide) -> Float | None:
    if not _fits(raw, "sum_hessian", n):
        return None
    cover = _numbers(raw, "sum_hessian", n)[at]
    if not ((cover >= 0) & (cover <= Most.weight)).all():
        raise ReadError("its cover (sum_hessian) is negative or no number")
    total, parents = cover[links.left] + cover[links.right], cover[links.inner]
    if not (np.abs(total - parents) <= 1e-3 + 1e-2 * parents).all():
        raise ReadError("the covers of two children do not add up to their parent's")
    return cover


def _categories(raw: Mapping[str, object], at: Wide, categorical: Flag) -> dict[int, Wide]:
    """Return the codes that go right, by position of the node."""
    if not categorical.any():
        return {}
    codes = _whole_numbers(raw, "categories")
    nodes = _whole_numbers(raw, "categories_nodes")
    starts = _whole_numbers(raw, "categories_segments", len(nodes))
    sizes = _whole_numbers(raw, "categories_sizes", len(nodes))
    if np.any((starts < 0) | (sizes < 0) | (sizes > len(codes)) | (starts > len(codes) - sizes)):
        raise MalformedModelError("the categories of a split lie outside their list")
    if np.any((codes < 0) | (codes >= _MOST_CATEGORY)):
        raise MalformedModelError("a category is negative or too large")
    segment = dict(
        zip(nodes.tolist(), zip(starts.tolist(), sizes.tolist(), strict=True), strict=True)
    )
    found = {}
    for position in np.flatnonzero(categorical).tolist():
        if (place := segment.get(int(at[position]))) is None:
            raise MalformedModelError(
                f"node {int(at[position])} splits by categories that are missing"
            )
        found[position] = np.unique(codes[place[0] : place[0] + place[1]])
    return found


def _fits(raw: Mapping[str, object], name: str, n: int) -> bool:
    column = raw.get(name)
    return isinstance(column, list | np.ndarray) and len(column) == n


def _whole_numbers(raw: Mapping[str, object], name: str, n: int | None = None) -> Wide:
    return _column(raw, name, n, "iub").astype(np.int64)


def _numbers(raw: Mapping[str, object], name: str, n: int) -> Float:
    # XGBoost works with 32-bit floats; decimal text may be longer than they are.
    return _column(raw, name, n, "iuf").astype(np.float32).astype(np.float64)


def _column(raw: Mapping[str, object], name: str, n: int | None, kinds: str) -> Array:
    column = raw.get(name)
    if not isinstance(column, list | np.ndarray):
        raise ReadError(f"its {name} is missing")
    array = _of_list(column) if isinstance(column, list) else column
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ReadError(f"its {name} holds something other than numbers")
    if n is not None and len(array) != n:
        raise ReadError(f"its {name} has {len(array):,} entries instead of {n:,}")
    return array


def _of_list(column: list[object]) -> Array:
    kinds = set(map(type, column))
    if len(kinds) == 1 and (kind := _KINDS.get(*kinds)) is not None:
        return np.fromiter(column, kind, len(column))
    return np.asarray(column) if column else np.empty(0, dtype=np.int64)


_ONE = ("reg:squarederror", "reg:linear", "reg:absoluteerror", "reg:quantileerror")
_LOGISTIC = ("binary:logistic", "reg:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
_MOST_PEOPLE = 1 << 24  # where 32-bit floats stop being whole
_RELATIVE, _ABSOLUTE, _NEAR = 1e-4, 1e-2, 2e-3
_FEWEST_SPLITS, _MOST_TREES = 3, 100
_FEWEST_WHOLE = 8
"""So many numbers of people in leaves have to be whole: some are, by chance, of weights."""


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
    found = [None if unit is None else _people_of(trees[i], unit) for i, unit in enumerate(units)]
    shared = tested = 0
    for i, n in enumerate(found):
        if n is not None:
            p = loss.probability(outputs[i])
            of_class = None if p is None else class_counts(trees, i, n, p)
            whole = n[trees[i].links.is_leaf]
            whole = whole if of_class is None else np.concatenate([whole, of_class])
            shared = math.gcd(shared, int(np.gcd.reduce(whole)))
            tested += len(whole)
    proved = tested >= _FEWEST_WHOLE
    if loss.objective in _ONE and any(n is None for n in found):
        proved = False  # one fraction anywhere means that rows had weights
    return found if proved and shared == 1 else [None] * len(trees)


def _people_of(tree: StoredTree, unit: float) -> Wide | None:
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


def class_counts(trees: Sequence[StoredTree], i: int, n: Wide, p: float) -> Wide | None:
    """Return how many people of its class are in each leaf of a tree of the first round.

    None where the numbers do not come out whole. ``n``: people per node; ``p``: the prediction of
    the class before the first round.
    """
    tree, found = trees[i], _how_of(trees, i)
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


def rate_and_penalty(trees: Sequence[StoredTree]) -> tuple[float, float] | None:
    """Return the learning rate and the penalty of trees, as the round numbers they are near.

    None where they are near none, or the file does not tell.
    """
    found = _how_of(trees, 0)
    if found is None:
        return None
    penalty, per_rate, _ = found
    rate, penalty = 1 / per_rate, max(penalty, 0.0)
    rounded = float(f"{rate:.3g}"), round(float(f"{penalty:.3g}"), 3)
    near = abs(rounded[0] - rate) <= _RELATIVE * rate
    return rounded if near and abs(rounded[1] - penalty) <= _NEAR * (1 + penalty) else None


def _how_of(trees: Sequence[StoredTree], i: int) -> tuple[float, float, float] | None:
    """Return the same of a tree, by itself or by all of them."""
    return _how(trees[i : i + 1]) or _how(trees[:_MOST_TREES])


def _how(trees: Sequence[StoredTree]) -> tuple[float, float, float] | None:
    """Return the penalty, 1 by the rate, and the penalty by the rate, as gradients add up."""
    parts = [_sums_of(tree) for tree in trees]
    told = [part for part in parts if part is not None]
    if len(told) < len(parts) or not told:
        return None
    table, rest, h = map(np.concatenate, zip(*told, strict=True))
    if len(table) < _FEWEST_SPLITS:
        return None
    size = np.abs(table).max(axis=0)
    if np.any(size == 0):
        return None
    solved, _, rank, _ = np.linalg.lstsq(table / size, rest, rcond=None)
    penalty, per_rate, both = (float(x) for x in solved / size)
    off = np.abs(table @ (solved / size) - rest)
    if rank < 3 or per_rate <= 0 or np.any(off > 1e-4 * (1 + h)):
        return None
    if penalty < -_ABSOLUTE or abs(both / per_rate - penalty) > _ABSOLUTE * (1 + penalty):
        return None
    return penalty, per_rate, both


def _sums_of(tree: StoredTree) -> tuple[Float, Float, Float] | None:
    """Return the equations on them of every split, and its cover; None where numbers lack."""
    if tree.weight is None or tree.value is None or tree.cover is None:
        return None
    inner, left, right = tree.links.inner, tree.links.left, tree.links.right
    leaf, h = tree.links.is_leaf, tree.cover
    weight, value = np.where(leaf, 0.0, tree.weight), np.where(leaf, tree.value, 0.0)
    if not np.all(np.isfinite(weight)):
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
    return table, rest, h[inner]
