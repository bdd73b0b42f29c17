"""Plain values: numbers, dates, short texts, and a few of them together."""

import numpy as np

from treeaudit.readers.pickle.arrays import DType, arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.residual.attributes import listed

LONGEST_TEXT = 200
"""Of a setting, a name or a note, in characters."""

STANDARD = frozenset(
    "numpy pandas collections functools datetime decimal pathlib builtins __builtin__ copyreg "
    "copy_reg _codecs fractions uuid scipy sklearn _loss".split()
)
"""Libraries whose objects are judged by what they hold, where their class is not listed."""

_LONGEST_BYTES = 16  # a date and its time zone
_MOST_BITS = 64
_MANY = 16
_ATOMS = (type(None), bool, float, Global)


def is_plain(value: object, most: int) -> bool:
    """Tell whether a value is a number, a date, a short text, or a few of them.

    Examples
    --------
    >>> is_plain({"auc": 0.9, "folds": [0.8, 0.9]}, 3), is_plain([1, 2, 3, 4], 3)
    (True, False)
    """
    n = n_parts = 0
    todo = [value]
    while todo:
        part = arrived(todo.pop())
        n_parts += 1
        if n > most or n_parts > _MANY * (most + 1):
            return False
        match part:
            case np.ndarray() if part.dtype.kind in "OUS" and part.ndim <= 1 and part.size <= most:
                todo += part.ravel().tolist()
            case np.ndarray():
                n += part.size
                if part.ndim > 1 or part.dtype.kind not in "biufmM" or part.itemsize > 8:
                    return False
            case dict() | list() | tuple() | set() | frozenset() if len(part) > most:
                return False
            case dict():
                todo += part.values()
                todo += (key for key in part if not is_short(key))
            case list() | tuple() | set() | frozenset():
                todo += part
            case Inert() if library_of(part) in STANDARD and listed(part) is None:
                todo += (*part.args, part.state, *part.items, *part.pairs, *part.pairs.values())
            case bytes():
                n += 1
                if len(part) > _LONGEST_BYTES:
                    return False
            case _ if is_short(part):
                n += not isinstance(part, Global | DType | None)
            case _:
                return False
    return n <= most


def is_short(value: object) -> bool:
    """Tell whether a value is a number, the name of a class, nothing, or a short text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    if isinstance(value, int):
        return value.bit_length() <= _MOST_BITS
    # A type may name the columns of a table.
    return isinstance(value, _ATOMS) or (isinstance(value, DType) and not value.n_fields)


def library_of(value: Inert) -> str:
    """Return the library of the class of an object."""
    return value.cls.module.partition(".")[0]
