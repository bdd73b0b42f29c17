"""What a PMML file holds beside its trees.

Every element and attribute that a tree needs is listed, with the elements it
may stand in. What is known to hold records or values of columns is reported as
such; everything else that the file says is named as unexplained.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.exchange.pmml_form import (
    CHANGES,
    DATE,
    DECLARED,
    EXPLAINED,
    EXTREMES,
    FIXED,
    FORM,
    FRACTION,
    HELD,
    MANY_TIMES,
    NUMBERS,
    OF_NYOKA,
    OF_TREES,
    ROWS,
    SAYS,
    SHORT,
    SPACE,
    TITLE,
    USUAL,
)
from treeaudit.readers.leftovers.booster_parts import is_name
from treeaudit.readers.leftovers.extra import Few, masked, name_in_path, size_of
from treeaudit.readers.limits import clean

__all__ = ["LONGEST_BLANK", "Beside"]

LONGEST_BLANK = 400
"""Between elements; more of it may say something."""

_MANY, _MOST_FINE, _MOST_SAID = 20, 2_000, 100_000
_LONGEST_NAME = 200
# Bytes of values and statistics that a file may hold for each of its columns and categories.
_FREE, _ALWAYS, _STATISTICS = 100, 1_000, 400
_MOST_MARGINS, _MOST_SPACES = 8, 8
_MANY_CATEGORIES = 5 * _MANY
_usual = USUAL.fullmatch


class Beside:
    """Takes note of all that is no part of a tree, while the XML goes by."""

    def __init__(self) -> None:
        self._found = Few()
        # Levels within an element that no tree needs.
        self.depth = 0
        self._what = self._where = ""
        self._rows = self._size = self._extremes = self._spaces = 0
        self._column, self._categories = "", 0
        self._free, self._columns = 0, 0
        self._said: set[str] = set()
        self._listed: set[str] = set()
        # How many digits fractions have, and how many of them end in zeros.
        self._fractions: dict[int, int] = defaultdict(int)
        self._padded = 0
        # Values seen before, by attribute: most of a file are few words and small numbers.
        self._fine: dict[str, set[str]] = defaultdict(set)

    @property
    def n_free(self) -> int:
        """Bytes of texts and numbers that are neither trees nor names of columns."""
        return self._free

    @property
    def found(self) -> tuple[Leftover, ...]:
        """What there is, in the order of the file."""
        for where, n, most in (
            ("values", self._free, _ALWAYS + _FREE * self._columns),
            ("margins", 8 * self._extremes, 8 * _MOST_MARGINS * self._columns),
            ("namespaces", 8 * self._spaces, 8 * _MOST_SPACES),
            # All numbers may have as many digits, as some programs write them.
            ("zeros", 0 if self._all_alike() else self._padded, 0),
        ):
            if n > most:
                says = f"{n:,} bytes of {where}: more than the columns of the file account for"
                self._found.add(Leftover(kind="extra", where=where, n=n, says=says))
        found = self._found.found
        if not self._extremes:
            return found
        says = "margins of columns: the smallest and largest value, where they were learned"
        return (*found, Leftover(kind="extremes", where="margins", n=self._extremes, says=says))

    def _all_alike(self) -> bool:
        """Tell whether all of many fractions have as many digits."""
        return len(self._fractions) == 1 and sum(self._fractions.values()) >= _MANY

    def start(self, path: Sequence[str], given: Mapping[str, str]) -> None:
        """See an element begin.

        Parameters
        ----------
        path
            The names of the open elements, outermost first.
        given
            Its attributes.
        """
        name = path[-1]
        if self.depth:
            self.depth += 1
            self._rows += name in ROWS
            self._size += _size_of(name, given)
            return
        above = path[-2] if len(path) > 1 else ""
        # Most of the file: nothing to note, and seen millions of times.
        if name in MANY_TIMES:
            places, known = EXPLAINED[name]
            if above in places and known.issuperset(given):
                usual = ""
                for key, value in given.items():
                    fine = self._fine[key]
                    if value in fine:
                        continue
                    found = None
                    if key in NUMBERS:
                        if value == usual:
                            continue
                        found = _usual(value)
                    if found is not None:
                        usual = value
                    else:
                        if not (SHORT if key in OF_TREES else SAYS[key]).fullmatch(value):
                            self._unseen(f"{_way(path)}@{key}", value)
                            continue
                        found = FRACTION.fullmatch(value) if "." in value else None
                        if found is None:
                            if len(fine) < _MOST_FINE and "." not in value:
                                fine.add(value)
                            continue
                    digits = found[1]
                    n = len(digits)
                    self._fractions[n] += 1
                    if digits[-1] == "0" and n not in (1, FIXED):
                        self._padded += 1
                return
        held = "MapTable" if name == "InlineTable" and above == "MapValues" else name
        parents, names = EXPLAINED.get(name, ((), frozenset()))
        if held in HELD or above not in parents:
            self.depth, self._what, self._where = 1, held, _way(path)
            self._rows, self._size = 0, _size_of(path[-1], given)
            return
        if name not in MANY_TIMES:
            self._column_of(name, above, given)
        self._attributes(path, given, names)

    def _column_of(self, name: str, above: str, given: Mapping[str, str]) -> None:
        """Take note of what a description of the columns gives away."""
        for margin in EXTREMES.get(name, ()):
            self._extremes += bool(given.get(margin)) and above != "DiscretizeBin"
        self._columns += name in ("DataField", "Value", "Segment", "DerivedField")
        own = given.get("name", "")
        for key, usual in CHANGES.get(name, {}).items():
            if given.get(key, usual) != usual:
                says = f"{key} changes values before a tree asks about them, which is not read"
                where = f"{name}@{key}"
                self._found.add(Leftover(kind="extra", where=where, n=1, says=says))
        if name in ("DataField", "DerivedField"):
            self._said.add(own)
        elif name == "MiningSchema":
            self._listed = set()
        elif name == "MiningField":
            if own in self._listed:
                self.twice(name, given)
            self._listed.add(own)
        else:
            self._free += 1
        if name == "DataField":
            self._column, self._categories = given.get("name", ""), 0
        self._categories += name == "Value"

    def _attributes(
        self, path: Sequence[str], given: Mapping[str, str], names: frozenset[str]
    ) -> None:
        for key, value in given.items():
            if DECLARED.fullmatch(key):
                self._spaces += 1
                explained = len(path) == 1 and all(map(SPACE.fullmatch, value.split(" ")))
            elif path[-1] == "Header" and value in OF_NYOKA:
                explained = True
            elif path[-1] == "Application" and key == "name":
                explained = TITLE.fullmatch(value) is not None
            elif key in SAYS:
                explained = key in names and SAYS[key].fullmatch(value) is not None
            else:
                explained = key in names and len(value) <= _LONGEST_NAME and is_name(value)
            if value not in self._said:
                self._free += len(value)
                if len(self._said) < _MOST_SAID:
                    self._said.add(value)
            if not explained and value.strip():
                self._unseen(f"{_way(path)}@{name_in_path(key)}", value)

    def _unseen(self, where: str, text: str) -> None:
        n = max(size_of(text), 1)
        says = f"{n:,} bytes that no tree needs: {masked(text.strip())!r}"
        where = clean(where[:200])
        self._found.add(Leftover(kind="extra", where=where, n=n, says=says))

    def spelled(self, n: int) -> None:
        """Take note of bytes beside the content, which follow no rule."""
        says = f"{n:,} bytes of blanks, quotes and references that follow no rule"
        self._found.add(Leftover(kind="extra", where="the spelling", n=n, says=says))

    def twice(self, where: str, given: Mapping[str, str]) -> None:
        """See an element of which only another of the same name counts."""
        self._unseen(where, " ".join(given.values()))

    def end(self, name: str) -> None:
        """See an element end."""
        if not self.depth:
            if name == "DataField" and self._categories >= _MANY_CATEGORIES:
                n = self._categories
                says = f"{n:,} categories of a column: more than a public list has"
                where = f"DataField[{clean(self._column[:60])}]"
                self._found.add(Leftover(kind="column-values", where=where, n=n, says=says))
            return
        self.depth -= 1
        if self.depth:
            return
        where = clean(self._where[:200])
        kind, says = HELD.get(self._what, ("extra", ""))
        if kind == "column-values" and self._size > _STATISTICS * (self._columns + 1):
            kind = "extra"
        if kind == "extra":
            n, says = self._size, f"{self._size:,} bytes in an element that no tree needs"
        else:
            n = self._rows or self._size
            says = f"{says}: {n:,}"
        self._found.add(Leftover(kind=kind, where=where, n=n, says=says))

    def text(self, path: Sequence[str], text: str) -> None:
        """See text between elements, which is not just a few blanks."""
        if self.depth:
            self._size += size_of(text.strip())
            return
        dated = path[-1] == "Timestamp" and DATE.fullmatch(text) is not None
        if path[-1] == "Constant" and len(text) <= _LONGEST_NAME:
            self._free += len(text)
        elif not dated and path[-1] != "Array":
            self._unseen(_way(path), text)

    def remark(self, text: str) -> None:
        """See a comment or an instruction."""
        if text.strip():
            self._unseen("a comment", text)


def _size_of(name: str, given: Mapping[str, str]) -> int:
    return len(name) + sum(len(key) + size_of(value) for key, value in given.items())


def _way(path: Sequence[str]) -> str:
    return "/".join(name if name in FORM else name_in_path(name) for name in path[-4:])
