"""Private records as a trainer sees them: columns, persons and targets as numbers.

A person may have many rows; at most K of each are used. A target is a class of the schema, or a
number within public bounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from treeaudit.arrays import Array, Flag, Float, Int, Wide
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.schema import Label, Schema, category_text, in_order
from treeaudit.people.input.cell_parsing import (
    also_as_numbers,
    cells_in,
    code_of,
    in_array,
    lost_in,
    numbers_in,
)
from treeaudit.people.persons import check_whole, coded, nobody
from treeaudit.trainers.columns import (
    CURATOR,
    Columns,
    Outside,
    code_columns,
    columns_of,
    derive_features,
    in_cells,
    named,
    names_of,
)


def persons_of(person: object, n_rows: int) -> Wide:
    """Return a number per row for whose it is; 7, 7.0 and "7" are one person."""
    if isinstance(person, pd.Series | pd.Index | ExtensionArray):
        told = in_array(cells_in(pd.Series(person)))
    else:
        told = np.asarray(person, dtype=object)
    if told.shape != (n_rows,):
        raise DataError(
            f"person has the shape {told.shape}: it must be one name or number for each of the "
            f"{n_rows:,} rows"
        )
    # Pandas would make texts of its own of them, which hold no text that is none of Unicode.
    series = pd.Series(told, dtype=object)
    lost = nobody(series)
    if lost.any():
        row = int(np.argmax(lost)) + 1
        raise DataError(f"row {row} names no person. {CURATOR}: every row needs its person")
    # An array of objects no longer tells how many digits its numbers had.
    typed = isinstance(person, np.ndarray | pd.Series) and person.dtype != object
    check_whole(pd.Series(person) if typed else series, "person")
    return coded(series)[0]


def first_rows(person: Wide, fit: Flag, most: int) -> Flag:
    """Tell which rows are used: the first of every person among those that fit, so many at most.

    Which those are follows from the rows of that person alone, so that data sets that differ in one
    person differ in at most so many rows of that person, or in as many that go and that come.
    """
    rows = np.flatnonzero(fit)
    rows = rows[np.argsort(person[rows], kind="stable")]
    own = person[rows]
    number = np.arange(len(rows)) - np.searchsorted(own, own)
    used = np.zeros(len(fit), dtype=np.bool_)
    used[rows[number < most]] = True
    return used


STEPS = 1 << 12
"""Into how many equal steps the public range of a number is cut, so that sums are whole numbers."""

_FOR_NUMBERS = "for numbers use PrivateTreeRegressor (--algorithm private-tree-regressor)"
_FOR_CLASSES = "for classes use PrivateTreeClassifier (--algorithm private-tree)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """How one kind of target is read.

    ``public`` returns a public schema as it is used, or refuses one that leaves the target open;
    ``derived`` adds what the targets themselves tell; ``code`` returns a whole number for each:
    the position of its class, the step of its number, or -1 for what is to be dropped.
    """

    public: Callable[[Schema], Schema]
    derived: Callable[[Array, Schema], Schema]
    code: Callable[[Array, Schema, Outside], Wide]


def _public_classes(schema: Schema) -> Schema:
    if schema.classes is None and schema.target_low is not None:
        raise DataError(
            f"the schema gives bounds of {schema.target!r}, a number, and this is a classifier; "
            + _FOR_NUMBERS
        )
    if not schema.classes:
        raise PrivacyError(
            "the schema lists no classes, and taking them from the data would tell which labels "
            "occur: add them as Schema(..., classes=...)"
        )
    return replace(schema, classes=in_order(schema.classes))


def _derived_classes(labels: Array, schema: Schema) -> Schema:
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return replace(schema, classes=in_order([_plain(label) for label in np.unique(labels)]))


def _class_codes(labels: Array, schema: Schema, outside: Outside) -> Wide:
    # By name: one strange label makes an array of texts, or of objects, of all of them.
    codes, found = pd.factorize(named(labels))
    known = {category_text(label): code for code, label in enumerate(schema.classes or ())}
    known = also_as_numbers(known)
    places = map(code_of(known, category_text), found)
    lookup = np.array([*(-1 if at is None else at for at in places), -1], dtype=np.int64)
    result: Wide = lookup[codes]
    if outside == "raise" and (result < 0).any():
        of_texts = all(isinstance(label, str) for label in schema.classes or ())
        strange_ones = [_plain(labels[i]) for i in np.flatnonzero(result < 0)[:1000].tolist()]
        numbers = [v for v in strange_ones if isinstance(v, float) and np.isfinite(v)]
        if any(of_texts or not v.is_integer() for v in numbers):
            raise DataError(
                f"the target holds numbers such as {numbers[0]:g}, which are none of the classes "
                f"of the schema. {CURATOR}: this is a classifier; {_FOR_NUMBERS}"
            )
        strange = str(labels[int(np.argmin(result))])[:60]
        raise DataError(
            f"label {strange!r} is none of the classes of the schema. {CURATOR}: add it if "
            "it is public knowledge, or fit with outside='clip', which drops such records"
        )
    return result


def _plain(label: object) -> Label:
    plain: Label = label.item() if isinstance(label, np.generic) else label  # type: ignore[assignment]
    return plain


def _public_bounds(schema: Schema) -> Schema:
    if schema.target_low is None:
        lists = "lists classes and no bounds" if schema.classes else "has no bounds"
        raise PrivacyError(
            f"the schema {lists} of the target, and taking them from the data would give away its "
            "extremes: add target_low and target_high, within which everybody knows it to be; "
            + _FOR_CLASSES
        )
    low, high = _target_bounds(schema)
    return replace(schema, target_low=float(low), target_high=float(high))


def _derived_bounds(targets: Array, schema: Schema) -> Schema:
    numbers = _numbers(targets, "raise")
    assert_all_finite(numbers, input_name="y")
    return replace(schema, target_low=float(numbers.min()), target_high=float(numbers.max()))


def _steps(targets: Array, schema: Schema, outside: Outside) -> Wide:
    numbers = _numbers(targets, outside)
    low, high = _target_bounds(schema)
    lost = np.isnan(numbers)
    beyond = lost | (numbers < low) | (numbers > high)
    if outside == "raise" and beyond.any():
        strange = str(targets[int(np.argmax(beyond))])[:60]
        raise DataError(
            f"the target {strange!r} is not between {low:g} and {high:g}. {CURATOR}: widen "
            "target_low and target_high if that is public knowledge, or fit with outside='clip', "
            "which drops what is no number"
        )
    width = high / 2 - low / 2
    share = np.zeros(len(numbers))
    if width > 0:
        # By halves, which cannot overflow.
        share = (np.clip(np.where(lost, low, numbers), low, high) / 2 - low / 2) / width
    steps: Wide = np.rint(share * STEPS).astype(np.int64)
    return np.where(lost, -1, steps)


def _numbers(targets: Array, outside: Outside) -> Float:
    """Return targets as numbers, NaN where there is none."""
    kind = np.asarray(targets).dtype.kind
    found = numbers_in(targets)
    strange = np.isnan(found) & ~lost_in(targets)
    if kind not in "iufbOUT" or (outside == "raise" and strange.any()):
        raise DataError(f"a target is no number, and this is for numbers; {_FOR_CLASSES}")
    return found


def _target_bounds(schema: Schema) -> tuple[float, float]:
    low, high = schema.target_low, schema.target_high
    return (0.0, 0.0) if low is None or high is None else (low, high)


def labels_of(classes: Sequence[Label]) -> Array:
    """Return labels as an array that holds each as it is."""
    held = np.asarray(classes)
    if [type(label) for label in held.tolist()] != [type(label) for label in classes]:
        held = np.empty(len(classes), dtype=object)
        held[:] = classes
    return held


def in_bounds(share: Sequence[float] | Float, schema: Schema) -> Float:
    """Return numbers from how far they lie between the public bounds, 0 to 1."""
    low, high = _target_bounds(schema)
    part = np.asarray(share, dtype=np.float64)
    found: Float = np.clip(low * (1 - part) + high * part, low, high)
    return found


CLASSES = Targets(public=_public_classes, derived=_derived_classes, code=_class_codes)
NUMBERS = Targets(public=_public_bounds, derived=_derived_bounds, code=_steps)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingRows:
    """Private records as a trainer sees them.

    Attributes
    ----------
    schema
        The public description; its classes are in ascending order.
    values
        Shape ``(n_records, n_features)``, in the order of the schema: numbers
        within their bounds, categories as codes, missing values as NaN. Not to
        be written to: it may be the user's own array.
    labels
        Shape ``(n_records,)``: positions in ``schema.classes``; steps between the bounds of the
        target, 0 to `treeaudit.trainers.training_rows.STEPS`, where that is a number.
    """

    schema: Schema
    values: Float
    labels: Wide
    used: Flag | None = None
    """Which rows of the table these are, where not all."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.schema.classes or ())

    def part(self, which: Flag) -> "TrainingRows":
        """Return some of the records."""
        return replace(self, values=self.values[which], labels=self.labels[which], used=None)

    def by_node(self, node: Int | Wide, n_nodes: int) -> Wide:
        """Count people by node and class, shape ``(n_nodes, n_classes)``; ``node`` by record."""
        key = node.astype(np.int64) * self.n_classes + self.labels
        found: Wide = np.bincount(key, minlength=n_nodes * self.n_classes)
        return found.reshape(-1, self.n_classes)


