"""R objects as inert records: what a file says, and nothing that could act."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_NONE: Mapping[str, Any] = {}
NUMBERS = frozenset({"logical", "integer", "double", "complex", "raw"})
"""Vectors whose values are a numpy array."""
VECTORS = NUMBERS | {"string", "list", "expression"}
CALLS = frozenset({"pairlist", "language", "dots"})
"""Lists of cells: their tags are their names."""
NA_INTEGER = -(2**31)
"""What stands for a missing integer, logical or factor code; a missing double is a NaN."""


class Short(Sequence["RObject"]):
    """Short vectors of doubles, such as the shares of classes in each leaf of a forest of ranger.

    Each becomes a record when it is asked for: a forest may have millions.
    """

    __slots__ = ("_starts", "_stored")

    def __init__(self, stored: NDArray[Any], starts: NDArray[np.int64]) -> None:
        self._stored = stored  # Each vector, and a number in front of it that is none of its own
        self._starts = starts  # Of each, and what would be the next

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._starts) - 1

    @property
    def nbytes(self) -> int:
        """The bytes of all their numbers."""
        return 8 * (len(self._stored) - len(self))

    @overload
    def __getitem__(self, at: int) -> "RObject": ...
    @overload
    def __getitem__(self, at: slice) -> "list[RObject]": ...
    def __getitem__(self, at: int | slice) -> "RObject | list[RObject]":
        """Return one of them, or several."""
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        i = range(len(self))[at]
        return RObject("double", self._stored[self._starts[i] : self._starts[i + 1] - 1])


@dataclass(slots=True, eq=False)
class RObject:
    """An R object. What is read once is one record: environments are compared with ``is``.

    `kind` says what `values` holds:

    ========================================  ===================================================
    logical, integer, double, complex, raw    a numpy array, as stored: big-endian, read only
    string                                    a list of texts, None for NA
    list, expression, bytecode (constants)    a list of `RObject`, or `Short` ones
    pairlist, language (a call), dots         a list of `RObject`; `names` are the tags
    environment                               a dict of name to `RObject`; parts: ``enclosure``
    symbol, builtin, special, char            a text
    namespace, package, persistent            a list of texts: name and version
    closure                                   None; parts: ``formals body environment``
    promise                                   None; parts: ``environment value expression``
    pointer                                   None; parts: ``protected tag``
    altrep (a class that is not known)        a list of texts: class, package; parts: ``state``
    s4                                        None: its slots are its attributes
    null, global, base, empty, missing        None
    unbound, weakref                          None
    ========================================  ===================================================

    ``frame.get("n").values`` are the numbers of a column, ``frame.get("var").texts()`` the texts
    of a factor or a string vector, ``model.get("forest")`` is None where nothing has that name.
    """

    kind: str
    values: Any = None
    attributes: Mapping[str, "RObject"] = field(default_factory=lambda: _NONE)
    # What a closure or an environment is made of
    parts: Mapping[str, "RObject"] = field(default_factory=lambda: _NONE)
    active: tuple[str, ...] = ()  # Names of an environment that are functions called when read
    locked: bool = False  # Of an environment

    def get(self, name: str) -> "RObject | None":
        """Return an element, column, slot, or what an environment holds, by its name."""
        if self.kind == "environment":
            found: RObject | None = self.values.get(name)
            return found
        if self.kind == "s4":
            return self.attributes.get(name)
        names = self.names
        if self.kind not in VECTORS | CALLS or self.kind in NUMBERS | {"string"}:
            return None
        if name not in names or names.index(name) >= len(self.values):
            return None
        child: RObject = self.values[names.index(name)]
        return child

    @property
    def names(self) -> list[str]:
        """The names of the elements, columns or tags, empty for NA; of a frame its names."""
        if self.kind == "environment":
            return list(self.values)
        return self._texts("names")

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as the object states them; empty for one without."""
        return tuple(self._texts("class"))

    @property
    def levels(self) -> list[str]:
        """The levels of a factor."""
        return self._texts("levels")

    @property
    def dim(self) -> tuple[int, ...]:
        """The dimensions of a matrix or array; empty for a vector."""
        found = self.attributes.get("dim")
        if found is None or found.kind not in ("integer", "double"):
            return ()
        return tuple(int(n) if n == n and abs(n) < 2**53 else -1 for n in found.values.tolist())

    def is_a(self, name: str) -> bool:
        """Return whether this is one of the object's classes."""
        return name in self.classes

    def __len__(self) -> int:
        """Return the number of values; 0 of what has none."""
        return 0 if self.values is None else len(self.values)

    def __bool__(self) -> bool:
        """Return True: an empty object is an object."""
        return True

    def texts(self) -> list[str | None]:
        """Return the texts of a string vector or of a factor."""
        if self.kind == "string":
            return list(self.values)
        if self.kind != "integer":
            return []
        levels = self.levels
        codes = self.values.tolist()
        return [levels[code - 1] if 0 < code <= len(levels) else None for code in codes]

    def numbers(self) -> NDArray[np.float64]:
        """Return numbers as native doubles, missing ones as NaN; empty of what has none."""
        if self.kind not in ("logical", "integer", "double"):
            return np.empty(0)
        made: NDArray[np.float64] = self.values.astype(np.float64)
        if self.kind != "double":
            made[self.values == NA_INTEGER] = np.nan
        return made

    def _texts(self, attribute: str) -> list[str]:
        found = self.attributes.get(attribute)
        if found is None or found.kind != "string":
            return []
        return [one or "" for one in found.values]
