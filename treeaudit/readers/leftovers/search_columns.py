"""Columns of the table of a search that say what others say already."""

import numpy as np

from treeaudit.later import pattern
from treeaudit.readers.leftovers.forms import is_sound
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.dtypes import DType
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.types import Array

__all__ = ["follows_from_splits", "under_mask"]

_SUMMARY = pattern(r"(mean|std|rank)_(test|train)_(\w{1,40})")


def under_mask(part: Inert, tried: list[object], name: str) -> int | None:
    """Return the bytes that a column of what was tried hides.

    Nobody sees what stands there: what lay in the memory, or a message.

    Parameters
    ----------
    part
        A masked column.
    tried
        The settings of each candidate.
    name
        Of the setting.

    Returns
    -------
    int or None
        None where the column says something else than the candidates.
    """
    n, state = len(tried), part.state
    stated = [one.get(name) if isinstance(one, dict) else None for one in tried]
    has = [isinstance(one, dict) and name in one for one in tried]
    values, hidden, kind, fill = None, None, None, None
    if isinstance(state, tuple) and len(state) == 7 and state[1] == (n,):
        _, _, kind, _, values, hidden, fill = state
    elif isinstance(state, dict) and state.keys() == {"_data", "_mask"}:
        values, hidden = arrived(state["_data"]), arrived(state["_mask"])
    plain = all(_is_plain(one) for one in (*part.args[2:], fill)) and not part.pairs
    plain = plain and len(part.args) <= 4
    if isinstance(values, np.ndarray) and (values.dtype == object or is_sound(values)):
        values = values.tolist()
    if isinstance(kind, DType) and isinstance(values, bytes | memoryview) and not kind.n_fields:
        made = kind.build()
        fits = made.kind in "biuf" and len(values) == n * made.itemsize
        raw = np.frombuffer(values, made) if fits else None
        values = raw.tolist() if raw is not None and is_sound(raw) else None
    if isinstance(hidden, np.ndarray):
        hidden = hidden.tobytes() if hidden.ndim else bytes(n) if not hidden else None
    covered = isinstance(hidden, bytes | memoryview) and any(has)
    covered = covered and hidden == bytes(not one for one in has)
    if not (plain and covered and isinstance(values, list) and len(values) == n):
        return None
    each = list(zip(map(arrived, values), map(arrived, stated), has, strict=True))
    if not all(_is_same(one, other) if there else _is_hole(one) for one, other, there in each):
        return None
    return sum(8 for one, _, there in each if not there and one)


def follows_from_splits(key: str, column: Array, table: dict[object, object]) -> bool:
    """Tell whether a column of a search says what follows from the scores of its splits."""
    match = _SUMMARY.fullmatch(key)
    if match is None or column.dtype.kind not in "iuf":
        return False
    what, kind, name = match.groups()
    each = (arrived(table.get(f"split{i}_{kind}_{name}")) for i in range(len(table)))
    splits = [one for one in each if isinstance(one, np.ndarray) and one.shape == column.shape]
    if not splits or any(one.dtype.kind != "f" for one in splits):
        return False
    with np.errstate(all="ignore"):
        scores = np.stack(splits)
        mean = scores.mean(axis=0)
        if what == "rank":
            mean = np.where(np.isnan(mean), np.nanmin(mean, initial=0) - 1, mean)
            follows = 1 + (mean[None] > mean[:, None]).sum(axis=1)
            return bool(np.array_equal(column, follows))
        follows = mean if what == "mean" else scores.std(axis=0)
        return np.allclose(column, follows, rtol=1e-9, atol=1e-12, equal_nan=True)


def _is_hole(one: object) -> bool:
    return one is None or isinstance(one, float) or (isinstance(one, int) and abs(one) < 1 << 63)


def _is_plain(one: object) -> bool:
    one = arrived(one)
    if isinstance(one, np.ndarray):
        return one.size == 1 and (one.dtype.kind in "biuf" or one.tolist() in ("?", "N/A", ["?"]))
    return one is None or isinstance(one, bool | float) or one in ("?", "N/A", (0,), "b", b"b")


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, int | float | str) and isinstance(other, int | float | str):
        return one == other or (one != one and other != other)
    return one is other or (type(one) is type(other) and one == other)