def read_rows(
    X: object,
    y: object,
    schema: Schema | str,
    outside: Outside,
    estimator: str,
    person: object = None,
    rows_per_person: int | None = None,
    targets: Targets = CLASSES,
) -> TrainingRows:
    """Return training data as numbers, checked against a public schema."""
    # A number beyond a float of 64 bits is infinite, and no warning tells that it was there.
    with np.errstate(all="ignore"):
        X = in_cells(X)
        names = names_of(X)
        table = columns_of(X, estimator, finite=outside == "raise")
        told = column_or_1d(_in_cells(y), warn=True)
        check_consistent_length(table, told)
        if isinstance(schema, Schema):
            _check_public(schema)
            public = targets.public(schema)
        else:
            features = derive_features(table, names)
            public = targets.derived(
                column_or_1d(y), Schema(features=features, named=names is not None)
            )
        codes = targets.code(told, public, outside)
        values = code_columns(table, public, column_order(names, table, public), outside)
        used = codes >= 0
        if rows_per_person is not None:
            used = first_rows(persons_of(person, len(codes)), used, rows_per_person)
        if not used.all():
            values, codes = values[used], codes[used]
        return TrainingRows(schema=public, values=values, labels=codes, used=used)


def _in_cells(y: object) -> Any:  # noqa: ANN401  # an array of one or two dimensions
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        return in_cells(y.iloc[:, 0])[:, None]
    if isinstance(y, list | tuple):
        # A label in a list of its own is that label, whatever the others stand in.
        return in_array([_alone(label) for label in y])
    return in_cells(y)


