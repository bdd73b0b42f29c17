"""Small containers in which people save a model, and what they put beside it."""

import numpy as np

from treeaudit.readers.leftovers.attributes import listed
from treeaudit.readers.leftovers.forms import DATE, NAME, VERSION, Sizes
from treeaudit.readers.leftovers.inner_objects import InnerObjects
from treeaudit.readers.leftovers.unexplained import masked
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.walk import Place

__all__ = ["Bundles"]


class Bundles(InnerObjects):
    """Explains dictionaries, lists and tuples with a model in them, and few plain values."""

    def bundle(self, place: Place, sizes: Sizes, depth: int) -> None:
        """Explain a model, or a small container with one and what belongs to it."""
        value = place.value
        if not isinstance(value, int | float | str | None) and id(value) in self._seen:
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
            self._beside(place, place.step, value, sizes)
            return
        texts = [arrived(one) for one in items]
        if place.above is not None and self._are_names(texts):
            self._seen.add(id(value))
            return
        self._seen.add(id(value))
        for key, part in pairs.items():
            named = isinstance(key, str) and NAME.fullmatch(key) and self.takes_key(key)
            step = f"['{key}']" if named else f"['{masked(str(key))}']"
            if not named:
                self._beside(place, step, key, sizes)
            self.bundle(Place(arrived(part), step, place), sizes, depth - 1)
        for i, part in enumerate(items):
            self.bundle(Place(arrived(part), f"[{i}]", place), sizes, depth - 1)

    def _are_names(self, parts: list[object]) -> bool:
        texts = [part for part in parts if isinstance(part, str)]
        # No text twice: the labels of people are no list of names.
        if not texts or len(set(texts)) < len(parts):
            return False
        if len(texts) in (self._facts.classes | self._facts.sizes) and max(map(len, texts)) <= 64:
            return True
        return self._facts.texts.issuperset(texts)

    def _beside(self, place: Place, step: str, value: object, sizes: Sizes) -> None:
        above = place if place.above is None else place.above
        row = value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else []
        if self._are_names(row):
            self._seen.add(id(value))
            return
        word = isinstance(value, str) and (
            value.isalpha() or VERSION.fullmatch(value) or DATE.fullmatch(value)
        )
        plain = isinstance(value, int | float) and not (
            isinstance(value, int) and value.bit_length() > 64
        )
        known = value is None or (isinstance(value, str) and value in self._facts.texts)
        if known and self._words:
            # Some of them, one after the other, would be the labels of people.
            self._words -= 1
            return
        if (plain or (word and len(str(value)) <= 20)) and self._plain:
            self._plain -= 1
            return
        self.leave(above, step, value)
