"""Figures 4 and 7: what is printed beside what is clean."""

from benchmarks.paper.cells import DATA, DEPTHS, THRESHOLDS, Cell, Measured
from benchmarks.paper.drawing import Line, Panel, chart
from benchmarks.paper.published import PRINTED
from benchmarks.paper.tables import NAMES, Results

__all__ = ["figure_4", "figure_7"]

_BLUE, _ORANGE, _GREEN = "#0072b2", "#d55e00", "#009e73"

_LINES_4 = {
    "printed": Line(_ORANGE, hollow=True),
    "reproduced": Line(_BLUE),
    "clean": Line(_GREEN, "4 3"),
}

_LINES_7 = {
    "Method 1, printed": Line(_ORANGE, hollow=True),
    "Method 2, printed": Line(_BLUE, hollow=True),
    "Method 1, clean, parent": Line(_ORANGE, "4 3"),
    "Method 1, clean, wrong": Line("#cc79a7", "1 3"),
    "Method 2, clean": Line(_BLUE, "4 3"),
}


def figure_4(results: Results) -> str:
    """Draw the people in leaves of one label against the depth of the tree."""
    texts = {p.cell: float(p.text) for p in PRINTED if p.table == "Table 6"}

    def panel(data: str) -> Panel:
        cells = [Cell(data, "none", depth, 0, "N_u") for depth in DEPTHS]
        return Panel(
            title=NAMES[data],
            x=[str(depth) for depth in DEPTHS],
            series={
                "printed": [texts[cell] for cell in cells],
                "reproduced": _means(results.printed, cells),
                "clean": _means(results.clean, cells),
            },
        )

    title = "Figure 4: people in leaves of one label, by depth of the tree"
    return chart([panel(data) for data in DATA], _LINES_4, title, "depth", 0)


def figure_7(results: Results) -> str:
    """Draw accuracy against the threshold for both methods."""
    names = ("Method 1", "Method 2")
    texts = {p.cell: float(p.text) for p in PRINTED if p.cell.rule in names}

    def panel(data: str) -> Panel:
        one, two = ([Cell(data, name, 7, s, "ACC") for s in THRESHOLDS] for name in names)
        wrong = [cell._replace(what="ACC, unanswered wrong") for cell in one]
        return Panel(
            title=NAMES[data],
            x=[str(s) for s in THRESHOLDS],
            series={
                "Method 1, printed": [texts[cell] for cell in one],
                "Method 2, printed": [texts[cell] for cell in two],
                "Method 1, clean, parent": _means(results.clean, one),
                "Method 1, clean, wrong": _means(results.clean, wrong),
                "Method 2, clean": _means(results.clean, two),
            },
        )

    title = "Figure 7: accuracy of both methods, by threshold"
    return chart([panel(data) for data in DATA], _LINES_7, title, "s", 3)


def _means(measured: Measured, cells: list[Cell]) -> list[float]:
    return [float(measured[cell].mean()) for cell in cells]
