"""Numbers of a private model that no question of its ledger was answered with."""

from itertools import pairwise

import numpy as np

from treeaudit.arrays import Float
from treeaudit.dp.forms import FORMS
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree, depths_of

__all__ = ["holds_more", "in_leaves_below"]

_SUMS = 1e-9
"""How far sums may be off, in parts of what was added: no more than they are rounded."""


def holds_more(forest: Forest) -> bool:
    """Tell whether a model holds numbers that follow from none of its noisy answers.

    A classifier has noisy counts or labels alone, and no values; only stumps weigh classes; and
    a node holds what its leaves hold together, unless its trainer writes noise of its own there;
    and noise is whole numbers, which stay so where nothing is done to them afterwards.

    Examples
    --------
    >>> import treeaudit as ta
    >>> tree = ta.Tree(parent=[-1], feature=[-1], low=[0], high=[1], counts=[[3, 4]])
    >>> schema = ta.Schema.numeric(1, ["no", "yes"])
    >>> model = ta.Forest(trees=(tree,), schema=schema, counts_are="noisy")
    >>> aged = ta.Tree(parent=[-1], feature=[-1], low=[0], high=[1], counts=[[3, 4]], value=[61])
    >>> holds_more(model), holds_more(ta.Forest(trees=(aged,), schema=schema, counts_are="noisy"))
    (False, True)
    """
    if forest.tree_classes is not None or forest.seeds is not None or forest.boosting is not None:
        return True
    return _weighs(forest) or any(_tells_more(tree, forest) for tree in forest.trees)


def _tells_more(tree: Tree, forest: Forest) -> bool:
    if tree.spread is not None:
        return True
    if forest.schema.classes is None:
        return tree.counts is not None or tree.label is not None
    if tree.value is not None or (tree.counts is not None and tree.label is not None):
        return True
    if tree.label is not None:
        return not _labels_follow(tree, len(forest.schema.classes))
    if tree.counts is None:
        return False
    return not _are_whole(tree, forest) or (_adds_up(forest) and not _counts_follow(tree))


def _are_whole(tree: Tree, forest: Forest) -> bool:
    """Tell whether leaves hold whole numbers, if their trainer adds such noise and nothing else."""
    form = FORMS.get(forest.source.estimator)
    if form is None or form.afterwards != ():
        return True
    counts = np.asarray(tree.counts)[tree.is_leaf]
    return bool((np.rint(counts) == counts).all())


def _adds_up(forest: Forest) -> bool:
    """Tell whether nodes hold the sums of their leaves, as far as the file tells."""
    form, noise = FORMS.get(forest.source.estimator), forest.noise
    if form is not None:
        return form.sums
    return noise is None or (noise.counts == "leaves" and "shrunk" not in noise.afterwards)


def _counts_follow(tree: Tree) -> bool:
    """Tell whether a node holds what its leaves hold together, or no node tells anything."""
    counts = np.asarray(tree.counts, dtype=np.float64)
    if not counts[~tree.is_leaf].any():
        return True
    # Leaves that stand in for those that were cut answer as the node above, and hold nobody.
    parent, leaf = tree.parent, tree.is_leaf
    copy = leaf & (parent >= 0) & (counts == counts[parent]).all(axis=1)
    held, own = np.zeros_like(counts), np.zeros_like(counts)
    added = np.abs(counts)
    np.add.at(held, parent[1:], counts[1:])
    np.add.at(own, parent[1:], np.where(copy[1:, None], 0.0, counts[1:]))
    np.add.at(added, parent[1:], np.abs(counts[1:]))
    copied = np.zeros(len(counts), dtype=np.bool_)
    copied[parent[copy]] = True
    follows = leaf | (copied & (own == 0).all(axis=1))
    for sums in (held, own):
        follows |= (np.abs(counts - sums) <= _SUMS * added).all(axis=1)
    return bool(follows.all())


def _labels_follow(tree: Tree, n_classes: int) -> bool:
    """Tell whether a node has the label of most leaves below it, or the first of all."""
    label, leaf = np.asarray(tree.label), tree.is_leaf
    most = in_leaves_below(tree, np.eye(n_classes)[label]).argmax(axis=1)
    return bool((leaf | (label == most)).all() or not label[~leaf].any())


def in_leaves_below(tree: Tree, column: Float) -> Float:
    """Return the sum over the leaves under each node.

    Examples
    --------
    >>> tree = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[0, 0, 1], high=[1, 1, 2])
    >>> in_leaves_below(tree, np.array([[9.0], [1.0], [2.0]])).tolist()
    [[3.0], [1.0], [2.0]]
    """
    found = np.where(tree.is_leaf[:, None], column, 0.0)
    depth = depths_of(tree.parent)
    order = np.argsort(depth, kind="stable")
    ends = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2))
    for start, end in list(pairwise(ends.tolist()))[:0:-1]:
        level = order[start:end]
        np.add.at(found, tree.parent[level], found[level])
    return found


def _weighs(forest: Forest) -> bool:
    """Tell whether classes weigh otherwise than one by their shares, in the stumps of a model."""
    if forest.class_weights is None:
        return False
    if forest.answers != "product":
        return True
    told = {weights for weights in forest.class_weights if weights is not None}
    told = {weights for weights in told if set(weights) != {1.0}}
    if len(told) > 1:
        return True
    return any(min(each) <= 0 or abs(sum(1 / w for w in each) - 1) > _SUMS for each in told)
