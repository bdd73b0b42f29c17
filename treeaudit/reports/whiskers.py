"""Shares on a common scale from 0 to 1: a dot for the value, a line for its interval.

The drawing only repeats the text beside it. Kinds of shares differ in shape
before they differ in colour: what the file claims is a square, people who were
looked at are a dot, a guess without the model is a ring.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.findings.view import MarkKind
from treeaudit.reports.wording import interval, rate
from treeaudit.stats import Estimate

__all__ = ["Drawing", "Point", "Row", "share_row", "whiskers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One share: its value between 0 and 1, and its interval where it has one."""

    kind: MarkKind
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a plot.

    Attributes
    ----------
    graph
        The drawing; nothing where there is no number to draw.
    cells
        The same in words, one per heading of the plot; a single one says why
        there is no number.
    """

    name: str
    graph: Markup
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Rows on one scale: a `treeaudit.findings.view.Plot` in words."""

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

    Examples
    --------
    >>> svg = whiskers([Point(kind="unseen", value=0.61, low=0.42, high=0.76)])
    >>> 'd="M42.0 10H76.0"' in svg, 'd="M61.0 10h0"' in svg
    (True, True)
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
