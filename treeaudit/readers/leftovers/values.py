"""Which values an attribute explains: settings, and arrays as long as the model has parts."""

from collections.abc import Hashable

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.attributes import is_name, listed
from treeaudit.readers.leftovers.extra import masked
from treeaudit.readers.leftovers.forms import (
    NAME,
    Sizes,
    axes,
    ends_alike,
    fits,
    is_choice,
    is_constant,
    is_identity,
    is_setting,
    is_sorted,
    is_sound,
)
from treeaudit.readers.leftovers.searches import TRIED, bears_tree, is_to_be_tried
from treeaudit.readers.leftovers.settled import Settled
from treeaudit.readers.leftovers.sizes import Facts
from treeaudit.readers.leftovers.texts import reads_as_name
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.dtypes import DType
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.readers.types import Array
from treeaudit.readers.walk import Place

__all__ = ["FEW", "MIXED", "MOST_KEYS", "MOST_OBJECTS", "NAMING", "Values"]

FEW = 16
"""So many settings in a row say nothing of people."""

MOST_OBJECTS = 64
"""So many objects without a tree an attribute may hold."""

MOST_KEYS = 32
"""So many keys of his own a file may have."""

MIXED = frozenset(
    (
        "components_ coef_ coefs_ theta_ means_ cluster_centers_ support_vectors_ _fit_X powers_"
    ).split()
)
"""Attributes of estimators that make each of their columns from all that they get."""

NAMING = frozenset("feature_names_in_ _feature_names_in feature_names_in".split())
"""Attributes that name columns."""

_LONGEST_LABEL, _USUAL_LABEL = 200, 64
# Bytes for each column: of a few steps, a few numbers each.
_USUAL_NUMBERS = 128
# Values of single columns, sorted: TA204 tells of them.
_SORTED = frozenset(
    (
        "quantiles_ references_ bin_thresholds_ bin_edges_ X_thresholds_ y_thresholds_ "
        "_necessary_X_ _necessary_y_ t _t"
    ).split()
)


