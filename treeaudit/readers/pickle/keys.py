"""Keys of dictionaries and elements of sets, in a file that may be hostile."""

from collections.abc import Iterable

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.arrays import Spend, arrived

# The hash of a complex number is as easily forged as that of a tuple.
_NO_KEYS = (list, dict, set, frozenset, bytearray, memoryview, np.ndarray, complex)


def hashable(key: object, among: int, spend: Spend) -> object:
    """Return a key that can be hashed and compared quickly and without recursion."""
    if type(key) is str and len(key) < Most.key:
        return key
    key = arrived(key)
    if isinstance(key, tuple):
        spend(8 * among)
        return _hashable_tuple(key, spend, 4)
    return _hashable_part(key)


def add_all(target: set[object], items: Iterable[object], spend: Spend) -> bool:
    """Put elements into a set, and tell whether none of them was there."""
    new = True
    for item in items:
        n = len(target)
        target.add(hashable(item, n, spend))
        new &= len(target) > n
    return new


def _hashable_tuple(key: tuple[object, ...], spend: Spend, depth: int) -> object:
    if depth == 0 or len(key) > 16:
        raise ReadError("a dictionary key is nested too deeply")
    spend(64 * (1 + len(key)))
    parts = (arrived(part) for part in key)
    return tuple(
        _hashable_tuple(part, spend, depth - 1) if isinstance(part, tuple) else _hashable_part(part)
        for part in parts
    )


def _hashable_part(key: object) -> object:
    if isinstance(key, int) and key.bit_length() > 64:
        raise ReadError("a dictionary key is an integer that is too long")
    if isinstance(key, str | bytes | memoryview) and len(key) >= Most.key:
        raise ReadError(f"a dictionary key of {len(key):,} characters is too long")
    if isinstance(key, _NO_KEYS):
        raise ReadError(f"a dictionary key is {show(key)}, which cannot be one")
    return key
