"""What an R file holds beside the trees: tables of people, an entry for each, seeds (TA202, TA203).

A data frame is a table of people where it has columns of the model, as many rows as another value
that stands for the training rows, or many rows. A vector or matrix with as many entries as there
are training rows has one for each, wherever it is: the environment that a formula or a function
captured is looked into like a list.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from treeaudit.model.forest import Forest
from treeaudit.model.source import FEWEST_RECORDS, KINDS, Extra, Extras, Kind
from treeaudit.readers.limits import bare
from treeaudit.readers.r.beyond import beyond
from treeaudit.readers.r.code import ACTS, code
from treeaudit.readers.r.objects import NUMBERS, RObject
from treeaudit.readers.r.walk import Place, model_class
from treeaudit.readers.residual.extra_content import few

_MANY, _SHOWN = 100, 5
# Elements with an entry for each training row, and what it is.
_ROWS: Mapping[Kind, Mapping[str, str]] = {
    "labels": dict.fromkeys(("y", "Y"), "the label"),
    "out-of-bag": {
        **dict.fromkeys("predictions predicted fitted fitted.values fit".split(), "a prediction"),
        **dict.fromkeys(("chf", "survival"), "a curve"),
        "votes": "the votes of the trees",
        "oob.times": "how many trees did not draw it",
    },
    "records": {
        "where": "the leaf",
        "cluster": "the cluster",
        **dict.fromkeys(("inbag", "inbag.counts"), "how often a tree drew it"),
        "bindx": "a row number that was drawn",
        "proximity": "how near it is to every other",
        "residuals": "a residual",
        "weights": "a weight",
    },
    "targets": {"random.node.values.oob": "a label from its leaf"},
}
_KINDS = {name: (kind, says) for kind, names in _ROWS.items() for name, says in names.items()}
_SEEDS: Mapping[str, tuple[Kind, str]] = {
    ".Random.seed": ("seeds", "the state of R's random numbers"),
    "seed": ("seeds", "the seed of the draws: it repeats who is in which tree"),
    "yLimits": (
        "extremes",
        "the smallest and the largest target, widened by half of their distance",
    ),
}
# Parts of trees: as long as there are nodes, which may be as many as rows by chance.
_OF_TREES = frozenset("frame splits csplit cptable forest trees node nodes ensemble".split())


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A data frame: where it is, how many rows it has, and what its rows are called."""

    place: Place
    rows: int
    labels: str


def frames(places: Sequence[Place]) -> Iterator[Frame]:
    """Yield the data frames among some places."""
    for place in places:
        value = place.value
        names = value.attributes.get("row.names")
        if value.kind == "list" and (value.is_a("data.frame") or names is not None):
            rows, labels = max(map(_rows, value.values), default=0), ""
            # Numbers from 1 on are stored as NA and how many there are.
            if names is not None and names.kind in ("string", "integer") and len(names) != 2:
                rows, labels = max(rows, len(names)), _labels(list(names.values))
            yield Frame(place, rows, labels)


def find_extras(places: Sequence[Place], models: Sequence[Place], forest: Forest | None) -> Extras:
    """Return what a file gives away beside the trees of its models, with the way to it."""
    claimed: set[int] = set()
    found = [*_tables_and_rows(places, forest, claimed)]
    for place in places:
        found += _seeds(place) if place.name in _SEEDS else ()
        found += code(place) if place.value.kind in ACTS else ()
        found += _left_out(place) if place.value.is_a("omit") or place.value.is_a("exclude") else ()
    found += beyond(places, models, claimed) if models else ()
    n = None if forest is None else forest.n_records
    kept = few(found)
    open_kinds: set[Kind] = {"records"} if n is not None and n < FEWEST_RECORDS else set()
    return Extras(found=kept, looked_for=KINDS - (open_kinds - {one.kind for one in kept}))


def _left_out(place: Place) -> Iterator[Extra]:
    """Yield the rows that training left out, since a value was missing (``na.action``)."""
    rows = place.value
    if rows.kind in ("integer", "double") and len(rows):
        size = 4 * len(rows) + sum(map(len, rows.names))
        says = f"numbers and names of {len(rows):,} rows that were left out of the training"
        yield Extra(kind="extra", where=place.path, n=size, says=says)


