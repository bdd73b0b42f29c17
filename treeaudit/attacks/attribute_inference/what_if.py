"""Where a person would end if one of their values were another (TA104).

A candidate that passes all edges on the way of a person leads to the same leaf. Only people with
other candidates are routed again.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int
from treeaudit.model.routing import Walk, router_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree

_Hidden = tuple[Sequence[int], Float]
"""Features of a column, and what may be in them: shape ``(n_candidates, len(features))``."""


class Paths:
    """A tree and the columns whose values are hidden."""

    def __init__(self, tree: Tree, schema: Schema, columns: Sequence[_Hidden]) -> None:
        self.tree, self._columns = tree, columns
        self._router = router_of([tree], schema)
        self._reach = [_reachable(tree, *column) for column in columns]

    def what_if(self, values: npt.NDArray[np.floating[Any]], node: Int) -> Int:
        """Return where each person would end with each candidate.

        Shape ``(n, n_candidates)``, those of all columns side by side.
        """
        # Who stopped on the way may go on, and of edges that overlap the first is taken.
        open_ = ~self.tree.is_leaf[node] | (not isinstance(self._router.trees[0], Walk))
        found = []
        for (features, candidates), reach in zip(self._columns, self._reach, strict=True):
            ends = np.repeat(node[:, None], len(candidates), axis=1)
            rows, other = np.nonzero(~reach[node] | open_[:, None])
            if len(rows):
                changed = values[rows].astype(np.float64)
                changed[:, list(features)] = candidates[other]
                ends[rows, other] = self._router.ends(changed)[:, 0]
            found.append(ends)
        return np.hstack(found)

    def people_with(self) -> Float:
        """Return how many people are in leaves that a person with each candidate can reach.

        Shape ``(n_candidates,)``. 0 if the tree does not count people.
        """
        leaves, people = self.tree.leaves, self.tree.n_records
        size = np.zeros(len(leaves)) if people is None else people[leaves].astype(np.float64)
        return np.concatenate([np.zeros(0), *(size @ reach[leaves] for reach in self._reach)])


def _reachable(tree: Tree, features: Sequence[int], candidates: Float) -> Flag:
    """Return which candidates pass all edges on the way to each node."""
    reach = np.ones((tree.n_nodes, len(candidates)), dtype=np.bool_)
    for place, feature in enumerate(features):
        nodes = np.flatnonzero(tree.feature == feature)
        pairs = np.repeat(nodes, len(candidates)).astype(np.int32)
        passed = tree.passes(pairs, np.tile(candidates[:, place], len(nodes)))
        reach[nodes] = passed.reshape(len(nodes), len(candidates))
    levels = np.split(np.argsort(tree.depths, kind="stable"), np.cumsum(np.bincount(tree.depths)))
    for nodes in levels[1:]:
        reach[nodes] &= reach[tree.parent[nodes]]
    return reach
