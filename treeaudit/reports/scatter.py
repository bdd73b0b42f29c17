"""Accuracy against the smallest leaf: what privacy costs, in one picture.

Models are numbered as in the table beside it. A filled mark passes the policy,
a ring does not: the difference is a shape before it is a colour.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

__all__ = ["Point", "scatter"]

WIDTH, HEIGHT = 440, 250
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 14, 46
APART = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One model: its number, smallest leaf, accuracy with interval, and whether it passes.

    ``smallest`` is None for a private model: its leaves hold noise, and stand apart. On another
    axis it is what that counts, and ``says`` is said of the point.
    """

    number: int
    name: str
    smallest: int | None
    value: float
    low: float
    high: float
    passes: bool
    says: str = ""


def scatter(
    points: Sequence[Point], *, k: int, name: str, axis: str = "people in the smallest leaf"
) -> Markup:
    """Draw models by smallest leaf and accuracy, and from k = 2 on the line of the policy.

    Examples
    --------
    >>> one = Point(number=1, name="<a>", smallest=5, value=0.8, low=0.7, high=0.9, passes=True)
    >>> svg = scatter([one], k=5, name="models")
    >>> "&lt;a&gt;" in svg and "<a>" not in svg
    True
    """
    bottom, top = min(p.low for p in points), max(p.high for p in points)
    pad = max((top - bottom) * 0.08, 0.002)
    scale = _Scale(
        most=max(*(p.smallest or 1 for p in points), k, 10),
        bottom=bottom - pad,
        top=top + pad,
        private=sum(p.smallest is None for p in points),
    )
    apart = iter(range(scale.private))
    parts = [*scale.axes(k, axis)]
    parts += [
        _mark(point, scale, scale.x(point.smallest) if point.smallest else scale.aside(next(apart)))
        for point in points
    ]
    return Markup(
        '<svg class="chart line" viewBox="0 0 {w} {h}" role="img" aria-label="{name}">{body}</svg>'
    ).format(w=WIDTH, h=HEIGHT, name=name, body=Markup("").join(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    most: int
    bottom: float
    top: float
    private: int

    @property
    def right(self) -> float:
        """Where the scale of leaves ends and the private models begin."""
        return WIDTH - RIGHT - (APART * min(self.private, 4) + 12 if self.private else 0)

    def x(self, people: int) -> float:
        share = math.log(max(people, 1)) / math.log(self.most)
        return LEFT + 14 + share * (self.right - LEFT - 28)

    def aside(self, i: int) -> float:
        """Return where the i-th private model stands."""
        return self.right + 12 + APART * (i % 4 + 0.5)

    def y(self, share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (
            1 - (share - self.bottom) / (self.top - self.bottom)
        )

    def axes(self, k: int, axis: str) -> list[Markup]:
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
        if k > 1:
            parts.append(
                Markup(
                    '<path class="pol" d="M{x:.1f} {t}V{b}"/>'
                    '<text class="polt" x="{l:.1f}" y="{y}">k = {k}</text>'
                ).format(x=self.x(k), t=TOP, b=floor, l=self.x(k) + 5, y=TOP + 9, k=k)
            )
        parts.append(
            Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
                (LEFT + self.right) / 2, HEIGHT - 6, axis
            )
        )
        if self.private:
            parts.append(
                Markup(
                    '<path class="gr" d="M{x:.1f} {t}V{b}"/>'
                    '<text x="{m:.1f}" y="{y}" text-anchor="middle">private</text>'
                ).format(
                    x=self.right + 8, t=TOP, b=floor, y=floor + 16,
                    m=(self.right + 8 + WIDTH - RIGHT) / 2,
                )
            )  # fmt: skip
        return parts


def _mark(point: Point, scale: _Scale, x: float) -> Markup:
    y = scale.y(point.value)
    leaf = "noisy leaves" if point.smallest is None else f"smallest leaf {point.smallest:,}"
    leaf = point.says or leaf
    return Markup(
        '<g class="{kind}"><title>{n}. {name}: {value:.2%}, {leaf}</title>'
        '<path class="wh" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
        '<circle cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
        '<text x="{x:.1f}" y="{t:.1f}" text-anchor="middle">{n}</text></g>'
    ).format(
        kind="good" if point.passes else "poor", n=point.number, name=point.name,
        value=point.value, leaf=leaf, x=x, y=y, t=y + 4,
        low=scale.y(point.low), high=scale.y(point.high),
    )  # fmt: skip
