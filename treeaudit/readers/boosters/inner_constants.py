"""The penalties and the learning rate that the numbers of boosted trees say; `inner_numbers`."""

from collections.abc import Iterator

import numpy as np

from treeaudit.dataclass import dataclass
from treeaudit.readers.boosters.inner_nodes import Inner, at_the_bound, every
from treeaudit.readers.types import Flag, Float

__all__ = ["LEAST_RATE", "Constants", "candidates", "rates_of_trees", "usual"]

_ROUNDS, _LOOSE = 12, 1e-4
_ENOUGH, _CLOSE = 4000, 1e-5
LEAST_RATE = 0.05
"""One over a learning rate that nobody takes: then all weights are as good as nothing."""
_MOST_RATE = 1e12


@dataclass(frozen=True, slots=True)
class Constants:
    """The penalties of a model; one over the learning rate, and what is added, of each tree."""

    l2: float
    l1: float
    per_rate: Float
    added: Float


def candidates(inner: Inner) -> Iterator[tuple[float, float, float, bool]]:
    """Yield penalties and rates that may be those of a model, and whether the rate may change."""
    for l2, per_rate, l1, apart in _candidates(inner):
        if LEAST_RATE < per_rate < _MOST_RATE:
            one = max(l2, 0.0), per_rate, max(l1, 0.0)
            yield *one, apart
            # Few nodes tell them roughly; whoever set them took short numbers.
            for digits in (3, 2):
                l2, l1 = (_short(each, digits) if each > _LOOSE else 0.0 for each in one[::2])
                yield l2, 1 / _short(1 / per_rate, digits), l1, apart


