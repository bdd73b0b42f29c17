"""Small panels on logarithmic scales, as SVG by hand."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Line", "draw"]

_WIDE, _HIGH, _LEFT, _TOP, _ROW = 300, 170, 46, 30, 15
_ACROSS = 3
_SHADES = ("#0b5b66", "#a0642c", "#7a5c99", "#5d6d2e")


class Line(NamedTuple):
    """What one program costs along an axis."""

    name: str
    sizes: Sequence[int]
    costs: Sequence[float]
    slope: float | None
    ours: bool


def draw(panels: Mapping[str, Sequence[Line]], what: str) -> str:
    """Return one picture with a panel for each axis.

    Examples
    --------
    >>> svg = draw({"<rows>": [Line("ours", [1, 10], [0.1, 1.0], 1.0, True)]}, "CPU seconds")
    >>> "&lt;rows&gt;" in svg, "ours, n^1.00" in svg
    (True, True)
    """
    most = max(len(lines) for lines in panels.values())
    high = _TOP + _HIGH + 34 + _ROW * most
    rows = math.ceil(len(panels) / _ACROSS)
    body = "".join(
        f'<g transform="translate({(_WIDE + _LEFT + 14) * (i % _ACROSS)},{high * (i // _ACROSS)})">'
        f"{_panel(name, lines, what)}</g>"
        for i, (name, lines) in enumerate(panels.items())
    )
    width = (_WIDE + _LEFT + 14) * _ACROSS
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {high * rows}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="#333">'
        f'<rect width="100%" height="100%" fill="#fff"/>{body}</svg>\n'
    )


def _panel(name: str, lines: Sequence[Line], what: str) -> str:
    x_ends = _ends([size for line in lines for size in line.sizes])
    y_ends = _ends([cost for line in lines for cost in line.costs])
    drawn = [
        f'<text x="{_LEFT}" y="16" font-weight="600">{escape(name)}: {escape(what)}</text>',
        f'<path d="M{_LEFT} {_TOP}V{_TOP + _HIGH}H{_LEFT + _WIDE}" fill="none" stroke="#999"/>',
    ]
    for power in range(math.ceil(x_ends[0]), math.floor(x_ends[1]) + 1):
        x = _LEFT + _WIDE * _part(power, x_ends)
        y = _TOP + _HIGH
        drawn.append(f'<path d="M{x:.1f} {y}v4" stroke="#999"/>')
        drawn.append(f'<text x="{x:.1f}" y="{y + 16}" text-anchor="middle">{_tick(power)}</text>')
    for power in range(math.ceil(y_ends[0]), math.floor(y_ends[1]) + 1):
        y = _TOP + _HIGH * (1 - _part(power, y_ends))
        drawn.append(f'<path d="M{_LEFT} {y:.1f}h{_WIDE}" stroke="#e4e4e4"/>')
        drawn.append(
            f'<text x="{_LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{_tick(power)}</text>'
        )
    for row, line in enumerate(lines):
        shade = _SHADES[row % len(_SHADES)]
        dashes = "" if line.ours else f' stroke-dasharray="{4 + 3 * row} 3"'
        at = [
            (
                _LEFT + _WIDE * _part(_log(size), x_ends),
                _TOP + _HIGH * (1 - _part(_log(cost), y_ends)),
            )
            for size, cost in zip(line.sizes, line.costs, strict=True)
        ]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
        width = 2.2 if line.ours else 1.4
        drawn.append(
            f'<path d="M{path}" fill="none" stroke="{shade}" stroke-width="{width}"{dashes}/>'
        )
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{shade}"/>' for x, y in at]
        y = _TOP + _HIGH + 32 + _ROW * row
        slope = "" if line.slope is None else f", n^{line.slope:.2f}"
        drawn.append(
            f'<path d="M{_LEFT} {y - 4}h22" stroke="{shade}" stroke-width="{width}"{dashes}/>'
            f'<text x="{_LEFT + 28}" y="{y}">{escape(line.name)}{slope}</text>'
        )
    return "".join(drawn)


def _log(value: float) -> float:
    return math.log10(max(value, 1e-4))


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(map(_log, values)), max(map(_log, values))
    pad = max(0.08 * (high - low), 0.15)
    return low - pad, high + pad


def _part(value: float, ends: tuple[float, float]) -> float:
    return (value - ends[0]) / (ends[1] - ends[0])


def _tick(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
