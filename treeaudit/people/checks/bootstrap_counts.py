"""Labels held against counts of some of the people: of draws, of folds and of weights.

Somebody of a label who is counted in a leaf ends in it. So of the people of a leaf, who are told
without their labels, no more can be of a label than end there with it; and those whom no label of
the leaf fits are left over. Where seeds draw the rows again, the counts of labels follow exactly.
"""

from collections.abc import Iterator

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records

__all__ = [
    *("counted_once", "draws_agree", "drawn_times", "draws_in_order", "labels_drawn", "no_room"),
]

_MOST_DRAWS, _ENOUGH, _FEW = 50_000_000, 40, 4
"""Leaves that some were left out of: in another order 40 would agree less than once in 1e12."""


def drawn_times(seed: int, n: int, draws: int) -> Wide:
    """Return how often each of some rows is drawn, as scikit-learn draws for a tree of a forest.

    Examples
    --------
    >>> drawn_times(0, 4, 4).tolist()
    [2, 1, 0, 1]
    """
    times: Wide = np.bincount(np.random.RandomState(seed).randint(0, n, draws), minlength=n)
    return times


def no_room(people: Wide, stated: Float, real: Wide, *, once: bool) -> Flag:
    """Tell which leaves hold more people than end there with labels that are in the leaf.

    Parameters
    ----------
    people
        Shape ``(n_leaves,)``: people in the leaf, each counted once.
    stated, real
        Shape ``(n_leaves, n_classes)``: what the leaf counts, and who ends there.
    once
        Whether everybody counts at least once, so that no more are of a label than it counts.

    Examples
    --------
    Of three people, drawn five times, one at most is of the second label:

    >>> people, stated = np.array([3]), np.array([[4.0, 1.0]])
    >>> no_room(people, stated, np.array([[1, 5]]), once=True).tolist()
    [True]
    >>> no_room(people, stated, np.array([[2, 4]]), once=True).tolist()
    [False]
    """
    room = np.where(stated > 0, np.minimum(stated, real) if once else real, 0)
    full: Flag = room.sum(axis=1) < people
    return full


def counted_once(people: Wide, stated: Float, real: Wide, held: Wide) -> Flag:
    """Tell where a tree of some people, each counted once, counts others than end there.

    It counts no more of a label than end there; and everybody of a label of which it counts as
    many as there are (`held`). Nowhere where somebody may count twice.

    Examples
    --------
    >>> people, stated = np.array([3, 2]), np.array([[2.0, 1.0], [1.0, 1.0]])
    >>> counted_once(people, stated, np.array([[2, 2], [1, 2]]), np.array([3, 4])).tolist()
    [[False, False], [False, False]]
    >>> counted_once(people, stated, np.array([[1, 2], [2, 2]]), np.array([3, 4])).tolist()
    [[True, False], [True, False]]
    """
    if not np.array_equal(stated.sum(axis=1), people):
        return np.zeros(stated.shape, np.bool_)
    every = stated.sum(axis=0) == held
    wrong: Flag = np.where(every, stated != real, stated > real)
    return wrong


def draws_in_order(forest: Forest, train: Records) -> bool:
    """Tell whether the seeds of a forest draw, from a table in its order, whom its leaves hold.

    Labels have no part in it: true for people of any labels who stand where they stood.
    """
    return _in_order(forest, train) >= _ENOUGH


def draws_agree(forest: Forest, train: Records) -> bool:
    """Tell whether the seeds of a forest draw as many of each label as its leaves hold.

    With so few leaves the order of the table is in doubt where they do not, but not the labels
    where they do.
    """
    if train.labels is None or _in_order(forest, train) < _FEW:
        return False
    for i, tree in enumerate(forest.trees):
        drawn, leaves = labels_drawn(forest, train, i), tree.leaves
        if tree.counts is None or (drawn != tree.counts)[leaves].any():
            return False
    return True


def labels_drawn(forest: Forest, train: Records, i: int) -> Wide:
    """Return how many of each label the seed of a tree draws into each node."""
    tree, n_classes = forest.trees[i], len(forest.schema.classes or ())
    draws = 0.0 if tree.counts is None else float(tree.counts[tree.leaves].sum())
    times = drawn_times((forest.seeds or ())[i], len(train), round(draws))
    key = train.node[:, i].astype(np.int64) * n_classes + train.known_labels
    drawn = np.bincount(key, times, minlength=tree.n_nodes * n_classes)
    return drawn.reshape(-1, n_classes).astype(np.int64)


def _in_order(forest: Forest, train: Records) -> int:
    """Return how many leaves tell that the seeds draw the people that they hold; 0 if others."""
    n, seeds = len(train), forest.seeds or ()
    drawn = forest.counts_are in ("exact", "likely") and forest.records_are == "bootstrap"
    if not drawn or len(seeds) != forest.n_trees or forest.n_records != n:
        return 0
    if train.whole is not None or n * forest.n_trees > _MOST_DRAWS:
        return 0
    told = 0
    for left_out in _left_out(forest, train, seeds):
        if left_out is None:
            return 0
        told += left_out
    return told


def _left_out(forest: Forest, train: Records, seeds: tuple[int, ...]) -> Iterator[int | None]:
    """Yield for each tree how many leaves tell who was drawn; None where others were."""
    for i, tree in enumerate(forest.trees):
        if tree.n_records is None or tree.counts is None:
            yield None
            continue
        leaves, node = tree.leaves, train.node[:, i]
        there = drawn_times(seeds[i], len(train), round(float(tree.counts[leaves].sum()))) > 0
        held = np.bincount(node[there], minlength=tree.n_nodes)[leaves]
        if not np.array_equal(held, tree.n_records[leaves]):
            yield None
            continue
        yield int((np.bincount(node, minlength=tree.n_nodes)[leaves] > held).sum())
