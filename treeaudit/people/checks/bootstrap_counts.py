"""Compare labels with counts of some of the people: of bootstrap samples, folds and weights.

A person who is counted in a leaf ends in it, so that a leaf counts no more people of a label than
end there with it. If the file keeps the seeds, the samples can be drawn again, and the counts of
labels follow exactly.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records

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
