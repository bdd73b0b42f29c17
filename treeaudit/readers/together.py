"""Many small trees as one table: what holds for all of it holds for each of them.

A tree of thirty nodes takes as many calls as one of thirty thousand. Those of a forest are
put in a row, their children numbered through, and looked at together. A row only proves that
all of its trees are sound: where one is not, each is looked at by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.readers.links import Links
from treeaudit.readers.types import Array, Float, Table, Wide

SMALL = 1 << 11
"""Nodes up to which a tree is looked at together with others: a row is a copy of its trees."""
_MOST = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Trees behind one another.

    Attributes
    ----------
    nodes, values
        Of all of them; children are counted from the first node of the first tree.
    links
        The inner nodes and their children, counted in the same way.
    start
        Per tree: where it begins.
    """

    nodes: Table
    values: Float
    links: Links
    start: Wide


def in_rows(sizes: Sequence[int]) -> Iterator[slice]:
    """Yield which of some trees to look at together, by how many nodes they have.

    Examples
    --------
    >>> list(in_rows([3, 9, 100_000, 5]))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    begin = total = 0
    for i, n in enumerate(sizes):
        alone = _MOST if n > SMALL else n
        if i > begin and total + alone > _MOST:
            yield slice(begin, i)
            begin, total = i, 0
        total += alone
    if sizes:
        yield slice(begin, len(sizes))


def together(nodes: Sequence[Table], values: Sequence[Array]) -> Row | None:
    """Put the tables of some trees in a row.

    Returns
    -------
    Row or None
        None where they are not of one form, or where in one of them a node does not hang on
        the root, comes before its parent, or has one child.
    """
    record, shape = nodes[0].dtype, values[0].shape[1:]
    for table, value in zip(nodes, values, strict=True):
        alike = table.dtype == record and value.shape == (len(table), *shape)
        plain = table.flags.c_contiguous and value.flags.c_contiguous and len(table) > 0
        if not alike or not plain or value.dtype != np.dtype(np.float64):
            return None
    size = np.array([len(table) for table in nodes])
    start = np.cumsum(size) - size
    # A copy: the numbers of children are written into it.
    joined: Table = np.frombuffer(bytearray().join(nodes), dtype=record)  # type: ignore[arg-type]
    left, right = (joined[side].astype(np.int64) for side in ("left_child", "right_child"))
    inner = np.flatnonzero(left >= 0)
    if min(left.min(), right.min()) < -1 or np.count_nonzero(right >= 0) != len(inner):
        return None
    n_inner = np.add.reduceat(left >= 0, start, dtype=np.int64)
    if not np.array_equal(2 * n_inner + 1, size):
        return None
    first, end = np.repeat(start, n_inner), np.repeat(start + size, n_inner)
    once = np.zeros(len(joined), dtype=np.bool_)
    sides = []
    for name, side in (("left_child", left), ("right_child", right)):
        child = side[inner] + first
        if np.any(child <= inner) or np.any(child >= end):
            return None
        once[child] = True
        joined[name][inner] = child
        sides.append(child)
    if np.count_nonzero(once) != 2 * len(inner):
        return None
    flat: Float = np.frombuffer(b"".join(values)).reshape(-1, *shape)  # type: ignore[arg-type]
    return Row(
        joined, flat, Links(inner=inner, left=sides[0], right=sides[1], n_trees=len(size)), start
    )
