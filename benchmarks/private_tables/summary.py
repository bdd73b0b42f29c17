"""Medians over the splits, and in how many cells who is ahead."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.private_tables.cells import EPSILONS, Cell, Score

__all__ = ["METRICS", "Contest", "Results", "contests", "most_ahead"]

METRICS = ("accuracy", "auc")


class Results:
    """Scores by table, epsilon and model. A fit that failed counts as 0."""

    def __init__(self, scores: Mapping[Cell, Score]) -> None:
        self._held: dict[tuple[str, float | None, str], dict[int, Score]] = {}
        for cell, score in scores.items():
            key = (cell.table, cell.epsilon, cell.model)
            self._held.setdefault(key, {})[cell.seed] = score

    def of(self, table: str, epsilon: float | None, model: str) -> Mapping[int, Score]:
        """Return the scores of a model by seed."""
        return self._held.get((table, epsilon, model), {})

    def values(
        self, table: str, epsilon: float | None, model: str, metric: str
    ) -> dict[int, float]:
        """Return what it reached, by seed."""
        scores = self.of(table, epsilon, model)
        return {seed: getattr(score, metric) or 0.0 for seed, score in scores.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The best of ours and the best of the others in a cell, both by their median.

    Attributes
    ----------
    table, epsilon, metric
        The cell.
    ours, theirs
        Names of the two.
    reached, to_reach
        Their medians over the seeds that all have.
    ahead
        By how much ours is ahead on each of these splits.
    """

    table: str
    epsilon: float
    metric: str
    ours: str
    theirs: str
    reached: float
    to_reach: float
    ahead: tuple[float, ...]

    @property
    def won(self) -> bool:
        """Whether ours is at least the other."""
        return self.reached >= self.to_reach


def contests(
    results: Results, tables: Sequence[str], ours: Sequence[str], theirs: Iterable[str]
) -> list[Contest]:
    """Set ours beside theirs in every cell that one of ours and one of theirs was measured in."""
    others = tuple(theirs)
    return [
        found
        for metric in METRICS
        for table in tables
        for epsilon in EPSILONS
        if (found := _contest(results, (table, epsilon, metric), ours, others)) is not None
    ]


def _contest(
    results: Results, cell: tuple[str, float, str], ours: Sequence[str], theirs: Sequence[str]
) -> Contest | None:
    table, epsilon, metric = cell
    held = {name: results.values(table, epsilon, name, metric) for name in (*ours, *theirs)}
    mine, met = ([name for name in names if held[name]] for names in (ours, theirs))
    if not mine or not met:
        return None
    # A trainer that was measured on fewer splits than others of ours is left out.
    most = max(len(held[name]) for name in mine)
    mine = [name for name in mine if len(held[name]) == most]
    seeds = set.intersection(*(set(held[name]) for name in (*mine, *met)))
    if not seeds:
        return None
    middle = {name: median(held[name][seed] for seed in seeds) for name in (*mine, *met)}
    best, other = max(mine, key=middle.__getitem__), max(met, key=middle.__getitem__)
    return Contest(
        table=table,
        epsilon=epsilon,
        metric=metric,
        ours=best,
        theirs=other,
        reached=middle[best],
        to_reach=middle[other],
        ahead=tuple(held[best][seed] - held[other][seed] for seed in sorted(seeds)),
    )


def most_ahead(by_model: Mapping[str, Sequence[Contest]]) -> str:
    """Return the one model that wins most contests."""
    return max(by_model, key=lambda name: sum(contest.won for contest in by_model[name]))