def _tables_and_rows(
    places: Sequence[Place], forest: Forest | None, claimed: set[int]
) -> Iterator[Extra]:
    of_trees = _of_trees(places)
    tables = [one for one in frames(places) if id(one.place.value) not in of_trees]
    features = set() if forest is None else set(forest.schema.names)
    classes = set() if forest is None else set(map(str, forest.schema.classes or ()))
    lengths = _lengths(places) | {one.rows for one in tables}
    lengths |= {forest.n_records or 0} if forest is not None else set()
    lengths = {n for n in lengths if n >= FEWEST_RECORDS}
    for one in tables:
        columns = one.place.value.names
        of_model = len(features.intersection(columns)) >= min(2, len(columns)) > 0
        people = of_model or one.rows in lengths or one.rows >= _MANY
        if one.rows and people and id(one.place.value) not in claimed:
            _claim(one.place.value, claimed)
            yield _table(one, columns)
    times: dict[Extra, int] = {}
    for place in places:
        if id(place.value) in claimed or (
            id(place.value) in of_trees and place.name not in ("where", "weights")
        ):
            continue
        if extra := _per_row(place, lengths, classes):
            _claim(place.value, claimed)
            times[extra] = times.get(extra, 0) + 1
    for extra, n in times.items():
        yield replace(extra, says=f"{extra.says}, {n:,} times") if n > 1 else extra


def _lengths(places: Sequence[Place]) -> set[int]:
    """Return how long elements are that have an entry for each training row."""
    found: set[int] = set()
    for place in places:
        if place.name in _KINDS and place.above is not None and place.above.value.classes:
            value = place.value
            found.update(map(_rows, value.values if value.kind == "list" else [value]))
    return found


def _table(one: Frame, columns: list[str]) -> Extra:
    shown = ", ".join(bare(name, 40) for name in columns[:_SHOWN])
    more = ", …" if len(columns) > _SHOWN else ""
    size = f"{one.rows:,} rows and {len(columns):,} column{'s' if len(columns) != 1 else ''}"
    says = f"a table of {size} ({shown}{more}){one.labels}"
    where = one.place.path or "the file itself"
    return Extra(kind="records", where=where, n=one.rows, says=says)


def _per_row(place: Place, lengths: set[int], classes: set[str]) -> Extra | None:
    """Return a value with an entry for each training row, the same for all of a list of them."""
    value, above = place.value, place.above
    n = _rows(value) if value.kind in NUMBERS | {"string"} else 0
    if flat := _rows_of_flat(place) if place.name == "x" else 0:
        says = f"a table of {flat:,} rows and {len(value) // flat:,} columns, as one vector"
        return Extra(kind="records", where=place.path, n=flat, says=says)
    if n not in lengths:
        return None
    name = place.name or (above.name if above is not None else "")
    kind, says = _KINDS.get(name, ("records", "an entry"))
    if kind == "records" and classes and classes >= set(value.levels) != set():
        kind, says = "labels", "the label"
    labels = _labels(value.dimnames(0) or value.names)
    by = f", {value.dim[1]:,} numbers each" if len(value.dim) == 2 and value.dim[1] > 1 else ""
    where = re.sub(r"\[\[\d+\]\]", "[[*]]", place.path) or "the file itself"
    says = f"{says} for each of {n:,} training rows in order{by}{labels}"
    return Extra(kind=kind, where=where, n=n, says=says)


def _of_trees(places: Sequence[Place]) -> set[int]:
    """Return what models say of their trees: as long as there are nodes."""
    found: set[int] = set()
    for place in places:
        above = place.above
        if above is not None and (
            id(above.value) in found or (place.name in _OF_TREES and model_class(above.value))
        ):
            found.add(id(place.value))
    return found


def _rows_of_flat(place: Place) -> int:
    """Return how many rows a table has that gbm keeps as one vector, beside the labels."""
    if place.above is None or place.above.above is None:
        return 0
    n = len(place.above.value.get("y")) if place.above.above.value.is_a("gbm") else 0
    return n if n and place.value.kind == "double" and len(place.value) % n == 0 else 0


def _rows(value: RObject) -> int:
    return value.dim[0] if value.dim else len(value)


def _labels(names: Sequence[object]) -> str:
    """Say what names of rows are, where they are more than the numbers from 1 on."""
    texts = [str(name) for name in names]
    if texts == [str(i + 1) for i in range(len(texts))]:
        return ""
    numbers = all(text.isdecimal() for text in texts)
    return ", with " + ("row numbers of a larger table" if numbers else "names of the rows")


def _claim(value: RObject, claimed: set[int]) -> None:
    """Note that a table or vector was named, its columns and the names of its rows with it."""
    todo = [value]
    while todo:
        one = todo.pop()
        if id(one) not in claimed:
            claimed.add(id(one))
            todo += one.values if one.kind == "list" and isinstance(one.values, list) else ()
            names = ("row.names", "dimnames")
            todo += [one.attributes[key] for key in names if key in one.attributes]


def _seeds(place: Place) -> Iterator[Extra]:
    value, above = place.value, place.above
    called = above is not None and above.value.kind == "language" and above.name == "call"
    if value.kind in ("integer", "double") and (called or place.name != "seed"):
        kind, says = _SEEDS[place.name]
        n = 1 if kind == "seeds" else len(value)
        yield Extra(kind=kind, where=place.path, n=n, says=says)
