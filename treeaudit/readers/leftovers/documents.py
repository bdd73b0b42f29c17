"""Documents of objects and lists, held against what their readers account for."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.extra import extra, name_in_path

__all__ = ["ANY", "Keys", "explained", "extra", "is_plain"]

Keys = Mapping[str, Any]
"""The names that an object may have, each with what explains its value: the `Keys` of an object,
or of the elements of a list; a number, which is the most characters of a plain value, see
`is_plain`; a pattern that a text must match; a function
that tells whether a value is explained; a tuple of one of these, for each of the few values of a
list; or None, where its reader accounts for the whole of it."""

ANY = "*"
"""In `Keys`: every other name."""

_MOST_BITS = 128
_MOST_LISTED = 40


def unexplained(document: object, keys: Keys, where: str = "") -> Iterator[Leftover]:
    """Yield the entries of a document that are not among what it may hold.

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
    [('trees[1].rows', 20)]
    """
    if isinstance(document, list | tuple):
        silent = {name for name, rule in keys.items() if rule is None}
        for i, part in enumerate(document):
            if isinstance(part, Mapping):
                if not part.keys() <= silent:
                    yield from unexplained(part, keys, f"{where}[{i}]")
            elif part is not None:
                yield extra(f"{where}[{i}]", part)
    elif isinstance(document, Mapping):
        for name, part in document.items():
            known = name in keys
            if known and keys[name] is None:
                continue
            path = ".".join(filter(None, (where, name if known else name_in_path(name))))
            if known or ANY in keys:
                yield from _inside(part, keys[name] if known else keys[ANY], path)
            else:
                yield extra(path, part, name)
    elif document is not None:
        yield extra(where, document)


def _inside(
    part: object,
    explained: Any,  # noqa: ANN401  # as the values of `Keys`
    where: str,
) -> Iterator[Leftover]:
    """Yield what does not explain itself in the value of an entry."""
    if isinstance(explained, Mapping):
        yield from unexplained(part, explained, where)
    elif isinstance(explained, int):
        if not is_plain(part, explained):
            yield extra(where, part)
    elif isinstance(explained, tuple):
        each = part if isinstance(part, list | tuple) else [part]
        for i, one in enumerate(each):
            (inside,) = explained
            if i >= _MOST_LISTED:
                yield extra(f"{where}[{i}]", one)
            else:
                yield from _inside(one, inside, f"{where}[{i}]")
    elif isinstance(explained, re.Pattern):
        if not (isinstance(part, str) and explained.fullmatch(part)):
            yield extra(where, part)
    elif explained is not None and not explained(part):
        yield extra(where, part)


def explained(document: Any, keys: Keys) -> Any:  # noqa: ANN401  # objects and lists
    """Return a document without the entries that `unexplained` yields.

    Examples
    --------
    >>> explained({"trees": [{"feature": 1, "rows": [33, 54]}]}, {"trees": {"feature": None}})
    {'trees': [{'feature': 1}]}
    """
    if isinstance(document, list | tuple):
        return [explained(part, keys) for part in document if isinstance(part, Mapping)]
    kept = {}
    for name, part in document.items():
        rule = keys.get(name, keys.get(ANY, 0))
        if name in keys or ANY in keys:
            if isinstance(rule, Mapping) and isinstance(part, Mapping | list | tuple):
                kept[name] = explained(part, rule)
            elif next(_inside(part, rule, ""), None) is None:
                kept[name] = part
    return kept


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
