"""Line charts side by side, as SVG written by hand."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Line", "Panel", "chart"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _GAP = 250, 190, 52, 52, 44, 66


@dataclass(frozen=True, slots=True)
class Line:
    """How a series is drawn.

    Attributes
    ----------
    colour
        Of line and points.
    dashes
        Of the line, as SVG takes them; empty for a full one.
    hollow
        Whether points are rings.
    """

    colour: str
    dashes: str = ""
    hollow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart.

    Attributes
    ----------
    title
        Above it.
    x
        Places on the axis, evenly spaced.
    series
        Values by name, one for each place.
    """

    title: str
    x: Sequence[str]
    series: Mapping[str, Sequence[float]]


def chart(
    panels: Sequence[Panel],
    lines: Mapping[str, Line],
    title: str,
    x_name: str,
    digits: int,
    columns: int | None = None,
) -> str:
    """Draw panels beside each other, with one legend above.

    Parameters
    ----------
    panels
        From left to right; each has its own scale.
    lines
        How the series are drawn, by name.
    title
        For those who do not see the picture.
    x_name
        What the horizontal axes show.
    digits
        After the point, on the vertical axes.
    columns
        Panels in a row; None for all.
    """
    across = columns or len(panels)
    high = _HEIGHT + _BOTTOM + (_TOP if across < len(panels) else 0) // 2
    width = across * (_WIDTH + _GAP) + 10
    height = _TOP + high * -(-len(panels) // across)
    body = [_legend(lines)]
    for i, panel in enumerate(panels):
        left, top = _LEFT + i % across * (_WIDTH + _GAP), _TOP + i // across * high
        body.append(f'<g transform="translate({left} {top})">')
        body += [*_axes(panel, x_name, digits), *_curves(panel, lines), "</g>"]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            'font-family="sans-serif" font-size="11">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *body,
            "</svg>\n",
        ]
    )


def _legend(lines: Mapping[str, Line]) -> str:
    parts, left = [], _LEFT
    for name, line in lines.items():
        parts.append(
            f'<g transform="translate({left} 14)"><line x2="24" {_stroke(line)}/>'
            f'{_point(12, 0, line)}<text x="29" y="4">{escape(name)}</text></g>'
        )
        left += 46 + round(5.6 * len(name))
    return "\n".join(parts)


def _range(panel: Panel) -> tuple[float, float]:
    values = [v for series in panel.series.values() for v in series]
    low, high = min(values), max(values)
    margin = 0.06 * (high - low or 1)
    return low - margin, high + margin


def _at(panel: Panel, i: int, value: float) -> tuple[float, float]:
    low, high = _range(panel)
    x = _WIDTH * (i + 0.5) / len(panel.x)
    return x, _HEIGHT * (high - value) / (high - low)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers in a range, three to seven."""
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= rough)
    return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _axes(panel: Panel, x_name: str, digits: int) -> list[str]:
    low, high = _range(panel)
    parts = [f'<text y="-8" font-weight="bold">{escape(panel.title)}</text>']
    for value in _ticks(low, high):
        y = _HEIGHT * (high - value) / (high - low)
        parts.append(f'<line x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{value:,.{digits}f}</text>')
    for i, label in enumerate(panel.x):
        x, _ = _at(panel, i, low)
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT + 16}" text-anchor="middle">{label}</text>')
    middle, under = _WIDTH / 2, _HEIGHT + 34
    parts.append(f'<text x="{middle}" y="{under}" text-anchor="middle">{escape(x_name)}</text>')
    return parts


def _curves(panel: Panel, lines: Mapping[str, Line]) -> list[str]:
    parts = []
    for name, values in panel.series.items():
        line = lines[name]
        points = [_at(panel, i, value) for i, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" {_stroke(line)}/>')
        parts += [_point(x, y, line) for x, y in points]
    return parts


def _stroke(line: Line) -> str:
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    return f'stroke="{line.colour}" stroke-width="1.8"{dashes}'


def _point(x: float, y: float, line: Line) -> str:
    fill = "white" if line.hollow else line.colour
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 if line.hollow else 2.6}" fill="{fill}" '
        f'stroke="{line.colour}" stroke-width="1.4"/>'
    )
