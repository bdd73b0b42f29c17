"""Bounds on numbers that are rounded to 32 bits, as bounds on the numbers themselves."""

from dataclasses import replace

import numpy as np

from treeaudit.model.tree import Tree
from treeaudit.readers.types import Float


def in_double(tree: Tree) -> Tree:
    """Return a tree that compares numbers as they are where the given one rounds them first."""
    return replace(tree, low=doubled(tree.low), high=doubled(tree.high))


def doubled(bound: Float) -> Float:
    """Return the largest number that does not pass ``bound`` when rounded to 32 bits.

    Examples
    --------
    >>> float(doubled(np.array([0.1]))[0]) > 0.1
    False
    """
    with np.errstate(over="ignore"):
        below = bound.astype(np.float32)
        below = np.where(below > bound, np.nextafter(below, np.float32(-np.inf)), below)
        above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
    # Halfway numbers go to the even neighbour.
    even = below.view(np.uint32) % 2 == 0
    middle = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isinf(bound) | np.isinf(above), bound, middle)
