"""Which of several models to take: none that is both less accurate and gives away more."""

from collections.abc import Sequence
from dataclasses import dataclass

from treeaudit.comparison.compared import Compared
from treeaudit.comparison.leakage import MEASURES, Measure

__all__ = ["Choice", "choose", "dominates", "weighed"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """The model to take, and what speaks for others.

    Attributes
    ----------
    best
        The model to take, of those that pass.
    top
        The most accurate of those that pass; it may be the same.
    better
        Models that do not pass, are no less accurate and gave away no more of what was measured.
    """

    best: Compared
    top: Compared
    better: tuple[Compared, ...]


def weighed(models: Sequence[Compared]) -> tuple[Measure, ...]:
    """Return what was measured of all of some models."""
    return tuple(m for m in MEASURES if all(m in one.leakage.measured for one in models))


def dominates(one: Compared, other: Compared) -> bool:
    """Tell whether a model is no less accurate, gave away no more, and is better in one."""
    if one.useful is None or other.useful is None:
        return False
    mine, its = one.leakage.measured, other.leakage.measured
    gains = [one.useful.value - other.useful.value]
    gains += [its[measure].value - mine[measure].value for measure in weighed((one, other))]
    return len(gains) > 1 and min(gains) >= 0 and max(gains) > 0


def choose(models: Sequence[Compared]) -> Choice | None:
    """Return the model to take; None where none passes.

    The most accurate of those that pass, unless one that cannot be told from it in accuracy gave
    away less of what was measured, or as much as far as can be told and is bounded by an epsilon.
    """
    passing = [one for one in models if one.verdict == "pass"]
    if not passing:
        return None
    top = max(passing, key=_accuracy)
    rivals = [one for one in passing if not any(dominates(other, one) for other in passing)]
    better = [one for one in rivals if one is not top and _instead_of(one, top)]
    best = (
        min(better, key=_worst) if better else top if top in rivals else max(rivals, key=_accuracy)
    )
    worse = [one for one in models if one.verdict != "pass" and dominates(one, best)]
    return Choice(best=best, top=top, better=tuple(worse))


def _accuracy(model: Compared) -> float:
    return -1.0 if model.useful is None else model.useful.value


def _worst(model: Compared) -> float:
    worst = model.leakage.worst
    return 1.0 if worst is None else worst.value


def _instead_of(one: Compared, top: Compared) -> bool:
    """Tell whether a model serves as well as the most accurate one, and gives away less."""
    if one.useful is None or top.useful is None or one.useful.high < top.useful.value:
        return False
    mine, its = one.leakage.worst, top.leakage.worst
    if mine is None or its is None:
        return False
    private = one.epsilon is not None and top.epsilon is None
    return mine.high < its.low or (private and mine.value <= its.high)
