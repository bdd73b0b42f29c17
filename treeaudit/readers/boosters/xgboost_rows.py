"""The trees of an XGBoost model in rows: what holds for a row holds for each tree of it.

A row only proves that all of its trees are sound. Where one may not be, has nodes that were
pruned, or splits by categories, each is looked at by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from treeaudit.model.tree import Tree
from treeaudit.readers.boosters.damage import each_tree
from treeaudit.readers.boosters.shelf import Shelf, arrays_of, joined
from treeaudit.readers.boosters.xgboost_tree import (
    KINDS,
    StoredTree,
    are_covers,
    bounds_of,
    means,
    read_tree,
)
from treeaudit.readers.links import Links
from treeaudit.readers.together import in_rows
from treeaudit.readers.types import Array, Flag, Float, Wide

__all__ = ["builder", "checked"]

_Raw = Mapping[str, Any]


def checked(raws: Sequence[object], n_features: int, width: int) -> list[StoredTree]:
    """Check every tree of the file; see `read_tree`.

    Raises
    ------
    ReadError
        If one is damaged; names it.
    """
    trees: list[StoredTree] = []
    for part in in_rows([_size(raw) for raw in raws]):
        some = raws[part]
        trees += (width == 1 and _read_row(some, n_features)) or each_tree(
            some, lambda raw: read_tree(raw, n_features, width), part.start
        )
    return trees


def _size(raw: object) -> int:
    left = raw.get("left_children") if isinstance(raw, dict) else None
    return len(left) if isinstance(left, list | np.ndarray) else 1


def _read_row(raws: Sequence[Any], n_features: int) -> list[StoredTree] | None:
    """Return the checked trees of a row; None where one is not plain and sound."""
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
    odd = sum((one != 0) & ~inner for one in (feature, goes_left, kind))
    spare = np.add.reduceat(odd, start).tolist()
    columns = {
        "feature": np.where(inner, feature, 0),
        "threshold": np.where(inner, condition, 0.0),
        "default_left": goes_left == 1,
        "cover": covers if len(covers) else None,
        "weight": weights if len(weights) else None,
        "value": value,
    }
    bounds = pairwise([0, *np.cumsum(np.add.reduceat(inner, start, dtype=np.int64)).tolist()])
    base = np.repeat(start, sizes)[links.inner]
    sides = [one - base for one in (links.inner, links.left, links.right)]
    trees = []
    for at, to, (begin, end), n in zip(start.tolist(), ends.tolist(), bounds, spare, strict=True):
        above, below, over = (side[begin:end] for side in sides)
        own: dict[str, Any] = {
            name: None if one is None else one[at:to] for name, one in columns.items()
        }
        own_links = Links(inner=above, left=below, right=over)
        trees.append(StoredTree(links=own_links, categories={}, spare=n, **own))
    return trees


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
    trees: Sequence[StoredTree],
    n_categories: Mapping[int, int],
    found: Sequence[Wide | None],
    scale: Sequence[float],
) -> Callable[[int], Tree]:
    """Return what builds each of the trees; see `StoredTree.tree`."""

    def row(part: slice) -> Mapping[str, Array | None] | None:
        some, people = trees[part], found[part]
        if any(tree.links.stored is not None or tree.categories for tree in some):
            return None
        told = [n for n in people if n is not None]
        cover = [tree.cover for tree in some if tree.cover is not None]
        value = [tree.value for tree in some if tree.value is not None]
        if len(value) < len(some) or len(cover) not in (0, len(some)):
            return None
        links, start = joined([tree.links for tree in some])
        below: Float = np.concatenate(value)
        if cover:
            below = means(links, below, np.concatenate(cover))
        sizes = np.diff(start, append=links.n_nodes)
        left: Flag = np.concatenate([tree.default_left for tree in some])[links.inner]
        return arrays_of(
            links,
            start,
            np.concatenate([tree.feature for tree in some])[links.inner],
            bounds_of(np.concatenate([tree.threshold for tree in some])[links.inner]),
            left,
            {
                "n_records": np.concatenate(told) if len(told) == len(some) else None,
                "value": below * np.repeat(scale[part], sizes),
            },
        )

    shelf = Shelf(
        [tree.links.n_nodes for tree in trees],
        row,
        lambda i: trees[i].tree(n_categories, found[i], scale[i]),
    )

    def build(i: int) -> Tree:
        tree, n = shelf(i), found[i]
        # In a row people stand only where all trees of it have some.
        return tree if n is None or tree.n_records is not None else replace(tree, n_records=n)

    return build
