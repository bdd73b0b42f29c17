"""Which models differ over several tables: mean ranks, Friedman's test, the critical difference.

References
----------
Demsar (2006), Statistical comparisons of classifiers over multiple data sets, section 3.2.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.private_tables.summary import Results

__all__ = ["Ranks", "diagram", "ranked"]

_WIDE, _LEFT, _ROW = 900, 250, 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """How models rank over tables.

    Attributes
    ----------
    names, mean
        The models and their mean ranks, the best first; ties share ranks.
    tables
        On how many tables.
    p
        Of Friedman's test that all are alike.
    critical
        By how much two mean ranks must differ (Nemenyi, 5 %).
    """

    names: tuple[str, ...]
    mean: tuple[float, ...]
    tables: int
    p: float
    critical: float

    def alike(self) -> list[tuple[int, int]]:
        """Return the longest runs of models, first and last, of which no two differ."""
        runs: list[tuple[int, int]] = []
        for first, low in enumerate(self.mean):
            last = max(i for i, high in enumerate(self.mean) if high - low <= self.critical)
            if last > first and (not runs or last > runs[-1][1]):
                runs.append((first, last))
        return runs


def ranked(
    results: Results, tables: Sequence[str], epsilon: float, names: Sequence[str], metric: str
) -> Ranks | None:
    """Rank models by their medians on the splits that all have; None on fewer than two.

    Examples
    --------
    >>> ranked(Results({}), ["adult"], 1.0, ["a", "b"], "auc") is None
    True
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    found = [_medians(results, table, epsilon, names, metric) for table in tables]
    whole = np.array([one for one in found if one])
    if len(whole) < 2 or len(names) < 3:
        return None
    mean = rankdata(-whole, axis=1).mean(axis=0)
    order = np.argsort(mean, kind="stable")
    k, n = len(names), len(whole)
    quantile = float(studentized_range.ppf(0.95, k, np.inf)) / np.sqrt(2)
    return Ranks(
        names=tuple(names[i] for i in order),
        mean=tuple(float(mean[i]) for i in order),
        tables=n,
        p=float(friedmanchisquare(*whole.T).pvalue),
        critical=float(quantile * np.sqrt(k * (k + 1) / (6 * n))),
    )


def _medians(
    results: Results, table: str, epsilon: float, names: Sequence[str], metric: str
) -> list[float]:
    """Return the medians over the splits that all models have; nothing where there are none."""
    held = [results.values(table, epsilon, name, metric) for name in names]
    seeds = set.intersection(*map(set, held)) if held else set()
    return [median(one[seed] for seed in seeds) for one in held] if seeds else []


def diagram(ranks: Ranks, title: str) -> str:
    """Draw the diagram: a dot for each mean rank, a bar over those that do not differ."""
    k, runs = len(ranks.names), ranks.alike()
    high = 70 + _ROW * (k + len(runs))
    step = (_WIDE - _LEFT - 40) / max(1, k - 1)

    def x(rank: float) -> float:
        return _LEFT + 20 + (rank - 1) * step

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {high}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{title}</title>',
        f'<rect width="{_WIDE}" height="{high}" fill="#fff"/>',
        f'<text x="8" y="18">{title}: Friedman p = {ranks.p:.2g}; bars join models that do '
        f"not differ (critical difference {ranks.critical:.2f}, {ranks.tables} tables)</text>",
    ]
    for rank in range(1, k + 1):
        at = x(rank)
        parts.append(
            f'<line x1="{at:.1f}" y1="44" x2="{at:.1f}" y2="{high - 8}" stroke="#eee"/>'
            f'<text x="{at:.1f}" y="40" text-anchor="middle">{rank}</text>'
        )
    for i, (name, mean) in enumerate(zip(ranks.names, ranks.mean, strict=True)):
        y = 58 + _ROW * i
        parts.append(
            f'<text x="{_LEFT}" y="{y + 4}" text-anchor="end">{name} {mean:.2f}</text>'
            f'<circle cx="{x(mean):.1f}" cy="{y}" r="4" fill="#0b6e4f"/>'
        )
    for i, (first, last) in enumerate(runs):
        y = 58 + _ROW * (k + i)
        one, other = x(ranks.mean[first]), x(ranks.mean[last])
        parts.append(
            f'<line x1="{one:.1f}" y1="{y}" x2="{other:.1f}" y2="{y}" stroke="#c1121f" '
            'stroke-width="4"/>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"
