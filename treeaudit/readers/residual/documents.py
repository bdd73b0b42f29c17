"""Documents of objects and lists: the fields that are not among those that a library writes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from treeaudit.model.extras import Extra
from treeaudit.readers.residual.extra import extra, name_in_path, size_of

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
    kept = {}
    for name, part in document.items():
        rule = _rule(keys, name)
        if _is_known(part, rule):
            kept[name] = part
        elif isinstance(rule, Mapping) and isinstance(part, Mapping | list | tuple):
            kept[name] = known_fields(part, rule)
    return kept


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
