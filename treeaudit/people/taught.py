"""Trees that a private forest taught: they hold public records, and never the training people."""

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.people.nearness import chance_of_so_near
from treeaudit.people.records import Records

__all__ = ["are_the_people"]

_IMPOSSIBLE = 1e-9


def are_the_people(forest: Forest, train: Records, n_own: int) -> bool:
    """Tell whether a tree after the first ones holds the training people themselves.

    Records that have nothing to do with them agree in a cell of k people by chance: a binomial
    number of at most half of all has no value that is likelier than one half, nor, by the
    variance that it has then, than ``0.6 / sqrt(k)``.

    Parameters
    ----------
    n_own
        How many trees have noise of their own.
    """
    n_classes = len(forest.schema.classes or ())
    if train.labels is None:
        return False
    for i in range(n_own, forest.n_trees):
        tree = forest.trees[i]
        if tree.counts is None:
            continue
        leaf = tree.is_leaf
        told = tree.counts[leaf]
        real = train.in_tree(i, tree.n_nodes, n_classes)[leaf].astype(np.float64)
        seen = (real > 0) & (real <= real.sum() / 2) & (told <= told.sum() / 2)
        off, held = np.abs(told - real)[seen], real[seen]
        peak = np.minimum(0.5, 0.6 / np.sqrt(np.maximum(held, 1.0)))
        room = np.full(len(off), 0.5)
        if chance_of_so_near(off, room, None, peak) < _IMPOSSIBLE / forest.n_trees:
            return True
    return False
