"""Leaves that nobody is in, taken out: what they answered is answered by nobody."""

from treeaudit.defenses.cutting import compact, levels, summed
from treeaudit.defenses.defense import tree_by_tree
from treeaudit.tree import Forest, Tree

__all__ = ["rejecting"]


def rejecting(forest: Forest) -> Forest:
    """Return the model that leaves records unanswered where a stand-in answered.

    Examples
    --------
    >>> import numpy as np, treeaudit as ta
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1],
    ...              high=[inf, 1, inf], n_records=[5, 5, 0])
    >>> forest = ta.Forest(trees=(stump,), schema=ta.Schema.numeric(1), counts_are="absent")
    >>> rejecting(forest).trees[0].n_nodes
    2
    """
    return tree_by_tree(forest, lambda tree, _: _held(tree))


def _held(tree: Tree) -> Tree:
    if tree.n_records is None:
        return tree
    held = summed(tree, (tree.n_records > 0).astype(float), levels(tree)) > 0
    return compact(tree, held) if held[0] else tree
