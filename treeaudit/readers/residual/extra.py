"""Content beyond the audited model: a finding names its place, its form and its size in bytes."""

import re
from collections.abc import Iterable

import numpy as np

from treeaudit.model.extras import Extra, Kind
from treeaudit.readers.limits import clean
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert

_MOST = 200
_SHOWN = 24
_NUMBERS = frozenset({int, float, bool, type(None)})
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


def size_of(value: object, seen: set[int] | None = None) -> int:
    """Return how many bytes a value holds: of a text in UTF-8, of bytes, 8 for each number.

    Containers hold what is in them, keys included; an object is a byte more than its parts.

    Examples
    --------
    >>> size_of("é"), size_of([1, 2.5]), size_of({"age": np.zeros(3)}), size_of(None)
    (2, 16, 27, 1)
    >>> size_of(["äh", [1, 2.5], {"key": b"123"}, 1 << 80])
    36
    """
    seen = set() if seen is None else seen
    total, todo = 0, [arrived(value)]
    while todo:
        value = todo.pop()
        if not isinstance(value, int | float | str | None | Global):
            if id(value) in seen:
                continue
            seen.add(id(value))
        match value:
            case str():
                total += len(value.encode("utf-8", "surrogatepass"))
            case bool() | None | Global():
                total += 1
            case int():
                total += max(8, (value.bit_length() + 7) // 8)
            case bytes() | bytearray() | memoryview():
                total += max(1, len(value))
            case np.ndarray() if value.dtype != object:
                total += max(1, value.nbytes)
            case dict():
                total += not value
                todo += [arrived(part) for pair in value.items() for part in pair]
            case np.ndarray() | list() | tuple() | set() | frozenset():
                parts = value.ravel().tolist() if isinstance(value, np.ndarray) else value
                if _NUMBERS.issuperset(map(type, parts)):
                    total += 8 * max(1, len(parts))
                    total += sum(
                        n.bit_length() // 8 for n in parts if type(n) is int and n.bit_length() > 64
                    )
                else:
                    todo += [arrived(part) for part in parts]
            case Inert():
                total += 1
                held = (*value.args, value.state, *value.items, *value.pairs, *value.pairs.values())
                todo += [arrived(part) for part in held if part is not None]
            case _:
                total += 8
    return total


def name_in_path(name: object) -> str:
    """Return a name that nobody knows as it stands in a path: plain words, or masked.

    Examples
    --------
    >>> name_in_path("backup_"), name_in_path("Ann Lee;33")
    ('backup_', 'aaa aaa;99')
    """
    text = str(name)
    return text if _CLEAR_NAME.fullmatch(text) else masked(text)


def extra(where: str, part: object, name: object = "", n: int | None = None) -> Extra:
    """Return one part of the file beyond the model.

    Examples
    --------
    >>> extra("notes", "Anna;33;ill").says
    'beyond the model: a text of 11 characters'
    """
    n = max(1, size_of(part) + size_of(str(name))) if n is None else n
    says = f"beyond the model: {_form(part)}"
    return Extra(kind="extra", where=clean(where[:_LONGEST_PATH]), n=n, says=says)


def note(where: str, part: object, n: int) -> Extra:
    """Return plain values beside the model, of so many bytes.

    Examples
    --------
    >>> note("['accuracy']", 0.9, 16).says
    'a note beside the model: a number'
    """
    says = f"a note beside the model: {_form(part)}"
    return Extra(kind="notes", where=clean(where[:_LONGEST_PATH]), n=n, says=says)


def _form(value: object) -> str:
    match value:
        case str():
            return f"a text of {len(value):,} characters"
        case bytes() | bytearray() | memoryview():
            return f"{len(value):,} bytes"
        case np.ndarray():
            sizes = " × ".join(f"{size:,}" for size in value.shape)
            what = value.dtype if value.dtype.names is None else "records"
            return f"an array of {sizes or 'one'} {what}"
        case list() | tuple() | set() | frozenset() | dict():
            n = len(value)
            return f"a {type(value).__name__} of {n:,} {'entry' if n == 1 else 'entries'}"
        case Inert():
            return f"a {ascii(value.kind[:60])[1:-1].removeprefix('_new_')}"
        case int() | float() | complex():
            return "a number"
        case _:
            return "an entry"


class Few:
    """Keeps the first of each kind and counts the others, however many a file may hold."""

    def __init__(self) -> None:
        self._kept: dict[Kind, list[Extra]] = {}
        self._more: dict[Kind, tuple[int, int]] = {}

    def add(self, one: Extra) -> None:
        """Take in one more."""
        alike = self._kept.setdefault(one.kind, [])
        if len(alike) < _MOST:
            alike.append(one)
        else:
            number, n = self._more.get(one.kind, (0, 0))
            self._more[one.kind] = (number + 1, n + one.n)

    @property
    def found(self) -> tuple[Extra, ...]:
        """What was taken in, kind by kind."""
        found: list[Extra] = []
        for kind, alike in self._kept.items():
            found += alike
            if kind in self._more:
                number, n = self._more[kind]
                says = f"{number:,} more of this kind"
                found.append(Extra(kind=kind, where="…", n=n, says=says))
        return tuple(found)


def few(found: Iterable[Extra]) -> tuple[Extra, ...]:
    """Keep the first of each kind and count the others."""
    kept = Few()
    for one in found:
        kept.add(one)
    return kept.found
