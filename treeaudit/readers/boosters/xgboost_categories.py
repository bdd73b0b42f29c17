"""The names of categories in an XGBoost file, and the order in which it looks them up."""

from itertools import pairwise
from typing import Any

import numpy as np

from treeaudit.readers.boosters.xgboost_schema import Booster
from treeaudit.readers.leftovers.booster_parts import is_name

__all__ = ["are_categories"]

_NAMES = frozenset({"enc", "feature_segments", "sorted_idx"})


def are_categories(part: object, booster: Booster) -> bool:
    """Tell whether a part holds names of categories, and nothing that does not follow from them.

    Parameters
    ----------
    part
        ``cats`` of the file.
    booster
        The model as it was read.
    """
    if not isinstance(part, dict) or not part.keys() <= _NAMES:
        return False
    columns = part.get("enc", [])
    if not _are_named(columns, booster):
        return False
    sizes = [len(booster.categories.get(i, ())) for i in range(len(columns))]
    starts = np.cumsum([0, *sizes]).tolist()
    segments, order = (_whole(part.get(name, [])) for name in ("feature_segments", "sorted_idx"))
    if segments not in ([], starts) or len(order) not in (0, starts[-1]):
        return False
    return not order or all(
        _is_sorted(order[begin:end], column)
        for (begin, end), column in zip(pairwise(starts), columns, strict=True)
    )


def _whole(part: object) -> list[object]:
    found = part.tolist() if isinstance(part, np.ndarray) else part
    return found if isinstance(found, list) and set(map(type, found)) <= {int} else [None]


def _is_sorted(order: list[Any], column: dict[str, Any]) -> bool:
    """Tell whether places in a column of names come in the order of the names."""
    if sorted(order) != list(range(len(order))):
        return False
    values = np.asarray(column.get("values", [])).tolist()
    if "offsets" in column:
        # Bytes have signs there.
        bounds = np.asarray(column["offsets"]).tolist()
        values = [[(v + 128) % 256 for v in values[a:b]] for a, b in pairwise(bounds)]
    found = [values[place] for place in order]
    return all(before <= after for before, after in pairwise(found))


def _are_named(part: object, booster: Booster) -> bool:
    """Tell whether the names of categories are those of columns that have some."""
    if not isinstance(part, list) or len(part) not in (0, booster.n_features):
        return False
    for i, column in enumerate(part):
        if not isinstance(column, dict) or not column.keys() <= {"offsets", "values", "type"}:
            return False
        named = booster.categories.get(i, ())
        stated = column.get("values")
        told = isinstance(stated, list | np.ndarray) and len(stated) > 0
        if told != bool(named) or (named and (booster.kinds or [""] * (i + 1))[i] != "c"):
            return False
        if not all(map(is_name, named)) or not isinstance(column.get("type", 0), int):
            return False
        if told and "offsets" in column and not _are_bytes(stated):
            return False
    return True


def _are_bytes(part: Any) -> bool:  # noqa: ANN401  # a list or an array
    values = np.asarray(part)
    return values.dtype.kind in "iu" and bool(np.all((values >= -128) & (values <= 255)))
