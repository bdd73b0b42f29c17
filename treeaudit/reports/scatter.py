"""Accuracy against how many: what fewer trees cost, in one picture.

Models are numbered as in the table beside it. A filled mark passes the policy,
a ring does not: the difference is a shape before it is a colour.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.model.words import in_percent

__all__ = ["Point", "scatter"]

WIDTH, HEIGHT = 440, 250
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 14, 46


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One model: its number, how many there are of what the axis counts, and accuracy.

    ``says`` is said of the point.
    """

    number: int
    name: str
    smallest: int
    value: float
    low: float
    high: float
    passes: bool
    says: str = ""


def scatter(points: Sequence[Point], *, name: str, axis: str) -> Markup:
    """Draw how many of what the axis counts, on a scale of tens, against accuracy.

    Examples
    --------
    >>> one = Point(number=1, name="<a>", smallest=5, value=0.8, low=0.7, high=0.9, passes=True)
    >>> svg = scatter([one], name="models", axis="trees")
    >>> "&lt;a&gt;" in svg and "<a>" not in svg
    True
    """
    bottom, top = min(p.low for p in points), max(p.high for p in points)
    pad = max((top - bottom) * 0.08, 0.002)
    most = max(*(p.smallest for p in points), 10)
    scale = _Scale(most=most, bottom=bottom - pad, top=top + pad)
    parts = [*scale.axes(axis), *(_mark(point, scale) for point in points)]
    return Markup(
        '<svg class="chart line" viewBox="0 0 {w} {h}" role="img" aria-label="{name}">{body}</svg>'
    ).format(w=WIDTH, h=HEIGHT, name=name, body=Markup("").join(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """Where numbers of people and shares lie on the page."""

    most: int
    bottom: float
    top: float

    def x(self, n: int) -> float:
        share = math.log(max(n, 1)) / math.log(self.most)
        return LEFT + 14 + share * (WIDTH - RIGHT - LEFT - 28)

    def y(self, share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (
            1 - (share - self.bottom) / (self.top - self.bottom)
        )

    def axes(self, axis: str) -> list[Markup]:
        floor = HEIGHT - BOTTOM
        parts = [Markup('<path class="gr" d="M{}  {}H{}"/>').format(LEFT, floor, WIDTH - RIGHT)]
        step = 10.0 ** math.floor(math.log10((self.top - self.bottom) / 2))
        step = next(s * step for s in (5, 2, 1) if (self.top - self.bottom) / (s * step) >= 2)
        tick = math.ceil(self.bottom / step) * step
        while tick <= min(self.top, 1.0):
            parts.append(
                Markup(
                    '<path class="gr" d="M{} {:.1f}H{}"/>'
                    '<text x="{}" y="{:.1f}" text-anchor="end">{:.{d}%}</text>'
                ).format(
                    LEFT, self.y(tick), WIDTH - RIGHT, LEFT - 7, self.y(tick) + 3.5, tick,
                    d=max(0, -math.floor(math.log10(step)) - 2),
                )
            )  # fmt: skip
            tick += step
        people = 1
        while people <= self.most:
            parts.append(
                Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{:,}</text>').format(
                    self.x(people), floor + 16, people
                )
            )
            people *= 10
        parts.append(
            Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, axis
            )
        )
        return parts


def _mark(point: Point, scale: _Scale) -> Markup:
    x, y = scale.x(point.smallest), scale.y(point.value)
    return Markup(
        '<g class="{kind}"><title>{n}. {name}: {value}, {says}</title>'
        '<path class="wh" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
        '<circle cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
        '<text x="{x:.1f}" y="{t:.1f}" text-anchor="middle">{n}</text></g>'
    ).format(
        kind="good" if point.passes else "poor", n=point.number, name=point.name,
        value=in_percent(point.value, 2), says=point.says, x=x, y=y, t=y + 4,
        low=scale.y(point.low), high=scale.y(point.high),
    )  # fmt: skip
