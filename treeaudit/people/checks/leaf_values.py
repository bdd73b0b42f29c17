"""Compare values and counts that leaves hold with those of their people.

Numbers to predict are compared with means or medians; labels with counts of bootstrap samples,
folds and weights. A person who is counted in a leaf ends in it, so that a leaf counts no more
people of a label than end there with it. If the file keeps the seeds, the samples can be drawn
again, and the counts of labels follow exactly.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
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
        real, slack = medians_of(targets, node, tree.n_nodes)
    else:
        people = np.maximum(np.bincount(node, minlength=tree.n_nodes), 1)
        real = np.bincount(node, targets, tree.n_nodes) / people
        slack = _OF_SIZE * np.bincount(node, np.abs(targets), tree.n_nodes) / people
        slack += _OF_SPREAD * float(targets.std())
    asked: Flag = tree.is_leaf
    if tree.n_records is not None:
        asked = asked & (tree.n_records > 0)
    return np.flatnonzero(asked & ~(np.abs(real - tree.value) <= slack)).astype(np.int32)


def medians_of(targets: Float, node: Int, n_nodes: int) -> tuple[Float, Float]:
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
        real, slack = medians_of(targets[here], at[here], tree.n_nodes)
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


_MOST_DRAWS, _ENOUGH = 50_000_000, 40
"""So many leaves that lack somebody agree less than once in 1e12 if rows are in another order."""


def bootstrap_draws(seed: int, n: int, draws: int) -> Wide:
    """Return how often each of some rows is drawn, as scikit-learn draws for a tree of a forest."""
    times: Wide = np.bincount(np.random.RandomState(seed).randint(0, n, draws), minlength=n)
    return times


def no_room(people: Wide, stated: Float, real: Wide, *, once: bool) -> Flag:
    """Tell which leaves hold more people than end there with labels that are in the leaf."""
    room = np.where(stated > 0, np.minimum(stated, real) if once else real, 0)
    full: Flag = room.sum(axis=1) < people
    return full


def wrong_counts(people: Wide, stated: Float, real: Wide, held: Wide) -> Flag:
    """Tell where a tree of some people, each counted once, counts others than end there."""
    if not np.array_equal(stated.sum(axis=1), people):
        return np.zeros(stated.shape, np.bool_)
    every = stated.sum(axis=0) == held
    wrong: Flag = np.where(every, stated != real, stated > real)
    return wrong


def draws_in_order(forest: Forest, train: Records) -> bool:
    """Tell whether the seeds draw, from the rows in their order, the people of the leaves."""
    n, seeds = len(train), forest.seeds or ()
    drawn = forest.counts_are in ("exact", "likely") and forest.records_are == "bootstrap"
    if not drawn or len(seeds) != forest.n_trees or forest.n_records != n:
        return False
    if train.whole is not None or n * forest.n_trees > _MOST_DRAWS:
        return False
    lacking = 0
    for i, (tree, seed) in enumerate(zip(forest.trees, seeds, strict=True)):
        if tree.n_records is None or tree.counts is None:
            return False
        leaves, node = tree.leaves, train.node[:, i]
        there = bootstrap_draws(seed, n, round(float(tree.counts[leaves].sum()))) > 0
        held = np.bincount(node[there], minlength=tree.n_nodes)[leaves]
        if not np.array_equal(held, tree.n_records[leaves]):
            return False
        lacking += int((np.bincount(node, minlength=tree.n_nodes)[leaves] > held).sum())
    return lacking >= _ENOUGH


def bootstrap_labels(forest: Forest, train: Records, i: int) -> Wide:
    """Return how many of each label the seed of a tree draws into each node."""
    tree, n_classes = forest.trees[i], len(forest.schema.classes or ())
    draws = 0.0 if tree.counts is None else float(tree.counts[tree.leaves].sum())
    times = bootstrap_draws((forest.seeds or ())[i], len(train), round(draws))
    key = train.node[:, i].astype(np.int64) * n_classes + train.known_labels
    drawn = np.bincount(key, times, minlength=tree.n_nodes * n_classes)
    return drawn.reshape(-1, n_classes).astype(np.int64)
