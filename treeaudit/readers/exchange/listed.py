"""What a file for exchange holds beside its trees: each place once, with its size."""

import re
from dataclasses import dataclass

from treeaudit.model.extras import FEWEST_RECORDS, Extra, Kind
from treeaudit.readers.limits import clean
from treeaudit.readers.residual.extra_content import few, masked

LONGEST_NOTE = 200
"""Characters of a note; a longer text is extra content."""

_MOST_PLACES = 1_000
_LONGEST_PLACE = 200
_NAME = re.compile(r"[A-Za-z_][\w./:@-]{0,59}", re.ASCII)
_REST = "…"
_SAYS = {
    "notes": "{n:,} bytes of a plain note",
    "extra": "{n:,} bytes beyond the model",
}


@dataclass(slots=True, eq=False)
class _Place:
    """What of one kind stands at one place: its size, and how often it occurs."""

    n: int = 0
    times: int = 0
    says: str = ""


class Listed:
    """Collects what stands beside a model.

    Examples
    --------
    >>> listed = Listed()
    >>> listed.text("Header/Annotation", "third model, for the ward")
    >>> listed.text("Header@photo", "x" * 500)
    >>> [(one.where, one.kind, one.n) for one in listed.found]
    [('Header/Annotation', 'notes', 25), ('Header@photo', 'extra', 500)]
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, Kind], _Place] = {}

    def add(self, where: str, n: int, kind: Kind = "extra", says: str = "") -> None:
        """Take note of something, of so many bytes or records."""
        where = clean(where[:_LONGEST_PLACE])
        if (where, kind) not in self._places and len(self._places) >= _MOST_PLACES:
            where = _REST
        place = self._places.setdefault((where, kind), _Place())
        # Two tables of records may hold the same people.
        place.n = max(place.n, n, 1) if kind == "records" else place.n + max(n, 1)
        place.times += 1
        place.says = place.says or says

    def text(self, where: str, text: str) -> None:
        """Take note of a text: a plain note where it is short."""
        text = text.strip()
        if text:
            plain = len(text) <= LONGEST_NOTE and text.isprintable()
            n = len(text.encode("utf-8", "surrogatepass"))
            self.add(where, n, "notes" if plain else "extra")

    @property
    def found(self) -> tuple[Extra, ...]:
        """What there is, place by place. What as many nodes note as people may be is no note."""
        found = []
        for (where, stated), place in self._places.items():
            many = place.times >= FEWEST_RECORDS and "/Node" in where
            kind: Kind = "extra" if many and stated == "notes" else stated
            says = place.says or _SAYS[kind].format(n=place.n)
            found.append(Extra(kind=kind, where=where, n=place.n, says=says))
        return few(found)


def shown(name: str) -> str:
    """Return a name of the file as it stands in a path: as it is where it looks like a name.

    Examples
    --------
    >>> shown("TreeEnsembleClassifier1"), shown("Ann Lee;33")
    ('TreeEnsembleClassifier1', 'aaa aaa;99')
    """
    return name if _NAME.fullmatch(name) else masked(name)
