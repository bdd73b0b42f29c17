"""A table of costs, with what we promised beside what was measured: a miss is called a miss."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.measure import Cost

__all__ = ["Bound", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What we promise of a row; None where nothing is.

    Attributes
    ----------
    ratio
        CPU seconds of the call, over those of the row that the table is held against.
    process_ratio
        The same for whole processes, imports included.
    call, process
        CPU seconds.
    peak
        Megabytes.
    """

    ratio: float | None = None
    process_ratio: float | None = None
    call: float | None = None
    process: float | None = None
    peak: float | None = None

    def verdict(self, cost: Cost, base: Cost) -> str:
        """Return the bound in words, with MISS where it does not hold.

        Examples
        --------
        >>> cost, base = Cost(3.0, 4.0, 90.0), Cost(1.0, 3.0, 200.0)
        >>> Bound(ratio=2, peak=100).verdict(cost, base)
        '**MISS** (call ≤ 2 ×), ≤ 100 MB'
        """
        told = [
            ("call ≤ {:g} ×", self.ratio, cost.call / max(base.call, 1e-9)),
            ("process ≤ {:g} ×", self.process_ratio, cost.process / max(base.process, 1e-9)),
            ("call ≤ {:g} CPU-s", self.call, cost.call),
            ("process ≤ {:g} CPU-s", self.process, cost.process),
            ("≤ {:,g} MB", self.peak, cost.peak),
        ]
        return ", ".join(
            text.format(most) if found <= most else f"**MISS** ({text.format(most)})"
            for text, most, found in told
            if most is not None
        )


def table(
    title: str,
    note: str,
    costs: Mapping[str, Cost],
    base: str,
    bounds: Mapping[str, Bound] | None = None,
) -> list[str]:
    r"""Return a table as lines of Markdown.

    Parameters
    ----------
    base
        The row that the others are divided by, in both columns of ratios.
    bounds
        What is promised of rows.

    Examples
    --------
    >>> costs = {"floor": Cost(1, 2, 50), "ours": Cost(2, 3, 60), "peer": Cost(0, 0, 0, "no file")}
    >>> print(*table("Title", "Note.", costs, "floor", {"ours": Bound(ratio=1.5)})[5:], sep="\n")
    | | call, CPU-s | process, CPU-s | peak MB | call, ratio | process, ratio | bound |
    |---|---:|---:|---:|---:|---:|---|
    | floor | 1.000 | 2.000 | 50 | 1 | 1 | |
    | ours | 2.000 | 3.000 | 60 | 2.00 | 1.50 | **MISS** (call ≤ 1.5 ×) |
    | peer | FAILED: no file | – | – | – | – | |
    """
    lines = ["", f"## {title}", "", note]
    lines += [
        "| | call, CPU-s | process, CPU-s | peak MB | call, ratio | process, ratio | bound |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for name, cost in costs.items():
        if cost.failed:
            lines.append(f"| {name} | FAILED: {_cell(cost.failed)} | – | – | – | – | |")
            continue
        ratios = ["1", "1"]
        if name != base and not costs[base].failed:
            ratios = [
                f"{cost.call / max(costs[base].call, 1e-9):.2f}",
                f"{cost.process / max(costs[base].process, 1e-9):.2f}",
            ]
        bound = (bounds or {}).get(name)
        said = "" if bound is None else bound.verdict(cost, costs[base]) + " "
        lines.append(
            f"| {name} | {cost.call:.3f} | {cost.process:.3f} | {cost.peak:,.0f} | "
            f"{ratios[0]} | {ratios[1]} | {said}|"
        )
    return [*lines[:4], "", *lines[4:]]


def _cell(text: str) -> str:
    return text.replace("|", "/")[:160]
