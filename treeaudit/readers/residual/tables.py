"""Tables of people that lie beside a model in its file, of any length and of any library.

A value of the file is a table of people where it has five rows or more (two, where a library of
tables wrote it), stands beyond the attributes that the classes of the usual libraries have, and

* two of its columns (or its only one) are named as columns of a model in the file; or
* it has as many columns as a model of the file, or two more or fewer (one more, where the model
  has fewer than five), and more rows than any model has columns and classes; or
* a library of tables wrote it (pandas, polars, Arrow, scipy), with a hundred rows or more.

It is none where its rows are named as columns of the model or as statistics (importances,
correlations, `describe`), where its columns are those of a history or of a search
(``mean_test_score``, ``loss``), or where one of its columns names the columns of the model.

A single value for each row (labels, predictions) is recognised by its length: that of a table, or
that of the training data as in `rows`; from 21 rows on, as there are shorter lists of anything.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from treeaudit.model.forest import Forest
from treeaudit.model.source import FEWEST_RECORDS, Extra, Kind
from treeaudit.readers.limits import bare, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.filling import is_own
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.tables import Table, index_names, table_of
from treeaudit.readers.residual.allow_list import columns_of, listed
from treeaudit.readers.walk import Place, walk

_FEWEST, _FEWEST_OF_FRAME = 5, 2
_MANY = 100
_SHOWN = 5
_NEAR = 2
_MOST_NAMES = 100_000
_DATA = frozenset("pandas polars pyarrow scipy numpy collections".split())
_MEMBERS = frozenset("estimators_ tree_ _predictors _Booster cv_results_".split())
_STATISTICS = re.compile(
    r"count|unique|top|freq|mean|std|min|max|median|var|sum|mode|skew|kurt(osis)?|nunique|dtype"
    r"|nulls?|missing|first|last|\d{1,2}(\.\d+)?%"
)
_SCORES = re.compile(
    r"(mean|std|rank|split\d+)_(test|train|fit|score)_\w+|params?(_\w+)?|fpr|tpr|thresholds?"
    r"|precision|recall|f1([-_ ]?score)?|support|accuracy|(log_?)?loss|auc|roc_?auc|epochs?|steps?"
    r"|iter(ation)?s?|rounds?|fold|model|scores?|metrics?|values?|(val|train|test)_\w+"
    r"|(train|valid|test)\w*[-_ ](\w*loss|error|\w*auc\w*|rmse|mae|merror|accuracy)(-(mean|std))?"
    r"|mse|mae|rmse|r2|(feature_?)?importances?(_\w+)?|features?|names?|columns?|variables?|gain"
)


@dataclass(slots=True)
class _Models:
    """Names of columns, widths and other sizes of the models in a file."""

    names: set[str] = field(default_factory=set)
    widths: set[int] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    classes: set[object] = field(default_factory=set)
    most_classes: int = 0

    def note(self, model: Inert) -> None:
        """Take in an object of the file."""
        width = columns_of(model)
        self.widths.update(() if width is None else (width,))
        for key in ("feature_names_in_", "feature_names", "_feature_name", "feature_name_"):
            self.names.update(_unique_names(model.get(key)))
        classes = arrived(model.get("classes_"))
        if isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) <= _MANY:
            self.classes.update(classes.tolist())
            self.most_classes = max(self.most_classes, len(classes))
        for key in ("estimators_", "_predictors"):
            members = arrived(model.get(key))
            if isinstance(members, list) or (isinstance(members, np.ndarray) and members.ndim):
                self.sizes.add(len(members))
        for key in ("n_estimators", "n_iter_", "max_iter"):
            n = model.get(key)
            self.sizes.update((n,) if type(n) is int else ())

    def note_forest(self, forest: Forest) -> None:
        """Take in a model that its library keeps as a document."""
        self.widths.add(len(forest.schema.features))
        self.names.update(forest.schema.names)
        self.sizes.add(forest.n_trees)
        self.classes.update(forest.schema.classes or ())
        self.most_classes = max(self.most_classes, len(forest.schema.classes or ()))


class _Spot(NamedTuple):
    """A place, whether it stands beyond what a model is known to hold, and its table."""

    place: Place
    is_beyond: bool = True
    table: Table | None = None


def tables(
    root: object, n_records: int | None, claimed: set[int], boosted: Forest | None = None
) -> list[Extra]:
    """Return the tables of people in a file, and what has a value for each of their rows.

    Examples
    --------
    >>> people = {"age": [30, 41, 52, 63, 74], "sick": [0, 0, 1, 0, 1]}
    >>> model = {"feature_names": ["age", "sick"], "X": people}
    >>> [one.says for one in tables(model, None, set())]
    ['a table of 5 rows and 2 columns, 2 of them columns of the model (age, sick)']
    """
    models = _Models()
    if boosted is not None:
        models.note_forest(boosted)
    whole: list[tuple[Place, Table]] = []
    single: list[tuple[Place, Table]] = []
    lists: list[tuple[str, Sequence[str]]] = []
    for place, _, table in walk(_Spot(Place(arrived(root))), lambda one: one.place.value, _parts):
        if isinstance(place.value, Inert):
            models.note(place.value)
        if (table is None or table.is_column) and (names := _unique_names(place.value)):
            lists.append((place.step, names))
        if table is not None:
            (single if table.is_column else whole).append((place, table))
    for step, names in lists:
        asked = len(names) in models.widths or "feature" in step or "column" in step
        if asked and not models.classes.issuperset(names):
            models.names.update(names)
    found: list[Extra] = []
    lengths: set[int] = {n_records} if n_records is not None else set()

    def report(kind: Kind, place: Place, table: Table, says: str) -> None:
        where = place.path or "the file itself"
        found.append(Extra(kind=kind, where=where, n=table.rows, says=says))
        _claim(place.value, claimed)

    for place, table in whole:
        says = None if id(place.value) in claimed else _says(table, models)
        if says is not None:
            lengths.add(table.rows)
            report("records", place, table, says)
    for place, table in whole:
        if id(place.value) not in claimed and _has_entry_per_row(table, lengths, models):
            says = f"a table of {table.rows:,} rows and {_columns(table.columns)}"
            report("records", place, table, f"{says}: as many rows as there are people")
    for place, table in single:
        entries = _has_entry_per_row(table, lengths, models) or _is_long(table, models)
        if id(place.value) not in claimed and entries:
            report(*_per_row(place, table, models))
    return found


def _unique_names(value: object) -> Sequence[str]:
    """Return the names in a list of different names."""
    names = index_names(arrived(value)) or []
    return names if 0 < len(names) <= _MOST_NAMES and len(set(names)) == len(names) else ()


def _parts(spot: _Spot) -> Iterator[_Spot]:
    """Yield what a place holds, but for tables, with what each of them is as a table."""
    place, value = spot.place, spot.place.value
    if spot.table is not None and not isinstance(value, dict):
        return
    match value:
        case Inert():
            yield from _of_object(place, value)
        case dict():
            for key, part in value.items():
                if not isinstance(part, str | int | float | None):
                    yield _spot(Place(arrived(part), f"[{show(key)}]", place), spot.is_beyond)
        case list() | tuple():
            for i, part in enumerate(value):
                if not isinstance(part, str | int | float | None):
                    yield _spot(Place(arrived(part), f"[{i}]", place), spot.is_beyond)


def _of_object(place: Place, value: Inert) -> Iterator[_Spot]:
    known = listed(value)
    own = is_own(value.cls.module)
    library = value.cls.module.partition(".")[0]
    if library in _DATA and library != "collections":
        return
    for name, part in value.attributes.items():
        if name not in _MEMBERS and not isinstance(part, str | int | float | None):
            beyond = own or (known is not None and name not in known)
            yield _spot(Place(arrived(part), bare(name, 80), place), beyond)
    for part in (*value.args, *value.items, *value.pairs.values()):
        yield _spot(Place(arrived(part), "", place), is_beyond=own or library == "collections")


def _spot(place: Place, is_beyond: bool) -> _Spot:
    value = place.value
    library = value.cls.module.partition(".")[0] if isinstance(value, Inert) else ""
    if not is_beyond and library not in ("pandas", "polars", "pyarrow"):
        return _Spot(place, is_beyond)
    table = table_of(value)
    if table is None or table.rows < (_FEWEST_OF_FRAME if table.is_frame else _FEWEST):
        return _Spot(place, is_beyond)
    return _Spot(place, is_beyond, table)


def _says(table: Table, models: _Models) -> str | None:
    """Say what a table is; None where nothing tells that its rows are people."""
    rows, columns, names = table.rows, table.columns, list(table.names)
    if _is_of_columns(table, models):
        return None
    says = f"a table of {rows:,} rows and {_columns(columns)}"
    known = [name for name in names if name in models.names]
    if known and len(known) >= min(2, columns):
        return f"{says}, {len(known):,} of them columns of the model ({_list(known)})"
    if names and all(_SCORES.fullmatch(name.lower()) for name in names):
        return None
    shown = f" ({_list(names)})" if names else ""
    widest = max((*models.widths, models.most_classes, 0))
    for width in sorted(models.widths, key=lambda n: abs(n - columns)):
        more = columns - width
        near = abs(more) <= _NEAR if width >= _FEWEST else more in (0, 1)
        if near and columns > 1 and rows >= _FEWEST and rows > widest and rows not in models.sizes:
            than = f"{abs(more)} {'more' if more > 0 else 'fewer'} than" if more else "as many as"
            return f"{says}, {than} the model has{shown}"
    long = table.is_frame and rows >= _MANY and rows > widest and rows not in models.sizes
    return says + shown if long else None


def _is_of_columns(table: Table, models: _Models) -> bool:
    """Tell whether the rows are columns of the model, or statistics of them."""
    labels = table.labels
    if not labels:
        return False
    of_columns = sum(one in models.names for one in labels)
    statistics = all(_STATISTICS.fullmatch(one.lower()) for one in labels)
    return statistics or 2 * of_columns > len(labels)


def _has_entry_per_row(table: Table, lengths: set[int], models: _Models) -> bool:
    """Tell whether a value has an entry for each row of a table, or for each training record."""
    if table.rows < FEWEST_RECORDS or table.rows not in lengths:
        return False
    return table.rows not in models.sizes | models.widths and not _is_of_columns(table, models)


def _is_long(table: Table, models: _Models) -> bool:
    """Tell whether a column of a library of tables is too long for anything but people."""
    few = table.rows < _MANY or not table.is_frame or table.rows in models.sizes | models.widths
    distinct = len(set(table.labels)) == len(table.labels)
    return not few and not (table.labels and distinct)


def _per_row(place: Place, table: Table, models: _Models) -> tuple[Kind, Place, Table, str]:
    name = f" ({_list(table.names)})" if table.names else ""
    labels = set(_plain(table.values) or ())
    if labels and (labels <= models.classes or len(labels) <= models.most_classes):
        return "labels", place, table, f"a label for each of {table.rows:,} rows{name}"
    return "records", place, table, f"a value for each of {table.rows:,} rows{name}"


def _plain(values: object) -> list[object] | None:
    """Return the values of a column, where they can be told apart."""
    values = arrived(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufUSO":
        values = values.ravel().tolist()
    if isinstance(values, Inert):
        return index_names(values)  # type: ignore[return-value]
    if not isinstance(values, list):
        return None
    return values if all(isinstance(one, str | int | float) for one in values) else None


def _columns(n: int) -> str:
    return f"{n:,} {'column' if n == 1 else 'columns'}"


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(bare(name, 40) for name in names[:_SHOWN])
    return f"{shown}, …" if len(names) > _SHOWN else shown


def _claim(value: object, claimed: set[int]) -> None:
    """Note that a table and all that is in it was reported."""
    todo = [value]
    while todo:
        part = arrived(todo.pop())
        if not isinstance(part, Inert | dict | list | tuple | np.ndarray) or id(part) in claimed:
            continue
        claimed.add(id(part))
        match part:
            case Inert():
                todo += (*part.args, part.state, *part.items, *part.pairs.values())
            case dict():
                todo += part.values()
            case list() | tuple():
                todo += part
            case np.ndarray() if part.dtype == object:
                todo += part.ravel().tolist()
