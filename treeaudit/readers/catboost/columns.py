"""What the trees of a CatBoost model ask: about numbers, categories and statistics.

A number is compared as ``x > border`` with 32-bit values. A category is one of
the values that one-hot questions name, or any other. A statistic of categories
(CTR) is a number that CatBoost computes from the labels of the training rows
with the same category; it cannot be undone and becomes a column of its own.
"""

from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from treeaudit.arrays import Table
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.schema import Feature
from treeaudit.readers.limits import Most, clean, show

_OTHER = "(any other value)"
_QUESTION = [("feature", "i8"), ("border", "f8"), ("code", "i8"), ("missing_yes", "?")]
_TWO = "it is damaged: a split says one thing by its number, and another by its border"
_FLOAT_MAX = float(np.finfo(np.float32).max)


class ColumnTable:
    """The columns of a model, and the questions that its trees ask about them."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        self._floats = _by_index(info, "float_features")
        self._cats = _by_index(info, "categorical_features")
        self._names: dict[int, str] = {}
        for kind in ("float_features", "categorical_features", "text_features"):
            for entry in _entries(info, kind):
                name = entry.get("feature_name") or entry.get("feature_id")
                if isinstance(name, str) and name and name != str(_flat(entry)):
                    self._names[_flat(entry)] = clean(name)
        taken = [_flat(e) for e in (*self._floats.values(), *self._cats.values())]
        if len(set(taken)) != len(taken):
            raise ReadError("the CatBoost model is damaged: two features share one column")
        self._width = max(taken, default=-1) + 1
        self._hashes = _hashes(info)
        self._codes = {index: _values(entry) for index, entry in self._cats.items()}
        self._ctrs = _ctrs(info)
        # CatBoost goes by the number of a question: they are counted through, kind by kind.
        self._numbers: dict[tuple[str, int, float], int] = {}
        for kind, features, name in (("f", self._floats, "borders"), ("c", self._cats, "values")):
            for index, entry in features.items():
                for stored in _list(entry, name):
                    self._numbers[kind, index, stored] = len(self._numbers)
        self._before_ctrs = len(self._numbers)
        self._derived: dict[str, int] = {}
        self._asked: dict[tuple[int, float, int], int] = {}
        self._rows: list[tuple[int, float, int, bool]] = []
        self._table: Table | None = None

    def ask(self, split: object) -> int:
        """Return the number of a question, given its split in the file."""
        if not isinstance(split, dict):
            raise ReadError("it is damaged: a split is no object")
        kind = split.get("split_type", "FloatFeature")
        missing_yes, code, border = False, -1, 0.0
        if kind == "FloatFeature":
            entry = _known(self._floats, split.get("float_feature_index"))
            feature, border = _flat(entry), _number(split.get("border"))
            known_as = "f", split["float_feature_index"], split["border"]
            self._check(known_as, split.get("split_index"))
            missing_yes = entry.get("nan_value_treatment") == "AsTrue"
        elif kind == "OneHotFeature":
            index = split.get("cat_feature_index")
            feature = _flat(_known(self._cats, index))
            hashed = split.get("value")
            if not _is_int(hashed) or not _is_int(index):
                raise ReadError("it is damaged: a split names no category")
            self._check(("c", index, hashed), split.get("split_index"))
            known = self._codes[index]
            code = known.setdefault(hashed & 0xFFFFFFFF, len(known))
        elif kind == "OnlineCtr":
            feature, border = self._statistic(split), _number(split.get("border"))
        else:
            raise UnsupportedModelError(f"it asks about {show(kind)}, which is not read")
        return self._once((feature, border, code), missing_yes=missing_yes)

    def _once(self, key: tuple[int, float, int], *, missing_yes: bool) -> int:
        place = self._asked.setdefault(key, len(self._rows))
        if place == len(self._rows):
            self._rows.append((*key, missing_yes))
            self._table = None
        return place

    def _statistic(self, split: Mapping[str, Any]) -> int:
        """Return the column of a statistic of categories."""
        at, border = split.get("split_index"), split.get("border")
        name = f"statistic {show(at)}"
        if _is_int(at) and 0 <= at - self._before_ctrs < len(self._ctrs):
            text, stored = self._ctrs[at - self._before_ctrs]
            if stored != border:
                raise ReadError(_TWO)
            name = text
        return self._derived.setdefault(name, self._width + len(self._derived))

    def _check(self, question: tuple[str, Any, Any], at: object) -> None:
        known = self._numbers.get(question)
        # CatBoost takes no truth value or text for the number of a question.
        if known is None or not _is_int(at) or known != at:
            raise ReadError(_TWO)

    @property
    def width(self) -> int:
        """How many columns the data has; statistics come after them."""
        return self._width

    @property
    def derived(self) -> list[str]:
        """The statistics that trees ask about."""
        return list(self._derived)

    @property
    def n_categories(self) -> dict[int, int]:
        """How many codes each categorical column has, the one for all others included."""
        return {_flat(self._cats[index]): len(c) + 1 for index, c in self._codes.items()}

    @property
    def features(self) -> tuple[Feature, ...]:
        """All columns; statistics come last."""
        categories: dict[int, tuple[str, ...]] = {}
        for index, codes in self._codes.items():
            texts = [self._hashes.get(h, f"hash {h}") for h in codes]
            categories[_flat(self._cats[index])] = (*texts, _OTHER)
        gaps = {_flat(one) for one in self._floats.values() if one.get("has_nans") is True}
        flat = [
            Feature(
                name=self._names.get(i, f"x{i}"),
                categories=categories.get(i),
                had_missing=i in gaps,
            )
            for i in range(self._width)
        ]
        return (*flat, *(Feature(name=name) for name in self._derived))

    @property
    def named(self) -> bool:
        """Whether names come from the file."""
        return bool(self._names) or not self._width

    @property
    def questions(self) -> Table:
        """One record per question.

        ``feature`` is its column, ``border`` that of a number, ``code`` a category or -1;
        ``missing_yes`` tells whether missing values answer with yes.
        """
        if self._table is None:
            self._table = np.array(self._rows or [(0, 0.0, -1, False)], dtype=_QUESTION)
        return self._table


def _entries(info: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    stored = info.get(kind) or []
    if not isinstance(stored, list) or not all(isinstance(entry, dict) for entry in stored):
        raise ReadError(f"the CatBoost model is damaged: {kind} is no list of objects")
    if len(stored) > Most.features:
        raise ReadError(f"the CatBoost model is damaged: it has too many {kind}")
    return stored


def _by_index(info: Mapping[str, Any], kind: str) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for entry in _entries(info, kind):
        index = entry.get("feature_index")
        if not _is_int(index) or index in found:
            raise ReadError(f"the CatBoost model is damaged: {kind} has no proper feature_index")
        _flat(entry)
        found[index] = entry
    if list(found) != sorted(found):
        raise ReadError(f"the CatBoost model is damaged: {kind} are not in their order")
    return found


def _flat(entry: Mapping[str, Any]) -> int:
    flat = entry.get("flat_feature_index")
    if not _is_int(flat) or not 0 <= flat < Most.features:
        raise ReadError("the CatBoost model is damaged: a feature has no column")
    return int(flat)


def _known(features: Mapping[int, dict[str, Any]], index: object) -> dict[str, Any]:
    if not _is_int(index) or index not in features:
        raise ReadError("it is damaged: it tests a feature that does not exist")
    return features[index]


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ReadError("it is damaged: a border is no number")
    if not -_FLOAT_MAX <= value <= _FLOAT_MAX:
        raise ReadError("it is damaged: a border is out of range")
    return float(np.float32(value))


def _list(entry: Mapping[str, Any], name: str) -> list[float]:
    stored = entry.get(name)
    if isinstance(stored, np.ndarray):
        stored = stored.tolist()
    return (
        [one for one in stored if isinstance(one, int | float)] if isinstance(stored, list) else []
    )


def _values(entry: Mapping[str, Any]) -> dict[int, int]:
    stored = entry.get("values") or []
    if not isinstance(stored, list) or not all(_is_int(value) for value in stored):
        raise ReadError("the CatBoost model is damaged: a category is no hash")
    return {h: i for i, h in enumerate(dict.fromkeys(value & 0xFFFFFFFF for value in stored))}


def _hashes(info: Mapping[str, Any]) -> dict[int, str]:
    return {
        entry["hash"] & 0xFFFFFFFF: clean(entry.get("value"))
        for entry in _entries(info, "cat_features_hash")
        if _is_int(entry.get("hash"))
    }


def _ctrs(info: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return name and border of every question about a statistic, in order."""
    found: list[tuple[str, float]] = []
    for i, entry in enumerate(_entries(info, "ctrs")):
        borders = entry.get("borders")
        name = f"statistic {i} ({clean(entry.get('ctr_type', 'CTR'))[:40]}) of categories"
        if isinstance(borders, np.ndarray):
            found += [(name, float(border)) for border in borders]
    return found


def nested(data: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return a nested object, or an empty one where it is absent."""
    found: Any = data
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
