"""A column that preprocessing steps give out: what it was before them, and how it is computed."""

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Literal

import numpy as np

from treeaudit.arrays import Flag, Float
from treeaudit.model.schema import Derived, Feature, Raw

OPEN = (-math.inf, math.inf)
Kind = Literal["number", "one-hot", "ordinal", "bins", "missing", "made"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column that a step gives out, in terms of an original one."""

    feature: int  # number of the original column
    # ``number``; ``one-hot`` (1 for some categories); ``ordinal`` (the code of the category);
    # ``bins`` (the number of the bin); ``missing`` (1 for no value); ``made`` if not undone.
    kind: Kind = "number"
    name: str = ""  # of the original column, and its own for ``made``
    # ``seen * scale + shift`` is the number, the 0 or 1, the code or the bin.
    scale: float = 1.0
    shift: float = 0.0
    known: tuple[str, ...] = ()  # the categories
    code: int = 0  # the first category that makes a 1
    span: int = 1  # how many of them make it, or of the last categories share one code
    edges: tuple[float, ...] = ()  # the edges of the bins
    # What missing values were replaced with, in units of the number; of an ordinal column that
    # knows a category of missing values: what others were that it does not know.
    fill: float | None = None
    # The same, where it is the name of a category, be it one of missing values.
    instead: str | None = None
    # The code of the last category of an ordinal column where that is not its place: of missing
    # values, not-a-number where they stay missing.
    apart: float | None = None
    # Whether a value that is none of the categories makes no 1 at all, or gets the code of missing
    # values.
    ignores_unknown: bool = False
    takes_unknown: bool = False  # whether such a value makes a 1
    ends: tuple[float, float] = OPEN  # what its numbers are cut to: a tree asks for nothing beyond
    derived: Derived | None = None  # how the number, or the code, is computed from the data
    rare: int = 0  # how many of the last categories are one to the encoder
    made_by: str = ""  # the step of which the file does not tell how it made the column

    @property
    def is_plain(self) -> bool:
        """Whether it is a number as it came: categories are told in these."""
        plain = (self.kind, self.scale, self.shift, self.ends) == ("number", 1, 0, OPEN)
        return plain and self.derived is None

    @property
    def label(self) -> str:
        """What scikit-learn calls it, without the names of transformers."""
        if self.kind == "missing":
            return f"missingindicator_{self.name}"
        if self.kind != "one-hot":
            return self.name
        return f"{self.name}_{'infrequent_sklearn' if self.span > 1 else self.known[self.code]}"

    @property
    def source(self) -> Feature:
        """The feature that conditions on it are about."""
        return Feature(
            name=self.name,
            categories=self.known or None,
            ignores_unknown=self.ignores_unknown,
            fill=self.instead if self.known else None,
            rare=self.rare,
            derived=self.derived,
            made_by=self.made_by,
        )


def values_of(column: Column, raw: Raw, memo: dict[str, Float]) -> Float:
    """Return the numbers of a column as steps give them out."""
    c = column
    x = raw[c.source] if c.derived is None else c.derived.compute(raw, memo)
    match c.kind:
        case "one-hot":
            x = np.where(np.isnan(x), c.takes_unknown, (x >= c.code) & (x < c.code + c.span))
        case "ordinal":
            last = len(c.known) - 1
            x = np.where((x == last) & (c.apart is not None), c.apart or 0, x)
            x = np.minimum(x, len(c.known) - c.span) if c.span > 1 else x
        case "bins":
            inner = np.array(c.edges[1:-1])
            x = np.where(np.isnan(x), x, np.searchsorted(inner, x, side="right"))
        case "missing":
            x = np.isnan(x)
    if c.fill is not None:
        x = np.where(np.isnan(x), c.fill, x)
    with np.errstate(over="ignore"):
        x = (np.asarray(x, np.float64) - c.shift) / c.scale
    return x if c.ends == OPEN else np.clip(x, *c.ends)


def first_from(column: Column, edges: Float) -> Float:
    """Return the smallest original numbers that are not below some edges in a column."""

    def below(x: Float) -> Flag:
        return np.asarray(values_of(column, {column.source: x}, {}) < edges)

    found = edges * column.scale + column.shift
    for _ in range(8):  # a scaler rounds
        found = np.where(below(found), np.nextafter(found, np.inf), found)
        before = np.nextafter(found, -np.inf)
        found = np.where(below(before), found, before)
    return found


Apply = Callable[[Float], Float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """The columns that a step makes of others, computed together."""

    apply: Apply
    inputs: tuple[Column, ...]
    key: str

    def column(self, at: int, raw: Raw, memo: dict[str, Float]) -> Float:
        if self.key not in memo:
            each = [values_of(column, raw, memo) for column in self.inputs]
            with np.errstate(all="ignore"):
                memo[self.key] = self.apply(np.column_stack(each))
        found: Float = memo[self.key][:, at]
        return found


def derived(apply: Apply, columns: Sequence[Column], width: int) -> list[Derived]:
    """Return how each column is computed that a step makes of others."""
    sources: dict[Feature, None] = {}
    for c in columns:
        sources.update(dict.fromkeys(c.derived.sources if c.derived else (c.source,)))
    keys = [(replace(c, derived=None), c.derived and c.derived.key) for c in columns]
    key = sha256(pickle.dumps((apply, keys))).hexdigest()
    block = _Block(apply=apply, inputs=tuple(columns), key=key)
    return [
        Derived(
            compute=partial(block.column, at),
            sources=tuple(sources),
            key=f"{key} {at}",
        )
        for at in range(width)
    ]
