"""What a model is good for against what it gives away: every model on one picture.

Models are numbered as in the table beside it. A filled mark may go out, a ring
may not: the difference is a shape before it is a colour. An epsilon stands at
its point.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.comparison.measures import MEASURES, Measure
from treeaudit.stats import Estimate

__all__ = ["Trade", "picture"]

WIDTH, HEIGHT = 440, 290
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 16, 46
_APART: Mapping[Measure, float] = {"membership": 0, "attribute": 14, "certified": -14}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """One model: its number, accuracy or R², what was measured of its people, whether it passes."""

    number: int
    name: str
    useful: Estimate
    leaks: Mapping[Measure, Estimate]
    epsilon: str
    passes: bool


def picture(models: Sequence[Trade], *, across: str, percent: bool) -> Markup:
    """Draw accuracy across and what attacks found beyond the guess up, with 95 % intervals.

    Examples
    --------
    >>> half = Estimate(value=0.5, low=0.4, high=0.6, n=9)
    >>> one = Trade(number=1, name="<a>", useful=half, leaks={"membership": half}, epsilon="ε 1",
    ...             passes=True)
    >>> svg = picture([one], across="accuracy", percent=True)
    >>> "&lt;a&gt;" in svg, "<a>" in svg, "ε 1" in svg
    (True, False, True)
    """
    good = [end for m in models for end in (m.useful.low, m.useful.high)]
    bad = [end for m in models for one in m.leaks.values() for end in (one.low, one.high)]
    x = _Axis.over(good, LEFT + 12, WIDTH - RIGHT - 12, 1.0)
    y = _Axis.over([*bad, 0.0], HEIGHT - BOTTOM, TOP + 6, 1.0)
    parts = [*_axes(x, y, across, percent=percent)]
    parts += [_mark(model, x, y, percent=percent) for model in models]
    return Markup(
        '<svg class="chart line" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(
        WIDTH, HEIGHT, f"{across} against what attacks found beyond the guess",
        Markup("").join(parts),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """Where the values of a plot lie on the page."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float, most: float) -> "_Axis":
        low, high = min(values), max(values)
        pad = max((high - low) * 0.06, 0.004)
        return cls(low=low - pad, high=min(high + pad, max(most, high)), start=start, end=end)

    def at(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> tuple[list[float], int]:
        """Round numbers on the axis, and the digits that tell them apart."""
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / 2))
        step = next(s * step for s in (5, 2, 1) if span / (s * step) >= 2)
        first = math.ceil(self.low / step)
        n = math.floor(self.high / step) - first + 1
        return [step * (first + i) for i in range(n)], max(0, -math.floor(math.log10(step)))


def _told(value: float, digits: int, *, percent: bool) -> str:
    value = 0.0 if abs(value) < 1e-12 else value
    return f"{value:.{max(0, digits - 2)}%}" if percent else f"{value:.{digits}f}"


def _axes(x: _Axis, y: _Axis, across: str, *, percent: bool) -> list[Markup]:
    floor, (values, digits) = HEIGHT - BOTTOM, x.ticks
    parts = [Markup('<path class="gr" d="M{} {}H{}"/>').format(LEFT, floor, WIDTH - RIGHT)]
    parts += [
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            x.at(value), floor + 16, _told(value, digits, percent=percent)
        )
        for value in values
    ]
    values, digits = y.ticks
    parts += [
        Markup(
            '<path class="gr" d="M{} {:.1f}H{}"/>'
            '<text x="{}" y="{:.1f}" text-anchor="end">{}</text>'
        ).format(
            LEFT, y.at(value), WIDTH - RIGHT, LEFT - 7, y.at(value) + 3.5,
            _told(value, digits, percent=True),
        )
        for value in values
    ]  # fmt: skip
    parts.append(
        Markup('<text x="{}" y="{}" text-anchor="middle">{} →</text>').format(
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across
        )
    )
    return parts


def _mark(model: Trade, x: _Axis, y: _Axis, *, percent: bool) -> Markup:
    """Draw one model: its number at membership or what else is first, and marks for the rest."""
    at, useful = x.at(model.useful.value), model.useful
    first, *others = model.leaks.items()
    told = ", ".join(
        f"{MEASURES[name]} {one.value:+.1%} ({one.low:+.1%} to {one.high:+.1%})"
        for name, one in model.leaks.items()
    )
    good = _told(useful.value, 4 if percent else 3, percent=percent)
    epsilon = model.epsilon
    height = y.at(first[1].value)
    parts = [
        Markup("<title>{}. {}: {}; {}{}</title>").format(
            model.number, model.name, good, told, f"; {epsilon}" if epsilon else ""
        ),
        Markup('<path class="wh" d="M{:.1f} {:.1f}H{:.1f}"/>').format(
            x.at(useful.low), height, x.at(useful.high)
        ),
    ]
    parts += [_small(name, one, at + _APART[name], y) for name, one in others]
    parts.append(
        Markup(
            '<path class="wh" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
            '<circle cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
            '<text x="{x:.1f}" y="{t:.1f}" text-anchor="middle">{n}</text>'
        ).format(
            x=at, y=height, t=height + 4, n=model.number,
            low=y.at(first[1].low), high=y.at(first[1].high),
        )
    )  # fmt: skip
    if epsilon:
        parts.append(
            Markup('<text class="eps" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(
                at, height + (21 if model.number % 2 else -13), epsilon
            )
        )
    return Markup('<g class="{}">{}</g>').format(
        "good" if model.passes else "poor", Markup("").join(parts)
    )


def _small(name: Measure, one: Estimate, at: float, y: _Axis) -> Markup:
    """Draw a square for hidden values, a triangle for certified people."""
    height = y.at(one.value)
    shape = "h8v8h-8z" if name == "attribute" else "l4 -8l4 8z"
    return Markup(
        '<path class="wh" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
        '<path class="sm" d="M{left:.1f} {top:.1f}{shape}"/>'
    ).format(
        x=at, low=y.at(one.low), high=y.at(one.high), left=at - 4,
        top=height - 4 if name == "attribute" else height + 4, shape=shape,
    )  # fmt: skip
