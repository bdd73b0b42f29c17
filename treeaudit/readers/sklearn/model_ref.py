"""A model inside a file, its labels and names as plain Python values, and its fitted trees.

The models around it gave it what it learnt from.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

import numpy as np

from treeaudit.arrays import Array, Wide
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import CountsAre, RecordsAre, ValuesAre
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Allowance, Most, clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert

_VALUES = (str, bytes, int, float, complex, date, timedelta)


def class_labels(model: object, name: str = "classes_") -> list[object] | None:
    """Return the class labels that an object holds as they are, or None where it has no row."""
    stored = arrived(model.get(name)) if isinstance(model, Inert) else None
    if not isinstance(stored, np.ndarray) or stored.ndim != 1:
        return None
    return [arrived(label) for label in stored.tolist()]


def check_labels(told: list[object] | None, used: list[object] | None) -> None:
    """Make sure that a model answers with the labels that it states, where both are there."""
    if told is None or used is None:
        return
    if len(told) != len(used) or not all(map(_same, told, used)):
        raise ReadError("the model is inconsistent: it answers with other labels than it states")


def _same(one: object, other: object) -> bool:
    """Compare what a file has in the place of labels: lists and arrays are none."""
    values = isinstance(one, _VALUES) and isinstance(other, _VALUES)
    return one is other or (values and one == other)


def label_of(value: object) -> Label:
    """Return a stored class label as a plain value that can be written out."""
    match value:
        case float() if not math.isfinite(value):
            return show(value)
        case bool() | int() | float():
            return value
        case str():
            return clean(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case complex() | np.generic():
            kind = type(value).__name__
            raise ReadError(f"a label or category is a {kind}: train with texts or whole numbers")
        case _:
            return show(value)


def labels_of(stored: object) -> tuple[Label, ...] | None:
    """Return a stored list of class labels, or None where one is no text and no number."""
    if not isinstance(stored, list) or not all(
        isinstance(label, str | int) or (isinstance(label, float) and math.isfinite(label))
        for label in stored
    ):
        return None
    return tuple(clean(label) if isinstance(label, str) else label for label in stored)


def text_of(value: object) -> str:
    """Return a stored name or category as text; not-a-number and None are missing."""
    if is_nothing(value):
        return "missing"
    label = label_of(value)
    if isinstance(label, float) and label.is_integer() and abs(label) < 1e15:
        return str(int(label))
    return str(label)


def is_nothing(value: object) -> bool:
    """Tell whether a stored category stands for missing values."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def category_names(stored: Sequence[object]) -> tuple[tuple[str, ...], str | None]:
    """Return stored categories as texts, and which of them stands for missing values, if any."""
    gap, others = "missing", {text_of(value) for value in stored if not is_nothing(value)}
    while gap in others:
        gap += " (no value)"
    names = tuple(gap if is_nothing(value) else text_of(value) for value in stored)
    return names, gap if any(map(is_nothing, stored)) else None


Names = Array
Rows = Literal["all", "some", "bootstrap", "first", "later", "repeated"]
_WORST: tuple[Rows, ...] = ("all", "some", "bootstrap", "first", "later", "repeated")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bootstrap:
    """A bootstrap sample: rows drawn with replacement."""

    n: object = None  # how many, where the file tells
    class_weight: object = None  # the parameter: weights that what was drawn still carries
    steered: bool = False  # whether weights of rows steer the draw and do not weigh what is drawn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingContext:
    """Training context of a nested model: its columns, labels and sampling."""

    # Names of the columns in front of all steps, where an outer model knows them.
    names: Names | None = None
    added: tuple[str, ...] = ()  # names of columns that the outer model put behind these
    labels: tuple[Label, ...] | None = None  # what the classes 0, 1, … stand for
    own_labels: bool = False  # whether they are those of this member alone, as in one-vs-rest
    target: str = ""  # what is predicted, where the members predict different things
    # ``all``; ``some`` of them, each once; a ``bootstrap`` draw in which a weight counts the
    # repeats; ``first`` or ``later`` in a boosting that weighs rows; ``repeated`` where a row drawn
    # twice was handed over twice.
    rows: Rows = "all"
    draw: Bootstrap | None = None  # how they were drawn
    split: bool = False  # whether some of the rows were handed over, and others to other members
    apart: str = ""  # why its columns are none of those of the other members
    note: str = ""  # what else to say of it, in one sentence

    def after(self, rows: Rows, draw: Bootstrap | None = None) -> "TrainingContext":
        """Return the same with the rows chosen once more."""
        worse = max(self.rows, rows, key=_WORST.index)
        split = self.split or rows == "some"
        return replace(self, rows=worse, draw=draw or self.draw, split=split)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelRef:
    """A model inside the file."""

    estimator: Inert  # its inert record
    # The way to it, such as ``best_estimator_.steps['clf']``.
    inside: str
    before: tuple[object, ...] = ()  # the preprocessing steps of its pipeline, first to last
    seen: TrainingContext = TrainingContext()  # what the models around it gave it
    # What the pipeline calls those steps, and this model after them.
    step_names: tuple[str, ...] = ()
    # The outermost object that answers as this model does: its pipeline, or a threshold around it;
    # None where it is the model itself.
    holder: Inert | None = None
    root: object = None  # what the whole file holds; None for what is inside of a model

    def get(self, name: str) -> object:
        """Return an attribute of the estimator."""
        return arrived(self.estimator.get(name))

    def child(self, value: object, step: str, seen: TrainingContext) -> "ModelRef | None":
        """Return what the estimator holds under a name, if that is an object."""
        value = arrived(value)
        if not isinstance(value, Inert):
            return None
        return ModelRef(
            estimator=value,
            inside=f"{self.inside}.{step}" if self.inside else step,
            before=self.before,
            seen=seen,
            step_names=self.step_names,
        )

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The class labels, as the outermost model calls them."""
        stored = self.get("classes_")
        if not isinstance(stored, np.ndarray) or stored.ndim != 1 or stored.dtype.names:
            return None
        if stored.dtype.metadata:
            raise UnsupportedModelError(
                "the classes of the model are dates or durations: train it on them as texts"
            )
        values = [arrived(value) for value in stored.tolist()]
        plain = [value for value in values if isinstance(value, bool | int | float | str | bytes)]
        if len(set(plain)) < len(plain):
            raise ReadError("the model is inconsistent: a class stands twice among its classes")
        own = tuple(map(label_of, values))
        named = relabel(own, self.seen.labels)
        target = self.seen.target
        return tuple(f"{target}: {label}" for label in named) if target else named

    @property
    def given(self) -> TrainingContext:
        """What this model hands to its members unless it does something to it."""
        names, labels = names_in(self.estimator) if not self.before else None, self.classes
        if labels is None:
            return self.seen if names is None else replace(self.seen, names=names)
        names = self.seen.names if names is None else names
        return replace(self.seen, names=names, labels=labels, target="")


def is_tree(value: object) -> bool:
    """Whether this is a fitted tree, also of a subclass of the user's own."""
    tree = arrived(value.get("tree_")) if isinstance(value, Inert) else None
    return isinstance(tree, Inert) and tree.kind == "Tree"


