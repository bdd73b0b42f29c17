"""The trees of an XGBoost model in rows: what holds for a row holds for each tree of it.

A row only proves that all of its trees are sound. Where one may not be, has nodes that were
pruned, or splits by categories, each is looked at by itself.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, overload

import numpy as np

from treeaudit.model.tree import Tree
from treeaudit.readers.boosters.damage import each_tree
from treeaudit.readers.boosters.shelf import Shelf, arrays_of
from treeaudit.readers.links import Links
from treeaudit.readers.together import in_rows
from treeaudit.readers.types import Array, Flag, Float, Wide
from treeaudit.readers.xgboost.tree import (
    KINDS,
    StoredTree,
    are_covers,
    bounds_of,
    means,
    read_tree,
)

_Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredRow:
    """Checked trees that stand behind one another: none is pruned, or splits by categories.

    Attributes
    ----------
    start, first
        Where each begins, and its inner nodes among all of these.
    links, feature, threshold, default_left, cover, weight, value
        As of `StoredTree`, of all nodes; children are counted from the first node of the first.
    """

    start: Wide
    first: Wide
    links: Links
    feature: Wide
    threshold: Float
    default_left: Flag
    cover: Float | None
    weight: Float | None
    value: Float

    def tree(self, i: int) -> StoredTree:
        """Return one of the trees."""
        at, inner = int(self.start[i]), slice(self.first[i], None)
        nodes = slice(at, None)
        if i + 1 < len(self.start):
            nodes = slice(at, self.start[i + 1])
            inner = slice(self.first[i], self.first[i + 1])
        links = self.links
        return StoredTree(
            links=Links(
                inner=links.inner[inner] - at,
                left=links.left[inner] - at,
                right=links.right[inner] - at,
            ),
            categories={},
            feature=self.feature[nodes],
            threshold=self.threshold[nodes],
            default_left=self.default_left[nodes],
            cover=None if self.cover is None else self.cover[nodes],
            weight=None if self.weight is None else self.weight[nodes],
            value=self.value[nodes],
        )


class StoredTrees(Sequence[StoredTree]):
    """The checked trees of a file; those that stand in a row are taken out when asked for.

    Attributes
    ----------
    sizes, alone
        As given; only trees that stand in no row may be pruned, or split by categories.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        alone: Mapping[int, StoredTree],
        rows: Mapping[int, StoredRow],
    ) -> None:
        self.sizes, self._alone, self._rows = sizes, alone, rows
        self.alone = [*alone.values()]
        self._begins = sorted(rows)

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, index: int) -> StoredTree: ...
    @overload
    def __getitem__(self, index: slice) -> list[StoredTree]: ...
    def __getitem__(self, index: int | slice) -> StoredTree | list[StoredTree]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index in self._alone:
            return self._alone[index]
        if not 0 <= index < len(self):
            raise IndexError(f"tree {index} of {len(self)}")
        begin = self._begins[bisect_right(self._begins, index) - 1]
        return self._rows[begin].tree(index - begin)

    @property
    def are_told(self) -> bool:
        """Whether covers and values of all of them are known."""
        rows = all(row.cover is not None for row in self._rows.values())
        return rows and not any(tree.cover is None or tree.value is None for tree in self.alone)

    def row(self, part: slice) -> StoredRow | None:
        """Return the row of some trees; None where they do not stand in one."""
        row = self._rows.get(part.start)
        return row if row is not None and len(row.start) == part.stop - part.start else None


def checked(raws: Sequence[object], n_features: int, width: int) -> StoredTrees:
    """Check every tree of the file; see `read_tree`."""
    sizes = [_size(raw) for raw in raws]
    alone: dict[int, StoredTree] = {}
    rows: dict[int, StoredRow] = {}
    for part in in_rows(sizes):
        some, begin = raws[part], part.start
        row = _read_row(some, n_features) if width == 1 else None
        if row is None:
            read = each_tree(some, lambda raw: read_tree(raw, n_features, width), begin)
            alone.update(enumerate(read, begin))
        else:
            rows[begin] = row
    return StoredTrees(sizes, alone, rows)


def _size(raw: object) -> int:
    left = raw.get("left_children") if isinstance(raw, dict) else None
    return len(left) if isinstance(left, list | np.ndarray) else 1


