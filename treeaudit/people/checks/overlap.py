"""Unseen people who stand in the training data: named, counted and left out of the control.

Where training rows repeat, rows of other people are like some of them by chance. How
often that is, the training data tell of themselves (Good and Turing): a new row is like
none with the share of rows that stand there once, like one of these with the share of
rows that stand there twice, and so on. Unseen rows that are like none are surely others; from
their number follows how many of the rest chance makes, and only what is above that is
left out. Which of the rows that are alike these are nothing tells: where there are many, members
stay, and how many that may be is said. Rows that were changed since are not recognised.

References
----------
Good (1953), The population frequencies of species and the estimation of population
parameters. Esty (1983), A normal limit law for a nonparametric estimator of the coverage
of a random sample, for its variance.
"""

import zlib
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
_HIDDEN = 0.05
"""Fewer members than that share of the control move no number by much."""

Keys = npt.NDArray[np.uint64]


def without_members(train: Records, test: Records, seed: int = 0) -> tuple[Records, list[str]]:
    """Return the control without rows of the training data, and say what was found."""
    rng = np.random.default_rng([seed, zlib.crc32(b"control")])
    train_keys, test_keys = _keys(train, test)
    if train.persons is not None:
        train_keys = _once_each(train_keys, train.persons)
    n = len(test)
    inside, out, none, hidden = _members(train_keys, test_keys, rng)
    if not inside:
        return test, []
    if len(out) > n / 2 and none > 3 / 4:
        raise DataError(
            f"{inside:,} of the {n:,} people of {test.origin} stand in {train.origin} "
            "too; --test takes people who were not in the training data"
        )
    rows = ", ".join(f"{row:,}" for row in (out[:_NAMED] + 1).tolist())
    named = f"(rows {rows}{', …' if len(out) > _NAMED else ''})"
    text = f"{inside:,} of the {n:,} rows of {test.origin} ({in_percent(inside / n)}) stand in "
    text += f"{train.origin} too"
    if not len(out):
        text += ", no more than chance may make of such rows: they were kept"
    elif len(out) == inside:
        text += f" {named} and were left out of the control"
    else:
        text += f", {len(out):,} ({in_percent(len(out) / n)}) more than are expected by chance: "
        text += f"as many of them {named} were left out of the control"
    said, left = [text], n - len(out)
    if hidden > _HIDDEN * left > 0:
        many = f"up to about {hidden:,.0f}" if hidden < left else "any"
        said.append(
            f"{many} of the {left:,} rows of {test.origin} that were kept may "
            f"stand in {train.origin} all the same: in a table this coarse other people have "
            "equal rows, so that not all members are found, and memory may be more than is "
            "measured"
        )
    if not left:
        raise DataError(
            f"nobody of {test.origin} is left who does not stand in {train.origin}; --test "
            "takes people who were not in the training data"
        )
    kept = np.ones(n, dtype=np.bool_)
    kept[out] = False
    return (test.only(kept) if len(out) else test), said


def _once_each(seen: Keys, persons: Int) -> Keys:
    """Leave out rows of a person that are like another of theirs."""
    several = np.flatnonzero(np.bincount(persons)[persons] > 1)
    if not len(several):
        return seen
    alike = several[np.lexsort((persons[several], seen[several]))]
    again = (np.diff(seen[alike]) == 0) & (np.diff(persons[alike]) == 0)
    return np.delete(seen, alike[1:][again])


def _members(seen: Keys, asked: Keys, rng: np.random.Generator) -> tuple[int, Index, float, float]:
    """Return how many rows are like training rows, which are too many, and how many are alone."""
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


def _keys(train: Records, test: Records) -> tuple[Keys, Keys]:
    """Return a number per row of both, the same for equal rows; with answers where both have."""
    sides = (train, test)
    answers = [one.labels if one.labels is not None else one.targets for one in sides]
    known = answers[0] is not None and answers[1] is not None
    keys = []
    for side, answer in zip(sides, answers, strict=True):
        columns = [*side.values.T, *([answer] if known else [])]
        key = np.zeros(len(side), dtype=np.uint64)
        for j, column in enumerate(columns):
            key += _hashed(column, j)
        keys.append(key)
    return keys[0], keys[1]


def _hashed(column: npt.NDArray[Any], salt: int) -> Keys:
    """Return a number per entry, the same for the same; they are added up for a row."""
    # Text may keep fewer digits: what most models see alike is alike.
    values = np.asarray(column, dtype=np.float32).astype(np.float64) + 0.0
    # The finalizer of splitmix64.
    bits = np.where(np.isnan(values), np.nan, values).view(np.uint64)
    bits = bits + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    key: Keys = bits ^ (bits >> np.uint64(31))
    return key
