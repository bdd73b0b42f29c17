"""Categories, labels and indicator features of people as the codes of a model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError, near
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Label
from treeaudit.people.input.cell_parsing import also_as_numbers, code_of, respelled
from treeaudit.people.input.columns import SHOWN

_OTHER = "(any other value)"
_HASH = re.compile(r"hash [0-9]+")


def category_codes(
    codes: Wide,
    names: Sequence[str | None],
    feature: Feature,
    origin: str,
    first: int = 0,
    *,
    hashed: bool = False,
) -> Float:
    """Return the code of the category of each row, NaN for none."""
    categories = feature.categories or ()
    known = {name.strip(): code for code, name in enumerate(categories)}
    if len(known) < len(set(categories)):
        same = next(name for name in categories if name.strip() != name)
        raise DataError(
            f"{origin}: the model knows {same!r} and {same.strip()!r} in {feature.name!r}, which "
            "differ in blanks alone, so that people cannot be told apart; leave the people out"
        )
    code = code_of(also_as_numbers(known))
    # In a file an empty text and nothing look the same; a category "nan" is as good as others.
    nothing = float(known.get((feature.fill or "").strip(), np.nan))
    unnamed = hashed and any(map(_HASH.fullmatch, known))
    other = known.get(_OTHER) if hashed and not unnamed else None
    told = [nothing if name is None else code(name) for name in names]
    wanted = [other if at is None else at for at in told]
    lost = np.flatnonzero(np.isin(codes, [i for i, at in enumerate(wanted) if at is None]))
    if len(lost) and unnamed:
        raise DataError(
            f"{origin}: the file holds only hashes of the categories of {feature.name!r}, so that "
            "nobody can be placed in its leaves; save the model with save_model(..., pool=...), "
            "which names them, or leave the people out"
        )
    if len(lost) and not feature.ignores_unknown:
        name = str(names[codes[lost[0]]])[:SHOWN]
        raise DataError(
            f"{origin}, row {first + int(lost[0]) + 1}: the model does not know {name!r} "
            f"in {feature.name!r}{near(name, list(known))}"
        )
    found = [np.nan if at is None else at for at in wanted]
    return np.array([*found, nothing], dtype=np.float64)[codes]


_REST = ("another", "its own")


def own_classes(forest: Forest) -> tuple[str, ...]:
    """Return the class that each member of a one-vs-rest knows apart; empty for other models."""
    each = forest.tree_classes or ()
    if forest.schema.classes != _REST or not all(a == f"not {b}" for a, b in each):
        return ()
    return tuple(dict.fromkeys(str(own) for _, own in each))


def counts_others(forest: Forest) -> bool:
    """Tell whether trees count labels of their own that no column of labels holds for all."""
    classes, each = set(map(str, forest.schema.classes or ())), forest.tree_classes
    if each is None or own_classes(forest):
        return False
    return all(class_apart(told) is None and not classes & set(map(str, told)) for told in each)


def class_apart(told: tuple[Label, ...]) -> int | None:
    """Return which class a tree tells from all others; None for other trees."""
    for k, label in enumerate(told if len(told) > 2 else ()):
        others = {str(one) for i, one in enumerate(told) if i not in (k, 0 if k else 1)}
        if told[0 if k else 1] == f"not {label}" and others == {"(none)"}:
            return k
    return None


def label_codes(
    codes: Wide,
    names: list[str | None],
    known: Mapping[str, int],
    where: str,
    first: int,
    other: int | None = None,
    step: str = "",
) -> Int:
    """Return the code of the label of each row."""
    code = code_of(known)
    wanted = [None if name is None else code(name) for name in names]
    if other is not None:
        told = zip(names, wanted, strict=True)
        wanted = [other if name and at is None else at for name, at in told]
    found = np.array([*(-2 if at is None else at for at in wanted), -2], dtype=np.int32)[codes]
    if not len(found) or found.min() > -2:
        return found
    lost = np.flatnonzero([*(name is None for name in names), True])
    empty = np.flatnonzero(np.isin(codes, [*lost, -1]))
    if len(empty):
        raise DataError(f"{where}, row {first + int(empty[0]) + 1} has no value")
    row = int(np.argmin(found))
    label = str(names[codes[row]])[:SHOWN]
    raise DataError(
        f"{where}, row {first + row + 1}: the model has no label {label!r}; "
        f"it knows {', '.join(list(known)[:6])}{step}"
    )


_NOTHING = ("nan", "<NA>", "NaT")
"""What ``dummy_na=True`` calls missing values, by the kind of the column."""
_TOLD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """Whether values of a column have an indicator."""

    some: bool
    others: tuple[str, ...]
    known: tuple[str, ...]

    def __add__(self, other: "Met") -> "Met":
        """Join what is known of two parts of a column."""
        others = sorted({*self.others, *other.others})[:_TOLD]
        return Met(some=self.some or other.some, others=tuple(others), known=self.known)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Indicators:
    """The features that indicate values of one column."""

    layers: tuple[Mapping[str, int], ...]
    nothing: int | None


def indicators_by_place(
    source: Sequence[int], indicates: Sequence[str | None]
) -> dict[int, Indicators]:
    """Return what indicates values of each column, by its place."""
    of_column: dict[int, list[tuple[str, int]]] = {}
    for i, (place, value) in enumerate(zip(source, indicates, strict=True)):
        if value is not None:
            of_column.setdefault(place, []).append((value, i))
    return {place: _indicators(mine) for place, mine in of_column.items()}


def _indicators(mine: Sequence[tuple[str, int]]) -> Indicators:
    value, last = mine[-1]
    # Values are sorted, and missing ones stand behind them: else "nan" is the text.
    nothing = last if value in _NOTHING else None
    if nothing is not None and any(other == value for other, _ in mine[:-1]):
        mine = mine[:-1]
    layers: list[dict[str, int]] = []
    for value, i in mine:
        free = next((layer for layer in layers if value not in layer), None)
        if free is None:
            layers.append(free := {})
        free[value] = i
    return Indicators(layers=tuple(layers), nothing=nothing)


def indicate(
    values: npt.NDArray[np.floating[Any]],
    codes: Wide,
    names: Sequence[str | None],
    indicators: Indicators,
) -> Met:
    """Set the indicators of each row's value, and tell whether any row's value has one."""
    some = False
    for layer in indicators.layers:
        code = code_of(layer)
        some |= _set(values, codes, [None if name is None else code(name) for name in names])
    if indicators.nothing is not None:
        nothing = indicators.nothing
        _set(values, codes, [nothing if name is None else None for name in names], nothing)
    held = [] if some else [names[code] for code in np.unique(codes[codes >= 0]).tolist()]
    others = sorted({name for name in held if name is not None})
    return Met(some=some, others=tuple(others[:_TOLD]), known=tuple(indicators.layers[0]))


def _set(
    values: npt.NDArray[np.floating[Any]],
    codes: Wide,
    features: Sequence[int | None],
    nothing: int | None = None,
) -> bool:
    """Set for each row the feature of its name, or of no name; tell whether any was set."""
    at = np.array([-1 if i is None else i for i in (*features, nothing)])[codes]
    rows = np.flatnonzero(at >= 0)
    values[rows, at[rows]] = 1
    return len(rows) > 0


def merge_met(one: Mapping[str, Met], other: Mapping[str, Met]) -> dict[str, Met]:
    """Return what is known of the columns of two parts of a table."""
    both = one.keys() & other.keys()
    return {**one, **other, **{name: one[name] + other[name] for name in both}}


def check_met(met: Mapping[str, Met], origin: str) -> None:
    """Refuse a table where no row has any of a column's indicators: it was coded otherwise."""
    for column, found in met.items():
        if found.some or not found.others:
            continue
        plain = {_plain(known) for known in found.known}
        if len(found.others) < _TOLD and not plain & set(map(_plain, found.others)):
            continue
        more = ", …" if len(found.known) > 6 else ""
        raise DataError(
            f"{origin}: no value of {column!r}, such as {found.others[0][:40]!r}, is one of those "
            f"that the model's columns {column}_… stand for ({', '.join(found.known[:6])}{more}); "
            "write them as before training"
        )


def _plain(value: str) -> str:
    return respelled(value.strip()).casefold()
