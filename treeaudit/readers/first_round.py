"""Class counts of the leaves of a first boosted tree, worked out from its numbers and proved.

The first round starts from one number, so that all people of a leaf have the same
derivatives. With ``n`` people of whom ``c`` are of the class, the share ``p`` to start from and
``h`` the second derivative of one person, a leaf is the Newton step

    value = start + rate * (c - n p) / (n h + penalty)

which gives ``c`` back. Rounding in the library leaves it off a whole number by no more than a
known part of the terms it is the sum of. It is believed only where it is that close to a whole
number in every leaf, where other numbers would be so by chance less than once in a million, and
where the leaves have together as many people of the class as ``p`` says, if that was learnt.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float
from treeaudit.model.schema import Label
from treeaudit.model.tree import Tree
from treeaudit.readers.links import sums

SINGLE, DOUBLE = 2.0**-22, 1e-12
"""How far sums of 32-bit and of 64-bit derivatives are off, as a part of their terms."""
_MOST_SLACK = 0.1
_CHANCE = 1e-6
_NEAR = 1e-9
FIRST_ROUND = (
    "the class counts of the first round follow from its leaf values, whole in every leaf: they "
    "are people unless rows had weights of their own; later trees hold steps and no labels"
)
SHARES = (
    "the shares of the labels in the leaves of the first round follow from their values, and rows "
    "had weights of their own; later trees hold steps and no labels"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How the leaf values of a tree of the first round follow from labels."""

    p: float  # share of the class that boosting started from
    curvature: float  # second derivative of one person
    # What steps were multiplied with; what was added to the second derivatives.
    rate: float = 1.0
    penalty: float = 0.0
    start: float = 0.0  # what was added to every leaf value
    learnt: bool = True  # whether ``p`` is the share of the class in the training data
    rounding: float = DOUBLE  # how far ``c`` is off, as a part of its terms
    # Of exponential loss, what the derivatives of one person of the class are less than those of
    # another: the odds ``p / (1 - p)`` that boosting started from. A leaf is then ``(c - odds (n -
    # c)) / (c + odds (n - c))``. None of other losses.
    odds: float | None = None

    def of_class(self, n: Float, value: Float) -> tuple[Float, Float]:
        """Return how many of the class are in each leaf, and the size of the terms of the sum."""
        if self.odds is not None:
            of_others = self.odds * (1 + value)
            found: Float = n * of_others / (1 - value + of_others)
            return found, n + found
        moved = (value - self.start) / self.rate * (n * self.curvature + self.penalty)
        return n * self.p + moved, n * self.p + np.abs(moved)


# Numbers of a doctored file may overflow; what follows from them fails its check.
@np.errstate(all="ignore")
def people_of_class(step: Step, n: Float, value: Float) -> Float | None:
    """Return how many people of the class are in each leaf; None where that is not proved."""
    found, terms = step.of_class(n, value)
    slack = np.maximum(step.rounding * terms, DOUBLE * (1 + n))
    if len(n) < 2 or not np.all(slack <= _MOST_SLACK) or not np.all(np.isfinite(found)):
        return None
    whole = np.rint(found)
    fits = np.abs(found - whole) <= slack
    if not np.all(fits & (whole >= 0) & (whole <= n)):
        return None
    if np.log(2 * slack).sum() > np.log(_CHANCE):
        return None
    if step.learnt and abs(float(whole.sum()) - float(n.sum()) * step.p) > float(slack.sum()):
        return None
    return whole


@np.errstate(all="ignore")
def _shares(step: Step, value: Float) -> Float | None:
    """Return the shares of the class where no penalty hides them, whatever rows weigh."""
    if step.penalty:
        return None
    share, terms = step.of_class(np.ones(len(value)), value)
    near = _NEAR + 2 * step.rounding * terms
    inside = np.isfinite(share) & (share >= -near) & (share <= 1 + near)
    if len(share) < 2 or not np.all(inside):
        return None
    certain = np.minimum(np.abs(share), np.abs(1 - share)) <= near
    return np.clip(np.where(certain, np.rint(share), share), 0.0, 1.0)


def with_people(
    tree: Tree, step: Step | None, k: int = 1, n_classes: int = 2
) -> tuple[Tree, bool] | None:
    """Return a tree of the first round with its class counts, and whether these are people.

    Otherwise they are the people of a leaf times the shares of the labels, by weight. None
    where neither follows.
    """
    if step is None or tree.value is None or tree.n_records is None:
        return None
    leaf = tree.is_leaf
    n, value = tree.n_records[leaf].astype(np.float64), tree.value[leaf]
    # A tree that answers everybody alike tells how frequent the class is, and of no leaf more.
    if not np.all((n > 0) & (n < 1 << 53) & np.isfinite(value)) or not np.ptp(value):
        return None
    people = people_of_class(step, n, value)
    if people is not None:
        return counted(tree, people, k, n_classes), True
    shares = _shares(step, value)
    return None if shares is None else (counted(tree, n * shares, k, n_classes), False)


def counted(tree: Tree, of_class: npt.ArrayLike, k: int = 1, n_classes: int = 2) -> Tree:
    """Return a tree with so many people of class k in its leaves, and the rest in one column."""
    every = np.zeros(tree.n_nodes)
    every[tree.is_leaf] = of_class
    counts = np.zeros((tree.n_nodes, n_classes))
    counts[:, k] = sums(tree.parent, every)
    if tree.n_records is not None:
        counts[:, 0 if k else 1] = tree.n_records - counts[:, k]
    return replace(tree, counts=counts)


def labels_of_first_round(
    classes: tuple[Label, ...], n_trees: int
) -> tuple[tuple[Label, ...], ...]:
    """Return what the columns of each tree count where it tells one class from all others."""
    each = [tuple(map(str, classes))] * n_trees
    for k in range(min(len(classes), n_trees)):
        names = ["(none)"] * len(classes)
        names[k], names[0 if k else 1] = str(classes[k]), f"not {classes[k]}"
        each[k] = tuple(names)
    return tuple(each)
