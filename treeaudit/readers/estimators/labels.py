"""Labels and names of a file as plain Python values."""

import math

from treeaudit.model.schema import Label
from treeaudit.readers.limits import clean, show

__all__ = ["label_of", "labels_of", "text_of"]


def label_of(value: object) -> Label:
    """Return a stored class label as a plain value that can be written out.

    Examples
    --------
    >>> label_of(b"yes"), label_of(2.0), label_of((1,))
    ('yes', 2.0, '(1)')
    """
    match value:
        case float() if not math.isfinite(value):
            return show(value)
        case bool() | int() | float():
            return value
        case str():
            return clean(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return show(value)


def labels_of(stored: object) -> tuple[Label, ...] | None:
    """Return a stored list of class labels, or None where one is no text and no number.

    Examples
    --------
    >>> labels_of(["no", 1]), labels_of(["no", None])
    (('no', 1), None)
    """
    if not isinstance(stored, list) or not all(
        isinstance(label, str | int) or (isinstance(label, float) and math.isfinite(label))
        for label in stored
    ):
        return None
    return tuple(clean(label) if isinstance(label, str) else label for label in stored)


def text_of(value: object) -> str:
    """Return a stored name or category as text; not-a-number and None are missing.

    Examples
    --------
    >>> text_of("Sales"), text_of(3.0), text_of(float("nan"))
    ('Sales', '3', 'missing')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    label = label_of(value)
    if isinstance(label, float) and label.is_integer() and abs(label) < 1e15:
        return str(int(label))
    return str(label)
