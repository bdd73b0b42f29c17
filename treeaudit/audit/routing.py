"""People counted in leaves that do not tell how many they hold."""

from dataclasses import replace

import numpy as np

from treeaudit.defenses.cutting import summed
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

__all__ = ["with_people"]


def with_people(forest: Forest, train: Records) -> Forest:
    """Return a model in which trees that tell no sizes hold the training people who end there.

    Whoever knows everybody's features sees the same groups. Where a tree was grown on a draw,
    fewer are behind what its leaves say, but nobody can tell which.

    Parameters
    ----------
    train
        Routed through the model.
    """
    silent = [tree.n_records is None for tree in forest.trees]
    if not any(silent) or forest.privacy is not None:
        return forest
    trees, node = forest.trees, train.node

    def counted(i: int) -> Tree:
        tree = trees[i]
        if not silent[i]:
            return tree
        ends = np.bincount(node[:, i], minlength=tree.n_nodes).astype(np.float64)
        return replace(tree, n_records=summed(tree, ends).astype(np.int64))

    return replace(forest, trees=LazyTrees(counted, len(trees)))
