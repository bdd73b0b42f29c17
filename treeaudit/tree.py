"""The one form in which treeaudit holds a model: `Tree` and `Forest`.

One row per node, root first, parents before children. Every node carries *the
condition that leads to it from its parent*, which serves binary thresholds,
multiway categorical splits and category sets alike. Arrays are read-only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.leftovers import Leftovers
from treeaudit.schema import Label, Schema

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "Answers",
    "CategorySets",
    "CountsAre",
    "Forest",
    "LazyTrees",
    "Member",
    "Noise",
    "RecordsAre",
    "Source",
    "Tree",
]

Int = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Flag = npt.NDArray[np.bool_]

CountsAre = Literal["exact", "likely", "weighted", "noisy", "label-only", "absent"]
RecordsAre = Literal["all", "bootstrap", "disjoint", "unknown"]

Answers = Literal["mean", "vote", "confidence", "weighted", "sum", "path", "leaf", "unknown"]
"""How a model answers a record that ends in the leaf l(t) of tree t.

Let n(c) be the class counts of a leaf times ``Forest.class_weights``, p(c) = n(c) / sum n its
shares (1 for the label alone where the leaf holds a label), c(t) the first class of the largest
share, v its value, and T the number of trees in which the record reaches a leaf.

``mean``
    Class c with probability 1/T sum_t p_t(c); of numbers, 1/T sum_t v_t.
``vote``
    Class c with probability 1/T sum_t [c(t) = c].
``confidence``
    Class c with probability proportional to sum_t [c(t) = c] p_t(c).
``weighted``
    A vote of classes sum_t a_t f(l(t)), or the median of the v_t weighed by a_t; the weights a_t
    are not in the trees (AdaBoost).
``sum``
    g(b + sum_t a v_t); start b, step a and link g are not in the trees (gradient boosting).
``path``
    2 ** -(1/T sum_t (d_t + h(n_t)) / h(n)), d the depth of the leaf, n_t the people in it, and h
    the depth that a tree of so many random people has (isolation forests).
``leaf``
    The leaves l(t) themselves (embeddings).
