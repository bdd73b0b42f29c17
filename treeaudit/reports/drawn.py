"""The drawings of a view: plots and curves with their numbers in words."""

from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.findings.numbers import People
from treeaudit.findings.view import Curve, Line, Plot
from treeaudit.reports.charts import strip
from treeaudit.reports.lines import Series, lines
from treeaudit.reports.whiskers import Drawing, Point, Row, share_row, whiskers
from treeaudit.reports.wording import in_words, percent, rate

__all__ = ["Chart", "draw_curve", "draw_plot"]


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
