"""Content that no audited model accounts for: what it is called, how large it is, what is shown.

A finding never repeats the content: it names the place, the size in bytes, and the first
characters with letters and digits masked.
"""

import re
from collections.abc import Iterable, Mapping, Set

import numpy as np

from treeaudit.model.leftovers import Kind, Leftover
from treeaudit.readers.limits import clean

__all__ = [
    "Few",
    "few",
    "masked",
    "name_in_path",
    "not_explained",
    "size_of",
]

_MOST = 200
_SHOWN = 24
_NUMBER = 8
_MOST_BITS = 128
_LONGEST_PATH = 200
_CLEAR_NAME = re.compile(r"[A-Za-z_.-]{1,40}")


def masked(text: str) -> str:
    """Return the first characters of a text of the file, letters and digits masked.

    Examples
    --------
    >>> masked("Ann;33;yes"), masked("0123456789" * 3)
    ('aaa;99;aaa', '999999999999999999999999…')
    """
    shown = "".join(map(_mask, text[:_SHOWN]))
    return shown + "…" if len(text) > _SHOWN else shown


def _mask(character: str) -> str:
    if character.isalpha():
        return "a"
    if character.isnumeric():
        return "9"
    return character if " " <= character <= "~" else "?"


def size_of(value: object) -> int:
    """Return how many bytes a value holds: of a text in UTF-8, of bytes, 8 for each number.

    Containers hold what is in them, keys included; a part that is held twice counts once.

    Examples
    --------
    >>> size_of("é"), size_of([1, 2.5]), size_of({"age": np.zeros(3)}), size_of(None)
    (2, 16, 27, 1)
    """
    n, waiting, seen = 0, [value], set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            n += len(part) if part.isascii() else len(part.encode("utf-8", "surrogatepass"))
        elif isinstance(part, bytes | bytearray | memoryview):
            n += len(part) if not isinstance(part, memoryview) else part.nbytes
        elif part is None or isinstance(part, bool | np.bool_):
            n += 1
        elif isinstance(part, int):
            n += max(_NUMBER, (part.bit_length() + 7) // 8)
        elif isinstance(part, np.ndarray) and part.dtype != object:
            n += part.size * _NUMBER if part.dtype.kind in "biufcmM" else part.nbytes
        elif isinstance(part, Mapping | list | tuple | Set | np.ndarray):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.extend(part if not isinstance(part, np.ndarray) else part.ravel().tolist())
                waiting.extend(part.values() if isinstance(part, Mapping) else ())
        else:
            n += _NUMBER
    return n


def name_in_path(name: object) -> str:
    """Return a name that nobody knows as it stands in a path: plain words, or masked.

    Examples
    --------
    >>> name_in_path("backup_"), name_in_path("Ann Lee;33")
    ('backup_', 'aaa aaa;99')
    """
    text = str(name)
    return text if _CLEAR_NAME.fullmatch(text) else masked(text)


def not_explained(where: str, part: object, name: object = "") -> Leftover:
    """Return one part of the file that nothing explains.

    Parameters
    ----------
    where
        The way to it in the file.
    part
        What stands there.
    name
        Its name, where that is not explained either.
    """
    n = max(1, size_of(part) + size_of(str(name)))
    says = f"{n:,} bytes that no model accounts for: {_form(part)}"
    return Leftover(kind="unexplained", where=clean(where[:_LONGEST_PATH]), n=n, says=says)


def _form(part: object) -> str:
    match part:
        case str():
            return f"a text like {masked(part)!r}"
        case bytes() | bytearray() | memoryview():
            return f"bytes like {masked(bytes(part[: _SHOWN + 1]).decode('latin-1'))!r}"
        case Mapping():
            return (
                "an object of 1 entry" if len(part) == 1 else f"an object of {len(part):,} entries"
            )
        case list() | tuple() | np.ndarray():
            return "a list of 1 entry" if len(part) == 1 else f"a list of {len(part):,} entries"
        case int() | float():
            return f"a number like {masked(_digits(part))}"
        case _:
            return f"a {type(part).__name__}"


def _digits(number: float) -> str:
    huge = isinstance(number, int) and number.bit_length() > _MOST_BITS
    return "9" * (_SHOWN + 1) if huge else repr(number)


class Few:
    """Keeps the first of each kind and counts the others, however many a file may hold."""

    def __init__(self) -> None:
        self._kept: dict[Kind, list[Leftover]] = {}
        self._more: dict[Kind, tuple[int, int]] = {}

    def add(self, one: Leftover) -> None:
        """Take in one more."""
        alike = self._kept.setdefault(one.kind, [])
        if len(alike) < _MOST:
            alike.append(one)
        else:
            number, n = self._more.get(one.kind, (0, 0))
            self._more[one.kind] = (number + 1, n + one.n)

    @property
    def found(self) -> tuple[Leftover, ...]:
        """What was taken in, kind by kind."""
        found: list[Leftover] = []
        for kind, alike in self._kept.items():
            found += alike
            if kind in self._more:
                number, n = self._more[kind]
                says = f"{number:,} more of this kind"
                found.append(Leftover(kind=kind, where="…", n=n, says=says))
        return tuple(found)


def few(found: Iterable[Leftover]) -> tuple[Leftover, ...]:
    """Keep the first of each kind and count the others."""
    kept = Few()
    for one in found:
        kept.add(one)
    return kept.found
