"""The drawings of a view: plots and curves with their numbers in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.findings.details import People
from treeaudit.findings.findings import Curve, Line, MarkKind, Plot
from treeaudit.reports.charts import strip
from treeaudit.reports.wording import in_words, interval, percent, rate
from treeaudit.stats import Estimate

_WIDTH, _HEIGHT, _SIDE, _ROW = 460, 128, 44, 19
_APART = 26
"""Pixels between numbers below the axis."""
_SHADES = ("s0", "s1", "s2", "s3")
"""Classes of the lines: they differ in how they are dashed before they differ in colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line."""

    name: str
    values: Sequence[float]  # Its heights at 0, 1, 2, … or where told; at least two
    texts: Sequence[str]  # The same in words, as they may be told


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
    heights = [
        Markup(
            '<path class="gr" d="M{l} {y}H{r}"/><text x="{x}" y="{t}" text-anchor="end">{n}</text>'
        ).format(
            l=_SIDE, y=y, r=_WIDTH - 12, x=_SIDE - 8, t=y + 4,
            n=f"{high * part:,.0f}" if high > 1 else f"{high * part:.0%}",
        )
        for part, y in ((0, bottom), (0.5, (top + bottom) // 2), (1, top))
    ]  # fmt: skip
    told = "; ".join(_said(one) for one in series)
    return Markup(
        '<svg class="chart line" viewBox="0 0 {w} {h}" role="img" aria-label="{name}">'
        '<desc>{told}</desc>{body}'
        '<text x="{m}" y="{y}" text-anchor="middle">{axis}</text></svg>'
    ).format(
        w=_WIDTH, h=bottom + 38, m=_WIDTH / 2, y=bottom + 34,
        name=name, axis=axis, told=told, body=Markup("").join([*heights, *drawn, *ticks]),
    )  # fmt: skip


def _places(at: Sequence[int], length: int) -> list[tuple[float, int]]:
    """Return where the values stand, and at what number."""
    numbers = at or range(length)
    far = [math.log(n) for n in at] or list(range(length))
    wide = (_WIDTH - _SIDE - 12) / max(far[-1], 1e-9)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One share: its value between 0 and 1, and its interval where it has one."""

    kind: MarkKind
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a plot."""

    name: str
    graph: Markup  # The drawing; nothing where there is no number to draw
    # The same in words, one per heading of the plot; a single one says why there is no number.
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Rows on one scale: a `treeaudit.findings.details.Plot` in words."""

    title: str
    lines: tuple[Row, ...]
    heads: tuple[str, ...] = ("value", "95 % interval", "people")
    told: bool = False
    sentences: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


def whiskers(marks: Sequence[Point], reference: float | None = None) -> Markup:
    """Draw shares on a line from 0 to 1, later ones over earlier ones, and what chance would give.

    Strokes keep their width while the drawing is stretched, so that dots stay
    round at any size of the page.
    """
    grid = Markup("").join(
        Markup('<path class="gr" d="M{} 0V20"/>').format(x) for x in (0, 25, 50, 75, 100)
    )
    chance = Markup("")
    if reference is not None:
        chance = Markup('<path class="pol" d="M{:.1f} 0V20"/>').format(_percent(reference))
    return Markup(
        '<svg class="whiskers" viewBox="0 0 100 20" preserveAspectRatio="none" '
        'aria-hidden="true">{}{}{}</svg>'
    ).format(grid, chance, Markup("").join(_mark(mark) for mark in marks))


def share_row(name: str, kind: MarkKind, found: Estimate, reference: float | None = None) -> Row:
    """Return a row for a share; ``reference`` is what chance would give."""
    mark = Point(kind=kind, value=found.value, low=found.low, high=found.high)
    return Row(
        name=name,
        graph=whiskers([mark], reference),
        cells=(rate(found), interval(found), f"of {found.n:,}"),
    )


def _mark(mark: Point) -> Markup:
    x, low, high = (_percent(share) for share in (mark.value, mark.low, mark.high))
    line = Markup("")
    if high - low >= 0.1:
        line = Markup(
            '<path class="wh {k}" d="M{low:.1f} 10H{high:.1f}"/>'
            '<path class="wh {k}" d="M{low:.1f} 6V14M{high:.1f} 6V14"/>'
        ).format(k=mark.kind, low=low, high=high)
    dot = Markup('<path class="wd {k}" d="M{x:.1f} 10h0"/>').format(k=mark.kind, x=x)
    if mark.kind == "guess":
        dot += Markup('<path class="wi" d="M{x:.1f} 10h0"/>').format(x=x)
    return line + dot


def _percent(share: float) -> float:
    return 100 * min(1.0, max(0.0, share))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing and what it is called."""

    title: str
    svg: Markup


def draw_plot(plot: Plot) -> Drawing | None:
    """Return the rows of a plot; None where none has anything to draw."""
    told = [row for row in map(_row, plot.lines) if row is not None]
    if plot.lines and not told:
        return None
    return Drawing(
        title=in_words(plot.title),
        lines=tuple(told[: plot.most]),
        heads=plot.heads,
        told=plot.told,
        sentences=tuple(map(in_words, plot.sentences)),
        more=tuple(map(in_words, plot.more)),
    )


def _row(line: Line) -> Row | None:
    name = in_words(line.name)
    told = None if line.cells is None else tuple(map(in_words, line.cells))
    only = line.marks[0] if len(line.marks) == 1 else None
    if only is not None and only.kind != "part" and only.share is not None and told is None:
        return share_row(name, only.kind, only.share, line.chance)
    rates = tuple("–" if mark.share is None else rate(mark.share) for mark in line.marks)
    # The first mark is what the row is about: it is drawn last, over the others.
    points = [
        Point(kind=mark.kind, value=mark.share.value, low=mark.share.low, high=mark.share.high)
        for mark in reversed(line.marks)
        if mark.share is not None
    ]
    if any(mark.kind == "part" for mark in line.marks):
        if not points:
            return None
        graph = strip([("part", point.value) for point in points])
    else:
        graph = whiskers(points, line.chance) if points else Markup("")
    return Row(name=name, graph=graph, cells=rates if told is None else told)


def draw_curve(curve: Curve) -> Chart | None:
    """Return the lines of a curve; None where it has none."""
    if not curve.series:
        return None
    series = [
        Series(
            name=one.name,
            values=one.values,
            texts=[f"{n:,}" if isinstance(n, People) else percent(n) for n in one.values],
        )
        for one in curve.series
    ]
    svg = lines(series, name=curve.name, axis=curve.axis, at=curve.at, most=curve.most)
    return Chart(title=curve.title, svg=svg)
