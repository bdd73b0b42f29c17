"""Compare numbers to predict with the means or medians that the leaves of a model hold."""

from dataclasses import dataclass
from math import erf, prod, sqrt

import numpy as np

from treeaudit.arrays import Flag, Float, Int
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

__all__ = [
    "OtherValue",
    "changed_target",
    "may_be_clipped",
    "means_add_up",
    "other_value",
    "values_fit",
]

_OF_SPREAD, _OF_SIZE = 1e-6, 2.0**-23
"""How far a mean may be off: by rounding of sums, and by numbers of single precision as text."""
_BY_CHANCE = 2e-4
"""Above this, medians that are the same tell nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherValue:
    """A leaf whose people have another mean, or median, than it keeps."""

    leaf: int
    what: str
    stated: float
    real: float


def other_value(forest: Forest, train: Records, i: int) -> OtherValue | None:
    """Return the first leaf of a tree whose value is not that of its people; None without one.

    None too where nothing says that values are means or medians of the people, or not of all of
    them, and where only leaves differ: they may have been changed since.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> from treeaudit.people.records import read_records
    >>> leaf = Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], n_records=[2],
    ...             value=[1.5])
    >>> forest = Forest(trees=(leaf,), schema=Schema.numeric(1), values_are="means")
    >>> other_value(forest, read_records(([[0], [0]], [1.0, 2.0]), forest), 0) is None
    True
    >>> other_value(forest, read_records(([[0], [0]], [1.0, 4.0]), forest), 0).real
    2.5
    """
    tree, targets = forest.trees[i], train.targets
    if not _comparable(forest, train) or targets is None or tree.n_records is None:
        return None
    if tree.value is None or not len(wrong := _wrong(forest, train, i)):
        return None
    node, leaf = train.node[:, i], int(wrong[0])
    medians = forest.values_are == "medians"
    if not (_inner_differ(tree, targets, node) if medians else means_add_up(tree, tree.value)):
        return None
    real = targets[node == leaf]
    return OtherValue(
        leaf=leaf,
        what="median" if medians else "mean",
        stated=float(tree.value[leaf]),
        real=float(np.median(real) if medians else real.mean()),
    )


def values_fit(forest: Forest, train: Records) -> bool:
    """Tell whether all leaves of all trees were compared and have the value of their people.

    Of medians not where those of other numbers may be the same by chance.
    """
    targets, trees = train.targets, range(forest.n_trees)
    if not _comparable(forest, train) or targets is None:
        return False
    if any(len(_wrong(forest, train, i)) for i in trees):
        return False
    if forest.values_are != "medians":
        return True
    ordered = np.sort(targets)
    return any(_chance(forest.trees[i], ordered, train.node[:, i]) < _BY_CHANCE for i in trees)


def _chance(tree: Tree, ordered: Float, node: Int) -> float:
    """Return how likely the leaves of a tree have these medians of numbers that are dealt out anew.

    Which part of the numbers is below the median of so many drawn ones is nearly normal. Of
    all leaves but one, as together they hold everybody.

    Examples
    --------
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 0.0],
    ...              high=[np.inf, 0.0, np.inf], n_records=[200, 100, 100], value=[0, -50.0, 50.0])
    >>> node = np.repeat([1, 2], 100)
    >>> _chance(stump, np.arange(-100.0, 100.0), node) < 1e-9
    True
    >>> round(_chance(stump, np.repeat([-50.0, 50.0], 100), node), 2)
    0.56
    """
    if tree.value is None:
        return 1.0
    people = np.bincount(node, minlength=tree.n_nodes)
    leaves = tree.leaves[people[tree.leaves] > 0]
    n, each, value = len(ordered), people[leaves], tree.value[leaves]
    low = (np.searchsorted(ordered, value, "left") - 1) / n
    high = (np.searchsorted(ordered, value, "right") + 1) / n
    root = 2 * np.sqrt((each + 1) / np.maximum(1 - each / n, 1 / n))
    chances = [
        (erf((b - 0.5) * r / sqrt(2)) - erf((a - 0.5) * r / sqrt(2))) / 2
        for a, b, r in zip(low.tolist(), high.tolist(), root.tolist(), strict=True)
    ]
    return prod(sorted(chances)[1:])


def _comparable(forest: Forest, train: Records) -> bool:
    told = forest.values_are != "unknown" and forest.records_are == "all"
    return told and train.targets is not None and train.whole is None


def _wrong(forest: Forest, train: Records, i: int) -> Int:
    """Return the leaves whose value is not that of their people, or that have none."""
    tree, targets, node = forest.trees[i], train.targets, train.node[:, i]
    if tree.value is None or targets is None:
        return tree.leaves
    if forest.values_are == "medians":
        real, slack = _medians(targets, node, tree.n_nodes)
    else:
        people = np.maximum(np.bincount(node, minlength=tree.n_nodes), 1)
        real = np.bincount(node, targets, tree.n_nodes) / people
        slack = _OF_SIZE * np.bincount(node, np.abs(targets), tree.n_nodes) / people
        slack += _OF_SPREAD * float(targets.std())
    asked: Flag = tree.is_leaf
    if tree.n_records is not None:
        asked = asked & (tree.n_records > 0)
    return np.flatnonzero(asked & ~(np.abs(real - tree.value) <= slack)).astype(np.int32)


def _medians(targets: Float, node: Int, n_nodes: int) -> tuple[Float, Float]:
    """Return the median of each node, NaN where nobody is, and how far it may be off.

    Examples
    --------
    >>> _medians(np.array([5.0, 1.0, 2.0, 9.0]), np.array([0, 0, 2, 0]), 3)[0].tolist()
    [5.0, nan, 2.0]
    """
    people = np.bincount(node, minlength=n_nodes)
    ordered = targets[np.lexsort((targets, node))]
    first, held = np.cumsum(people) - people, people > 0
    low, high = np.full((2, n_nodes), np.nan)
    low[held] = ordered[(first + (people - 1) // 2)[held]]
    high[held] = ordered[(first + people // 2)[held]]
    # The numbers themselves: nothing is summed but two of them.
    return low / 2 + high / 2, _OF_SIZE * np.maximum(np.abs(low), np.abs(high))


def _inner_differ(tree: Tree, targets: Float, node: Int) -> bool:
    """Tell whether a node that is split, but the root, has another median than its people."""
    if tree.value is None:
        return False
    at, depth = node.astype(np.intp), tree.depths
    for level in range(int(depth.max()), 0, -1):
        here = depth[at] == level
        real, slack = _medians(targets[here], at[here], tree.n_nodes)
        # In no order with itself is NaN, of nodes where nobody of this level is.
        if (~tree.is_leaf & (np.abs(real - tree.value) > slack)).any():
            return True
        at = np.where(here, tree.parent[at], at)
    return False


def means_add_up(tree: Tree, value: Float) -> bool:
    """Tell whether every node has the mean of those below it: not so once a leaf was changed."""
    n = np.zeros(tree.n_nodes) if tree.n_records is None else tree.n_records.astype(np.float64)
    below = np.bincount(tree.parent[1:], (n * value)[1:], tree.n_nodes)
    size = np.bincount(tree.parent[1:], (n * np.abs(value))[1:], tree.n_nodes)
    slack = _OF_SPREAD * float(value.std()) * n + _OF_SIZE * size
    return bool((tree.is_leaf | (np.abs(below - n * value) <= slack)).all())


_CHANGED, _CLIPPED = "units of the changed target", "clip the numbers in its leaves"


def changed_target(forest: Forest) -> bool:
    """Tell whether the leaves of a model hold other numbers than those that it answers.

    A target was changed before the trees saw it, as by its logarithm: what is measured in
    the units of a table is then no measure of what is in the leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.compose import TransformedTargetRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from treeaudit import load
    >>> tree = DecisionTreeRegressor(max_depth=1)
    >>> x, y = [[1], [2], [3], [4]], [1.0, 2.0, 3.0, 5.0]
    >>> logarithm = TransformedTargetRegressor(tree, func=np.log, inverse_func=np.exp)
    >>> changed_target(load(logarithm.fit(x, y)))
    True
    >>> changed_target(load(tree.fit(x, y)))
    False
    """
    return any(_CHANGED in said for said in forest.warnings)


def may_be_clipped(forest: Forest, tree: Tree) -> bool:
    """Tell whether leaves may hold other numbers than means, which constraints keep in order.

    Nothing was clipped in a tree of everybody whose nodes have the means of those below them.
    """
    if not any(_CLIPPED in said for said in forest.warnings):
        return False
    whole = forest.records_are == "all" and tree.value is not None
    return not whole or tree.value is None or not means_add_up(tree, tree.value)
