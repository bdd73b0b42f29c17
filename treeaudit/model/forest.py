"""A model: one or more trees, and what their numbers mean."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError
from treeaudit.model.routing import apply_all
from treeaudit.model.schema import Label, Schema
from treeaudit.model.source import Extras, Member, Source
from treeaudit.model.tree import Tree
from treeaudit.model.words import label_text, number_of
from treeaudit.rendered import NotebookText, renderer_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boosting:
    """Logistic loss, or that of several classes; every person in every tree with weight 1.

    Of two classes there is one score s, that of the second, with the share
    ``p = 1 / (1 + exp(-s))``. Of K classes there are K scores, moved by K trees a round, and the
    share of each is ``exp(s_k) / sum exp(s)``, with the scores before the round. In a tree of a
    class a person has the gradient p (``p - 1`` in that class) and the curvature
    ``curve * p (1 - p)``. A leaf that holds the gradient G and the curvature H moves the score by
    ``-rate * G / (H + penalty)``. A tree of one leaf need not: it tells what it moves alone.
    """

    trees: Sequence[Tree]  # Those of which this holds: a forest with others has none
    start: tuple[float, ...]  # The scores before the first tree
    rate: float
    penalty: float = 0.0
    curve: float = 1.0
    scale: float = 1.0  # What ``Tree.value`` is multiplied with before it is added to the score
    shift: tuple[float, ...]  # What of the values of the first tree of each score is the start
    # The H of every node of a tree; None where the file does not keep it
    mass: Callable[[int], Float | None]
    single: bool  # Whether scores and derivatives are numbers of 32 bits while they are added up
    derivatives: float  # How far derivatives are off by rounding, as a part of them
    stored: float  # How far values and masses are off by rounding, as a part of them
    assumptions: tuple[str, ...] = ()  # What the file does not say of the above, a sentence each
    # The sum of the squared gradients in every node of a tree, NaN where the file does not keep it
    squares: Callable[[int], Float | None] = lambda _: None


CountsAre = Literal["exact", "likely", "weighted", "noisy", "label-only", "absent"]
RecordsAre = Literal["all", "bootstrap", "disjoint", "unknown"]
ValuesAre = Literal["means", "medians", "unknown"]
Answers = Literal[
    "mean", "vote", "confidence", "product", "weighted", "sum", "path", "leaf", "unknown"
]
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
``product``
    Class c with probability proportional to prod_t max(p_t(c), 2 ** -52): logarithms add up.
``weighted``
    Class c of n with probability proportional to exp(n / (n - 1) ** 2 * s(c)), where s(c) = sum_t
    a_t [c(t) = c] / sum_t a_t, or the median of the v_t weighed by a_t; the weights a_t are
    ``Forest.tree_weights`` (AdaBoost by SAMME).
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The noise that was drawn for the class counts of the leaves."""

    # Of the discrete Laplace law, above 0: a count is off by the whole number z with probability (1
    # - q) / (1 + q) * q ** abs(z), where q = exp(-rate)
    rate: float
    # ``leaves``: drawn for leaves alone, nodes above add up; ``nodes``: drawn for each node
    counts: Literal["leaves", "nodes"]
    # What was then done to the counts, in this order: ``clipped`` at 0, ``shrunk`` towards the
    # shares of the node above, ``scaled`` to the people of the node
    afterwards: tuple[Literal["clipped", "shrunk", "scaled"], ...] = ()
    mechanism: Literal["discrete Laplace"] = "discrete Laplace"  # The law; there is one

    def __post_init__(self) -> None:
        known = self.mechanism == "discrete Laplace" and self.counts in ("leaves", "nodes")
        known = known and {*self.afterwards} <= {"clipped", "shrunk", "scaled"}
        if not known or not 0 < self.rate < float("inf"):
            raise DataError(f"noise of no known kind, or of no rate above 0: {self.rate:g}")


ROOM = 128_000_000
"""Bytes of trees that are kept once they were built."""
_SHOWN = 8


