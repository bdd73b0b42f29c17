"""Small containers in which people save a model, and what they put beside it.

Which known object stands in which place says as much as a text, and so does what kind of
container is empty: of references, containers and lists of names there are a few in a file.
"""

import math
from collections.abc import Iterator

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.attributes import listed
from treeaudit.readers.leftovers.extra import masked
from treeaudit.readers.leftovers.forms import DATE, NAME, VERSION, Sizes
from treeaudit.readers.leftovers.inner_objects import InnerObjects
from treeaudit.readers.leftovers.sizes import Facts
from treeaudit.readers.leftovers.texts import reads_as_name
from treeaudit.readers.leftovers.values import MOST_OBJECTS
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.walk import Place

__all__ = ["Bundles", "is_shared"]

_LONGEST = 64
"""Of a name in a list that no model states."""


def is_shared(place: Place, value: object) -> bool:
    """Tell whether two attributes of an object hold one thing, as `scoring` and `scorer_` do.

    Parameters
    ----------
    place
        That of the attribute which does not explain it.
    value
        What they hold.
    """
    owner = place.above.value if place.above is not None else None
    if not isinstance(owner, Inert) or owner.cls.module.startswith("treeaudit."):
        return False
    # What holds a number or an option holds nothing that is elsewhere, too.
    known = listed(owner) or {}
    return (
        bool(known.get(place.step)) and sum(one is value for one in owner.attributes.values()) > 1
    )


class Bundles(InnerObjects):
    """Explains dictionaries, lists and tuples with a model in them, and few plain values.

    Parameters
    ----------
    facts, told
        As `Values` takes them.
    """

    def __init__(self, facts: Facts, told: set[int]) -> None:
        super().__init__(facts, told)
        self._containers = MOST_OBJECTS
        # What was met in containers, and the names that led to one.
        self._held: set[int] = set()
        self._leading: set[object] = set()
        # How many lists of names no model knows; where references are too many, and how many.
        self._lists = 0
        self._repeats: dict[str, int] = {}

    def bundle(self, place: Place, sizes: Sizes, depth: int, key: object = None) -> None:
        """Explain a model, or a small container with one and what belongs to it.

        Parameters
        ----------
        place, sizes
            What stands where, and how many rows it may have.
        depth
            How many containers deep it may go on.
        key
            The name of a column, category or label that a dictionary gives it; None of others.
        """
        value = place.value
        if not isinstance(value, int | float | str | None):
            if id(value) in self._held:
                self.again(place)
                return
            self._held.add(id(value))
            if id(value) in self._seen:
                return
        if isinstance(value, Inert) and value.cls.module == "collections":
            pairs, items = value.pairs, [*value.items, *value.args]
        elif isinstance(value, Inert):
            if (place.above is None or listed(value) is not None) and self._objects:
                self._objects -= 1
                self._todo.append((place, sizes))
            else:
                self.leave(place, "", value)
            return
        else:
            pairs = value if isinstance(value, dict) else {}
            items = list(value) if isinstance(value, list | tuple) else []
        if depth == 0 or not isinstance(value, Inert | dict | list | tuple):
            self._beside(place, place.step, value, sizes, key)
            return
        texts = [arrived(one) for one in items]
        if place.above is not None:
            if not self._takes_container(key):
                self.again(place)
                return
            if self._are_names(texts, key):
                self._seen.add(id(value))
                return
        self._seen.add(id(value))
        if isinstance(value, Inert) and value.state is not None:
            self.leave(place, "__state__", value.state)
        for name, part in pairs.items():
            named = isinstance(name, str) and NAME.fullmatch(name) and self.takes_key(name)
            step = f"['{name}']" if named else f"['{masked(str(name))}']"
            if not named:
                self._beside(place, step, name, sizes)
            self.bundle(Place(arrived(part), step, place), sizes, depth - 1, name)
        for i, part in enumerate(items):
            self.bundle(Place(arrived(part), f"[{i}]", place), sizes, depth - 1)

    def again(self, place: Place) -> None:
        """Take in what stands in the file before, or could stand in any order: a few of them."""
        self._words -= 1
        if self._words < 0:
            above = (place.above or place).path
            self._repeats[above] = self._repeats.get(above, 0) + 1

    def repeats(self) -> Iterator[Leftover]:
        """Name the containers with more references than a model needs."""
        for where, n in self._repeats.items():
            entries = "entry refers" if n == 1 else "entries refer"
            says = (
                f"beyond the model: {n:,} more {entries} to what the file "
                "holds already or to nothing, and their order says as much as a text"
            )
            yield Leftover(kind="extra", where=where or "the file itself", n=n, says=says)

    def _takes_container(self, key: object) -> bool:
        """Tell whether there may be one more container: one for each known name, and few others."""
        if key in self._facts.texts and key not in self._leading:
            self._leading.add(key)
            return True
        self._containers -= 1
        return self._containers >= 0

    def _are_names(self, parts: list[object], key: object) -> bool:
        texts = [part for part in parts if isinstance(part, str)]
        # No text twice: the labels of people are no list of names.
        if not texts or len(set(texts)) < len(parts):
            return False
        known = self._facts.texts
        if known.issuperset(texts):
            # Which of them stand there, and in which order.
            self.spare += len(texts) * math.log2(len(known)) / 8
            return True
        as_many = len(texts) in self._facts.classes | self._facts.sizes
        if not as_many or not all(reads_as_name(text, _LONGEST) for text in texts):
            return False
        if not self._lists:
            for text in texts:
                self.count(text, len(texts))
        elif key in known or self._plain:
            self._plain -= key not in known
            self.spare += sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        else:
            return False
        self._lists += 1
        return True

    def _beside(
        self, place: Place, step: str, value: object, sizes: Sizes, key: object = None
    ) -> None:
        above = place if place.above is None else place.above
        row = value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else []
        if row and isinstance(row[0], str):
            if not self._takes_container(key):
                self.again(place)
                return
            if self._are_names(row, key):
                self._seen.add(id(value))
                return
        word = isinstance(value, str) and (
            value.isalpha() or VERSION.fullmatch(value) or DATE.fullmatch(value)
        )
        plain = isinstance(value, int | float) and not (
            isinstance(value, int) and value.bit_length() > 64
        )
        known = value is None or (isinstance(value, str) and value in self._facts.texts)
        if known and self._words > 0:
            # Some of them, one after the other, would be the labels of people.
            self._words -= 1
            return
        if (plain or (word and len(str(value)) <= 20)) and self._plain:
            self._plain -= 1
            return
        self.leave(above, step, value)
