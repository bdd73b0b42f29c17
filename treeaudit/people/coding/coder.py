"""Columns of a table as numbers of a model: worked out once from names, applied to any rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.words import label_text
from treeaudit.people.coding.codes import (
    Indicators,
    Met,
    category_codes,
    indicate,
    indicators_by_place,
    label_codes,
    own_classes,
)
from treeaudit.people.coding.columns import (
    as_called,
    blanks_in,
    has_no_label,
    made_by,
    places_of,
    target_among,
    width_of,
)
from treeaudit.people.input.columns import Column, names_of, numbers_of

_NUMBERED = (
    "; a file of this library numbers its classes: give the labels as these numbers, for texts "
    "from 0 as they are sorted, or the pickle of the classifier, which names them"
)
_NUMBERS = ("LightGBM", "XGBoost", "CatBoost")


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
    origin: str
    names: tuple[str, ...]
    # For each feature the place of its column, and the value whose indicator it is, or None
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
            for place, feature in zip(self.source, self.schema.features, strict=True)
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
                self.source, self.indicates, self.schema.features, strict=True
            )
            if value is None and feature.categories is None
        }

    def code(self, column: Callable[[int], Column], n: int, first: int = 0) -> Coded:
        """Return some rows as numbers."""
        features, origin = self.schema.features, self.origin
        values = np.zeros((n, len(features)), np.float32 if self.single else np.float64)
        for i, (place, value) in enumerate(zip(self.source, self.indicates, strict=True)):
            feature = features[i]
            if value is not None:
                continue
            if feature.categories is None:
                where = f"{origin}, column {feature.name!r}"
                try:
                    found = numbers_of(column(place), where, first, missing=True)
                except DataError as error:
                    raise self._too_many(error) from None
            else:
                told = names_of(column(place), f"{origin}, column {feature.name!r}")
                found = category_codes(*told, feature, origin, first, hashed=self.hashed)
            values[:, i] = found
            if not self.knows_missing and np.isnan(found).any():
                row = first + int(np.flatnonzero(np.isnan(found))[0])
                raise DataError(
                    f"{origin}, row {row + 1}: {feature.name!r} has no value, and the model does "
                    "not say where missing values go; fill them in as before training"
                )
        met = {
            self.names[place]: indicate(
                values,
                *self._named(column(place), place),
                indicators,
            )
            for place, indicators in self._indicators.items()
        }
        labels = targets = members = None
        if self.label is not None and self.schema.classes is not None:
            labels, members = self._labels(self.label, column(self.label), first)
        elif self.label is not None:
            where = f"{origin}, column {self.names[self.label]!r}"
            targets = numbers_of(column(self.label), where, first)
        return Coded(values=values, labels=labels, targets=targets, met=met, members=members)

    def _named(self, column: Column, place: int) -> tuple[Wide, Sequence[str | None]]:
        """Return the values of a column as indicators are named by them."""
        codes, names = names_of(column, f"{self.origin}, column {self.names[place]!r}")
        if self.blanks:
            names = [None if name is None else name.replace(" ", "_") for name in names]
        return codes, names

    def _too_many(self, error: DataError) -> DataError:
        """Return what is wrong where columns have no names and there are more than are taken."""
        takes, given = width_of(self.schema), len(self.names) - (self.label is not None)
        if self.schema.named:
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
    found = places_of([called[i] for i in columns], schema, origin, made_by(forest), forest)
    if has_no_label(forest):
        label = None
    known = tuple(map(str, schema.classes or ()))
    return Coder(
        schema=schema,
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
        numbered=forest.source.library in _NUMBERS and known == tuple(map(str, range(len(known)))),
    )
