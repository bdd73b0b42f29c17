"""Nodes of a stored tree that do not hang on its root."""

import numpy as np

from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert

_SIDES = {"Tree": ("left_child", "right_child"), "TreePredictor": ("left", "right")}


def unreached(tree: Inert) -> int:
    """Return how many bytes of the node table belong to nodes that no question leads to.

    Readers refuse trees whose tables do not have the columns that they need.
    """
    nodes, sides = arrived(tree.get("nodes")), _SIDES[tree.kind]
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not len(nodes):
        return 0
    if not set(sides) <= set(nodes.dtype.names or ()):
        return nodes.nbytes
    left, right = (nodes[side].astype(np.int64) for side in sides)
    inner = nodes["is_leaf"] == 0 if "is_leaf" in (nodes.dtype.names or ()) else left >= 0
    reached, level = np.zeros(len(nodes), dtype=np.bool_), np.zeros(1, dtype=np.int64)
    while len(level):
        reached[level] = True
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
        level = level[(level > 0) & (level < len(nodes))]
        level = np.unique(level[~reached[level]])
    return int(np.count_nonzero(~reached)) * nodes.itemsize
