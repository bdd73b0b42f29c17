"""R objects as inert records: what a file says, and nothing that could act."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeaudit.arrays import Float, Wide
from treeaudit.errors import ReadError
from treeaudit.readers.limits import Most

_NONE: Mapping[str, Any] = {}
NUMBERS = frozenset({"logical", "integer", "double", "complex", "raw"})
"""Vectors whose values are a numpy array."""
VECTORS = NUMBERS | {"string", "list", "expression"}
CALLS = frozenset({"pairlist", "language", "dots"})
"""Lists of cells: their tags are their names."""
_LISTS = CALLS | {"list", "expression"}
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

    def __getitem__(self, at: int) -> "RObject":  # type: ignore[override]  # slices are not made
        """Return one of them."""
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
    of a factor or a string vector, ``model.get("forest")`` is `NULL` if nothing has that name.
    """

    kind: str
    values: Any = None
    attributes: Mapping[str, "RObject"] = field(default_factory=lambda: _NONE)
    # What a closure or an environment is made of
    parts: Mapping[str, "RObject"] = field(default_factory=lambda: _NONE)
    active: tuple[str, ...] = ()  # Names of an environment that are functions called when read

    def get(self, *way: str) -> "RObject":
        """Return an element, column, slot, or what an environment holds, as R's ``$`` does.

        Of several names each is an element of the one before. There is `NULL` if there is none.
        """
        found = self
        for name in way:
            found = found._element(name)
        return found

    def _element(self, name: str) -> "RObject":
        found = NULL
        if self.kind == "environment":
            found = self.values.get(name, NULL)
        elif self.kind == "s4":
            found = self.attribute(name)
        elif self.kind in _LISTS and name in self.names:
            at = self.names.index(name)
            found = self.values[at] if at < len(self) else NULL
        return found

    def part(self, *way: str) -> "RObject":
        """Return an element that has to be there."""
        found = self.get(*way)
        if not found:
            raise ReadError(f"it has no {'$'.join(way)}")
        return found

    def attribute(self, name: str) -> "RObject":
        """Return an attribute, `NULL` if there is none."""
        return self.attributes.get(name, NULL)

    @property
    def names(self) -> list[str]:
        """The names of the elements, columns or tags, empty for NA; of a frame its names."""
        return list(self.values) if self.kind == "environment" else self._strings("names")

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as the object states them; empty for one without."""
        return tuple(self._strings("class"))

    @property
    def levels(self) -> list[str]:
        """The levels of a factor."""
        return self._strings("levels")

    @property
    def dim(self) -> tuple[int, ...]:
        """The dimensions of a matrix or array; empty for a vector."""
        if "dim" not in self.attributes:
            return ()
        return tuple(int(n) if abs(n) < 2**53 else -1 for n in self.attributes["dim"].numbers())

    def dimnames(self, side: int) -> list[str]:
        """Return the names of the rows (0) or columns (1) of a matrix; empty if it has none."""
        stored = self.attribute("dimnames")
        return stored.values[side].texts() if stored.kind == "list" and len(stored) > side else []

    def _strings(self, attribute: str) -> list[str]:
        stored = self.attribute(attribute)
        return stored.texts() if stored.kind == "string" else []

    def is_a(self, name: str) -> bool:
        """Return whether this is one of the object's classes."""
        return name in self.classes

    def __len__(self) -> int:
        """Return the number of values; 0 of what has none."""
        return 0 if self.values is None else len(self.values)

    def __bool__(self) -> bool:
        """Return whether there is an object, which may be empty."""
        return self.kind != "null"

    def items(self) -> list["RObject"]:
        """Return the elements of a list."""
        if self.kind != "list":
            raise ReadError(f"a {self.kind} stands for a list")
        return list(self.values)

    def texts(self) -> list[str]:
        """Return the texts of a string vector or of a factor, empty for NA."""
        if self.kind == "string":
            return [one or "" for one in self.values]
        levels = self.levels if self.kind == "integer" else []
        codes = self.values.tolist() if levels else []
        return [levels[code - 1] if 0 < code <= len(levels) else "" for code in codes]

    def numbers(self) -> Float:
        """Return numbers as native doubles, missing ones as NaN; empty of what has none."""
        if self.kind not in ("logical", "integer", "double"):
            return np.empty(0)
        made: Float = self.values.astype(np.float64)
        if self.kind != "double":
            made[self.values == NA_INTEGER] = np.nan
        return made

    def complete(self, length: int | None = None) -> Float:
        """Return numbers of which none is missing."""
        found = self.numbers()
        if (length is not None and len(found) != length) or not np.isfinite(found).all():
            raise ReadError("numbers are missing")
        return found

    def whole(self, length: int | None = None) -> Wide:
        """Return whole numbers of which none is missing."""
        found = self.complete(length)
        if np.any((found != np.rint(found)) | (np.abs(found) > Most.people)):
            raise ReadError("a number is not whole")
        return found.astype(np.int64)

    def matrix(self, rows: int | None = None, width: int = 0) -> Float:
        """Return a matrix, at least so wide; missing numbers are NaN."""
        found, dim = self.numbers(), self.dim
        fits = len(dim) == 2 and min(dim) >= 0 and dim[0] * dim[1] == len(found)
        if not fits or rows not in (None, dim[0]) or dim[1] < width:
            raise ReadError("a matrix has the wrong shape")
        return found.reshape(dim, order="F")

    def scalar(self) -> float | str | None:
        """Return a number or text that stands alone, None for anything else."""
        if len(self) != 1 or "levels" in self.attributes:
            return None
        if self.kind == "string":
            text: str | None = self.values[0]
            return None if text is None else text[:80]
        found = self.numbers()
        return float(found[0]) if len(found) and np.isfinite(found[0]) else None


NULL = RObject("null")
