"""Small trees of a booster that are built behind one another, and handed out one at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

import numpy as np

from treeaudit.model.tree import Tree, cut
from treeaudit.readers.links import Edges, Links
from treeaudit.readers.together import in_rows
from treeaudit.readers.types import Array, Flag, Float, Wide

_Arrays = Mapping[str, Array | None]


def joined(links: Sequence[Links]) -> tuple[Links, Wide]:
    """Put the nodes of some trees behind one another; return where each begins, too.

    Examples
    --------
    >>> one = Links(inner=np.array([0]), left=np.array([1]), right=np.array([2]))
    >>> row, start = joined([one, one])
    >>> row.left.tolist(), start.tolist()
    ([1, 4], [0, 3])
    """
    n_inner = [len(one.inner) for one in links]
    start = np.cumsum([0, *(2 * n + 1 for n in n_inner)])[:-1]
    base = np.repeat(start, n_inner)
    inner, left, right = (
        np.concatenate(side) + base
        for side in zip(*((one.inner, one.left, one.right) for one in links), strict=True)
    )
    return Links(inner=inner, left=left, right=right, n_trees=len(n_inner)), start


def arrays_of(
    row: Links,
    start: Wide,
    feature: Wide,
    bound: Float,
    missing_left: Flag,
    held: Mapping[str, Array | None],
) -> _Arrays:
    """Return the arrays of some trees behind one another, as `treeaudit.Tree` has them."""
    edges: Edges = row.edges(feature, bound, missing_left)
    above = edges.parent - np.repeat(start, np.diff(start, append=row.n_nodes))
    above[start] = -1
    arrays: dict[str, Array | None] = {one.name: getattr(edges, one.name) for one in fields(edges)}
    arrays |= {**held, "parent": above.astype(np.int32)}
    for array in arrays.values():
        if array is not None:
            array.flags.writeable = False
    return arrays


class Shelf:
    """Builds trees, those that are asked for one after the other in a row."""

    def __init__(
        self,
        sizes: Sequence[int],
        row: Callable[[slice], _Arrays | None],
        alone: Callable[[int], Tree],
    ) -> None:
        self._row, self._alone, self._sizes = row, alone, sizes
        self._parts = {part.start: part for part in in_rows(sizes)}
        self._last = -1
        self._begin = 0
        self._trees: Sequence[Tree] = ()

    def __call__(self, i: int) -> Tree:
        """Return one of the trees."""
        following, self._last = i == self._last + 1, i
        part = self._parts.get(i) if following else None
        # Who asks for one after the other is about to ask for those behind it.
        if part is not None and part.stop - part.start > 1:
            made = self._row(part)
            if made is not None:
                ends = np.cumsum([0, *self._sizes[part]]).tolist()
                self._begin, self._trees = i, cut(made, ends)
        at = i - self._begin
        if not 0 <= at < len(self._trees):
            return self._alone(i)
        return self._trees[at]
