"""What PMML files are made of, and what a file holds beyond its trees.

The table has a line an element: the elements that it may stand in, and its attributes. What is not
in it is listed by path and size; what is known to hold records or values of columns is reported
as such.
"""

import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from treeaudit.model.source import Extra, Kind
from treeaudit.readers.limits import clean
from treeaudit.readers.residual.extra_content import size_of
from treeaudit.readers.residual.listing import LONGEST_NOTE, Listing, path_name

_TABLE: Mapping[str, tuple[str, str]] = {
    element: (parents, attributes)
    for line in Path(__file__).with_name("elements.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for element, parents, attributes in [map(str.strip, line.split("|"))]
}
_KNOWN = {
    name: (frozenset(above.split()) or frozenset({""}), frozenset(names.split()))
    for name, (above, names) in _TABLE.items()
}
"""By element: those that it may stand in, and its attributes."""

_HOT = frozenset(
    "Node ScoreDistribution SimplePredicate SimpleSetPredicate CompoundPredicate Array True "
    "False".split()
)
"""What nodes are made of."""

_TEXTS = frozenset({"Array", "Constant"})
"""What may have a text."""

_TABLES: Mapping[str, tuple[Kind, str]] = {
    "ModelVerification": ("records", "records to verify the model with, a sample of the data"),
    "TrainingInstances": ("records", "the records among which neighbours are looked up"),
    "VectorDictionary": ("records", "the records at the margin"),
    "InlineTable": ("records", "a table of records"),
    "ModelStats": ("column-values", "statistics of the columns: extremes, quantiles, counts"),
    "Partition": ("column-values", "statistics of the columns of the records in a node"),
    "MapTable": ("column-values", "a table of values of a column"),
}
_ROWS = frozenset({"row", "VectorInstance"})
_EXTREMES: Mapping[str, tuple[str, ...]] = {
    "Interval": ("leftMargin", "rightMargin"),
    "MiningField": ("lowValue", "highValue"),
    "LinearNorm": ("orig",),
    "Target": ("min", "max"),
}

_NAMESPACE = re.compile(
    r"https?://(?:www\.)?(?:dmg|w3|jpmml|xml\.apache)\.org/[\w./-]{0,80}"
    r"|[\w./:-]{0,60}pmml-\d-\d(?:-\d)?\.xsd"
)
_NAMESPACES = re.compile(
    r"xmlns(?::[A-Za-z]{1,8})?|xsi:schemaLocation|xsi:noNamespaceSchemaLocation"
)
_HEADERS = {
    "copyright": re.compile(r"(?:Copyright )?\([cC]\) ?\d{4}(?:-\d{4})? ?[\w .,]{0,40}|DMG\.org"),
    "description": re.compile(r"Default description|[\w ()-]{0,40}Model(?: exported by \w+)?"),
    "modelVersion": re.compile(r"[\d.]{0,20}"),
}
_DATE = re.compile(r"\s*[\w:.,+ -]{0,40}\s*")
_MANY_CATEGORIES = 100
_LONGEST_VALUE = 1_000
_LONGEST_TASK = 10_000
_TASK, _IMPORTANCES = "MiningBuildTask", "X-FeatureImportances"
_NOWHERE: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
_OF_MODELS = ("Model", "Scorecard", "NeuralNetwork", "AssociationRules")


def is_model(name: str) -> bool:
    """Return whether an element is a model, by its name."""
    return name.endswith(_OF_MODELS)


class ExtraContent:
    """Lists all that is no part of a tree, while the XML goes by."""

    def __init__(self) -> None:
        # Levels within an element that no tree needs.
        self.depth = 0
        self._listing = Listing()
        self._what = self._where = ""
        self._inside: list[str] = []
        self._rows = self._size = self._extremes = self._columns = 0
        self._column, self._categories = "", 0

    @property
    def extras(self) -> tuple[Extra, ...]:
        """What there is, in the order of the file."""
        found = self._listing.extras
        if not self._extremes:
            return found
        says = "margins of columns: the smallest and largest value, where they were learned"
        return (*found, Extra(kind="extremes", where="margins", n=self._extremes, says=says))

    def start(self, path: list[str], given: Mapping[str, str], size: int) -> bool:
        """See an element begin; tell whether it stands in one that no tree needs."""
        name = path[-1]
        if self.depth:
            self.depth += 1
            self._rows += name in _ROWS
            self._inner(name, given)
            return True
        above = path[-2] if len(path) > 1 else ""
        places, names = _KNOWN.get(name, _NOWHERE)
        plain = above in places and names.issuperset(given) and size <= _LONGEST_VALUE
        # Most of the file, seen millions of times.
        if plain and name in _HOT:
            return False
        maps = name == "InlineTable" and above in ("MapValues", "TextIndexNormalization")
        kind = "MapTable" if maps else name
        if kind in _TABLES or name not in _KNOWN or name == _TASK:
            self.depth, self._where = 1, _way(path)
            known = name == "Extension" and given.get("name") == _IMPORTANCES
            self._what = _IMPORTANCES if known else kind
            self._inside, self._rows, self._size = [], 0, 0
            self._inner("" if name in _TABLES else name, given)
            return True
        self._column_of(name, above, given)
        if above not in places:
            self._listing.add(_way(path), size + len(name))
        for key, value in given.items():
            fits = key in names and len(value) <= _LONGEST_VALUE
            if not fits and not _by_an_exporter(path, key, value):
                self._listing.text(f"{_way(path)}@{path_name(key)}", value)
        return False

    def _inner(self, name: str, given: Mapping[str, str]) -> None:
        """Count what stands in an element that no tree needs."""
        self._size += size_of(name) + sum(map(size_of, chain(given, given.values())))
        if self._size <= LONGEST_NOTE:
            self._inside += given.values()

    def _column_of(self, name: str, above: str, given: Mapping[str, str]) -> None:
        """Take note of what a description of the columns gives away."""
        for margin in _EXTREMES.get(name, ()):
            self._extremes += bool(given.get(margin)) and above != "DiscretizeBin"
        if name == "DataField":
            self._column, self._categories = given.get("name", ""), 0
        self._categories += name == "Value"
        self._columns += name in ("DataField", "DerivedField", "Value")

    def end(self, name: str) -> None:
        """See an element end."""
        if not self.depth:
            if name == "DataField" and self._categories >= _MANY_CATEGORIES:
                n = self._categories
                says = f"{n:,} categories of a column: more than a public list has"
                where = f"DataField[{clean(self._column[:60])}]"
                self._listing.add(where, n, "column-values", says)
            return
        self.depth -= 1
        if self.depth:
            return
        text = " ".join(self._inside)
        if self._what == _IMPORTANCES and self._rows <= self._columns:
            pass  # a row a column, as JPMML writes
        elif self._what in _TABLES or self._rows:
            kind, says = _TABLES.get(self._what, _TABLES["InlineTable"])
            n = self._rows or self._size
            self._listing.add(self._where, n, kind, f"{says}: {n:,}")
        elif is_model(self._what):
            # The reader names those at the top of the file.
            if self._where != f"PMML/{self._what}":
                says = "another model, which is not audited"
                self._listing.add(self._where, self._size, "unseen", says)
        elif self._what != _TASK or self._size > _LONGEST_TASK:
            plain = self._size <= LONGEST_NOTE and text.isprintable()
            kind = "notes" if plain else "extra"
            self._listing.add(self._where, self._size, kind)

    def text(self, path: list[str], text: str) -> None:
        """See text between elements, which is not just blanks."""
        if self.depth:
            self._size += size_of(text.strip())
            if self._size <= LONGEST_NOTE:
                self._inside.append(text.strip())
            return
        known = path[-1] in _TEXTS and (path[-1] == "Array" or len(text) <= _LONGEST_VALUE)
        if not known and not _by_an_exporter(path, "", text):
            self._listing.text(_way(path), text)

    def remark(self, text: str) -> None:
        """See a comment or an instruction."""
        self._listing.text("a comment", text)

    def conditional(self) -> None:
        """See a tree that is asked only under a condition."""
        says = "a condition on which a tree is asked: it is not read"
        self._listing.add("Segment", 1, "unseen", says)


def _way(path: list[str]) -> str:
    return "/".join(name if name in _KNOWN else path_name(name) for name in path[-4:])


def _by_an_exporter(path: list[str], key: str, value: str) -> bool:
    """Return whether programs that write PMML put such a value beside the model by themselves."""
    if _NAMESPACES.fullmatch(key):
        return len(path) == 1 and all(map(_NAMESPACE.fullmatch, value.split()))
    if path[-1] == "Header" and key in _HEADERS:
        return _HEADERS[key].fullmatch(value) is not None
    return path[-1] == "Timestamp" and not key and _DATE.fullmatch(value) is not None
