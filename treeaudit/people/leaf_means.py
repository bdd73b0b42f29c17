"""Numbers to predict, held against the means that a model keeps of them in its leaves."""

import numpy as np

from treeaudit.arrays import Float
from treeaudit.dataclass import dataclass
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

__all__ = ["OtherMean", "other_mean"]

_OF_SPREAD, _OF_SIZE = 1e-6, 2.0**-23
"""How far a mean may be off: by rounding of sums, and by numbers of single precision as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMean:
    """A leaf whose people have another mean than it keeps."""

    leaf: int
    stated: float
    real: float


def other_mean(forest: Forest, train: Records, i: int) -> OtherMean | None:
    """Return the first leaf of a tree whose value is not the mean of its people; None without one.

    None too where nothing says that values are means of the people, or not of all of them.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> from treeaudit.people.records import read_records
    >>> leaf = Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], n_records=[2],
    ...             value=[1.5])
    >>> forest = Forest(trees=(leaf,), schema=Schema.numeric(1), values_are="means")
    >>> other_mean(forest, read_records(([[0], [0]], [1.0, 2.0]), forest), 0) is None
    True
    >>> other_mean(forest, read_records(([[0], [0]], [1.0, 4.0]), forest), 0).real
    2.5
    """
    tree, targets = forest.trees[i], train.targets
    if forest.values_are != "means" or forest.records_are != "all":
        return None
    if targets is None or train.whole is not None or tree.value is None or tree.n_records is None:
        return None
    if not _adds_up(tree, tree.value):
        return None
    node, n = train.node[:, i], tree.n_nodes
    people = np.maximum(np.bincount(node, minlength=n), 1)
    mean = np.bincount(node, targets, n) / people
    size = np.bincount(node, np.abs(targets), n) / people
    slack = _OF_SPREAD * float(targets.std()) + _OF_SIZE * size
    asked = tree.is_leaf & (tree.n_records > 0)
    wrong = np.flatnonzero(asked & (np.abs(mean - tree.value) > slack))
    if not len(wrong):
        return None
    leaf = int(wrong[0])
    return OtherMean(leaf=leaf, stated=float(tree.value[leaf]), real=float(mean[leaf]))


def _adds_up(tree: Tree, value: Float) -> bool:
    """Tell whether every node has the mean of those below it: not so once a leaf was changed."""
    n = np.zeros(tree.n_nodes) if tree.n_records is None else tree.n_records.astype(np.float64)
    below = np.bincount(tree.parent[1:], (n * value)[1:], tree.n_nodes)
    size = np.bincount(tree.parent[1:], (n * np.abs(value))[1:], tree.n_nodes)
    slack = _OF_SPREAD * float(value.std()) * n + _OF_SIZE * size
    return bool((tree.is_leaf | (np.abs(below - n * value) <= slack)).all())
