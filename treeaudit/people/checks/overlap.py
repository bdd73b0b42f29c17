"""Unseen people who stand in the training data: named, counted and left out of the control.

Where training rows repeat, rows of other people are like some of them by chance. How
often that is, the training data tell of themselves (Good and Turing): a new row is like
none with the share of rows that stand there once, like one of these with the share of
rows that stand there twice, and so on. Unseen rows that are like none are surely others; from
their number follows how many of the rest chance makes, and only what is above that is
left out. Which of the rows that are alike these are nothing tells: where there are many, members
stay, and how many that may be is said.

A row need not be the same to the digit. Each is also held against the training data with every
column in turn left away, without its answer, and with all numbers rounded. There a control of
somewhat other people has more in common by chance, so it takes clearly more to leave one out.

References
----------
Good (1953), The population frequencies of species and the estimation of population
parameters. Esty (1983), A normal limit law for a nonparametric estimator of the coverage
of a random sample, for its variance.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Index, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.words import in_percent
from treeaudit.people.records import Records

_NAMED = 5
_MOST = 10
"""Rows that repeat more often than this are not told apart by how often."""
_DEVIATIONS = 2.0
"""Leaving out few too many of rows that are alike does no harm, keeping members does."""
_NEARLY = 4.0
"""The same where rows are alike in part, which is tried in many ways."""
_HIDDEN = 0.05
"""Fewer members than that share of the control move no number by much."""
_COLUMNS = 100
"""So many columns are left away in turn: those of the most values."""
_CELLS = (64, 16, 6)
_LOOKED_AT = 10_000

Keys = npt.NDArray[np.uint64]
Answer = npt.NDArray[Any] | None


def without_members(
    train: Records, test: Records, seed: int = 0, names: Sequence[str] = ()
) -> tuple[Records, list[str]]:
    """Return the control without rows of the training data, and say what was found."""
    rng = np.random.default_rng([seed, zlib.crc32(b"control")])
    n, said = len(test), []
    left = np.arange(n)
    for how, seen, keys in _ways(train, test, names):
        if train.persons is not None:
            seen = _once_each(seen, train.persons)
        inside, out, none, hidden = _members(seen, keys[left], rng, nearly=bool(how))
        if not inside:
            continue
        if len(out) > n / 2 and none > 3 / 4:
            raise DataError(
                f"{inside:,} of the {n:,} people of {test.origin} stand in {train.origin} "
                f"too{how}; --test takes people who were not in the training data"
            )
        rows = ", ".join(f"{row:,}" for row in (left[out[:_NAMED]] + 1).tolist())
        named = f"(rows {rows}{', …' if len(out) > _NAMED else ''})"
        told = f"{inside:,} of the {n:,} rows of {test.origin} ({in_percent(inside / n)}) stand in "
        told += f"{train.origin} too{how}"
        if not len(out):
            told += ", no more than chance may make of such rows: they were kept"
        elif len(out) == inside:
            told += f" {named} and were left out of the control"
        else:
            told += (
                f", {len(out):,} ({in_percent(len(out) / n)}) more than are expected by chance: "
            )
            told += f"as many of them {named} were left out of the control"
        said.append(told)
        left = np.delete(left, out)
        if hidden > _HIDDEN * len(left) > 0:
            many = f"up to about {hidden:,.0f}" if hidden < len(left) else "any"
            said.append(
                f"{many} of the {len(left):,} rows of {test.origin} that were kept may "
                f"stand in {train.origin} all the same: in a table this coarse other people have "
                "equal rows, so that not all members are found, and memory may be more than is "
                "measured"
            )
        if not len(left):
            raise DataError(
                f"nobody of {test.origin} is left who does not stand in {train.origin}; --test "
                "takes people who were not in the training data"
            )
    if len(left) == n:
        return test, said
    kept = np.zeros(n, dtype=np.bool_)
    kept[left] = True
    return test.only(kept), said


def _once_each(seen: Keys, persons: Int) -> Keys:
    """Leave out rows of a person that are like another of theirs."""
    several = np.flatnonzero(np.bincount(persons)[persons] > 1)
    if not len(several):
        return seen
    alike = several[np.lexsort((persons[several], seen[several]))]
    again = (np.diff(seen[alike]) == 0) & (np.diff(persons[alike]) == 0)
    return np.delete(seen, alike[1:][again])


def _members(
    seen: Keys, asked: Keys, rng: np.random.Generator, *, nearly: bool
) -> tuple[int, Index, float, float]:
    """Return how many rows are like training rows, which are too many, and how many are alone.

    The last is how many members may be left among the others at the most. Where rows are only
    alike in part, nothing is found that chance may make.
    """
    times = _times_in(seen, asked)
    n, inside = len(asked), int((times > 0).sum())
    nobody = np.zeros(0, dtype=np.intp)
    if not inside:
        return 0, nobody, 1.0, 0.0
    alike = np.bincount(np.minimum(_times_in(seen, seen), _MOST + 1), minlength=_MOST + 2)
    share = alike[1:] / len(seen)
    none, by_times = float(share[0]), share[1:]
    others, expected = n - inside, n * none
    missing = none * (1 - none)
    spread = np.sqrt(n * missing + n * n * (missing + by_times[0]) / len(seen))
    if nearly:
        few = expected - others <= _NEARLY * spread + _NEARLY or _may_be_others(seen, asked)
        # Odds, not shares: of people who are twice as often alike, none is a member.
        if few or inside * none <= 2 * others * (1 - none) or none == 0:
            return 0, nobody, none, 0.0
        hidden = 0.0
    else:
        # A member is never like nobody, so that each makes these fewer.
        hidden = (expected - others + _DEVIATIONS * spread) / none if none else float(n)
        if others >= expected - _DEVIATIONS * spread:
            return inside, nobody, none, hidden
    times = np.minimum(times, _MOST)
    out = _above(times, others / none * by_times, rng)
    # By lot, as many of those left out are members as of those they are drawn from.
    drawn, of = (np.bincount(rows, minlength=_MOST + 1) for rows in (times[out], times))
    found = float((drawn**2 / np.maximum(of, 1)).sum())
    return inside, out, none, max(0.0, hidden - found)


def _may_be_others(seen: Keys, asked: Keys) -> bool:
    """Return whether people of two populations, whatever they are, may be alike so often.

    By Cauchy and Schwarz, strangers of two populations are alike at most as often as the
    geometric mean of how often strangers within each of them are.
    """
    mine, theirs = _times_in(seen, seen) - 1.0, _times_in(asked, asked) - 1.0
    across, back = _times_in(asked, seen), _times_in(seen, asked)
    # Pairs that none of a few people form may still exist.
    pairs, others = mine.sum() + _NEARLY, theirs.sum() + _NEARLY
    n, m = len(seen), len(asked)
    most = np.sqrt(pairs * others * n * m / max(1, (n - 1) * (m - 1)))
    # What one person more adds to the difference: the delta method.
    effects = across - most * mine / pairs, back - most * theirs / others
    variance = sum(len(effect) * float(np.var(effect)) for effect in effects)
    return bool(across.sum() <= most + _NEARLY * np.sqrt(variance))


def _above(times: Wide, by_chance: Float, rng: np.random.Generator) -> Index:
    """Return rows by lot: of those alike to so many, as many as are above chance."""
    found = []
    for i, most in enumerate(by_chance.tolist(), start=1):
        rows = rng.permutation(np.flatnonzero(times == i))
        found.append(rows[: max(0, len(rows) - round(most))])
    return np.sort(np.concatenate(found))


def _times_in(seen: Keys, asked: Keys) -> Wide:
    """Return how many training rows each row is like."""
    values, counts = np.unique(seen, return_counts=True)
    at = np.minimum(np.searchsorted(values, asked), len(values) - 1)
    return np.where(values[at] == asked, counts[at], 0).astype(np.int64)


def _ways(train: Records, test: Records, names: Sequence[str]) -> Iterator[tuple[str, Keys, Keys]]:
    """Yield how rows may be alike, and a number per row of both, the same for such rows."""
    sides, of = (train, test), range(train.values.shape[1])

    def columns(j: int) -> list[Float]:
        return [_column(one.values[:, j]) for one in sides]

    answers: list[Answer] = [p.labels if p.labels is not None else p.targets for p in sides]
    if answers[0] is None or answers[1] is None:
        answers = [None, None]
    last = [_hashed(None if a is None else _column(a), len(of)) for a in answers]
    whole = list(last)
    for j in of:
        for side, column in enumerate(columns(j)):
            whole[side] = whole[side] + _hashed(column, j)
    yield "", whole[0], whole[1]
    if answers[0] is not None:
        yield " but for their answer", whole[0] - last[0], whole[1] - last[1]
    values = [np.unique(_column(train.values[:: 1 + len(train) // _LOOKED_AT, j])) for j in of]
    for j in sorted(of, key=lambda j: -len(values[j]))[:_COLUMNS]:
        name = f"column {names[j]!r}" if j < len(names) else f"column {j + 1}"
        mine, theirs = (_hashed(column, j) for column in columns(j))
        yield f" but for {name}", whole[0] - mine, whole[1] - theirs
    for cells in _CELLS:
        rounded = list(last)
        for j in of:
            pair = columns(j)
            edges = _edges(pair[0], values[j], cells)
            for side, column in enumerate(pair):
                cell = np.searchsorted(edges, column).astype(np.float64)
                rounded[side] = rounded[side] + _hashed(cell, j)
        yield " once rounded", rounded[0], rounded[1]


def _column(values: npt.NDArray[Any]) -> Float:
    # Text may keep fewer digits: what most models see alike is alike.
    return np.asarray(values, dtype=np.float32).astype(np.float64) + 0.0


def _edges(column: Float, values: Float, cells: int) -> Float:
    """Return bounds of cells of about as many people, each half way between two values."""
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return values[:0]
    some = column[:: 1 + len(column) // _LOOKED_AT]
    some = np.sort(some[np.isfinite(some)])
    at = np.searchsorted(values, some[(np.arange(1, cells) * len(some)) // cells])
    at = np.unique(np.minimum(at, len(values) - 2))
    bounds: Float = (values[at] + values[at + 1]) / 2
    return bounds


def _hashed(column: Float | None, salt: int) -> Any:  # noqa: ANN401  # keys, or none at all
    """Return a number per entry, the same for the same; they are added up for a row."""
    if column is None:
        return np.uint64(0)
    # The finalizer of splitmix64.
    bits = np.where(np.isnan(column), np.nan, column).view(np.uint64)
    bits = bits + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
