"""People as the model sees them: a table of data, checked, coded and routed.

Columns are found by name; a model that knows no names takes them in their
order. A feature ``occupation_Sales`` that is no column is read off the column
``occupation``, as ``pandas.get_dummies`` makes it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError, near
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.walk import walk_of, walkable
from treeaudit.model.words import label_text
from treeaudit.people.sheet import read_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Records", "names_in", "read_records", "target_of"]

_NOTHING = ("", "na", "n/a", "nan", "null", "none", "nat")
"""What stands in a column of numbers where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """People, as rows that a model can be asked about.

    Attributes
    ----------
    values
        Shape ``(n_records, n_features)``: numbers, categories as codes,
        missing values as NaN; in the precision in which the model compares.
    labels
        Shape ``(n_records,)``: position of the label in ``schema.classes``, or
        None where the data has no labels or the model predicts a number.
    targets
        Shape ``(n_records,)``: the number to predict, or None.
    node
        Shape ``(n_records, n_trees)``: where each record ends in each tree.
    frame
        The table as it was given, for columns that the model does not use.
    origin
        What to call it in messages, such as ``train.csv``.
    persons
        Shape ``(n_records,)``: a number per person, whose record it is; None where
        a record is a person.
    """

    values: npt.NDArray[np.floating[Any]]
    labels: Int | None
    targets: Float | None
    node: Int
    frame: "pd.DataFrame"
    origin: str
    persons: Int | None = None

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.values)

    def only(self, kept: npt.NDArray[np.bool_]) -> "Records":
        """Return some of the records."""
        return Records(
            values=self.values[kept],
            labels=None if self.labels is None else self.labels[kept],
            targets=None if self.targets is None else self.targets[kept],
            node=self.node[kept],
            frame=self.frame[kept].reset_index(drop=True),
            origin=self.origin,
            persons=None if self.persons is None else self.persons[kept],
        )

    @property
    def known_labels(self) -> Int:
        """The labels of people who have them.

        Raises
        ------
        DataError
            If there are none.
        """
        if self.labels is None:
            raise DataError(f"{self.origin} has no column of labels; name it with --target")
        return self.labels


def read_records(
    data: object,
    forest: Forest,
    *,
    target: str | None = None,
    person: str | None = None,
    origin: str = "the data",
) -> Records:
    """Fit a table of people to a model and route them through it.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet), a pandas DataFrame, an array, or a pair of
        features and labels.
    forest
        The model. Columns that it does not use are kept in ``frame``.
    target
        Column of the labels. Unless told: the model's own name for them, or
        the one column that is no feature.
    person
        Column that names whose record each is: never a label, and a feature only
        of a model that names it as one.
    origin
        What to call the data where it has no file name.

    Raises
    ------
    DataError
        If a column is missing, a value is no number, a category or label is
        unknown, or a value is missing where the model cannot tell what to do;
        names the column and the row.

    Examples
    --------
    >>> import numpy as np, treeaudit as ta
    >>> from treeaudit.model.tree import Tree
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0],
    ...              low=[-np.inf, -np.inf, 15], high=[np.inf, 15, np.inf])
    >>> forest = ta.Forest(trees=(stump,), schema=ta.Schema.numeric(1, ["no", "yes"]))
    >>> people = read_records(([[10], [33], [54]], ["no", "yes", "yes"]), forest)
    >>> people.node.tolist(), people.labels.tolist()
    ([[1], [2], [2]], [0, 1, 1])
    """
    sheet, schema = read_table(data, origin), forest.schema
    frame, origin = sheet.frame, sheet.origin
    others = frame if person is None else _without_persons(frame, schema, person)
    column = frame.columns[-1] if sheet.paired else target_of(others, schema, target, origin)
    columns = _columns([others[c] for c in others.columns if c != column], schema, origin)
    values = np.empty(
        (len(frame), len(schema.features)), np.float32 if forest.single_precision else np.float64
    )
    nothing_known = any(tree.missing is not None for tree in forest.trees[:1])
    for i, (feature, series) in enumerate(zip(schema.features, columns, strict=True)):
        try:
            values[:, i] = _coded(series, feature, origin)
        except DataError as error:
            more = len(others.columns) - (column is not None) - _width(schema)
            if schema.named or not more:
                raise
            raise DataError(
                f"the model takes {_width(schema)} columns without names, and {origin} has "
                f"{_width(schema) + more} beside the labels: give those that it was trained on, "
                f"in their order ({error})"
            ) from None
        if not nothing_known and np.isnan(values[:, i]).any():
            row = int(np.flatnonzero(np.isnan(values[:, i]))[0])
            raise DataError(
                f"{origin}, row {row + 1}: {feature.name!r} has no value, and the model does not "
                "say where missing values go; fill them in as before training"
            )
    labels = targets = None
    if column is not None and schema.classes is not None:
        labels = _labels(frame[column], schema.classes, f"{origin}, column {column!r}")
    elif column is not None:
        targets = _numbers(frame[column], f"{origin}, column {column!r}")
    return Records(
        values=values,
        labels=labels,
        targets=targets,
        node=routed(forest, values),
        frame=frame,
        origin=origin,
    )


