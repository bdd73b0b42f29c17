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

    It stays as it is where some of them may have been left out: nothing shows that every tree
    saw everybody.

    Parameters
    ----------
    train
        Routed through the model.
    """
    trees, node = forest.trees, train.node
    told = [None if tree.n_records is None else int(tree.n_records[0]) for tree in trees]
    silent = [one is None for one in told]
    everybody = forest.records_are == "all" or set(told) == {None, len(node)}
    if not any(silent) or not everybody or forest.privacy is not None:
        return forest

    def counted(i: int) -> Tree:
        tree = trees[i]
        if not silent[i]:
            return tree
        ends = np.bincount(node[:, i], minlength=tree.n_nodes).astype(np.float64)
        return replace(tree, n_records=summed(tree, ends).astype(np.int64))

    return replace(forest, trees=LazyTrees(counted, len(trees)))
