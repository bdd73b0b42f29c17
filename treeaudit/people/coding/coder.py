"""Columns of a table as numbers of a model: worked out once from names, applied to any rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.words import label_text
from treeaudit.people.coding.columns import (
    as_called,
    blanks_in,
    category_codes,
    has_no_label,
    inputs_of,
    label_codes,
    made_by,
    own_classes,
    places_of,
    target_among,
    width_of,
)
from treeaudit.people.input.cell_parsing import code_of, respelled
from treeaudit.people.input.columns import Column, names_of, numbers_of

_NUMBERED = (
    "; a file of this library numbers its classes: give the labels as these numbers, for texts "
    "from 0 as they are sorted, or the pickle of the classifier, which names them"
)
_NUMBERS = ("LightGBM", "XGBoost", "CatBoost")


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coded:
    """Some rows as the model sees them; `treeaudit.people.records.Records` describes the arrays."""

    values: npt.NDArray[np.floating[Any]]
    labels: Int | None
    targets: Float | None
    met: Mapping[str, Met]
    members: Int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coder:
    """How the rows of a table are read: the same for all of them, and for each by itself."""

    schema: Schema
    inputs: Schema  # the columns of the table, from which others of the model are computed
    origin: str
    names: tuple[str, ...]
    # For each input the place of its column, and the value whose indicator it is, or None
    source: tuple[int, ...]
    indicates: tuple[str | None, ...]
    label: int | None  # The place of the column with the labels or numbers to predict, or None
    # Whether the model compares in single precision, and whether it says where missing values go
    single: bool
    knows_missing: bool
    # The class that each member knows apart from others, as in one-vs-rest
    own: tuple[str, ...] = ()
    hashed: bool = False  # Whether categories are known by hashes
    # Whether the file knows classes by numbers alone, whatever they are called
    numbered: bool = False
    of_levels: bool = False  # Whether it may know the levels of factors by numbers alone
    blanks: bool = False  # Whether names of indicators have underscores for the blanks in values
    _indicators: Mapping[int, Indicators] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_indicators", indicators_by_place(self.source, self.indicates))

    @property
    def used(self) -> list[int]:
        """The places of the columns that are read, ascending."""
        return sorted({*self.source, *([] if self.label is None else [self.label])})

    @property
    def texts(self) -> list[int]:
        """The places of columns whose cells are names, as they stand in a file of text."""
        named = {
            place
            for place, feature in zip(self.source, self.inputs.features, strict=True)
            if feature.categories is not None
        }
        named |= set(self._indicators)
        if self.label is not None and self.schema.classes is not None:
            named.add(self.label)
        return sorted(named - self._plain)

    @property
    def numbers(self) -> list[int]:
        """The places of columns of numbers."""
        target = self.label is not None and self.schema.classes is None
        return sorted(self._plain | ({self.label} if target and self.label is not None else set()))

    @property
    def _plain(self) -> set[int]:
        return {
            place
            for place, value, feature in zip(
                self.source, self.indicates, self.inputs.features, strict=True
            )
            if value is None and feature.categories is None
        }

    def code(self, column: Callable[[int], Column], n: int, first: int = 0) -> Coded:
        """Return some rows as numbers."""
        features, origin = self.inputs.features, self.origin
        plain = self.inputs is self.schema
        kind = np.float32 if self.single else np.float64
        values = np.zeros((n, len(features)), kind if plain else np.float64)
        for i, (place, value) in enumerate(zip(self.source, self.indicates, strict=True)):
            feature = features[i]
            if value is not None:
                continue
            step, where = self._step(feature), f"{origin}, column {feature.name!r}"
            if feature.categories is None:
                try:
                    found = numbers_of(column(place), where, first, missing=True, step=step)
                except DataError as error:
                    raise self._too_many(error) from None
            else:
                told, hashed = names_of(column(place), where), self.hashed
                found = category_codes(*told, feature, origin, first, hashed=hashed, step=step)
            values[:, i] = found
            if plain:
                self._check_missing(found, feature, first)
        met = {
            self.names[place]: indicate(
                values,
                *self._named(column(place), place),
                indicators,
            )
            for place, indicators in self._indicators.items()
        }
        if not plain:
            values = self._computed(values, first).astype(kind)
        labels = targets = members = None
        if self.label is not None and self.schema.classes is not None:
            labels, members = self._labels(self.label, column(self.label), first)
        elif self.label is not None:
            where = f"{origin}, column {self.names[self.label]!r}"
            targets = numbers_of(column(self.label), where, first)
        return Coded(values=values, labels=labels, targets=targets, met=met, members=members)

    def _step(self, feature: Feature) -> str:
        """Return how R writes a factor whose levels the file does not name; empty for others."""
        levels, name = feature.categories, f'd["{feature.name}"]'
        if not self.of_levels or (levels and levels[0] != "level 1"):
            return ""
        codes = f'paste("level", data.matrix({name}))' if levels else f"data.matrix({name})"
        return f"; the file numbers these levels: in R, write {name} <- {codes} before write.csv"

    def _check_missing(self, found: Float, feature: Feature, first: int) -> None:
        if (self.knows_missing and not feature.made_by) or not np.isnan(found).any():
            return
        row = first + int(np.flatnonzero(np.isnan(found))[0])
        step = "the model does not say where missing values go; fill in or drop, as in training"
        if feature.made_by:
            step = f"{feature.made_by} filled it in: give the table as this step wrote it"
        raise DataError(f"{self.origin}, row {row + 1}: {feature.name!r} has no value, and {step}")

    def _computed(self, given: Float, first: int) -> Float:
        """Return the columns of the model, computed from those of the table as its steps do."""
        raw, memo = dict(zip(self.inputs.features, given.T, strict=True)), dict[str, Float]()
        values = np.zeros((len(given), len(self.schema.features)))
        for i, feature in enumerate(self.schema.features):
            if feature in raw or feature.derived is None:
                values[:, i] = raw[feature]
            else:
                values[:, i] = feature.derived.compute(raw, memo)
            self._check_missing(values[:, i], feature, first)
        return values

    def _named(self, column: Column, place: int) -> tuple[Wide, Sequence[str | None]]:
        """Return the values of a column as indicators are named by them."""
        codes, names = names_of(column, f"{self.origin}, column {self.names[place]!r}")
        if self.blanks:
            names = [None if name is None else name.replace(" ", "_") for name in names]
        return codes, names

    def _too_many(self, error: DataError) -> DataError:
        """Return what is wrong where columns have no names and there are more than are taken."""
        takes, given = width_of(self.inputs), len(self.names) - (self.label is not None)
        if self.inputs.named:
            return error
        if given == takes:
            return DataError(
                f"{error}; the model takes numbers: give the columns as they were after encoding"
            )
        return DataError(
            f"the model takes {takes} columns without names, and {self.origin} has {given} beside "
            "the labels: give those that it was trained on, in their order"
        )

    def _labels(self, place: int, column: Column, first: int) -> tuple[Int | None, Int | None]:
        """Return the labels of the model, and those of its members that know one class each."""
        where = f"{self.origin}, column {self.names[place]!r}"
        codes, names = names_of(column, where)
        classes = self.own or tuple(map(label_text, self.schema.classes or ()))
        known = {name.strip(): i for i, name in enumerate(classes)}
        # A member alone takes all other classes as one, and does not tell what they are called.
        other = -1 if len(self.own) == 1 else None
        step = _NUMBERED if self.numbered else ""
        found = label_codes(codes, names, known, where, first, other, step)
        if not self.own:
            return found, None
        return (found + 1 if len(self.own) == 1 else None), found


def _of(name: str | None, names: Sequence[str], called: Sequence[str]) -> str | None:
    return called[names.index(name)] if name in names else name


def coder_of(
    names: Sequence[str],
    forest: Forest,
    *,
    target: str | None = None,
    person: str | None = None,
    origin: str = "the data",
    paired: bool = False,
) -> Coder:
    """Return how rows are read whose columns have these names."""
    schema = forest.schema
    called = as_called(names, forest)
    kept = schema.named and (person in schema.names or _of(person, names, called) in schema.names)
    others = [i for i, name in enumerate(names) if kept or person is None or name != person]
    if paired:
        label: int | None = len(names) - 1
    else:
        own = [called[i] for i in others]
        at = target_among(own, forest, _of(target, names, called), origin)
        label = None if at is None else others[at]
    columns = [i for i in others if i != label]
    of_table = [called[i] for i in columns]
    inputs = inputs_of(schema, of_table)
    found = places_of(of_table, inputs, origin, made_by(forest), forest)
    if has_no_label(forest):
        label = None
    known = tuple(map(str, schema.classes or ()))
    return Coder(
        schema=schema,
        inputs=inputs,
        origin=origin,
        names=tuple(names),
        source=tuple(columns[place] for place, _ in found),
        indicates=tuple(value for _, value in found),
        label=label,
        single=forest.single_precision,
        knows_missing=any(tree.missing is not None for tree in forest.trees[:1]),
        own=own_classes(forest),
        hashed=forest.source.library == "CatBoost",
        blanks=blanks_in(forest),
        of_levels=forest.source.library in ("ranger", "randomForest"),
        numbered=forest.source.library in _NUMBERS and known == tuple(map(str, range(len(known)))),
    )
