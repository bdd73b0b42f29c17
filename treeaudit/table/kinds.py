"""Leaves that are alike: the same people in the same classes.

A tree of 70,000 leaves has a few hundred different ones, and what a leaf says depends on
nothing else: one of each kind is measured.
"""

import numpy as np

from treeaudit.arrays import Float, Index, Int, Wide

__all__ = ["kinds_of"]

_FEW = 1 << 10
"""Fewer leaves are measured as they are."""
_BITS, _LEAST = 18, 3
"""Of the people of a leaf and of each class together, and of each number at least."""
_BLOCK = 1 << 14
_EXACT = 2.0**53


def kinds_of(counts: Float, size: Wide) -> tuple[Index, Int] | None:
    """Return a leaf of each kind, and of which kind each leaf is; None where that is of no use.

    Leaves with large numbers are few, and kinds of their own. None also where counts are no
    whole numbers from 0, whose sums hang on their order.

    Parameters
    ----------
    counts
        Shape ``(n_leaves, n_classes)``.
    size
        Shape ``(n_leaves,)``: people per leaf, one at least.

    Examples
    --------
    >>> counts = np.tile([[2.0, 0.0], [1.0, 1.0], [0.0, 5000.0]], (400, 1))[:1199]
    >>> first, kind = kinds_of(counts, counts.sum(axis=1).astype(np.int64))
    >>> counts[first[kind[:4]]].tolist(), len(first)
    ([[2.0, 0.0], [1.0, 1.0], [0.0, 5000.0], [2.0, 0.0]], 401)
    """
    n, width = counts.shape
    bits = _BITS // (width + 1)
    # What is not a number is in no range.
    if n < _FEW or bits < _LEAST or not (counts.min() >= 0 and counts.max() * n < _EXACT):
        return None
    key, there = np.empty(n, dtype=np.int32), np.zeros(1 << bits * (width + 1), dtype=np.bool_)
    for begin in range(0, n, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        own = _keys(counts[block], size[block], bits)
        if own is None:
            return None
        key[block] = own
        there[own] = True
    # Nobody is in no leaf: these are the large ones.
    there[0] = False
    found, large = np.flatnonzero(there), np.flatnonzero(key == 0)
    place = np.empty(len(there), dtype=np.int32)
    place[found] = np.arange(len(found))
    kind = place.take(key)
    n_kinds = len(found) + len(large)
    kind[large] = np.arange(len(found), n_kinds)
    first = np.empty(n_kinds, dtype=np.intp)
    first[kind] = np.arange(n)
    return first, kind


def _keys(counts: Float, size: Wide, bits: int) -> Wide | None:
    """Return the numbers of each leaf as one, 0 where one of them is large; None for fractions."""
    whole = counts.astype(np.int64)
    if (whole != counts).any():
        return None
    key, every = size.astype(np.int64), size.astype(np.int64)
    for column in whole.T:
        key <<= bits
        key |= column
        every |= column
    key[every >= 1 << bits] = 0
    return key