class LazyTrees(Sequence[Tree]):
    """Trees that are built one at a time when they are asked for.

    A forest of millions of leaves is never held as a whole: each pass builds a
    tree from the mapped file, looks at it and lets it go. Only the last one is
    kept, and as many as fit in 128 MB, so that all but huge models are built once.

    Attributes
    ----------
    let_go
        Called after every 128 MB that were built and not kept: what they were built from
        need not stay in memory.
    """

    def __init__(self, build: Callable[[int], Tree], n_trees: int) -> None:
        self._build = build
        self._n_trees = n_trees
        self._last: tuple[int, Tree] | None = None
        self._kept: dict[int, Tree] = {}
        self._room = ROOM
        self._passed = 0
        self._has_counts: dict[int, bool] = {}
        self.let_go: Callable[[], None] | None = None

    @property
    def all_count(self) -> bool:
        """Whether every tree holds class counts; what was built once is not built again to tell."""
        return all(
            self._has_counts[i] if i in self._has_counts else self[i].counts is not None
            for i in range(len(self))
        )

    def __len__(self) -> int:
        return self._n_trees

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tree]: ...
    def __getitem__(self, index: int | slice) -> Tree | list[Tree]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        n = self._n_trees
        if not -n <= index < n:
            raise IndexError(f"tree {index} of {n}")
        index %= n
        if index in self._kept:
            return self._kept[index]
        if self._last is None or self._last[0] != index:
            tree = self._build(index)
            self._last = (index, tree)
            self._has_counts[index] = tree.counts is not None
            n_bytes = tree.n_bytes
            if n_bytes <= self._room:
                self._room -= n_bytes
                self._kept[index] = tree
            else:
                self._pass(n_bytes)
        return self._last[1]

    def _pass(self, n_bytes: int) -> None:
        self._passed += n_bytes
        if self._passed > ROOM and self.let_go is not None:
            self._passed = 0
            self.let_go()

    def __iter__(self) -> Iterator[Tree]:
        return (self[i] for i in range(len(self)))


def all_count(trees: Sequence[Tree]) -> bool:
    """Tell whether every tree holds class counts."""
    if isinstance(trees, LazyTrees):
        return trees.all_count
    return all(tree.counts is not None for tree in trees)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forest(NotebookText):
    """A model: one or more trees and what their numbers mean.

    Attributes
    ----------
    trees
        A sequence of `Tree`; may build them on demand.
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
    warnings
        What the reader noticed, one sentence each.
    extras
        What else the file holds about people, and which kinds of it were looked
        for: none in a model that no reader has read.
    others
        The other models of its file: the name by which each can be chosen, and where
        it is.
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
    tree_weights
        Per tree, what its vote weighs; None where all weigh the same, or that is not known.
    seeds
        Per tree, the seed from which its people were drawn, where the file keeps them all.
    boosting
        How the leaves of its trees follow from the labels, where that is known.
    values_are
        What `Tree.value` hold: ``means`` or ``medians`` of the numbers of all training people in
        a node, each of the same weight, where the file tells; else ``unknown``.
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
    extras: Extras = field(default_factory=Extras)
    others: Mapping[str, str] = field(default_factory=dict)
    members: tuple[Member, ...] = ()
    tree_classes: tuple[tuple[Label, ...], ...] | None = None
    class_weights: tuple[tuple[float, ...] | None, ...] | None = None
    tree_weights: tuple[float, ...] | None = None
    seeds: tuple[int, ...] | None = None
    boosting: Boosting | None = None
    values_are: ValuesAre = "unknown"

    def __repr__(self) -> str:
        """Return what it is, on a few lines; `treeaudit.scan` says what it gives away."""
        classes, columns = self.schema.classes, len(self.schema.features)
        shown = "" if classes is None else ": " + ", ".join(map(label_text, classes[:_SHOWN]))
        more = ", …" if len(classes or ()) > _SHOWN else ""
        lines = (
            f"Forest: {self.source.estimator}, {number_of(self.n_trees, 'tree', 'trees')}",
            f"  {number_of(columns, 'column', 'columns')} → {self.schema.target}{shown}{more}",
            f"  counts are {self.counts_are}, records are {self.records_are}",
        )
        return "\n".join(line.encode("unicode_escape").decode() if not line.isprintable() else line
                         for line in lines)  # fmt: skip

    def classes_of(self, tree: int) -> tuple[Label, ...] | None:
        """Return the labels of the count columns of one tree."""
        return self.schema.classes if self.tree_classes is None else self.tree_classes[tree]

    @property
    def n_trees(self) -> int:
        """How many trees the model has."""
        return len(self.trees)

    def to_sklearn(self) -> Any:  # noqa: ANN401  # an estimator, which has no type
        """Return the model as a fitted estimator of the installed scikit-learn.

        Raises
        ------
        UnsupportedModelError
            If scikit-learn has no such model; says what can be written.

        Examples
        --------
        >>> import treeaudit as ta
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> x, y = load_iris(return_X_y=True)
        >>> safer = ta.defend(ta.load(DecisionTreeClassifier().fit(x, y)), min_leaf=5)
        >>> safer.to_sklearn().predict(x[:2]).tolist()
        [0, 0]
        """
        return renderer_of(type(self)).to_estimator(self)

    def apply(self, values: npt.ArrayLike) -> Int:
        """Return the node in which each row ends, shape ``(n_rows, n_trees)``; see `Tree.apply`.

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
        return apply_all(self.trees, self.schema, table)
