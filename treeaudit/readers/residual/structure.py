"""What is wrong with the shape of a stored tree that can be read all the same (TA207).

Readers refuse tables that are no tree. What stands beside the tables, and is believed when the
model is loaded, is compared here.
"""

from collections.abc import Iterator

import numpy as np

from treeaudit.arrays import Table
from treeaudit.model.source import Extra
from treeaudit.model.tree import depths_of
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.walk import Place


def malformed(place: Place) -> Iterator[Extra]:
    """Yield where the depth that a tree states is not that of its table."""
    above = place.value
    tree = arrived(above.get("tree_")) if isinstance(above, Inert) else None
    if not isinstance(tree, Inert) or tree.kind != "Tree":
        return
    state = tree.state if isinstance(tree.state, dict) else tree.attributes
    nodes, stated = arrived(state.get("nodes")), state.get("max_depth")
    if isinstance(nodes, np.ndarray) and isinstance(stated, int):
        depth = _depth(nodes)
        if depth > stated:
            says = f"states a depth of {stated:,} and has {depth:,}; scikit-learn up to 1.9 could "
            says += "write outside of the memory that it reserves for paths"
            yield Extra(kind="malformed", where=f"{place.at('tree_')}.max_depth", n=1, says=says)


def _depth(nodes: Table) -> int:
    """Return the depth of a node table; 0 if it is none whose children follow their parents."""
    if nodes.ndim != 1:
        return 0
    parent = np.full(len(nodes), -1, dtype=np.int64)
    for side in ("left_child", "right_child"):
        if side not in (nodes.dtype.names or ()) or nodes.dtype[side].kind not in "iu":
            return 0
        child = nodes[side].astype(np.int64)
        inner = np.flatnonzero(child >= 0)
        if np.any(child[inner] <= inner) or np.any(child[inner] >= len(nodes)):
            return 0
        parent[child[inner]] = inner
    return int(depths_of(parent).max(initial=0))
