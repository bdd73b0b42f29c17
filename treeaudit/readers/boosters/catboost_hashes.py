"""Which categories the statistics of a CatBoost model need, by the hashes that it stores.

The key of a row of a statistic is worked out of the hashes of its categories, one after the other,
then of the answers to its questions about numbers (CatBoost, ``catboost/libs/model/hash.h`` and
``ctr_provider``): ``key -> M (key + M value)`` in 64 bits, beginning at 0.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["categories_needed", "keys_of"]

_M = np.uint64(0x4906BA494954CB65)
_MOST = 1 << 21
"""Keys that are tried for one statistic, and four times as many in all."""
_CATEGORY = "cat_feature_value"


def categories_needed(tables: Mapping[str, Any], hashes: set[int]) -> set[int]:
    """Return which hashes of categories, of 32 bits, a row of some statistic is of.

    Parameters
    ----------
    tables
        The statistics by what they are of, as text; ``hash_keys`` are the keys of their rows.
    hashes
        Those of the categories that have a name.

    Examples
    --------
    >>> of = '{"identifier":[{"combination_element":"cat_feature_value"}],"type":"Counter"}'
    >>> keys = np.array([(0x4906BA494954CB65**2 * 7) % 2**64], dtype=np.uint64)
    >>> categories_needed({of: {"hash_keys": keys}}, {7, 8})
    {7}
    """
    found: set[int] = set()
    ordered = sorted(hashes)
    # As numbers of 32 bits with a sign.
    values = np.array(ordered, dtype=np.uint32).view(np.int32).astype(np.int64).view(np.uint64)
    room = 4 * _MOST
    for n_categories, n_bits, keys in sorted(_statistics(tables), key=lambda one: one[:2]):
        cost = len(values) ** n_categories << n_bits
        if cost > min(_MOST, room) or len(found) == len(hashes):
            continue
        room -= cost
        made = np.zeros(1, dtype=np.uint64)
        for _ in range(n_categories):
            made = (_M * (made[:, None] + _M * values)).ravel()
        for _ in range(n_bits):
            made = (_M * (made[:, None] + _M * np.arange(2, dtype=np.uint64))).ravel()
        hit = np.flatnonzero(np.isin(made, keys)) >> n_bits
        for place in range(n_categories):
            digit = hit // len(values) ** place % len(values)
            found.update(ordered[i] for i in np.unique(digit).tolist())
    return found


def keys_of(stored: Sequence[object]) -> npt.NDArray[np.uint64]:
    """Return the keys in a table of a statistic: CatBoost writes them as text, counts as numbers.

    Examples
    --------
    >>> keys_of(["7", 0, 3, "9"]).tolist()
    [7, 9]
    """
    keys = [int(one) for one in stored if isinstance(one, str)]
    return np.array([one for one in keys if one < 1 << 64], dtype=np.uint64)


def _statistics(tables: Mapping[str, Any]) -> Iterator[tuple[int, int, npt.NDArray[np.uint64]]]:
    """Yield of how many categories and questions each statistic is, and the keys of its rows."""
    for name, table in tables.items():
        keys = table.get("hash_keys") if isinstance(table, dict) else None
        try:
            stated = json.loads(name)
        except (ValueError, RecursionError):
            continue
        parts = stated.get("identifier") if isinstance(stated, dict) else None
        if not isinstance(keys, np.ndarray) or not isinstance(parts, list):
            continue
        kinds = [part.get("combination_element") for part in parts if isinstance(part, dict)]
        n = kinds.count(_CATEGORY)
        if n and len(kinds) - n < 16:
            yield n, len(kinds) - n, keys
