"""Content of a file beyond its models (TA206), reported by its place, its form and its size."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from treeaudit.model.source import Extra, Kind
from treeaudit.readers.limits import clean
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert

_MOST = 200
_SHOWN = 24
_NUMBERS = frozenset({int, float, bool, type(None)})
_LONGEST_PATH = 200
_CLEAR_NAME = re.compile(r"[A-Za-z_.-]{1,40}")

Keys = Mapping[Any, Any]
"""The names that an object may have, each with a rule for its value: the `Keys` of an object, or
of the objects of a list; the most characters of a plain value, see `is_plain`, or of the plain
values of a list; a function that tells whether a value is known; `NOTE`; or None, where the
reader accounts for the whole of it."""

ITSELF = None
"""In `Keys`: a value that is no object and no list of objects."""
ANY = "*"
"""In `Keys`: every other name."""
NOTE = "note"
"""In `Keys`: a value of the user's own, a note where it is plain and short."""
SETTING = 200
"""In `Keys`: a plain value with the longest text that a setting has."""

_UNKNOWN = "unknown"
_MOST_BITS = 128
_MOST_VALUES = 40


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
                parts = (*value.args, value.state, *value.items, *value.pairs)
                parts = (*parts, *value.pairs.values())
                todo += [arrived(part) for part in parts if part is not None]
            case _:
                total += 8
    return total


def name_in_path(name: object) -> str:
    """Return an unknown name as it is shown in a path: plain words, or masked.

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
    """Return plain values beside the model, of so many bytes."""
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


def few(found: Iterable[Extra]) -> tuple[Extra, ...]:
    """Keep the first of each kind and count the others, however many a file may hold."""
    kept: dict[Kind, list[Extra]] = {}
    more: dict[Kind, list[int]] = {}
    for one in found:
        first = kept.setdefault(one.kind, [])
        if len(first) < _MOST:
            first.append(one)
        else:
            more.setdefault(one.kind, []).append(one.n)
    for kind, sizes in more.items():
        says = f"{len(sizes):,} more of this kind"
        kept[kind].append(Extra(kind=kind, where="…", n=sum(sizes), says=says))
    return tuple(one for first in kept.values() for one in first)


def unknown_fields(document: object, keys: Keys, where: str = "") -> Iterator[Extra]:
    """Yield the fields of a document that are not known, each path once.

    Examples
    --------
    >>> data = {"trees": [{"feature": 1}, {"feature": 2, "rows": [33, 54]}]}
    >>> [(one.where, one.n) for one in unknown_fields(data, {"trees": {"feature": None}})]
    [('trees[*].rows', 20)]
    """
    found: dict[str, tuple[Extra, int, int]] = {}
    todo: list[tuple[str, object, object, Any]] = [(where, "", document, keys)]
    while todo:
        path, name, part, rule = todo.pop()
        if _is_known(part, rule):
            continue
        if isinstance(rule, Mapping) and isinstance(part, Mapping):
            inside = []
            for key, value in part.items():
                of_key = _rule(rule, key)
                if not _is_known(value, of_key):  # soon enough not to spell its path
                    step = ".".join(filter(None, (path, key if key in rule else name_in_path(key))))
                    inside.append((step, "" if key in rule else key, value, of_key))
            todo += reversed(inside)
        elif isinstance(rule, Mapping) and _has_objects(part):
            todo += [(f"{path}[*]", "", one, rule) for one in reversed(part)]
        else:
            one, n, times = found.get(path) or (_unknown(path, name, part, rule), 0, 0)
            size = max(1, size_of(part) + size_of(name))
            found[path] = (one, n + size, times + 1)
    for one, n, times in found.values():
        says = one.says if times == 1 else f"{one.says}, and {times - 1:,} more in that place"
        yield replace(one, n=n, says=says)


def known_fields(document: Any, keys: Keys) -> Any:  # noqa: ANN401  # objects and lists
    """Return a document without the fields that `unknown_fields` yields.

    Examples
    --------
    >>> known_fields({"trees": [{"feature": 1, "rows": [33, 54]}]}, {"trees": {"feature": None}})
    {'trees': [{'feature': 1}]}
    """
    if isinstance(document, list | tuple):
        return [known_fields(part, keys) for part in document if isinstance(part, Mapping)]
    known = {}
    for name, part in document.items():
        rule = _rule(keys, name)
        if _is_known(part, rule):
            known[name] = part
        elif isinstance(rule, Mapping) and isinstance(part, Mapping | list | tuple):
            known[name] = known_fields(part, rule)
    return known


def _has_objects(part: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(part, list | tuple) and any(isinstance(one, Mapping) for one in part)


def _rule(keys: Keys, name: str) -> Any:  # noqa: ANN401  # as the values of `Keys`
    """Return the rule for the value of a name."""
    return keys[name] if name in keys else keys.get(ANY, _UNKNOWN)


def _is_known(part: object, rule: Any) -> bool:  # noqa: ANN401  # as the values of `Keys`
    """Tell whether a value is as its rule says; of an object its fields do."""
    if isinstance(rule, Mapping):
        if part is None or (isinstance(part, list | tuple) and not part):
            return True
        whole = isinstance(part, Mapping) or _has_objects(part)
        return not whole and _is_known(part, rule.get(ITSELF, _UNKNOWN))
    if isinstance(rule, int):
        if isinstance(part, list | tuple):
            return len(part) <= _MOST_VALUES and all(is_plain(one, rule) for one in part)
        return is_plain(part, rule)
    return rule is None or (part is None and rule != _UNKNOWN) or (callable(rule) and rule(part))


def _unknown(path: str, name: object, part: object, rule: object) -> Extra:
    """Return a field that is not known, or a note."""
    if rule == NOTE and is_plain(part, SETTING):
        return Extra(kind="notes", where=path, n=1, says="a note of whoever saved the model")
    return extra(path, part, name)


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
