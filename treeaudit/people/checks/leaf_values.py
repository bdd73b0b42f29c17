"""Compare numbers to predict with the means or medians that the leaves of a model hold."""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

_OF_SPREAD, _OF_SIZE = 1e-6, 2.0**-23
"""How far a mean may be off: by rounding of sums, and by numbers of single precision as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OtherValue:
    """A leaf whose people have another mean, or median, than it keeps."""

    leaf: int
    what: str
    stated: float
    real: float


def other_value(forest: Forest, train: Records, i: int) -> _OtherValue | None:
    """Return the first leaf of a tree whose value is not that of its people; None without one."""
    tree, targets = forest.trees[i], train.targets
    if not _comparable(forest, train) or targets is None or tree.n_records is None:
        return None
    if tree.value is None or not len(wrong := _wrong(forest, train, i)):
        return None
    node, leaf = train.node[:, i], int(wrong[0])
    medians = forest.values_are == "medians"
    if not (_inner_differ(tree, targets, node) if medians else _means_add_up(tree, tree.value)):
        return None
    real = targets[node == leaf]
    return _OtherValue(
        leaf=leaf,
        what="median" if medians else "mean",
        stated=float(tree.value[leaf]),
        real=float(np.median(real) if medians else real.mean()),
    )


def values_fit(forest: Forest, train: Records) -> bool:
    """Tell whether all leaves of all trees hold the mean of the numbers of their people."""
    if forest.values_are != "means" or not _comparable(forest, train):
        return False
    return not any(len(_wrong(forest, train, i)) for i in range(forest.n_trees))


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
    """Return the median of each node, NaN of empty ones, and how far it may be off."""
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


def _means_add_up(tree: Tree, value: Float) -> bool:
    """Tell whether every node has the mean of those below it: not so once a leaf was changed."""
    n = np.zeros(tree.n_nodes) if tree.n_records is None else tree.n_records.astype(np.float64)
    below = np.bincount(tree.parent[1:], (n * value)[1:], tree.n_nodes)
    size = np.bincount(tree.parent[1:], (n * np.abs(value))[1:], tree.n_nodes)
    slack = _OF_SPREAD * float(value.std()) * n + _OF_SIZE * size
    return bool((tree.is_leaf | (np.abs(below - n * value) <= slack)).all())


_CHANGED, _CLIPPED = "units of the changed target", "clip the numbers in its leaves"


def changed_target(forest: Forest) -> bool:
    """Tell whether the leaves hold a function of the target, such as its logarithm."""
    return any(_CHANGED in said for said in forest.warnings)


def may_be_clipped(forest: Forest, tree: Tree) -> bool:
    """Tell whether leaves may hold other numbers than means, which constraints keep in order."""
    if not any(_CLIPPED in said for said in forest.warnings):
        return False
    whole = forest.records_are == "all" and tree.value is not None
    return not whole or tree.value is None or not _means_add_up(tree, tree.value)
