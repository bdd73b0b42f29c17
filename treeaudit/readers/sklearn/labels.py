"""Labels and names of a file as plain Python values."""

import math
from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.schema import Label
from treeaudit.readers.limits import clean, show
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
