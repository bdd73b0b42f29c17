"""A column as a step of a pipeline gives it out, and what a step stores of that."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treeaudit.readers.types import Float

OPEN = (-math.inf, math.inf)
Kind = Literal["number", "one-hot", "ordinal", "bins", "made"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column that a step gives out, in terms of an original one.

    Attributes
    ----------
    feature
        Number of the original column.
    kind
        ``number``; ``one-hot`` (1 for one category); ``ordinal`` (the code of
        the category); ``bins`` (the number of the bin); ``made`` for what
        cannot be undone.
    name
        Its own name, for ``made``.
    scale, shift
        ``seen * scale + shift`` is the number, the 0 or 1, the code or the bin.
    known
        The categories.
    code
        The category that makes a 1.
    edges
        The edges of the bins.
    fill
        What missing values were replaced with, in units of the number; of an ordinal column
        that knows a category of missing values: what others were that it does not know.
    instead
        The same, where it is the name of a category, be it one of missing values.
    apart
        The code of the last category of an ordinal column where that is not its place: of
        missing values, not-a-number where they stay missing.
    ignores_unknown
        Whether a value that is none of the categories makes no 1 at all, or gets the code of
        missing values.
    ends
        What its numbers are cut to: a tree asks for nothing beyond.
    """

    feature: int
    kind: Kind = "number"
    name: str = ""
    scale: float = 1.0
    shift: float = 0.0
    known: tuple[str, ...] = ()
    code: int = 0
    edges: tuple[float, ...] = ()
    fill: float | None = None
    instead: str | None = None
    apart: float | None = None
    ignores_unknown: bool = False
    ends: tuple[float, float] = OPEN


class CannotUndoError(Exception):
    """A step does not tell how many columns it gives out."""


Attributes = Mapping[str, object]
Undo = Callable[[Attributes, list[Column]], list[Column] | None]


def numbers_of(value: object, n: int, default: float) -> Float:
    """Return one number for each column, as a step stores them."""
    if value is None:
        return np.full(n, default)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or value.ndim != 1:
        raise CannotUndoError
    return value.astype(np.float64)


def switched_on(attributes: Attributes, switch: str, default: bool) -> bool:
    """Tell what scikit-learn, which asks whether it is true, takes a switch for."""
    value = attributes.get(switch, default)
    if value is None or isinstance(value, int | float | str):
        return bool(value)
    raise CannotUndoError