def _without_persons(frame: "pd.DataFrame", schema: Schema, person: str) -> "pd.DataFrame":
    """Return the columns that may be features or labels."""
    used = schema.named and person in schema.names
    return frame if used else frame[[name for name in frame if str(name) != person]]


def routed(forest: Forest, values: npt.NDArray[np.floating[Any]]) -> Int:
    """Return where each record ends in each tree: the fast way where a tree allows it.

    The same answer as `Forest.apply`.
    """
    node = np.empty((len(values), forest.n_trees), dtype=np.int32, order="F")
    for i, tree in enumerate(forest.trees):
        if walkable([tree], forest.schema):
            root = np.zeros(len(values), dtype=np.intp)
            node[:, i] = walk_of([tree], forest.schema).descend(values, root)
        else:
            node[:, i] = tree.apply(values)
    return node


def target_of(
    frame: "pd.DataFrame", schema: Schema, target: str | None, origin: str = "the data"
) -> str | None:
    """Return which column holds the labels; None where none does.

    Raises
    ------
    DataError
        If the named column is not there, or several could be meant.
    """
    names = [str(name) for name in frame.columns]
    if target is not None:
        if target not in names:
            raise DataError(f"{origin} has no column {target!r}{near(target, names)}")
        if schema.named and target in schema.names:
            raise DataError(
                f"{target!r} is a feature of the model; --target names the column of its labels"
            )
        return str(frame.columns[names.index(target)])
    if schema.target in names:
        return schema.target
    if not schema.named:
        return names[-1] if len(names) == 1 + _width(schema) else None
    used = {name for feature in schema.features for name in _sources(feature.name, names)}
    # A row index that was saved with the table comes back as a column without a name.
    others = [name for name in names if name not in used and not name.startswith("Unnamed: ")]
    if len(others) > 1:
        for feature in schema.features:
            if not _sources(feature.name, names):
                raise _no_column(feature.name, names, origin)
        raise DataError(
            f"{origin} has {len(others)} columns that the model does not use "
            f"({', '.join(others[:4])}{', …' if len(others) > 4 else ''}): "
            "say which one holds the labels (--target)"
        )
    return others[0] if others else None


def _width(schema: Schema) -> int:
    """Return how many columns a model without names takes; it calls them x0, x1 and so on."""
    places = _places(schema)
    return max(len(places), 1 + max(places, default=-1))


def _places(schema: Schema) -> list[int]:
    return [-1 if schema.named else _place(feature) for feature in schema.features]


def _place(feature: Feature) -> int:
    digits = feature.name.removesuffix(" (encoded)").removeprefix("x")
    return int(digits) if digits.isascii() and digits.isdigit() else -1


def _no_column(name: str, names: Sequence[str], origin: str) -> DataError:
    return DataError(f"{origin} has no column {name!r}{near(name, names)}")


def _sources(name: str, names: Sequence[str]) -> list[str]:
    """Return the column that a feature comes from: itself, or the one it is an indicator of."""
    plain = name
    while plain.endswith(" (encoded)") and plain not in names:
        plain = plain.removesuffix(" (encoded)")
    if plain in names:
        return [plain]
    # Names are read from a file without the spaces around them.
    plain = plain.strip()
    if plain in names:
        return [plain]
    begun = [n for n in names if plain.startswith(f"{n.strip()}_") and len(plain) > len(n) + 1]
    return [max(begun, key=len)] if begun else []


