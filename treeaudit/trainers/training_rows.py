"""The private records of one fit: checked against the public schema, as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from treeaudit.arrays import Array, Flag, Float, Int, Wide
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.schema import Label, Schema, in_order
from treeaudit.trainers.columns import (
    CURATOR,
    Columns,
    Outside,
    code_columns,
    columns_of,
    derive_features,
    names_of,
)
from treeaudit.trainers.persons import first_rows, persons_of

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
        Shape ``(n_records,)``: positions in ``schema.classes``.
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

    Raises
    ------
    PrivacyError
        If the schema leaves something open that would have to come from the data.
    DataError
        If the data does not fit the schema.
    ValueError
        If it is no table with labels, as scikit-learn says it.
    """
    names = names_of(X)
    table = columns_of(X, estimator, finite=outside == "raise")
    labels = column_or_1d(y, warn=True)
    check_consistent_length(table, labels)
    if isinstance(schema, Schema):
        _check_public(schema)
        public = schema
    else:
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        public = Schema(
            features=derive_features(table, names),
            classes=tuple(_plain(label) for label in np.unique(labels)),
            named=names is not None,
        )
    public = replace(public, classes=in_order(public.classes or ()))
    codes = _code_labels(labels, public.classes or (), outside)
    values = code_columns(table, public, column_order(names, table, public), outside)
    used = codes >= 0
    if rows_per_person is not None:
        used = first_rows(persons_of(person, len(codes)), used, rows_per_person)
    if not used.all():
        values, codes = values[used], codes[used]
    return TrainingRows(schema=public, values=values, labels=codes, used=used)


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
    if not schema.classes:
        raise PrivacyError(
            "the schema lists no classes, and taking them from the data would tell which labels "
            "occur: add them as Schema(..., classes=...)"
        )
    for feature in schema.features:
        if feature.categories is None and (feature.low is None or feature.high is None):
            raise PrivacyError(
                f"column {feature.name!r} has no public bounds, and taking them from the data "
                "would give away its extremes: add low and high to the schema"
            )
        if feature.categories is not None and not feature.categories:
            raise PrivacyError(f"column {feature.name!r} has no categories in the schema")


def _plain(label: object) -> Label:
    plain: Label = label.item() if isinstance(label, np.generic) else label  # type: ignore[assignment]
    return plain


def _code_labels(labels: Array, classes: Sequence[Label], outside: Outside) -> Wide:
    """Return positions in ``classes``, -1 for labels that are to be dropped."""
    codes, found = pd.factorize(labels)
    known = {label: code for code, label in enumerate(classes)}
    lookup = np.array([*(known.get(_plain(label), -1) for label in found), -1], dtype=np.int64)
    result: Wide = lookup[codes]
    if outside == "raise" and (result < 0).any():
        strange = str(labels[int(np.argmin(result))])[:60]
        raise DataError(
            f"label {strange!r} is none of the classes of the schema. {CURATOR}: add it if "
            "it is public knowledge, or fit with outside='clip', which drops such records"
        )
    return result
