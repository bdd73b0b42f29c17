"""Scalers: what each column was before it was moved and stretched."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treeaudit.readers.sklearn.column import Attributes, Column, numbers_of, switched_on
from treeaudit.readers.types import Float


def _affine(columns: list[Column], factor: Float, offset: Float) -> list[Column] | None:
    """Put ``before = after * factor + offset`` behind what was undone already."""
    if len(factor) != len(columns) or len(offset) != len(columns):
        return None
    if not (np.isfinite(factor).all() and np.isfinite(offset).all() and (factor > 0).all()):
        return None
    return [
        replace(
            c,
            scale=c.scale * f,
            shift=c.scale * o + c.shift,
            ends=((c.ends[0] - o) / f, (c.ends[1] - o) / f),
        )
        for c, f, o in zip(columns, factor.tolist(), offset.tolist(), strict=True)
    ]


def scaled(
    spread: str, middle: str, switches: tuple[str, str]
) -> Callable[[Attributes, list[Column]], list[Column] | None]:
    """Undo ``(x - middle) / spread``."""

    def undo(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
        n = len(columns)
        parts = []
        for name, switch, default in ((spread, switches[1], 1.0), (middle, switches[0], 0.0)):
            wanted = bool(name) and switched_on(attributes, switch, True)
            stored = attributes.get(name) if wanted else None
            if wanted and stored is None:
                return None
            parts.append(numbers_of(stored, n, default))
        return _affine(columns, *parts)

    return undo


def min_max(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo ``x * scale + least``."""
    scale = numbers_of(attributes.get("scale_"), len(columns), 1.0)
    if (scale == 0).any():
        return None
    least = numbers_of(attributes.get("min_"), len(columns), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        made = _affine(columns, 1 / scale, -least / scale)
    return _cut(made, attributes, attributes.get("feature_range"))


def max_abs(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo ``x / scale``."""
    made = scaled("scale_", "", ("", ""))(attributes, columns)
    return _cut(made, attributes, (-1, 1))


def _cut(made: list[Column] | None, attributes: Attributes, ends: object) -> list[Column] | None:
    """Cut what a scaler gives out to its ends, where it is asked to."""
    if made is None or not switched_on(attributes, "clip", False):
        return made
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        return None
    low, high = (float(end) if isinstance(end, int | float) else math.nan for end in ends)
    if not low < high:
        return None
    # A column that was cut before is cut to what is left of it.
    both = [(max(low, c.ends[0]), min(high, c.ends[1])) for c in made]
    return [replace(c, ends=each) for c, each in zip(made, both, strict=True)]
