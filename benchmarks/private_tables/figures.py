"""Every table a panel: the best default of ours, the best of ours and of the peers, the floor."""

from collections.abc import Sequence
from statistics import median

from benchmarks.paper.drawing import Line, Panel, chart
from benchmarks.private_tables.cells import EPSILONS, TABLES
from benchmarks.private_tables.summary import Results

__all__ = ["figure"]


def figure(
    results: Results, metric: str, best: str, ours: Sequence[str], theirs: Sequence[str]
) -> str:
    """Draw one of the two measures on all tables.

    Parameters
    ----------
    results, metric
        What to draw.
    best
        The one of ours that is drawn by itself.
    ours, theirs
        Those of which the best in each cell is drawn.
    """
    groups: dict[str, tuple[Sequence[str], Line]] = {
        best: ((best,), Line("#0b6e4f")),
        "best of ours": (ours, Line("#0b6e4f", "2 3", hollow=True)),
        "best peer": (theirs, Line("#c1121f")),
        "naive Bayes": (("naive-bayes",), Line("#b07d00", "6 3")),
        "tree of depth 10, not private": (("tree-10",), Line("#777", "8 4")),
    }
    if metric == "accuracy":
        groups["majority"] = (("majority",), Line("#bbb", "2 2"))
    panels = []
    for table in TABLES:
        series = {
            name: [_best(results, table, epsilon, names, metric) for epsilon in EPSILONS]
            for name, (names, _) in groups.items()
        }
        whole = {name: [v for v in line if v is not None] for name, line in series.items()}
        whole = {name: line for name, line in whole.items() if len(line) == len(EPSILONS)}
        if whole:
            panels.append(Panel(title=table, x=[f"{e:g}" for e in EPSILONS], series=whole))
    lines = {name: line for name, (_, line) in groups.items()}
    return chart(panels, lines, f"{metric} by epsilon on {len(panels)} tables", "ε", 2, columns=4)


def _best(
    results: Results, table: str, epsilon: float, names: Sequence[str], metric: str
) -> float | None:
    found = [
        list(results.values(table, e, name, metric).values())
        for name in names
        for e in (epsilon, None)
    ]
    return max((median(values) for values in found if values), default=None)
