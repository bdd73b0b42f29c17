"""How many bytes a value of the file carries, and how to say what it is without showing it."""

from collections.abc import Iterable

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.limits import clean
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Global, Inert

__all__ = ["mask", "not_explained", "weigh"]

_SHOWN = 24
_PLAIN = frozenset({int, float, bool, type(None)})


def weigh(values: Iterable[object], seen: set[int]) -> int:
    """Return the bytes of content of some values, each object once.

    Parameters
    ----------
    values
        Where to begin.
    seen
        The ids of what was counted or explained; what is counted here is added.

    Examples
    --------
    >>> weigh(["äh", [1, 2.5], {"key": b"123"}, 1 << 80], set())
    37
    """
    total, todo = 0, [arrived(value) for value in values]
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
                total += 1
                todo += [arrived(part) for pair in value.items() for part in pair]
            case np.ndarray() | list() | tuple() | set() | frozenset():
                parts = value.ravel().tolist() if isinstance(value, np.ndarray) else value
                if _PLAIN.issuperset(map(type, parts)):
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


def not_explained(where: str, value: object, n: int) -> Leftover:
    """Return the entry for content that nothing explains.

    Examples
    --------
    >>> not_explained("notes", "Anna;33;ill", 11).says
    "no audited model accounts for it: a text of 11 characters ('aaaa;99;aaa')"
    """
    says = f"no audited model accounts for it: {_form(value)}"
    return Leftover(kind="unexplained", where=where, n=n, says=says)


def mask(text: object) -> str:
    """Return the beginning of a text with its letters and digits blotted out.

    Examples
    --------
    >>> mask("Anna;33")
    'aaaa;99'
    """
    begin = str(text)[:_SHOWN]
    shown = ("a" if c.isalpha() else "9" if c.isnumeric() else c for c in begin)
    return ascii(clean("".join(shown)))[1:-1] + ("…" if len(str(text)) > _SHOWN else "")


def _form(value: object) -> str:
    match value:
        case str():
            return f"a text of {len(value):,} characters ('{mask(value)}')"
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
            return f"a {ascii(value.kind[:60])[1:-1]}"
        case int() | float() | complex():
            return "a number"
        case _:
            return "an entry"
