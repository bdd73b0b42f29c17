"""The drawings of the report: SVG by hand, numbers in, markup out.

Colours are names of CSS classes, so that light, dark and print share one
drawing. Every text from a model goes through `Markup.format`, which escapes it.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.reports.icicle import Cell, Layout

_WORDS = 90
"""As many as a page has room for, whatever the columns are called."""


def fit(text: str, width: float, per_letter: float = 5.9) -> str:
    """Return as much of a text as fits into some pixels, or nothing."""
    room = int(width / per_letter)
    used = 0
    for i, letter in enumerate(text):
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if used > room or (used == room and i + 1 < len(text)):
            return f"{text[:i].rstrip()}…" if i >= 3 else ""
    return text


def cell_texts(
    layout: Layout, questions: Mapping[int, tuple[str, str]], step: float
) -> Mapping[int, str]:
    """Return the text of inner nodes by their number: of the top rows first, so many words."""
    found: dict[int, str] = {}
    left = _WORDS
    for cell in sorted(layout.cells, key=lambda one: one.depth):
        text = questions.get(cell.node, ("", ""))[0] if cell.kind == "inner" else ""
        shown = fit(text, max(cell.width * step - 1, 0.5) - 10)
        left -= len(shown.split())
        if left < 0:
            break
        if shown:
            found[cell.node] = shown
    return found


_WIDTH = 1056
_GUTTER = 46
_BARS = 86
_READABLE = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What is drawn below one end of the icicle."""

    title: str
    row: str  # Id of its row in the table; empty where there is none
    # smallest, largest: people in its smallest and largest leaf; the same for one leaf
    smallest: int
    largest: int
    shares: tuple[tuple[str, float], ...]  # Colour and share of its leaves, the most exposed first
    one_label: bool = False  # Whether everybody in it has the same label


def icicle(
    layout: Layout,
    columns: Sequence[Column],
    questions: Mapping[int, tuple[str, str]],
    *,
    k: int,
    name: str,
    description: str,
) -> Markup:
    """Draw a tree above the sizes of its groups, one column per end."""
    step = (_WIDTH - _GUTTER) / layout.columns
    height = min(28.0, max(11.0, 250 / layout.rows))
    floor = 4 + layout.rows * height
    bars = _Bars(top=floor + 22, most=max([k, *(column.largest for column in columns)]))
    asked = cell_texts(layout, questions, step) if height >= _READABLE else {}
    parts = [
        _question(
            cell, asked.get(cell.node, ""), questions.get(cell.node, ("", ""))[1], step, height
        )
        for cell in layout.cells
        if cell.kind == "inner"
    ]
    parts += bars.axis(k)
    for cell, column in zip(layout.ends, columns, strict=True):
        parts.append(_column(cell, column, step, height, floor, bars))
    parts.append(bars.policy(k))
    return Markup(
        '<svg class="chart" viewBox="0 0 {w} {h:.0f}" role="img" aria-label="{name}">'
        "<desc>{desc}</desc>{body}</svg>"
    ).format(
        w=_WIDTH, h=bars.top + _BARS + 8, name=name, desc=description, body=Markup("").join(parts)
    )


def _question(cell: Cell, shown: str, title: str, step: float, height: float) -> Markup:
    x, y = _GUTTER + cell.first * step, 4 + cell.depth * height
    width = max(cell.width * step - 1, 0.5)
    drawn = Markup("")
    if shown:
        # A nested svg clips a text that is wider than it was thought to be.
        drawn = Markup(
            '<svg x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}">'
            '<text class="nl" x="6" y="{base:.1f}">{text}</text></svg>'
        ).format(x=x, y=y, w=width, h=height - 1, base=height / 2 + 3.5, text=shown)
    tooltip = Markup("<title>{}</title>").format(title) if title else Markup("")
    return Markup(
        '<g>{title}<rect class="nd" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
        'rx="2"/>{drawn}</g>'
    ).format(title=tooltip, x=x, y=y, w=width, h=height - 1, drawn=drawn)


