"""The drawings of a view: plots and curves with their numbers as they may be told."""

from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.findings.numbers import People
from treeaudit.findings.view import Curve, Line, Mark, Plot
from treeaudit.reports.charts import strip
from treeaudit.reports.lines import Series, lines
from treeaudit.reports.masking import Numbers, percent
from treeaudit.reports.whiskers import Drawing, Point, Row, share_row, whiskers
from treeaudit.stats import Estimate

__all__ = ["Chart", "draw_curve", "draw_plot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing and what it is called."""

    title: str
    svg: Markup


def draw_plot(plot: Plot, numbers: Numbers) -> Drawing | None:
    """Return the rows of a plot that may be told; None where none may."""
    if numbers.safe and plot.exact:
        return None
    rows = [_row(line, numbers) for line in plot.lines if not numbers.hides(line.tells_of or 0)]
    told = [row for row in rows if row is not None]
    if plot.lines and not told:
        return None
    return Drawing(
        title=numbers.say(plot.title),
        lines=tuple(told[: plot.most]),
        heads=plot.heads,
        told=plot.told,
        sentences=tuple(numbers.say(one) for one in plot.sentences if numbers.tells(one)),
        more=tuple(numbers.say(one) for one in plot.more if numbers.tells(one)),
    )


def _row(line: Line, numbers: Numbers) -> Row | None:
    name = numbers.say(line.name)
    told = None if line.cells is None else tuple(numbers.say(cell) for cell in line.cells)
    only = line.marks[0] if len(line.marks) == 1 else None
    if only is not None and only.kind != "part" and only.share is not None and told is None:
        return share_row(name, only.kind, only.share, numbers, line.chance)
    shown = [(mark, _shown(mark, numbers)) for mark in line.marks]
    rates = tuple("–" if share is None else numbers.rate(share) for _, share in shown)
    # The first mark is what the row is about: it is drawn last, over the others.
    points = [
        Point(kind=mark.kind, value=share.value, low=share.low, high=share.high)
        for mark, share in reversed(shown)
        if share is not None
    ]
    if any(mark.kind == "part" for mark in line.marks):
        if not points:
            return None
        graph = strip([("part", point.value) for point in points])
    else:
        graph = whiskers(points, line.chance) if points else Markup("")
    return Row(name=name, graph=graph, cells=rates if told is None else told)


def _shown(mark: Mark, numbers: Numbers) -> Estimate | None:
    return None if mark.share is None else numbers.estimate(mark.share)


def draw_curve(curve: Curve, numbers: Numbers) -> Chart | None:
    """Return the lines of a curve that may be told; None where none may."""
    told = [one for one in curve.series if not (numbers.safe and one.exact)]
    if not told or (numbers.safe and curve.exact):
        return None
    series = [
        Series(
            name=one.name,
            values=[numbers.rounded(n) if isinstance(n, People) else n for n in one.values],
            texts=[numbers.count(n) if isinstance(n, People) else percent(n) for n in one.values],
        )
        for one in told
    ]
    svg = lines(series, name=curve.name, axis=curve.axis, at=curve.at, most=curve.most)
    return Chart(title=curve.title, svg=svg)
