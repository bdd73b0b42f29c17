"""Parts of a JSON-like document that no audited model accounts for."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from treeaudit.model.leftovers import Kind, Leftover
from treeaudit.readers.limits import clean, show

__all__ = ["ANY", "Few", "Keys", "few", "is_plain", "unexplained", "unseen"]

Keys = Mapping[str, Any]
"""The names that an object may have, each with the `Keys` of what it holds, or None where its
reader accounts for the whole of it. A list is held against the keys of its elements. A number is
the most characters of a plain value, see `is_plain`, and ``(number,)`` a list of such values."""

ANY = "*"
"""In `Keys`: every other name."""

_MOST = 200
_LONGEST_NAME = 80
_MOST_BITS = 128


def unexplained(document: object, keys: Keys, where: str = "") -> Iterator[Leftover]:
    """Yield the entries of a document that are not among the names it may have.

    Parameters
    ----------
    document
        Objects and lists, as decoded from JSON.
    keys
        What its reader accounts for.
    where
        The way to it in the file.

    Examples
    --------
    >>> data = {"trees": [{"feature": 1}, {"feature": 2, "rows": [33, 54]}]}
    >>> [(one.where, one.n) for one in unexplained(data, {"trees": {"feature": None}})]
    [('trees[1].rows', 2)]
    """
    if isinstance(document, list | tuple):
        for i, part in enumerate(document):
            if isinstance(part, Mapping):
                yield from unexplained(part, keys, f"{where}[{i}]")
            elif part is not None:
                yield unseen(f"{where}[{i}]", part)
    elif isinstance(document, Mapping):
        for name, part in document.items():
            shown = clean(str(name)[:_LONGEST_NAME])
            path = f"{where}.{shown}" if where else shown
            if name not in keys and ANY not in keys:
                yield unseen(path, part)
                continue
            inside = keys[name] if name in keys else keys[ANY]
            if isinstance(inside, int | tuple):
                yield from _more_than_plain(part, inside, path)
            elif inside is not None:
                yield from unexplained(part, inside, path)
    elif document is not None:
        yield unseen(where, document)


def is_plain(value: object, longest: int) -> bool:
    """Tell whether a value is a setting: None, a truth value, a number, or a short text.

    Examples
    --------
    >>> [is_plain(value, 4) for value in (None, 0.5, "gini", "entropy", [1, 2], 1 << 999)]
    [True, True, True, False, False, False]
    """
    if isinstance(value, str):
        return len(value) <= longest
    if isinstance(value, int):
        return value.bit_length() <= _MOST_BITS
    return value is None or isinstance(value, float | np.number | np.bool_)


def _more_than_plain(part: object, longest: int | tuple[int], where: str) -> Iterator[Leftover]:
    if isinstance(longest, tuple) and isinstance(part, list | tuple):
        for i, one in enumerate(part):
            if not is_plain(one, longest[0]):
                yield unseen(f"{where}[{i}]", one)
    elif isinstance(longest, tuple) or not is_plain(part, longest):
        yield unseen(where, part)


def unseen(where: str, part: object) -> Leftover:
    """Return one part of the file that nothing explains."""
    n = len(part) if isinstance(part, str | bytes | list | tuple | Mapping) else 1
    return Leftover(kind="unseen", where=where, n=n, says=f"no model explains it: {_form(part, n)}")


def _form(part: object, n: int) -> str:
    match part:
        case str() if n <= _LONGEST_NAME:
            return f"the text {show(part)}"
        case str() | bytes():
            return f"a text of {n:,} characters"
        case Mapping():
            return "an object of 1 entry" if n == 1 else f"an object of {n:,} entries"
        case list() | tuple():
            return "a list of 1 entry" if n == 1 else f"a list of {n:,} entries"
        case _:
            return show(part)


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