def _column(
    cell: Cell, column: Column, step: float, height: float, floor: float, bars: "_Bars"
) -> Markup:
    x, y = _GUTTER + cell.first * step, 4 + cell.depth * height
    width = min(step - min(1.0, step / 5), 90.0)
    x += (step - width) / 2 if width == 90.0 else 0
    drawn = _stack(column, x, y, width, floor - y - 1)
    if cell.kind == "fold":
        drawn += _rect("cap", x, y, width, 2.5)
    if column.one_label:
        drawn += Markup('<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>').format(
            x=x + width / 2, y=floor + 9, r=min(2.4, width / 2)
        )
    hit = _rect("hit", x, y, width, bars.top + _BARS - y)
    return Markup('<g class="col" data-row="{row}"><title>{title}</title>{body}</g>').format(
        row=column.row, title=column.title, body=hit + drawn + bars.bar(column, x, width)
    )


def _rect(shade: str, x: float, y: float, width: float, height: float) -> Markup:
    return Markup(
        '<rect class="{c}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"/>'
    ).format(c=shade, x=x, y=y, w=width, h=height)


def _stack(column: Column, x: float, y: float, width: float, height: float) -> Markup:
    parts = []
    for shade, share in column.shares:
        parts.append(_rect(shade, x, y, width, max(height * share, 0)))
        y += height * share
    return Markup("").join(parts)


class _Bars:
    """The row of bars on a logarithmic scale below the icicle."""

    def __init__(self, *, top: float, most: int) -> None:
        self.top = top
        self.most = math.log10(max(most, 10)) + 0.3

    def height(self, people: int) -> float:
        """Return the height of a bar; one person is short, not invisible."""
        return _BARS * (math.log10(max(people, 1)) + 0.3) / self.most

    def y(self, people: int) -> float:
        """Return where a number of people is on the scale."""
        return self.top + _BARS - self.height(people)

    def bar(self, column: Column, x: float, width: float) -> Markup:
        """Draw one group, or the range from the smallest to the largest."""
        if column.largest <= 0:
            return Markup("")
        shade = column.shares[0][0]
        low, high = self.y(column.smallest), self.y(column.largest)
        parts = [_rect(shade, x, low, width, self.top + _BARS - low)]
        if column.largest > column.smallest:
            parts.append(_rect("span", x + width * 0.3, high, width * 0.4, low - high))
        return Markup("").join(parts)

    def axis(self, k: int) -> list[Markup]:
        """Draw a line and a number per power of ten."""
        parts = []
        for power in range(math.floor(self.most - 0.3) + 1):
            n = 10**power
            y = self.y(n)
            clear = abs(y - self.y(k)) > 11
            label = Markup('<text x="{x}" y="{y:.1f}" text-anchor="end">{n}</text>').format(
                x=_GUTTER - 7, y=y + 3.5, n=_short(n)
            )
            parts.append(
                Markup('<path class="gr" d="M{a} {y:.1f}H{b}"/>{label}').format(
                    a=_GUTTER, b=_WIDTH, y=y, label=label if clear else ""
                )
            )
        return parts

    def policy(self, k: int) -> Markup:
        """Draw the line of the policy."""
        return Markup(
            '<path class="pol" d="M{a} {y:.1f}H{b}"/>'
            '<text class="polt" x="{x}" y="{t:.1f}" text-anchor="end">k = {k}</text>'
        ).format(a=_GUTTER, b=_WIDTH, y=self.y(k), x=_GUTTER - 7, t=self.y(k) + 3.5, k=k)


def _short(n: int) -> str:
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if n >= unit:
            return f"{n // unit}{name}"
    return str(n)


def strip(shares: Sequence[tuple[str, float]]) -> Markup:
    """Draw shares side by side; for a bar, give one share below 1."""
    x = 0.0
    parts = []
    for shade, share in shares:
        parts.append(
            Markup('<rect class="{c}" x="{x:.2f}" width="{w:.2f}" height="10"/>').format(
                c=shade, x=x * 100, w=share * 100
            )
        )
        x += share
    return Markup(
        '<svg class="strip" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        "{}</svg>"
    ).format(Markup("").join(parts))