``unknown``
    What joins the trees is not known, or they belong to several models.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategorySets:
    """Which category codes pass each edge, in compressed sparse rows.

    Attributes
    ----------
    start
        Shape ``(n_nodes + 1,)``; node ``i`` owns ``codes[start[i]:start[i + 1]]``.
    codes
        The category codes that lead into the node.
    """

    start: Wide
    codes: Int

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

    def __post_init__(self) -> None:
        _freeze(self, "parent", np.int32)
        _freeze(self, "feature", np.int32)
        _freeze(self, "low", np.float64)
        _freeze(self, "high", np.float64)
        _freeze(self, "missing", np.bool_)
        _freeze(self, "n_records", np.int64)
        _freeze(self, "counts", np.float64)
        _freeze(self, "label", np.int32)
        _freeze(self, "value", np.float64)
        self._check()

    def _check(self) -> None:
        n = len(self.parent)
        if n == 0:
            raise DataError("a tree needs at least a root")
        for name in (
            "feature",
            "low",
            "high",
            "missing",
            "n_records",
            "counts",
            "label",
            "value",
        ):
            array = getattr(self, name)
            if array is not None and len(array) != n:
                raise DataError(f"tree: {name} has {len(array)} rows for {n} nodes")
        if self.categories is not None and len(self.categories.start) != n + 1:
            raise DataError(f"tree: category sets are not for {n} nodes")
        if self.parent[0] != -1 or self.feature[0] != -1:
            raise DataError("tree: node 0 must be the root")
        above = self.parent[1:]
        if np.any(above < 0) or np.any(above >= np.arange(1, n)):
            raise DataError("tree: every node but the root needs one parent that comes before it")
        if np.any(self.feature[1:] < 0):
            raise DataError("tree: an edge names no feature")
        if np.isnan(self.low).any() or np.isnan(self.high).any():
            raise DataError("tree: a threshold is not a number")

    @property
    def n_nodes(self) -> int:
        """How many nodes the tree has."""
        return len(self.parent)

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
        depth = (self.parent >= 0).astype(np.int32)
        jump = self.parent
        while np.any(jump >= 0):
            live = jump >= 0
            above = jump[live]
            depth[live] += depth[above]
            jump = np.where(live, jump[jump], -1)
        return depth

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The noise that was drawn for the class counts of the leaves.

    Attributes
    ----------
    rate
        Of the discrete Laplace law, above 0: a count is off by the whole number z with
        probability (1 - q) / (1 + q) * q ** abs(z), where q = exp(-rate).
    counts
        ``leaves``: drawn for leaves alone, nodes above add up; ``nodes``: drawn for each node.
    afterwards
        What was then done to the counts, in this order: ``clipped`` at 0, ``shrunk`` towards
        the shares of the node above, ``scaled`` to the people of the node.
    mechanism
        The law; there is one.
    """

    rate: float
    counts: Literal["leaves", "nodes"]
    afterwards: tuple[Literal["clipped", "shrunk", "scaled"], ...] = ()
    mechanism: Literal["discrete Laplace"] = "discrete Laplace"

    def __post_init__(self) -> None:
        known = self.mechanism == "discrete Laplace" and self.counts in ("leaves", "nodes")
        known = known and {*self.afterwards} <= {"clipped", "shrunk", "scaled"}
        if not known or not 0 < self.rate < float("inf"):
            raise DataError(f"noise of no known kind, or of no rate above 0: {self.rate:g}")


class LazyTrees(Sequence[Tree]):
    """Trees that are built one at a time when they are asked for.

    A forest of millions of leaves is never held as a whole: each pass builds a
    tree from the mapped file, looks at it and lets it go. Only the last one is
    kept, so that a model of one tree is built once.
    """

    def __init__(self, build: Callable[[int], Tree], n_trees: int) -> None:
        self._build = build
        self._n_trees = n_trees
        self._last: tuple[int, Tree] | None = None

    def __len__(self) -> int:
        return self._n_trees

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tree]: ...
    def __getitem__(self, index: int | slice) -> Tree | list[Tree]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"tree {index} of {len(self)}")
        index %= len(self)
        if self._last is None or self._last[0] != index:
            self._last = (index, self._build(index))
        return self._last[1]

    def __iter__(self) -> Iterator[Tree]:
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A model inside a model, such as one estimator of a vote.

    Attributes
    ----------
    inside
        The way to it in the file.
    estimator
        Its class name.
    n_trees
        How many of the forest's trees are its own, in order.
    """

    inside: str
    estimator: str
    n_trees: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a model came from.

    Attributes
    ----------
    path
        The file, or None for a model in memory.
    format
        Such as ``sklearn-pickle``, ``xgboost-json`` or ``memory``; the JSON Schema
        of the report lists them all.
    estimator
        Class name as the file gives it.
    inside
        Where in the file the model was found, such as ``best_estimator_``; empty at the top.
    library, library_version
        What wrote the model, and its version where the file tells.
    parameters
        Hyper-parameters that are plain values.
    digest
        Gives the SHA-256 of the file, or None for a model in memory.
    n_bytes
        Of the file as stored, compressed or not.
    stored
        The inert record that a scikit-learn model was read from: what a writer needs
        beside the trees.
    """

    path: str | None = None
    format: str = "memory"
    estimator: str = "Tree"
    inside: str = ""
    library: str = ""
    library_version: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    digest: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    n_bytes: int | None = None
    stored: object = field(default=None, repr=False, compare=False)

    @property
    def sha256(self) -> str | None:
        """Of the bytes that the trees are read from; `treeaudit.scan` fixes it."""
        return None if self.digest is None else self.digest()

    @property
    def written_by(self) -> str:
        """Library and version, as far as the file tells; empty where it does not."""
        return f"{self.library} {self.library_version}".strip() if self.library_version else ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forest:
    """A model: one or more trees and what their numbers mean.

    Attributes
    ----------
    trees
        A sequence of `Tree`; may build them on demand.
    schema
        The columns and the classes.
    counts_are
        What `Tree.counts` hold: ``exact`` or ``likely`` people (draws under
        bootstrap), ``weighted``, ``noisy``, ``label-only`` or ``absent``.
    counts_reason
        Why, in one sentence.
    answers
        How the model answers from its leaves, see `Answers`; ``mean``, as a tree alone does,
        unless told.
    noise
        What noise is in the counts of the leaves; None where there is none or its law is not
        known, and ``counts_reason`` then says what the counts are.
    records_are
        ``all`` training rows in every tree, a ``bootstrap`` draw, ``disjoint``
        parts, or ``unknown``.
    n_records
        Training rows of the whole model, where the file tells.
    single_precision
        Whether the model compares inputs as 32-bit numbers.
    privacy
        The ledger of a differentially private model, or None.
    source
        Where the model came from.
    warnings
        What the reader noticed, one sentence each.
    leftovers
        What else the file holds about people, and which kinds of it were looked
        for: none in a model that no reader has read.
    members
        The models that the trees belong to, in their order; empty where there
        is only one.
    tree_classes
        The labels of the count columns of each tree, where they differ from
        ``schema.classes`` (one-vs-rest); as many as those.
    class_weights
        Per tree, what one person of each class weighs in its answer, where
        ``counts`` are people and the model weighs its classes; None where all
        weigh the same.
    """

    trees: Sequence[Tree]
    schema: Schema
    counts_are: CountsAre = "exact"
    counts_reason: str = ""
    answers: Answers = "mean"
    noise: Noise | None = None
    records_are: RecordsAre = "all"
    n_records: int | None = None
    single_precision: bool = False
    privacy: Mapping[str, Any] | None = None
    source: Source = field(default_factory=Source)
    warnings: tuple[str, ...] = ()
    leftovers: Leftovers = field(default_factory=Leftovers)
    members: tuple[Member, ...] = ()
    tree_classes: tuple[tuple[Label, ...], ...] | None = None
    class_weights: tuple[tuple[float, ...] | None, ...] | None = None

    def classes_of(self, tree: int) -> tuple[Label, ...] | None:
        """Return the labels of the count columns of one tree."""
        return self.schema.classes if self.tree_classes is None else self.tree_classes[tree]

    @property
    def n_trees(self) -> int:
        """How many trees the model has."""
        return len(self.trees)

    def apply(self, values: npt.ArrayLike) -> Int:
        """Return the node in which each row ends, for every tree.

        Parameters
        ----------
        values
            Shape ``(n_rows, n_features)``; categories as codes, missing
            values as NaN.

        Returns
        -------
        numpy.ndarray
            Shape ``(n_rows, n_trees)``.

        Raises
        ------
        DataError
            If the number of columns is not the model's.
        """
        dtype = np.float32 if self.single_precision else np.float64
        table = np.atleast_2d(np.asarray(values, dtype=dtype))
        if table.shape[1] != len(self.schema.features):
            raise DataError(
                f"the data has {table.shape[1]} columns, the model {len(self.schema.features)}"
            )
        return np.column_stack([tree.apply(table) for tree in self.trees])


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
