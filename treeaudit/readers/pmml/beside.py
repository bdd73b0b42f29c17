"""What a PMML file holds beside its trees.

What is not in `treeaudit.readers.pmml.known` is listed by path and size. What is known
to hold records or values of columns is reported as such.
"""

from collections.abc import Mapping
from itertools import chain

from treeaudit.model.extras import Extra, Kind
from treeaudit.readers.exchange.listed import LONGEST_NOTE, Listed, shown
from treeaudit.readers.limits import clean
from treeaudit.readers.pmml.known import (
    EXTREMES,
    HELD,
    HOT,
    KNOWN,
    ROWS,
    TEXTS,
    of_an_exporter,
)
from treeaudit.readers.residual.extra_content import size_of

_MANY_CATEGORIES = 100
_LONGEST_VALUE = 1_000
_LONGEST_TASK = 10_000
_TASK, _IMPORTANCES = "MiningBuildTask", "X-FeatureImportances"
_NOWHERE: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
_OF_MODELS = ("Model", "Scorecard", "NeuralNetwork", "AssociationRules")


def is_model(name: str) -> bool:
    """Tell whether an element is a model, by its name."""
    return name.endswith(_OF_MODELS)


class Beside:
    """Takes note of all that is no part of a tree, while the XML goes by."""

    def __init__(self) -> None:
        # Levels within an element that no tree needs.
        self.depth = 0
        self._listed = Listed()
        self._what = self._where = ""
        self._inside: list[str] = []
        self._rows = self._size = self._extremes = self._columns = 0
        self._column, self._categories = "", 0

    @property
    def found(self) -> tuple[Extra, ...]:
        """What there is, in the order of the file."""
        found = self._listed.found
        if not self._extremes:
            return found
        says = "margins of columns: the smallest and largest value, where they were learned"
        return (*found, Extra(kind="extremes", where="margins", n=self._extremes, says=says))

    def start(self, path: list[str], given: Mapping[str, str], size: int) -> bool:
        """See an element begin; tell whether it stands in one that no tree needs."""
        name = path[-1]
        if self.depth:
            self.depth += 1
            self._rows += name in ROWS
            self._inner(name, given)
            return True
        above = path[-2] if len(path) > 1 else ""
        places, names = KNOWN.get(name, _NOWHERE)
        plain = above in places and names.issuperset(given) and size <= _LONGEST_VALUE
        # Most of the file, seen millions of times.
        if plain and name in HOT:
            return False
        maps = name == "InlineTable" and above in ("MapValues", "TextIndexNormalization")
        held = "MapTable" if maps else name
        if held in HELD or name not in KNOWN or name == _TASK:
            self.depth, self._where = 1, _way(path)
            known = name == "Extension" and given.get("name") == _IMPORTANCES
            self._what = _IMPORTANCES if known else held
            self._inside, self._rows, self._size = [], 0, 0
            self._inner("" if name in HELD else name, given)
            return True
        self._column_of(name, above, given)
        if above not in places:
            self._listed.add(_way(path), size + len(name))
        for key, value in given.items():
            fits = key in names and len(value) <= _LONGEST_VALUE
            if not fits and not of_an_exporter(path, key, value):
                self._listed.text(f"{_way(path)}@{shown(key)}", value)
        return False

    def _inner(self, name: str, given: Mapping[str, str]) -> None:
        """Count what stands in an element that no tree needs."""
        self._size += size_of(name) + sum(map(size_of, chain(given, given.values())))
        if self._size <= LONGEST_NOTE:
            self._inside += given.values()

    def _column_of(self, name: str, above: str, given: Mapping[str, str]) -> None:
        """Take note of what a description of the columns gives away."""
        for margin in EXTREMES.get(name, ()):
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
                self._listed.add(where, n, "column-values", says)
            return
        self.depth -= 1
        if self.depth:
            return
        text = " ".join(self._inside)
        if self._what == _IMPORTANCES and self._rows <= self._columns:
            pass  # a row a column, as JPMML writes
        elif self._what in HELD or self._rows:
            held, says = HELD.get(self._what, HELD["InlineTable"])
            n = self._rows or self._size
            self._listed.add(self._where, n, held, f"{says}: {n:,}")
        elif is_model(self._what):
            # The reader names those at the top of the file.
            if self._where != f"PMML/{self._what}":
                says = "another model, which is not audited"
                self._listed.add(self._where, self._size, "unseen", says)
        elif self._what != _TASK or self._size > _LONGEST_TASK:
            plain = self._size <= LONGEST_NOTE and text.isprintable()
            kind: Kind = "notes" if plain else "extra"
            self._listed.add(self._where, self._size, kind)

    def text(self, path: list[str], text: str) -> None:
        """See text between elements, which is not just blanks."""
        if self.depth:
            self._size += size_of(text.strip())
            if self._size <= LONGEST_NOTE:
                self._inside.append(text.strip())
            return
        known = path[-1] in TEXTS and (path[-1] == "Array" or len(text) <= _LONGEST_VALUE)
        if not known and not of_an_exporter(path, "", text):
            self._listed.text(_way(path), text)

    def remark(self, text: str) -> None:
        """See a comment or an instruction."""
        self._listed.text("a comment", text)

    def conditional(self) -> None:
        """See a tree that is asked only under a condition."""
        says = "a condition on which a tree is asked: it is not read"
        self._listed.add("Segment", 1, "unseen", says)


def _way(path: list[str]) -> str:
    return "/".join(name if name in KNOWN else shown(name) for name in path[-4:])
