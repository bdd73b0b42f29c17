"""Unseen people who stand in the training data: named, counted and left out of the control.

Where training rows repeat, rows of other people are like some of them by chance. How
often that is, the training data tell of themselves (Good and Turing): a new row is like
none with the share of rows that stand there once, like one of these with the share of
rows that stand there twice, and so on. Unseen rows that are like none are surely others; from
their number follows how many of the rest chance makes, and only what is above that is
left out.

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

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError
from treeaudit.people.records import Records

__all__ = ["without_members"]

_NAMED = 5
_MOST = 10
"""Rows that repeat more often than this are not told apart by how often."""
_DEVIATIONS = 2.0
"""Leaving out few too many of rows that are alike does no harm, keeping members does."""


def without_members(train: Records, test: Records, seed: int = 0) -> tuple[Records, list[str]]:
    """Return the control without rows of the training data, and say what was found.

    Parameters
    ----------
    train, test
        The people; rows are compared by what the model sees of them, and by their label or
        number where both tables have one.
    seed
        Decides which rows are left out where chance makes some of them.

    Raises
    ------
    DataError
        If it is the training data: its people would make memory look like a fact.
    """
    times = _times_in(train, test)
    n, inside = len(test), int((times > 0).sum())
    if not inside:
        return test, []
    alike = np.bincount(np.minimum(_times_in(train, train), _MOST + 1), minlength=_MOST + 2)
    share = alike[1:] / len(train)
    none, by_times = share[0], share[1:]
    others, expected = n - inside, n * none
    missing = none * (1 - none)
    spread = np.sqrt(n * missing + n * n * (missing + by_times[0]) / len(train))
    if others >= expected - _DEVIATIONS * spread:
        said = f"{inside:,} of the {n:,} rows of {test.origin} ({inside / n:.1%}) stand in "
        said += f"{train.origin} too, no more than chance makes of such rows: they were kept"
        return test, [said]
    rng = np.random.default_rng([seed, zlib.crc32(b"control")])
    out = _above(np.minimum(times, _MOST), others / none * by_times, rng)
    if len(out) > n / 2 and none > 3 / 4:
        raise DataError(
            f"{inside:,} of the {n:,} people of {test.origin} stand in {train.origin} "
            "too; --test takes people who were not in the training data"
        )
    rows = ", ".join(f"{row:,}" for row in (out[:_NAMED] + 1).tolist())
    named = f"(rows {rows}{', …' if len(out) > _NAMED else ''})"
    said = f"{inside:,} of the {n:,} rows of {test.origin} ({inside / n:.1%}) stand in "
    if len(out) == inside:
        said += f"{train.origin} too {named} and were left out of the control"
    else:
        said += f"{train.origin} too, {len(out):,} ({len(out) / n:.1%}) more than chance makes: "
        said += f"as many of them {named} were left out of the control"
    kept = np.ones(n, dtype=np.bool_)
    kept[out] = False
    return test.only(kept), [said]


def _above(times: Wide, by_chance: Float, rng: np.random.Generator) -> Wide:
    """Return rows by lot: of those alike to so many, as many as are above chance."""
    found = []
    for i, most in enumerate(by_chance.tolist(), start=1):
        rows = rng.permutation(np.flatnonzero(times == i))
        found.append(rows[: max(0, len(rows) - round(most))])
    return np.sort(np.concatenate(found))


def _times_in(train: Records, asked: Records) -> Wide:
    """Return how many training rows each row is like."""
    answers = [
        people.labels if people.labels is not None else people.targets for people in (train, asked)
    ]
    if answers[0] is None or answers[1] is None:
        answers = [None, None]
    seen, keys = (_keys(*one) for one in zip((train, asked), answers, strict=True))
    values, counts = np.unique(seen, return_counts=True)
    at = np.minimum(np.searchsorted(values, keys), len(values) - 1)
    return np.where(values[at] == keys, counts[at], 0).astype(np.int64)


def _keys(people: Records, answer: npt.NDArray[Any] | None) -> npt.NDArray[np.integer[Any]]:
    """Return a number per row, the same for rows that are alike."""
    import pandas as pd

    # Text may keep fewer digits: what most models see alike is alike.
    frame = pd.DataFrame(people.values.astype(np.float32).astype(np.float64) + 0.0)
    if answer is not None:
        frame["answer"] = np.asarray(answer, dtype=np.float32).astype(np.float64) + 0.0
    return pd.util.hash_pandas_object(frame, index=False).to_numpy()
