"""Models that promise (epsilon, delta), beside each other."""

from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.private_tables.cells import EPSILONS, TABLES
from benchmarks.private_tables.summary import METRICS, Results

__all__ = ["own_definition"]

_NAMES = {"accuracy": "accuracy", "auc": "AUC"}


def own_definition(results: Results, with_delta: str, titles: Mapping[str, str]) -> list[str]:
    """Return DP-EBM beside what promises the same, and beside the same model at pure epsilon."""
    names = ("private-additive", with_delta, "dp-ebm")
    tables = [t for t in TABLES if any(results.of(t, e, with_delta) for e in EPSILONS)]
    lines = [
        "",
        "## At the definition of DP-EBM",
        "",
        "The additive model of ours at pure ε; the same at (ε, δ = 1e-5), counts with discrete "
        "Gaussian noise and costs added up as zCDP; DP-EBM at (ε, δ = 1e-5). Medians over the "
        f"splits that all of a row have, {_splits(results, tables, with_delta)} of them.",
        "",
        "| table | ε | "
        + " | ".join(f"{titles[n]}: {_NAMES[m]}" for m in METRICS for n in names)
        + " |",
        "| --- " * (2 + 2 * len(names)) + "|",
    ]
    for table in tables:
        for epsilon in EPSILONS:
            held = {(m, n): results.values(table, epsilon, n, m) for m in METRICS for n in names}
            seeds = set.intersection(*(set(v) for v in held.values() if v))
            cells = [
                f"{median(v[seed] for seed in seeds):.4f}" if v and seeds else "–"
                for v in held.values()
            ]
            lines.append(f"| {table} | {epsilon:g} | {' | '.join(cells)} |")
    return lines if tables else []


def _splits(results: Results, tables: Sequence[str], model: str) -> str:
    sizes = {len(results.of(t, e, model)) for t in tables for e in EPSILONS} or {0}
    return f"{min(sizes)} to {max(sizes)}"
