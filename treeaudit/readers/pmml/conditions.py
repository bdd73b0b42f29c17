"""Conditions of PMML nodes as intervals and category sets.

``x == v`` is the interval ``below(v) < x <= v``. ``x != v`` of a number has no
interval and stays open; it is put after its counterpart, so that a row goes the
way it really goes. Conditions that have no box are refused by name.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.schema import Feature
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pmml.document import DataField, Predicate

OTHER = "(any other value)"
_NUMBERS = frozenset({"integer", "float", "double"})
_ORDERS = frozenset({"lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual"})
_EQUALS = frozenset({"equal", "isIn"})
_UNEQUAL = frozenset({"notEqual", "isNotIn"})
_WITH_VALUES = _ORDERS | _EQUALS | _UNEQUAL


class Condition(NamedTuple):
    """What lets a row through: an interval of one feature, or codes of its categories.

    ``missing`` says whether missing values pass; ``hole`` is the one value that an open interval
    leaves out.
    """

    feature: int
    low: float = -math.inf
    high: float = math.inf
    codes: frozenset[int] | None = None
    missing: bool = False
    hole: tuple[float, float] | None = None

    @property
    def never(self) -> bool:
        """Whether no value but a missing one passes."""
        return (self.codes is not None and not self.codes) or not self.low < self.high

    def both(self, other: "Condition", missing: bool) -> "Condition":
        """Return what passes both conditions on one feature; missing values as is said."""
        codes = self.codes if other.codes is None else other.codes
        if self.codes is not None and other.codes is not None:
            codes = self.codes & other.codes
        low, high = max(self.low, other.low), min(self.high, other.high)
        if codes is not None and (low > -math.inf or high < math.inf):
            codes = frozenset(code for code in codes if low < code <= high)
            low, high = -math.inf, math.inf
        hole = self.hole or other.hole
        return Condition(self.feature, low, high, codes, missing, hole)

    def without(self, other: "Condition") -> "Condition | None":
        """Return what is left of this one where the other lets nothing more through.

        None where that is no interval.
        """
        missing = self.missing and not other.missing
        if other.hole is not None:
            return self._replace(low=other.hole[0], high=other.hole[1], missing=missing)
        if self.codes is not None and other.codes is not None:
            return self._replace(codes=self.codes - other.codes, missing=missing)
        if other.codes is not None or self.codes is not None:
            return None
        if not other.low < other.high:
            return self._replace(missing=missing)
        low, high = self.low, self.high
        if other.low <= low:
            low = max(low, other.high)
        elif other.high >= high:
            high = other.low
        else:
            return None
        return Condition(self.feature, low, high, None, missing, self.hole)


class Fields:
    """The columns of a PMML model and how their values are written."""

    def __init__(self, stored: Mapping[str, DataField], active: Iterable[str]) -> None:
        self._stored = stored
        self._place: dict[str, int] = {}
        self._codes: list[dict[str, int] | None] = []
        self._open_ended: list[bool] = []
        self.derived: list[str] = []
        self.has_holes = self.has_surrogates = False
        for name in active:
            self._add(name)

    def _add(self, name: str) -> int:
        found = self._stored.get(name)
        number = _is_number(found)
        known = {} if found is None else {v: i for i, v in enumerate(dict.fromkeys(found.values))}
        self._place[name] = len(self._codes)
        self._codes.append(None if number else known)
        self._open_ended.append(not known)
        return self._place[name]

    def feature(self, name: str) -> int:
        """Return the position of a column; one that only copies another is that one."""
        for _ in range(10):
            found = self._stored.get(name)
            if name in self._place or found is None or not found.derived:
                break
            source = found.same_as
            # Numbers made of categories are another column than those.
            if source is None or _is_number(found) != _is_number(self._stored.get(source)):
                break
            name = source
        if name in self._place:
            return self._place[name]
        found = self._stored.get(name)
        if found is None:
            raise ReadError(f"the PMML is damaged: a node tests {show(name)}, which is no field")
        if found.derived:
            self.derived.append(name)
        return self._add(name)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns; categories that the file does not list are gathered from the tests."""
        found = []
        for name, place in self._place.items():
            codes = self._codes[place]
            more = (OTHER,) if self._open_ended[place] else ()
            categories = None if codes is None else (*codes, *more)
            found.append(Feature(name=name, categories=categories))
        return tuple(found)

    @property
    def all_single(self) -> bool:
        """Whether every number is compared as a 32-bit one."""
        kinds = [
            self._stored[name].attributes.get("dataType") if name in self._stored else None
            for name, place in self._place.items()
            if self._codes[place] is None
        ]
        return bool(kinds) and all(kind == "float" for kind in kinds)

    def note(self, predicate: Predicate | None) -> None:
        """Take down columns and categories that a condition names."""
        todo = [] if predicate is None else [predicate]
        while todo:
            one = todo.pop()
            todo.extend(one.parts)
            if one.field:
                codes = self._codes[self.feature(one.field)]
                if codes is not None:
                    for value in one.values:
                        codes.setdefault(value, len(codes))

    def every_code(self, feature: int) -> frozenset[int] | None:
        """Return all codes of a column of categories; None for numbers."""
        codes = self._codes[feature]
        if codes is None:
            return None
        return frozenset(range(len(codes) + self._open_ended[feature]))

    def conditions(self, predicate: Predicate) -> list[Condition] | None:
        """Return the conditions that must all hold, one per feature; None for always."""
        match predicate.operator:
            case "True":
                return None
            case "False":
                return [Condition(feature=0, low=math.inf)]
            case "and":
                return self._all(predicate)
            case "or":
                return self._any(predicate)
            case "surrogate":
                self.has_surrogates = True
                if not predicate.parts:
                    raise ReadError("the PMML is damaged: a compound condition has no parts")
                return self.conditions(predicate.parts[0])
            case "xor":
                raise UnsupportedModelError("a node joins conditions by xor, which has no box")
            case _:
                return [self._simple(predicate)]

    def _all(self, predicate: Predicate) -> list[Condition] | None:
        found: dict[int, Condition] = {}
        for part in predicate.parts:
            for one in self.conditions(part) or ():
                same = found.get(one.feature)
                found[one.feature] = (
                    one if same is None else same.both(one, same.missing and one.missing)
                )
        return list(found.values()) or None

    def _any(self, predicate: Predicate) -> list[Condition] | None:
        parts = [self.conditions(part) for part in predicate.parts]
        if any(part is None for part in parts):
            return None
        each = [one for part in parts if part is not None for one in part]
        if len({one.feature for one in each}) != 1 or len(each) != len(parts):
            raise UnsupportedModelError(
                "a node asks whether one of several columns fits, which has no box"
            )
        missing = any(one.missing for one in each)
        some = [one for one in each if not one.never]
        if not some:
            return [each[0]._replace(missing=missing)]
        if all(one.codes is not None for one in some):
            codes = frozenset(code for one in some for code in one.codes or ())
            return [some[0]._replace(codes=codes, missing=missing)]
        some.sort(key=lambda one: one.low)
        union = some[0]
        for one in some[1:]:
            if one.codes is not None or one.hole or union.hole or one.low > union.high:
                raise UnsupportedModelError("a node asks for several intervals of one column")
            union = union._replace(high=max(union.high, one.high))
        return [union._replace(missing=missing)]

    def _simple(self, predicate: Predicate) -> Condition:
        operator, feature = predicate.operator, self.feature(predicate.field)
        codes = self._codes[feature]
        if operator == "isMissing":
            return Condition(feature=feature, low=math.inf, missing=True)
        if operator == "isNotMissing":
            return Condition(feature=feature)
        if operator not in _WITH_VALUES:
            raise ReadError(f"the PMML is damaged: no operator is called {show(operator)}")
        if not predicate.values:
            raise ReadError("the PMML is damaged: a condition has no value")
        if codes is not None:
            if operator in _ORDERS:
                raise UnsupportedModelError(
                    f"a node orders the categories of {show(predicate.field)}, which is not read"
                )
            chosen = frozenset(codes[value] for value in predicate.values)
            if operator in _UNEQUAL:
                chosen = (self.every_code(feature) or frozenset()) - chosen
            return Condition(feature=feature, codes=chosen)
        return self._number(predicate, feature)

    def _number(self, predicate: Predicate, feature: int) -> Condition:
        kind = self._stored.get(predicate.field)
        single = kind is not None and kind.attributes.get("dataType") == "float"
        if len(predicate.values) == 1:
            values = [_value(predicate.values[0], single)]
        else:
            values = sorted({_value(text, single) for text in predicate.values})
        operator, value = predicate.operator, values[0]
        below = math.nextafter(value, -math.inf)
        if len(values) > 1:
            whole = all(v == int(v) and 0 <= v <= Most.category for v in values)
            if operator != "isIn" or not whole:
                raise UnsupportedModelError(
                    "a node asks for a set of numbers, which has no interval"
                )
            return Condition(feature=feature, codes=frozenset(int(v) for v in values))
        if operator in _EQUALS:
            return Condition(feature=feature, low=below, high=value)
        if operator in _UNEQUAL:
            self.has_holes = True
            return Condition(feature=feature, hole=(below, value))
        if operator in ("lessThan", "lessOrEqual"):
            return Condition(feature=feature, high=below if operator == "lessThan" else value)
        return Condition(feature=feature, low=value if operator == "greaterThan" else below)


def _is_number(field: DataField | None) -> bool:
    """Return whether a column holds numbers, as it does where nobody says otherwise."""
    kind = field.attributes.get("dataType", "double") if field else "double"
    operation = field.attributes.get("optype", "continuous") if field else "continuous"
    return kind in _NUMBERS and operation != "categorical"


# Python takes blanks, underscores and the digits of all scripts for numbers.
_NUMBER = re.compile(r"[0-9.eE+-]+")
_MOST_SINGLE = float(np.finfo(np.float32).max)


def _value(text: str, single: bool) -> float:
    try:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
    except ValueError:
        value = math.nan
    if single and abs(value) <= _MOST_SINGLE:
        value = float(np.float32(value))
    if not math.isfinite(value):
        raise ReadError(f"the PMML is damaged: {show(text)} is no number")
    return value