def _read_row(raws: Sequence[Any], n_features: int) -> StoredRow | None:
    """Return checked trees in a row; None where one is not plain and sound."""
    if not {dict}.issuperset(map(type, raws)):
        return None
    sizes = [_size(raw) for raw in raws]
    told = {name: _column(raws, name, sizes, "iub") for name in _WHOLE}
    condition = _column(raws, "split_conditions", sizes, "iuf")
    kind = np.zeros(sum(sizes), dtype=np.int64)
    if any("split_type" in raw for raw in raws):
        kind = _column(raws, "split_type", sizes, "iub")
    covers, weights = (_optional(raws, name, sizes) for name in ("sum_hessian", "base_weights"))
    parts = (*told.values(), condition, kind, covers, weights)
    if min(sizes) < 1 or any(part is None for part in parts):
        return None
    left, right, feature, goes_left = told.values()
    ends: Wide = np.cumsum(sizes)
    start: Wide = ends - np.array(sizes)
    inner = left >= 0
    links = _links(left, right, start, ends)
    if links is None or goes_left.min() < 0 or goes_left.max() > 1 or kind[inner].any():
        return None
    if feature[inner].min(initial=0) < 0 or feature[inner].max(initial=0) >= n_features:
        return None
    value = np.where(inner, 0.0, condition)
    if np.isnan(condition[inner]).any() or not np.isfinite(value).all():
        return None
    if len(covers) and not are_covers(covers, links):
        return None
    return StoredRow(
        start=start,
        first=np.searchsorted(links.inner, start),
        links=links,
        feature=np.where(inner, feature, 0),
        threshold=np.where(inner, condition, 0.0),
        default_left=goes_left == 1,
        cover=covers if len(covers) else None,
        weight=weights if len(weights) else None,
        value=value,
    )


_WHOLE = ("left_children", "right_children", "split_indices", "default_left")


def _links(left: Wide, right: Wide, start: Wide, ends: Wide) -> Links | None:
    """Return the nodes of a row; None where one does not hang on its root, or not behind it."""
    inner = np.flatnonzero(left >= 0)
    if min(left.min(), right.min()) < -1 or not np.array_equal(left < 0, right < 0):
        return None
    if not np.array_equal(2 * np.add.reduceat(left >= 0, start, dtype=np.int64) + 1, ends - start):
        return None
    whose = np.repeat(np.arange(len(start)), ends - start)[inner]
    first, end = start[whose], ends[whose]
    once = np.zeros(len(left), dtype=np.bool_)
    sides = []
    for side in (left[inner] + first, right[inner] + first):
        if np.any(side <= inner) or np.any(side >= end):
            return None
        once[side] = True
        sides.append(side)
    if np.count_nonzero(once) != 2 * len(inner):
        return None
    return Links(inner=inner, left=sides[0], right=sides[1], n_trees=len(start))


def _optional(raws: Sequence[_Raw], name: str, sizes: Sequence[int]) -> Any:  # noqa: ANN401
    """Return a column as `_column` does, an empty one where no tree has one that fits it."""
    fits = [
        isinstance(part := raw.get(name), list | np.ndarray) and len(part) == n
        for raw, n in zip(raws, sizes, strict=True)
    ]
    return _column(raws, name, sizes, "iuf") if any(fits) else np.zeros(0)


def _column(raws: Sequence[_Raw], name: str, sizes: Sequence[int], kinds: str) -> Any:  # noqa: ANN401
    """Return a column of all trees, as `xgboost_tree` does; None where they differ in kind."""
    parts = [raw.get(name) for raw in raws]
    of = set(map(type, parts))
    if of not in ({list}, {np.ndarray}) or [*map(len, parts)] != [*sizes]:  # type: ignore[arg-type]
        return None
    if of == {list}:
        flat = [*chain.from_iterable(parts)]  # type: ignore[arg-type]
        types = set(map(type, flat))
        kind = KINDS.get(*types) if len(types) == 1 else None
        if kind is None or np.dtype(kind).kind not in kinds:
            return None
        try:
            column: Any = np.fromiter(flat, kind, len(flat))
        except OverflowError:
            return None
    else:
        dtype = parts[0].dtype  # type: ignore[union-attr]
        alike = [part.dtype for part in parts].count(dtype) == len(parts)  # type: ignore[union-attr]
        if not alike or dtype.kind not in kinds or {part.ndim for part in parts} != {1}:  # type: ignore[union-attr]
            return None
        column = np.concatenate(parts)  # type: ignore[arg-type]
    if "f" not in kinds:
        return column.astype(np.int64)
    with np.errstate(all="ignore"):
        return column.astype(np.float32).astype(np.float64)


def builder(
    trees: StoredTrees,
    n_categories: Mapping[int, int],
    found: Sequence[Wide | None],
    scale: Sequence[float],
) -> Callable[[int], Tree]:
    """Return what builds each of the trees; see `StoredTree.tree`."""

    def row(part: slice) -> Mapping[str, Array | None] | None:
        held, people = trees.row(part), found[part]
        if held is None:
            return None
        told = [n for n in people if n is not None]
        links, inner = held.links, held.links.inner
        below = held.value
        if held.cover is not None:
            below = means(links, below, held.cover)
        sizes = np.diff(held.start, append=links.n_nodes)
        return arrays_of(
            links,
            held.start,
            held.feature[inner],
            bounds_of(held.threshold[inner]),
            held.default_left[inner],
            {
                "n_records": np.concatenate(told) if len(told) == len(people) else None,
                "value": below * np.repeat(scale[part], sizes),
            },
        )

    shelf = Shelf(trees.sizes, row, lambda i: trees[i].tree(n_categories, found[i], scale[i]))

    def build(i: int) -> Tree:
        tree, n = shelf(i), found[i]
        # In a row people stand only where all trees of it have some.
        return tree if n is None or tree.n_records is not None else replace(tree, n_records=n)

    return build