class Values:
    """Holds values against the forms of the attributes that they stand in.

    Parameters
    ----------
    facts
        Sizes and names of the models of the file.
    told
        The ids of values that another finding tells of.
    """

    def __init__(self, facts: Facts, told: set[int]) -> None:
        self._facts = facts
        self._seen = told
        self._left: list[tuple[Place, object, int]] = []
        self._todo: list[tuple[Place, Sizes]] = []
        self._more: list[Leftover] = []
        self._trees: list[tuple[Place, Inert]] = []
        self._generators = 2
        self._plain = FEW
        self._words = MOST_OBJECTS
        self._objects = MOST_OBJECTS
        # Settings deeper in one attribute than it has axes; keys that nobody knows in the file.
        self._settings = FEW
        self._shared = MOST_OBJECTS
        self._keys = MOST_KEYS
        # What no tree needs and nobody can tell from a message, in bytes; texts that were counted.
        self.spare = self._numbers = 0.0
        self.categories_of_all: list[str | int] = []
        self._counted: set[str] = set()
        self._mixed = False
        self._ensemble: int | None = None
        self._settled = Settled()
        # Entries of lists that a wrapper of a boosted model may hold.
        self._listed = 0
        # Settings of objects of which none was left: more of the same are passed over.
        self._alike: set[Hashable] = set()
        # Of the last member of each ensemble: the settings that differ by rounds are few.
        self._runs: dict[int | None, Hashable] = {}

    def leave(self, place: Place, step: str, value: object, name: object = "") -> None:
        """Note a value, and the text that it is called by, as not explained."""
        self._left.append((Place(None, step, place) if step else place, value, len(str(name))))

    def check(
        self,
        value: object,
        forms: str,
        place: Place,
        step: str,
        sizes: Sizes,
        name: str,
        depth: int = 0,
    ) -> None:
        """Explain a value, or note it.

        Parameters
        ----------
        value
            What stands there.
        forms
            What may stand there, see `attributes_of`.
        place, step
            The object that holds it, and the way on.
        sizes
            How many rows it may have.
        name
            The attribute.
        depth
            How many lists it lies in.
        """
        value = arrived(value)
        if depth > axes(forms) and not isinstance(value, Inert):
            self._settings -= 1
            if self._settings < 0:
                self.leave(place, step, value)
                return
        match value:
            case None | bool() | float() | Global():
                return
            case int():
                if value.bit_length() > 64:
                    self.leave(place, step, value)
            case str():
                if not self._is_text(value, name):
                    self.leave(place, step, value)
            case DType():
                if value.n_fields or (isinstance(value.state, tuple) and len(value.state) > 8):
                    # The names of columns that no table has, and what its maker noted.
                    self.leave(place, step, value.state)
            case Inert() if value.cls.module == "collections" and value.state is None:
                if id(value) not in self._seen and forms and len(value.args) <= 2:
                    self._seen.add(id(value))
                    for part in (*value.args, value.items):
                        self.check(part, forms, place, step, sizes, name, depth + 1)
                    self.check(value.pairs, f"d{forms}", place, step, sizes, name, depth)
                elif id(value) not in self._seen:
                    self.leave(place, step, value)
            case Inert(state=None) if name[:6] == "param_" and str(value.cls) == "builtins.range":
                # What a search tries: up to three whole numbers.
                for part in value.args:
                    self.check(part, "", place, step, sizes, name, depth + 1)
            case Inert():
                helper = listed(value) is None
                if not bears_tree(value):
                    self._objects -= id(value) not in self._seen
                if self._objects < 0:
                    self.leave(place, step, value)
                elif (
                    "o" in forms
                    or (helper and value.kind in ("slice", "partial"))
                    or (name in TRIED and is_to_be_tried(value))
                ):
                    self._todo.append((Place(value, step, place), sizes))
                else:
                    self.leave(place, step, value)
            case _ if id(value) in self._seen:
                # Which of many stands where is a text; an attribute alone, or a few, share one,
                # and none of a number does.
                self._shared -= depth > 0
                if self._shared < 0 or not (depth or forms):
                    self.leave(place, step, value)
                return
            case np.ndarray():
                self._array(value, forms, place, step, sizes, name, depth)
            case dict() if {"d", "s", "o"} & set(forms):
                self._dict(value, forms, place, step, sizes, name, depth)
            case list() | tuple() if forms and depth < 6:
                self._list(value, forms, place, step, sizes, name, depth)
            case _:
                self.leave(place, step, value)

    def _is_text(self, text: str, name: str) -> bool:
        return text in self._facts.texts or is_setting(text, name)

    def _array(
        self, a: Array, forms: str, place: Place, step: str, sizes: Sizes, name: str, depth: int
    ) -> None:
        most = axes(forms)
        if a.dtype == object or a.dtype.kind == "U":
            parts = [arrived(part) for part in a.ravel().tolist()]
            if parts and isinstance(parts[0], Inert) and "o" in forms:
                self._seen.add(id(a))
                for index, part in zip(np.ndindex(a.shape), parts, strict=True):
                    where = f"{step}[{', '.join(map(str, index))}]"
                    self.check(part, forms, place, where, sizes, name, depth + 1)
            elif a.ndim <= 1 and "n" in forms and a.size in sizes | {0, 1}:
                self._seen.add(id(a))
                self._texts(parts, place, step, name)
            elif most and a.ndim <= most and fits(a.shape, sizes):
                self._seen.add(id(a))
                self._list(parts, forms, place, step, frozenset({a.size}) | sizes, name, depth)
            else:
                self.leave(place, step, a)
            return
        known = is_sound(a) and a.ndim + depth <= max(most, "s" in forms)
        short = fits(a.shape, sizes) or is_constant(a) or (a.ndim == 1 and ends_alike(a, sizes))
        ordered = (name in _SORTED and is_sorted(a, sizes)) or (name == "_c" and is_identity(a))
        if (known and (short or ordered)) or (a.ndim == 1 and is_choice(a, sizes)):
            self._seen.add(id(a))
            if not (ordered or self._mixed or is_constant(a)):
                self.count(a.nbytes, max(a.shape, default=0))
        else:
            self.leave(place, step, a)

    def _texts(self, parts: list[object], place: Place, step: str, name: str) -> None:
        for i, part in enumerate(parts):
            if not isinstance(part, str):
                self.check(part, "", place, f"{step}[{i}]", frozenset(), name)
            elif not reads_as_name(part) or (name not in NAMING and len(part) > _LONGEST_LABEL):
                self.leave(place, f"{step}[{i}]", part)
            elif name == "categories_":
                self.categories_of_all.append(part)
            else:
                self.count(part[_USUAL_LABEL:], np.inf)
                self.count(part if name != "classes_" else "", len(parts))

    def count(self, value: str | int, n: float) -> None:
        """Count a text, or bytes of numbers, that stand for one of so many columns or for all.

        Of as many as the trees test, nothing is spare.
        """
        tested = self._facts.n_tested
        if isinstance(value, int):
            self._numbers += value * min(1, tested / max(n, 1))
        if n <= tested or (isinstance(value, str) and value in self._counted):
            return
        if isinstance(value, str):
            self._counted.add(value)
            value = len(value.encode("utf-8", "surrogatepass"))
        self.spare += value * (1 - tested / n)

    def count_all(self) -> None:
        """Count categories, and numbers of which there are many for each column."""
        tested, all_ = self._facts.n_tested, self.categories_of_all
        for one in all_:
            self.count(one, len(all_))
        self.spare += max(0.0, self._numbers - _USUAL_NUMBERS * tested)

    def _dict(
        self, value: dict[object, object], forms: str, place: Place, step: str,
        sizes: Sizes, name: str, depth: int,
    ) -> None:  # fmt: skip
        few = len(value) <= FEW or all(self._is_key(key, len(value)) for key in value)
        if not few or depth > 4:
            self.leave(place, step, value)
            return
        self._seen.add(id(value))
        for key, part in value.items():
            named = isinstance(key, str) and NAME.fullmatch(key) and self.takes_key(key)
            shown = f"{step}['{key}']" if named else f"{step}['{masked(str(key))}']"
            if not named:
                cost = 0 if self._is_key(key, len(value)) else depth + 1
                self.check(key, "", place, shown, sizes, name, cost)
            self.check(part, forms, place, shown, sizes, name, depth + 1)

    def takes_key(self, key: str) -> bool:
        """Tell whether a key is one that the models know, or one of few others."""
        if all(part in self._facts.texts or is_name(part) for part in key.split("__")):
            return True
        self._keys -= 1
        return self._keys >= 0 and reads_as_name(key)

    def _is_key(self, key: object, n: int) -> bool:
        if isinstance(key, str):
            return key in self._facts.texts or (n <= MOST_OBJECTS and is_name(key))
        return isinstance(key, int) and 0 <= key < n and n in self._facts.classes

    def _list(
        self, value: list[object] | tuple[object, ...], forms: str, place: Place, step: str,
        sizes: Sizes, name: str, depth: int,
    ) -> None:  # fmt: skip
        n = len(value)
        if n > max(MOST_OBJECTS, *sizes, 0):
            self.leave(place, step, value)
            return
        parts = [arrived(part) for part in value]
        kinds = set(map(type, parts))
        if kinds <= {int, float, bool, type(None)}:
            many = n > max(FEW if "s" in forms else 1, *sizes, 0) or any(
                type(part) is int and part.bit_length() > 64 for part in parts
            )
            fits = n in sizes or n <= (FEW if "s" in forms else 3)
            if n not in sizes and depth >= max(axes(forms), 1):
                self._settings -= n
                many |= self._settings < 0
            if (many or not fits) and not (
                kinds <= {int, bool} and is_choice(np.array(parts), sizes)
            ):
                self.leave(place, step, value)
            else:
                self._seen.add(id(value))
                self.count(8 * n if len(set(parts)) > 1 else 0, n)
            return
        objects = "o" in forms and Inert in kinds
        if not objects and n not in sizes and n > max(FEW, 3):
            self.leave(place, step, value)
            return
        self._seen.add(id(value))
        texts = all(isinstance(part, str) for part in parts)
        if texts and "n" in forms and n in sizes:
            self._texts(parts, place, step, name)
            return
        named = isinstance(value, tuple) and "o" in forms and isinstance(parts[0], str) and n > 1
        for i, part in enumerate(parts):
            first = part[0] if isinstance(part, tuple) and part else None
            where = f"{step}[{i}]"
            if named:
                where = step
            elif isinstance(first, str) and NAME.fullmatch(first):
                where = f"{step}['{first}']"
            if i == 0 and "o" in forms and isinstance(part, str) and isinstance(value, tuple):
                # The name of a step.
                if self._is_text(part, name):
                    continue
                self.count(part, np.inf)
                if not (NAME.fullmatch(part) and reads_as_name(part)):
                    self.leave(place, where, part)
                continue
            self.check(part, forms, place, where, sizes, name, depth + 1)
