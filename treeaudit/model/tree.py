"""One decision tree: a row per node, with the condition that leads to it."""

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError

if TYPE_CHECKING:
    import networkx as nx


SpreadIs = Literal["deviation", "absolute", "poisson"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategorySets:
    """Which category codes pass each edge, in compressed sparse rows."""

    start: Wide  # Shape ``(n_nodes + 1,)``; node ``i`` owns ``codes[start[i]:start[i + 1]]``
    codes: Int  # The category codes that lead into the node

    def __post_init__(self) -> None:
        _freeze(self, "start", np.int64)
        _freeze(self, "codes", np.int32)
        if len(self.start) == 0 or self.start[0] != 0 or self.start[-1] != len(self.codes):
            raise DataError("category sets: start must run from 0 to the number of codes")

    def of(self, node: int) -> list[int]:
        """Return the codes that lead into one node."""
        return [int(code) for code in self.codes[self.start[node] : self.start[node + 1]]]

    def passes(self, node: Int, code: Float) -> Flag:
        """Tell for pairs of a node and a code whether the code leads into the node."""
        width = int(self.codes.max(initial=0)) + 1
        owner = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        known = np.sort(owner * width + self.codes)
        whole = (code >= 0) & (code < width) & (code == np.floor(code))
        key = node.astype(np.int64) * width + np.where(whole, code, 0).astype(np.int64)
        at = np.minimum(np.searchsorted(known, key), len(known) - 1)
        return whole & (known[at] == key) if len(known) else np.zeros(len(node), np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """A decision tree as read-only arrays, one row per node.

    Attributes
    ----------
    parent
        Index of the parent, -1 at the root. Parents come before children.
    feature
        Feature tested on the edge into the node, -1 at the root.
    low, high
        Numeric edge ``low < x <= high``; infinite where open.
    categories
        Category codes that pass the edge, for categorical features.
    missing
        Whether missing values follow this edge.
    n_records
        People in the node: distinct training rows, also under bootstrap.
    counts
        Shape ``(n_nodes, n_classes)``. People per class where the forest's
        ``counts_are`` says so; draws under bootstrap; weight otherwise.
    label
        Predicted class, for models that release labels only.
    value
        Predicted number, for regression trees.
    spread
        How far the numbers of the people in the node are from ``value``, where the file keeps
        it: of draws under bootstrap. NaN where rows weigh differently, so that what the file
        keeps is not of people.
    spread_is
        What that is: a standard ``deviation``; a mean ``absolute`` deviation from the median;
        or by a ``poisson`` deviance a bound of that from the mean, which is the standard
        deviation where numbers are close.

    Raises
    ------
    DataError
        If the arrays do not describe one tree.

    Examples
    --------
    >>> stump = Tree(
    ...     parent=[-1, 0, 0], feature=[-1, 0, 0],
    ...     low=[-np.inf, -np.inf, 1.5], high=[np.inf, 1.5, np.inf],
    ...     n_records=[5, 2, 3], counts=[[2, 3], [2, 0], [0, 3]],
    ... )
    >>> stump.leaves.tolist(), stump.n_records[stump.leaves].tolist()
    ([1, 2], [2, 3])
    """

    parent: Int
    feature: Int
    low: Float
    high: Float
    categories: CategorySets | None = None
    missing: Flag | None = None
    n_records: Wide | None = None
    counts: Float | None = None
    label: Int | None = None
    value: Float | None = None
    spread: Float | None = None
    spread_is: SpreadIs = "deviation"

    def __post_init__(self) -> None:
        for name, dtype in ARRAYS.items():
            _freeze(self, name, dtype)
        self._check()

    def _check(self) -> None:
        n = len(self.parent)
        if n == 0:
            raise DataError("a tree needs at least a root")
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None and len(array) != n:
                raise DataError(f"tree: {name} has {len(array)} rows for {n} nodes")
        if self.categories is not None and len(self.categories.start) != n + 1:
            raise DataError(f"tree: category sets are not for {n} nodes")
        if self.parent[0] != -1 or self.feature[0] != -1:
            raise DataError("tree: node 0 must be the root")
        above = self.parent[1:]
        if n > 1 and (above.min() < 0 or (above >= np.arange(1, n, dtype=above.dtype)).any()):
            raise DataError("tree: every node but the root needs one parent that comes before it")
        if n > 1 and self.feature[1:].min() < 0:
            raise DataError("tree: an edge names no feature")
        if np.isnan(self.low).any() or np.isnan(self.high).any():
            raise DataError("tree: a threshold is not a number")

    @property
    def n_nodes(self) -> int:
        """How many nodes the tree has."""
        return len(self.parent)

    @property
    def n_bytes(self) -> int:
        """How much memory the arrays take."""
        arrays = [array for array in _arrays_of(self) if array is not None]
        if self.categories is not None:
            arrays += [self.categories.start, self.categories.codes]
        return sum([array.nbytes for array in arrays])

    @property
    def is_leaf(self) -> Flag:
        """Shape ``(n_nodes,)``: True where no node has this one as parent."""
        leaf = np.ones(self.n_nodes, dtype=np.bool_)
        leaf[self.parent[1:]] = False
        return leaf

    @property
    def leaves(self) -> Int:
        """Node numbers of the leaves, ascending."""
        return np.flatnonzero(self.is_leaf).astype(np.int32)

    @property
    def depths(self) -> Int:
        """Shape ``(n_nodes,)``: edges between the root and each node."""
        return depths_of(self.parent)

    def children(self) -> tuple[Wide, Int]:
        """Return the children of every node in compressed sparse rows.

        Returns
        -------
        tuple of numpy.ndarray
            ``start`` of shape ``(n_nodes + 1,)`` and ``child``; node ``i`` has
            the children ``child[start[i]:start[i + 1]]``.
        """
        above = self.parent[1:]
        start = np.zeros(self.n_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(above, minlength=self.n_nodes), out=start[1:])
        child = (np.argsort(above, kind="stable") + 1).astype(np.int32)
        return start, child

    def apply(self, values: npt.ArrayLike) -> Int:
        """Return the node in which each row ends.

        Parameters
        ----------
        values
            Shape ``(n_rows, n_features)``; categories as codes, missing
            values as NaN.

        Returns
        -------
        numpy.ndarray
            Shape ``(n_rows,)``. A row that no edge lets through stays at the
            inner node where it is stuck.
        """
        table = np.asarray(values)
        if table.dtype not in (np.float32, np.float64):
            table = table.astype(np.float64)
        start, child = self.children()
        fan = np.diff(start)
        at = np.zeros(len(table), dtype=np.int32)
        moving = np.flatnonzero(fan[at])
        while len(moving):
            here = at[moving]
            into = np.full(len(moving), -1, dtype=np.int32)
            for i in range(int(fan[here].max())):
                candidate = child[start[here] + np.minimum(i, fan[here] - 1)]
                x = table[moving, self.feature[candidate]]
                into = np.where((into < 0) & self.passes(candidate, x), candidate, into)
            on = into >= 0
            moving = moving[on]
            at[moving] = into[on]
            moving = moving[fan[at[moving]] > 0]
        return at

    def passes(self, node: Int, x: npt.ArrayLike) -> Flag:
        """Return whether values pass the edges into some nodes.

        Parameters
        ----------
        node
            Shape ``(n,)``: nodes below the root.
        x
            Shape ``(n,)``: the value of each node's own feature.
        """
        x = np.asarray(x, dtype=np.float64)
        passes = (self.low[node] < x) & (x <= self.high[node])
        if self.categories is not None:
            sets = np.diff(self.categories.start)[node] > 0
            passes = np.where(sets, self.categories.passes(node, x), passes)
        if self.missing is not None:
            passes = np.where(np.isnan(x), self.missing[node], passes)
        result: Flag = passes
        return result

    def to_networkx(self) -> "nx.DiGraph[int]":
        """Return the tree as a directed graph, edges from parent to child.

        Nodes carry ``n_records``, ``counts``, ``label`` and ``value`` where the
        model states them; edges carry ``feature``, ``low``, ``high`` and, for
        categorical features, ``categories``.

        Examples
        --------
        >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0],
        ...              low=[-np.inf, -np.inf, 1.5], high=[np.inf, 1.5, np.inf])
        >>> stump.to_networkx().edges[0, 1]["high"]
        1.5
        """
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph()
        stated = ("n_records", "counts", "label", "value")
        columns = {n: getattr(self, n).tolist() for n in stated if getattr(self, n) is not None}
        for i in range(self.n_nodes):
            graph.add_node(i, **{name: column[i] for name, column in columns.items()})
            if i:
                edge: dict[str, Any] = {
                    "feature": int(self.feature[i]),
                    "low": float(self.low[i]),
                    "high": float(self.high[i]),
                }
                if self.categories is not None and (codes := self.categories.of(i)):
                    edge["categories"] = codes
                graph.add_edge(int(self.parent[i]), i, **edge)
        return graph


ARRAYS: dict[str, type[np.generic]] = {
    **dict.fromkeys(("parent", "feature", "label"), np.int32),
    **dict.fromkeys(("low", "high", "counts", "value", "spread"), np.float64),
    "missing": np.bool_,
    "n_records": np.int64,
}
"""The arrays of a tree, one row per node, and what each holds."""

_arrays_of = attrgetter(*ARRAYS)


def _freeze(instance: object, name: str, dtype: type[np.generic]) -> None:
    array = getattr(instance, name)
    if array is None:
        return
    frozen = np.ascontiguousarray(array, dtype=dtype)
    if frozen.flags.writeable:
        if frozen is array:
            frozen = frozen.view()
        frozen.flags.writeable = False
    object.__setattr__(instance, name, frozen)


def depths_of(parent: Int | Wide) -> Int:
    """Return how many edges are above each node, of one tree or of several, by doubling jumps."""
    depth = (parent >= 0).astype(np.int32)
    jump = parent
    while np.any(jump >= 0):
        live = jump >= 0
        above = jump[live]
        depth[live] += depth[above]
        jump = np.where(live, jump[jump], -1)
    return depth
