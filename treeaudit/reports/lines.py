"""Growing numbers against 0, 1, 2, … or a few larger ones: several lines on one scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

__all__ = ["Series", "lines"]

_WIDTH, _HEIGHT, _SIDE, _ROW = 460, 128, 12, 19
_APART = 26
"""Pixels between numbers below the axis."""
_SHADES = ("s0", "s1", "s2", "s3")
"""Classes of the lines: they differ in how they are dashed before they differ in colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line.

    Attributes
    ----------
    values
        Its heights at 0, 1, 2, … or where told; at least two.
    texts
        The same in words, as they may be told.
    """

    name: str
    values: Sequence[float]
    texts: Sequence[str]


def lines(
    series: Sequence[Series],
    *,
    name: str,
    axis: str,
    at: Sequence[int] = (),
    most: float | None = None,
) -> Markup:
    """Draw at most four lines over one axis, each named with its first and last number.

    The top of the scale is the largest number unless told, and the axis even unless told where
    the values stand: then it is logarithmic.

    Examples
    --------
    >>> svg = lines([Series(name="<known>", values=[1, 3], texts=["1", "3"])], name="n", axis="r")
    >>> "&lt;known&gt;: from 1 to 3" in svg, svg.count("<circle")
    (True, 2)
    >>> one = Series(name="groups", values=[2, 8, 9], texts=["2", "8", "9"])
    >>> ">100<" in lines([one], name="n", axis="trees", at=[1, 10, 100])
    True
    """
    top = _ROW * len(series) + 10
    bottom = top + _HEIGHT
    high = most or max(max(one.values) for one in series) or 1
    places = _places(at, max(len(one.values) for one in series))
    drawn = [
        _line(one, shade, row, [x for x, _ in places], top, high)
        for row, (one, shade) in enumerate(zip(series, _SHADES, strict=False))
    ]
    ticks = [
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(x, bottom + 17, n)
        for x, n in _numbered(places)
    ]
    told = "; ".join(_said(one) for one in series)
    return Markup(
        '<svg class="chart line" viewBox="0 0 {w} {h}" role="img" aria-label="{name}">'
        '<desc>{told}</desc><path class="gr" d="M{l} {b}H{r}"/>{body}'
        '<text x="{m}" y="{y}" text-anchor="middle">{axis}</text></svg>'
    ).format(
        w=_WIDTH, h=bottom + 38, l=_SIDE, r=_WIDTH - _SIDE, b=bottom, m=_WIDTH / 2, y=bottom + 34,
        name=name, axis=axis, told=told, body=Markup("").join([*drawn, *ticks]),
    )  # fmt: skip


def _places(at: Sequence[int], length: int) -> list[tuple[float, int]]:
    """Return where the values stand, and at what number."""
    numbers = at or range(length)
    far = [math.log(n) for n in at] or list(range(length))
    wide = (_WIDTH - 2 * _SIDE) / max(far[-1], 1e-9)
    return [(_SIDE + x * wide, n) for x, n in zip(far, numbers, strict=True)]


def _numbered(places: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return the numbers that stand apart, the last of them too where it is given."""
    shown: list[tuple[float, int]] = []
    for x, n in reversed(places):
        if not shown or shown[-1][0] - x >= _APART:
            shown.append((x, n))
    return shown[::-1]


def _said(one: Series) -> str:
    return f"{one.name}: from {one.texts[0]} to {one.texts[-1]}"


def _line(
    one: Series, shade: str, row: int, places: Sequence[float], top: float, high: float
) -> Markup:
    at = [
        (x, top + _HEIGHT * (1 - value / high))
        for x, value in zip(places, one.values, strict=False)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    dots = Markup("").join(
        Markup('<circle class="pt {}" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>')
        .format(shade, x, y, text)
        for (x, y), text in zip(at, one.texts, strict=True)
    )  # fmt: skip
    y = 12 + row * _ROW
    return Markup(
        '<polyline class="ln {s}" points="{points}"/>{dots}'
        '<path class="ln {s}" d="M{a} {k}H{b}"/><text class="ptl" x="{t}" y="{y}">{said}</text>'
    ).format(
        s=shade, points=points, dots=dots, a=_SIDE, b=_SIDE + 26, t=_SIDE + 34, k=y - 4, y=y,
        said=_said(one),
    )  # fmt: skip