def names_in(estimator: Inert) -> Names | None:
    """Return the stored names of the columns that an estimator was fitted on."""
    stored = arrived(estimator.get("feature_names_in_"))
    if not isinstance(stored, np.ndarray) or stored.ndim != 1 or stored.dtype.names:
        return None
    return stored


def relabel(own: tuple[Label, ...], outer: tuple[Label, ...] | None) -> tuple[Label, ...]:
    """Return what the class labels of a member mean to the model around it.

    Members are trained on the numbers of the classes. A code book may call its
    zeros -1.
    """
    if outer is None or own == outer:
        return own
    numbers = tuple(0 if label == -1 else label for label in own) if len(outer) == 2 else own
    apart = len(set(numbers)) == len(own)
    if apart and all(isinstance(n, int | float) and n in range(len(outer)) for n in numbers):
        return tuple(outer[int(n)] for n in numbers)
    return own


def elements(value: object) -> list[object]:
    """Return the elements of a stored list, tuple or array of objects."""
    value = arrived(value)
    if isinstance(value, np.ndarray):
        return [arrived(one) for one in value.ravel().tolist()] if value.dtype == object else []
    return [arrived(one) for one in value] if isinstance(value, list | tuple) else []


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedEnsemble:
    """The trees of one fitted model, before they are made a `Forest`."""

    build: Callable[[int], Tree]  # makes one tree, from the file, each time it is asked
    n_trees: int  # how many there are
    tested: Callable[[int], Wide]  # the feature of every edge of one tree
    # As in `treeaudit.Forest`.
    schema: Schema
    counts_are: CountsAre
    counts_reason: str
    records_are: RecordsAre
    n_records: int | None
    single_precision: bool
    warnings: tuple[str, ...] = ()  # what was noticed, one sentence each
    # As in `treeaudit.Forest`; empty where all classes weigh the same.
    class_weights: tuple[tuple[float, ...] | None, ...] = ()
    tree_classes: tuple[tuple[Label, ...], ...] | None = None  # as in `treeaudit.Forest`
    # As in `treeaudit.Forest`: of the numbers of all people in a node, each of the same weight.
    values_are: ValuesAre = "unknown"


class Budget:
    """What reading all the trees of a file together may cost.

    A file that names one tree a thousand times would otherwise seem, and cost,
    a thousand times what it is.

    `take` counts the bytes of one more tree, which are no more than the unpacked file has; `undo`
    the columns of one more pipeline that is undone. Both raise `treeaudit.ModelTooLargeError`.
    """

    def __init__(self, n_bytes: int) -> None:
        too_much = "the trees together are larger than the file that holds them"
        self.take = Allowance(n_bytes, too_much).take
        too_much = "its pipelines have more columns than treeaudit takes in"
        self.undo = Allowance(Most.undone, too_much).take
        too_much = "its models have more columns than treeaudit takes in"
        self._columns = Allowance(Most.columns, too_much)
        self._known: dict[tuple[int, int], tuple[Feature, ...]] = {}

    def named(self, names: Names | None, n: int) -> tuple[Feature, ...] | None:
        """Return the features of these names, or None where they are no names of ``n``."""
        if names is None or len(names) != n:
            return None
        return self._once(
            (id(names), n),
            lambda: tuple(Feature(name=str(label_of(arrived(name)))) for name in names.tolist()),
        )

    def unnamed(self, n: int) -> tuple[Feature, ...]:
        """Return ``n`` features that have numbers instead of names."""
        return self._once((0, n), lambda: Schema.numeric(n).features)

    def _once(
        self, key: tuple[int, int], make: Callable[[], tuple[Feature, ...]]
    ) -> tuple[Feature, ...]:
        if key not in self._known:
            self._columns.take(key[1])
            self._known[key] = make()
        return self._known[key]