def _alone(label: Any) -> Any:  # noqa: ANN401  # whatever stands for a label
    listed = isinstance(label, list | tuple) or (isinstance(label, np.ndarray) and label.ndim == 1)
    return label[0] if listed and len(label) == 1 else label


def column_order(names: Sequence[str] | None, table: Columns, schema: Schema) -> list[int] | None:
    """Return which column of a table is which feature; by name where both have names."""
    n = table.shape[1]
    if names is None or not schema.named:
        if n != len(schema.features):
            raise DataError(f"X has {n} columns, but the schema describes {len(schema.features)}")
        return None
    at = {str(name): i for i, name in enumerate(names)}
    missing = [name for name in schema.names if name not in at]
    strange = [name for name in at if name not in set(schema.names)]
    if missing or strange:
        name, where = (missing[0], "X has") if missing else (strange[0], "the schema describes")
        raise DataError(f"{where} no column {name!r}: give X the columns of the schema, no others")
    return [at[name] for name in schema.names]


def _check_public(schema: Schema) -> None:
    if not schema.features:
        raise PrivacyError("the schema describes no columns")
    for feature in schema.features:
        if feature.categories is None and (feature.low is None or feature.high is None):
            raise PrivacyError(
                f"column {feature.name!r} has no public bounds, and taking them from the data "
                "would give away its extremes: add low and high to the schema"
            )
        if feature.categories is not None and not feature.categories:
            raise PrivacyError(f"column {feature.name!r} has no categories in the schema")