def _columns(
    table: "Sequence[pd.Series[Any]]", schema: Schema, origin: str
) -> "list[pd.Series[Any]]":
    """Return the column of every feature, out of those that are no labels."""
    # An array names no columns either: they are in the model's order.
    bare = [str(c.name) for c in table] == [str(i) for i in range(len(schema.features))]
    if bare or not schema.named:
        if len(table) < _width(schema):
            raise DataError(
                f"{origin} has {len(table)} columns beside the labels, the model {_width(schema)}"
            )
        return [table[i if p < 0 else p] for i, p in enumerate(_places(schema))]
    by_name = {str(series.name): series for series in table}
    names = list(by_name)
    found = []
    for feature in schema.features:
        source = _sources(feature.name, names)
        if not source:
            raise _no_column(feature.name, names, origin)
        series = by_name[source[0]]
        plain = feature.name.replace(" (encoded)", "").strip()
        if source[0].strip() != plain:
            series = _indicator(series, plain[len(source[0].strip()) + 1 :].strip())
        found.append(series)
    return found


def _indicator(series: "pd.Series[Any]", value: str) -> "pd.Series[Any]":
    """Return the column that ``pandas.get_dummies`` would have made for one value."""
    import pandas as pd

    return pd.Series((names_in(series) == value).astype(np.float64), dtype=object)


def names_in(series: "pd.Series[Any]", nothing: str | None = None) -> npt.NDArray[np.object_]:
    """Return values as the texts that categories are named by, and what stands for nothing."""
    import pandas as pd

    codes, values = pd.factorize(series, use_na_sentinel=True)
    plain = [v.item() if isinstance(v, np.generic) else v for v in list(values)]
    names = np.array([*(label_text(v).strip() for v in plain), nothing], dtype=object)
    return np.asarray(names[codes])


def _coded(series: "pd.Series[Any]", feature: Feature, origin: str) -> Float:
    if feature.categories is None:
        return _numbers(series, f"{origin}, column {feature.name!r}", missing=True)
    import pandas as pd

    codes, names = pd.factorize(names_in(series), use_na_sentinel=True)
    known = {name.strip(): code for code, name in enumerate(feature.categories)}
    wanted = [known.get(str(name), np.nan) for name in names]
    unknown = [i for i, code in enumerate(wanted) if np.isnan(code)]
    if unknown and not feature.ignores_unknown:
        row = int(np.flatnonzero(np.asarray(codes) == unknown[0])[0])
        raise DataError(
            f"{origin}, row {row + 1}: the model does not know {str(names[unknown[0]])!r} "
            f"in {feature.name!r}{near(str(names[unknown[0]]), list(known))}"
        )
    # In a file an empty text and nothing look the same.
    empty = ("missing", "nan", "") if feature.fill is None else (feature.fill,)
    nothing = next((float(known[name]) for name in empty if name in known), np.nan)
    return np.array([*wanted, nothing], dtype=np.float64)[codes]


def _numbers(series: "pd.Series[Any]", where: str, *, missing: bool = False) -> Float:
    import pandas as pd

    try:
        values = pd.to_numeric(series, errors="raise").to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        numbers = pd.to_numeric(series, errors="coerce")
        nothing = series.isna() | series.astype(str).str.strip().str.lower().isin(_NOTHING)
        wrong = np.flatnonzero((numbers.isna() & ~nothing).to_numpy())
        if len(wrong):
            row = int(wrong[0])
            raise DataError(
                f"{where}, row {row + 1}: {str(series.iloc[row])[:40]!r} is not a number"
                f"{_comma(str(series.iloc[row]))}"
            ) from None
        values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(np.isinf(values) | (np.isnan(values) & (not missing)))
    if len(wrong):
        what = "has no value" if np.isnan(values[wrong[0]]) else "is infinite"
        raise DataError(f"{where}, row {int(wrong[0]) + 1} {what}")
    return np.asarray(values)


def _comma(text: str) -> str:
    """Return what helps where a number has a comma for its point."""
    return "; write its decimals behind a point" if re.fullmatch(r"[-+\d.]*\d,\d+", text) else ""


def _labels(series: "pd.Series[Any]", classes: Sequence[Label], where: str) -> Int:
    import pandas as pd

    codes, names = pd.factorize(names_in(series), use_na_sentinel=True)
    if (np.asarray(codes) < 0).any():
        row = int(np.flatnonzero(np.asarray(codes) < 0)[0])
        raise DataError(f"{where}, row {row + 1} has no value")
    known = {label_text(label).strip(): i for i, label in enumerate(classes)}
    unknown = [str(name) for name in names if str(name) not in known]
    if unknown:
        row = int(np.flatnonzero(np.asarray(names == unknown[0])[codes])[0])
        raise DataError(
            f"{where}, row {row + 1}: the model has no label {unknown[0]!r}; "
            f"it knows {', '.join(list(known)[:6])}"
        )
    return np.array([known[str(name)] for name in names], dtype=np.int32)[codes]