def _short(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")


def _candidates(inner: Inner) -> Iterator[tuple[float, float, float, bool]]:
    for columns, apart in ((3, False), (4, False), (3, True), (4, True)):
        yield *_penalties(inner, columns, apart), apart
    yield from _by_bounds(inner)
    for l2, per_rate in _by_gains(inner):
        yield l2, per_rate, 0.0, False
        yield l2, per_rate, _first_penalty(inner, max(l2, 0.0), per_rate), False


def _penalties(inner: Inner, columns: int, apart: bool) -> tuple[float, float, float]:
    """Solve for the penalties and the rate, again and again without what does not fit.

    With ``apart`` only nodes are taken whose numbers have no rate in them.
    """
    kept: Flag = every(inner, inner.told & ~at_the_bound(inner))
    sign = np.sign(inner.weight)
    if columns == 4:
        kept &= every(inner, sign != 0)
    if apart:
        kept &= every(inner, ~inner.scaled)
    if np.any(settled := kept & (inner.tree >= inner.n_moved)):
        kept = settled
    # Some of many are enough to solve for three numbers: all are held against them afterwards.
    some = np.flatnonzero(kept)
    some = some[:: len(some) // _ENOUGH + 1]
    node, left, right = inner.node[some], inner.left[some], inner.right[some]

    def gap(at: Float) -> Float:
        return at[node] - at[left] - at[right]

    grown, scaled = np.where(inner.scaled, 0, inner.weight), np.where(inner.scaled, inner.weight, 0)
    cover, mass = inner.cover, np.abs(inner.weight) * (inner.cover + 1)
    size = mass[node] + mass[left] + mass[right] + 1e-300
    table = np.column_stack([gap(grown), gap(scaled * cover), gap(scaled), gap(sign)][:columns])
    rest = -gap(grown * cover)
    good = np.isfinite(table).all(axis=1) & np.isfinite(rest)
    table, rest = table[good] / size[good, None], rest[good] / size[good]
    solved = _solve(table, rest)
    l1 = float(solved[3]) if columns == 4 else 0.0
    return float(solved[0]), float(solved[1]) or 1.0, l1


def _by_bounds(inner: Inner) -> Iterator[tuple[float, float, float, bool]]:
    """Solve for the penalties where a bound is met with and without the rate."""
    pinned = at_the_bound(inner)
    at = np.abs(inner.weight)
    grown, scaled = (
        float(at[pinned & some].max(initial=0)) for some in (~inner.scaled, inner.scaled)
    )
    if not grown or not scaled:
        return
    per_rate = grown / scaled
    weight = np.where(inner.scaled, inner.weight * per_rate, inner.weight)
    kept = every(inner, inner.told & ~pinned)
    node, left, right = inner.node[kept], inner.left[kept], inner.right[kept]
    gap, sign, rest = (
        one[node] - one[left] - one[right]
        for one in (weight, np.sign(weight), -weight * inner.cover)
    )
    yield float(_solve(gap[:, None], rest)[0]), per_rate, 0.0, False
    l2, l1 = _solve(np.column_stack([gap, sign]), rest).tolist()
    yield l2, per_rate, l1, False


def _by_gains(inner: Inner) -> Iterator[tuple[float, float]]:
    """Solve for the second penalty and the rate by what splits gained.

    The gradients of a root sum up to nothing, so that of stumps weights tell neither. A gain is
    linear in the square of one over the rate, that times the penalty, and the penalty. Of a few
    stumps the last is nothing beside the others, or the penalty is the usual one.
    """
    kept = np.flatnonzero(every(inner, inner.told & ~at_the_bound(inner)))
    kept = kept[inner.gain[kept] > 0]
    kept = kept[:: len(kept) // _ENOUGH + 1]
    node, left, right, gain = (
        inner.node[kept],
        inner.left[kept],
        inner.right[kept],
        inner.gain[kept],
    )

    def made(at: Float) -> Float:
        return (at[left] + at[right] - at[node]) / gain

    square = inner.weight**2
    scaled, grown = np.where(inner.scaled, square, 0), np.where(inner.scaled, 0, square)
    table = np.column_stack([made(scaled * inner.cover), made(scaled), made(grown)])
    rest = 1 - made(grown * inner.cover)
    good = np.isfinite(table).all(axis=1) & np.isfinite(rest)
    table, rest = table[good], rest[good]
    if not inner.scaled.any():
        yield float(_solve(table[:, 2:], rest)[0]), 1.0
        return
    for columns in (3, 2):
        rate, both, *alone = _solve(table[:, :columns], rest).tolist()
        if rate > 0:
            yield (both / rate if both else sum(alone)), rate**0.5
    (rate,) = _solve((table[:, 0] + table[:, 1])[:, None], rest - table[:, 2]).tolist()
    if rate > 0:
        yield 1.0, rate**0.5


def _first_penalty(inner: Inner, l2: float, per_rate: float) -> float:
    """Return the first penalty where the others are known: most nodes say the same."""
    grown = np.where(inner.scaled, inner.weight * per_rate, inner.weight)
    term, sign = grown * (inner.cover + l2), np.sign(grown)
    some = every(inner, inner.told & (sign != 0))
    turns = (sign[inner.left] + sign[inner.right] - sign[inner.node])[some]
    over = term[inner.node] - term[inner.left] - term[inner.right]
    if turns.any():
        return float(np.median(over[some][turns != 0] / turns[turns != 0]))
    # Where a node weighs nothing its gradient is at most the penalty.
    none = (sign[inner.node] == 0) & (sign[inner.left] * sign[inner.right] < 0)
    return float(np.abs(over[none]).max(initial=0))


def _solve(table: Float, rest: Float) -> Float:
    """Solve again and again without what does not fit; of what nothing tells, nothing."""
    width: Float = np.abs(table).max(axis=0, initial=0)
    width[width == 0] = 1
    table = table / width
    solved = np.zeros(table.shape[1], dtype=np.float64)
    fits: Flag = np.ones(len(rest), dtype=np.bool_)
    for _ in range(_ROUNDS if len(rest) else 0):
        solved = np.asarray(np.linalg.lstsq(table[fits], rest[fits], rcond=1e-12)[0], np.float64)
        off = np.abs(table @ solved - rest)
        before, fits = fits, off <= max(_LOOSE, 2 * float(np.median(off)))
        if np.array_equal(before, fits):
            break
    return np.asarray(solved / width)


def _ratios(inner: Inner, l2: float, l1: float) -> Float:
    """Return what one over the rate would be for each inner node; not finite where none is."""
    term = inner.weight * (inner.cover + l2)
    grown = np.where(inner.scaled, np.sign(inner.weight) * l1, term + np.sign(inner.weight) * l1)
    scaled = np.where(inner.scaled, term, 0)
    below = scaled[inner.left] + scaled[inner.right]
    ratio: Float = (grown[inner.node] - grown[inner.left] - grown[inner.right]) / below
    return ratio


def usual(inner: Inner, n_trees: int) -> Constants:
    """Return the penalties that XGBoost takes unless told otherwise, with the rate of most."""
    ratio = _ratios(inner, 1.0, 0.0)
    ratio = np.sort(ratio[np.isfinite(ratio) & (ratio > 0)])
    # The one that most others are the same as: bounds on weights may spoil more than half.
    alike = np.searchsorted(ratio, ratio * (1 + _CLOSE)) - np.arange(len(ratio))
    rate = float(ratio[int(np.argmax(alike)) + int(alike.max()) // 2]) if len(ratio) else 1.0
    rate = rate if rate > LEAST_RATE else 1.0
    return Constants(1.0, 0.0, np.full(n_trees, rate), np.zeros(n_trees))


def rates_of_trees(inner: Inner, l2: float, l1: float, usual: Float) -> Float:
    """Return one over the rate of each tree, where a schedule changes it from round to round."""
    rates, ratio = usual.copy(), _ratios(inner, l2, l1)
    good = np.flatnonzero(np.isfinite(ratio))
    if not len(good):
        return rates
    some, start = np.unique(inner.tree[good], return_index=True)
    for tree, part in zip(some.tolist(), np.split(ratio[good], start[1:]), strict=True):
        rates[tree] = np.median(part)
    steps = np.diff(rates)
    close = np.abs(steps) <= _CLOSE * np.abs(rates[1:])
    # Any other order of rates could spell something.
    turns = np.all(close | (steps > 0)) or np.all(close | (steps < 0))
    return rates if turns else usual
