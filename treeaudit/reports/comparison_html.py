"""Models side by side as one HTML page, without a network and without JavaScript."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup

from treeaudit.comparison.compare import ComparedModel, Comparison
from treeaudit.comparison.measures import MEASURES, Measure
from treeaudit.model.words import in_percent, number_of
from treeaudit.reports.charts import strip
from treeaudit.reports.comparison_cells import (
    advice,
    cells,
    claimed,
    in_letters,
    interval,
    judged,
    verdict,
)
from treeaudit.reports.html import environment
from treeaudit.reports.wording import LEVELS, percent
from treeaudit.stats import Estimate
from treeaudit.version import __version__

WIDTH, HEIGHT = 440, 290
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 26, 46
_SIZE = 20
"""Between the numbers of two models."""
_APART: Mapping[Measure, float] = {"membership": 0, "attribute": 14, "certified": -14}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trade:
    """One model: its number, accuracy or R², what was measured of its people, whether it passes."""

    number: int
    name: str
    useful: Estimate
    leaks: Mapping[Measure, Estimate]
    epsilon: str
    passes: bool


def _trade_chart(models: Sequence[_Trade], *, across: str, percent: bool) -> Markup:
    """Draw accuracy across and what attacks found beyond the guess up, with 95 % intervals."""
    good = [end for m in models for end in (m.useful.low, m.useful.high)]
    bad = [end for m in models for one in m.leaks.values() for end in (one.low, one.high)]
    x = _Axis.over(good, LEFT + 12, WIDTH - RIGHT - 12, 1.0)
    y = _Axis.over([*bad, 0.0], HEIGHT - BOTTOM, TOP + 6, 1.0)
    parts = [*_axes(x, y, across, percent=percent)]
    parts += [_mark(model, x, y, percent=percent) for model in models]
    taken: list[tuple[float, float]] = []
    parts += [_numbered(model, x, y, taken) for model in models]
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


def _number(value: float, digits: int, *, percent: bool) -> str:
    value = 0.0 if abs(value) < 1e-12 else value
    return f"{value:.{max(0, digits - 2)}%}" if percent else f"{value:.{digits}f}"


def _axes(x: _Axis, y: _Axis, across: str, *, percent: bool) -> list[Markup]:
    floor, (values, digits) = HEIGHT - BOTTOM, x.ticks
    parts = [Markup('<path class="gr" d="M{} {}H{}"/>').format(LEFT, floor, WIDTH - RIGHT)]
    parts += [
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            x.at(value), floor + 16, _number(value, digits, percent=percent)
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
            _number(value, digits, percent=True),
        )
        for value in values
    ]  # fmt: skip
    parts.append(
        Markup(
            '<text x="{}" y="{}" text-anchor="middle">{} →</text><text x="4" y="12">{} ↑</text>'
        ).format((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, "given away beyond the guess")
    )
    return parts


def _mark(model: _Trade, x: _Axis, y: _Axis, *, percent: bool) -> Markup:
    """Draw the intervals of one model, and marks for all but what is measured first."""
    at, useful = x.at(model.useful.value), model.useful
    first, *others = model.leaks.items()
    told = ", ".join(
        f"{MEASURES[name]} {one.value:+.1%} ({one.low:+.1%} to {one.high:+.1%})"
        for name, one in model.leaks.items()
    )
    good = _number(useful.value, 4 if percent else 3, percent=percent)
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
        Markup('<path class="wh" d="M{:.1f} {:.1f}V{:.1f}"/>').format(
            at, y.at(first[1].low), y.at(first[1].high)
        )
    )
    if epsilon:
        parts.append(
            Markup('<text class="eps" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(
                at, height + (21 if model.number % 2 else -13), epsilon
            )
        )
    return Markup('<g class="{}">{}</g>').format(
        "good" if model.passes else "poor", Markup("").join(parts)
    )


def _numbered(model: _Trade, x: _Axis, y: _Axis, taken: list[tuple[float, float]]) -> Markup:
    """Draw the number of a model, beside numbers that would cover it."""
    at, height = x.at(model.useful.value), y.at(next(iter(model.leaks.values())).value)
    while any(math.hypot(at - a, height - h) < _SIZE for a, h in taken):
        at -= 1 if at > LEFT + WIDTH / 2 else -1
    taken.append((at, height))
    return Markup(
        '<g class="{}"><circle cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
        '<text x="{x:.1f}" y="{t:.1f}" text-anchor="middle">{n}</text></g>'
    ).format("good" if model.passes else "poor", x=at, y=height, t=height + 4, n=model.number)


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


def to_html(comparison: Comparison) -> str:
    """Return the comparison as one HTML file."""
    best, advised = comparison.best, advice(comparison)
    tone = "skip" if not comparison.policy.values else "bad" if best is None else "ok"
    return (
        environment()
        .get_template("compare.html.j2")
        .render(
            version=__version__,
            comparison=comparison,
            tone=tone,
            pill=_pill(comparison),
            advice=advised[0],
            why=[*advised[1:], *_why(comparison)],
            levels=LEVELS,
            rows=_rows(comparison),
            measured={
                measure: any(measure in model.leakage.measured for model in comparison.models)
                for measure in MEASURES
            },
            good={"labels": "accuracy", "numbers": "R²", "both": "accuracy or R²"}[
                comparison.predicts
            ],
            private=any(model.epsilon is not None for model in comparison.models),
            chart=_picture(comparison),
            counted=any(model.claims.alone_true is not None for model in comparison.models),
        )
    )


def _pill(comparison: Comparison) -> str:
    if not comparison.policy.values:
        return "OBSERVED"
    passing = sum(model.verdict == "pass" for model in comparison.models)
    if not passing:
        return "✕ NONE PASSES"
    return f"✓ {passing} OF {len(comparison.models)} {'PASSES' if passing == 1 else 'PASS'}"


def _rows(comparison: Comparison) -> list[Mapping[str, object]]:
    names = ("leaves", "smallest", "member AUC", "hidden", "certified", "epsilon", "useful")
    columns = {name: cells(comparison, name) for name in names}
    return [
        {
            "number": i + 1,
            "name": model.name,
            "what": _what(model),
            "strip": _strip(model),
            "leaves": columns["leaves"][i],
            "smallest": columns["smallest"][i],
            "alone": _claim(model, "alone"),
            "certain": _claim(model, "certain"),
            "membership": (columns["member AUC"][i], interval(model, "member AUC")),
            "attribute": (columns["hidden"][i], interval(model, "hidden")),
            "certified": columns["certified"][i],
            "epsilon": (columns["epsilon"][i], _worth(model)),
            "accuracy": (columns["useful"][i], _good(model)),
            "verdict": verdict(model),
            "best": model is comparison.best,
            "notes": model.notes,
            "failed": [c.title.lower() for c in judged(model) if c.status == "fail"],
        }
        for i, model in enumerate(comparison.models)
    ]


def _what(model: ComparedModel) -> str:
    forest = model.report.forest
    trees = number_of(forest.n_trees, "tree", "trees")
    return f"{forest.source.estimator} · {trees}"


def _claim(model: ComparedModel, what: Literal["alone", "certain"]) -> tuple[str, str]:
    """Return a claim, and what of it is true, in words."""
    number, note = claimed(model, what)
    if not number:
        return "–", "not told"
    true = getattr(model.claims, f"{what}_true")
    if not note and true and model.epsilon is None:
        note = "all true"
    return number, note.strip("()")


def _worth(model: ComparedModel) -> str:
    """Say how sure an attacker can get at most who held something about a person for 50:50."""
    if model.epsilon is None:
        return ""
    most = f"50% → {percent(1 / (1 + math.exp(-model.epsilon)))} at most"
    return most + (f", but for a chance of {model.delta:g}" if model.delta else "")


def _good(model: ComparedModel) -> tuple[str, ...]:
    """Return the interval of what a model is good for, and how many get an answer."""
    notes = [interval(model, "useful")]
    if model.utility is not None and model.utility.coverage.value < 1:
        notes.append(f"{in_percent(model.utility.coverage.value)} answered")
    return tuple(filter(None, notes))


def _strip(model: ComparedModel) -> Markup:
    """Draw the leaves of the worst tree as shares of their levels of size."""
    sizes = np.array(model.claims.sizes)
    if not len(sizes):
        return Markup("")
    shares = [
        (level.shade, float(((sizes >= level.low) & (sizes <= (level.high or np.inf))).mean()))
        for level in LEVELS
    ]
    return strip(shares)


def _picture(comparison: Comparison) -> Markup:
    """Draw what models are good for against what attacks found, where two models tell both."""
    told = [m for m in comparison.models if m.useful is not None and m.leakage.measured]
    kinds = {model.utility is None for model in told}
    if len(told) < 2 or len(kinds) > 1:
        return Markup("")
    points = [
        _Trade(
            number=i,
            name=model.name,
            useful=model.useful,
            leaks=model.leakage.measured,
            epsilon=in_letters(model),
            passes=model.verdict == "pass",
        )
        for i, model in enumerate(comparison.models, start=1)
        if model.useful is not None and model.leakage.measured
    ]
    across = "R² on unseen people" if True in kinds else "accuracy on unseen people"
    return _trade_chart(points, across=across, percent=True not in kinds)


def _why(comparison: Comparison) -> Sequence[str]:
    lines = []
    counted = [model for model in comparison.models if model.epsilon is None]
    worst = max(counted or comparison.models, key=lambda m: m.claims.alone)
    if worst.epsilon is None and worst.claims.alone:
        who = number_of(worst.claims.alone, "person who is", "people who are")
        lines.append(f"{worst.name} gives away {who} alone in a leaf of one tree.")
    best = comparison.best
    if best is not None and best.epsilon is None and best.claims.told and best.claims.smallest:
        lines.append(f"In {best.name} the smallest group holds {best.claims.smallest:,} people.")
    roles = [f"{name} ({n:,} rows)" for name, n in comparison.people.values()]
    lines.append(
        f"Measured on {' and '.join(roles)}." if roles else "No data was given: these are claims "
        "of the files, and accuracy was not measured (--test)."
    )  # fmt: skip
    return lines
