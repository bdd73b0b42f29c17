"""The private records of one fit: checked against the public schema, as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length, column_or_1d

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.schema import Schema
from treeaudit.people.input.cell_parsing import in_array
from treeaudit.trainers.columns import (
    Columns,
    Outside,
    code_columns,
    columns_of,
    derive_features,
    in_cells,
    names_of,
)
from treeaudit.trainers.persons import first_rows, persons_of
from treeaudit.trainers.targets import CLASSES, Targets

__all__ = ["TrainingRows", "column_order", "read_rows"]


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
        target, 0 to `treeaudit.trainers.targets.STEPS`, where that is a number.
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
    """Return training data as numbers, held against a public schema.

    Parameters
    ----------
    schema
        The public schema, or ``from-data`` to take bounds, categories and
        classes from the data itself.
    outside
        What becomes of values that the schema does not know.
    person, rows_per_person
        Whose each row is, and how many of anybody's are used; all of them, where
        there is no such bound.
    targets
        What is to be predicted.

    Raises
    ------
    PrivacyError
        If the schema leaves something open that would have to come from the data.
    DataError
        If the data does not fit the schema.
    ValueError
        If it is no table with labels, as scikit-learn says it.
    """
    with np.errstate(all="ignore"):
        # A number beyond a float of 64 bits is infinite, and no warning tells that it was there.
        return _read(X, y, schema, outside, estimator, person, rows_per_person, targets)


def _read(
    X: object,
    y: object,
    schema: Schema | str,
    outside: Outside,
    estimator: str,
    person: object,
    rows_per_person: int | None,
    targets: Targets,
) -> TrainingRows:
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
    """Return which column of a table is which feature; by name where both have names.

    Raises
    ------
    DataError
        If a feature has no column, or a column no feature.
    """
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
