"""Content of an ONNX or PMML file beyond its trees: each place once, with its size."""

import re
from collections import defaultdict
from dataclasses import dataclass

from treeaudit.model.source import FEWEST_RECORDS, Extra, Kind
from treeaudit.readers.limits import clean
from treeaudit.readers.residual.extra_content import few, masked

LONGEST_NOTE = 200
"""Characters of a note; a longer text is extra content."""

_MOST_PLACES, _LONGEST_PLACE = 1_000, 200
_NAME = re.compile(r"[A-Za-z_][\w./:@-]{0,59}", re.ASCII)


@dataclass(slots=True, eq=False)
class _Place:
    """Content of one kind at one place: its size, and how often it occurs."""

    n: int = 0
    times: int = 0
    says: str = ""


class Listing:
    """Collects the content of a file beyond its model.

    Examples
    --------
    >>> listing = Listing()
    >>> listing.text("Header/Annotation", "third model, for the ward")
    >>> listing.text("Header@photo", "x" * 500)
    >>> [(one.where, one.kind, one.n) for one in listing.extras]
    [('Header/Annotation', 'notes', 25), ('Header@photo', 'extra', 500)]
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, Kind], _Place] = defaultdict(_Place)

    def add(self, where: str, n: int, kind: Kind = "extra", says: str = "") -> None:
        """Add content of so many bytes or records."""
        where = clean(where[:_LONGEST_PLACE])
        if (where, kind) not in self._places and len(self._places) >= _MOST_PLACES:
            where = "…"
        place = self._places[where, kind]
        # Two tables of records may hold the same people.
        place.n = max(place.n, n, 1) if kind == "records" else place.n + max(n, 1)
        place.times += 1
        place.says = place.says or says

    def text(self, where: str, text: str) -> None:
        """Add a text: a plain note if it is short."""
        text = text.strip()
        if text:
            plain = len(text) <= LONGEST_NOTE and text.isprintable()
            n = len(text.encode("utf-8", "surrogatepass"))
            self.add(where, n, "notes" if plain else "extra")

    @property
    def extras(self) -> tuple[Extra, ...]:
        """The content, place by place. A note in as many nodes as people may be is no note."""
        found = []
        for (where, kind), place in self._places.items():
            many = place.times >= FEWEST_RECORDS and "/Node" in where
            kind = "extra" if many and kind == "notes" else kind
            form = "of a plain note" if kind == "notes" else "beyond the model"
            says = place.says or f"{place.n:,} bytes {form}"
            found.append(Extra(kind=kind, where=where, n=place.n, says=says))
        return few(found)


def path_name(name: str) -> str:
    """Return a name of the file for a path: masked unless it looks like a name.

    Examples
    --------
    >>> path_name("TreeEnsembleClassifier1"), path_name("Ann Lee;33")
    ('TreeEnsembleClassifier1', 'aaa aaa;99')
    """
    return name if _NAME.fullmatch(name) else masked(name)
