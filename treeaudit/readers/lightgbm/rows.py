"""The trees of a LightGBM model in rows: what holds for a row holds for each tree of it.

A row only proves that all of its trees are sound. Where one may not be, or splits by
categories, each is looked at by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from treeaudit.model.tree import Tree
from treeaudit.readers.boosters.damage import each_tree
from treeaudit.readers.boosters.shelf import Shelf, arrays_of, joined
from treeaudit.readers.lightgbm.block import Block, CheckedBlock, check_block
from treeaudit.readers.lightgbm.tree import (
    MISSING_IS_NAN,
    RawTree,
    StoredTree,
    add_up,
    read_tree,
    routes,
)
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Links
from treeaudit.readers.together import in_rows
from treeaudit.readers.types import Array, Float, Wide

_Array = TypeVar("_Array", Float, Wide)


def checked(raws: Sequence[RawTree], n_features: int) -> Sequence[StoredTree]:
    """Check every tree of the file."""
    if isinstance(raws, Block):
        block = check_block(raws, n_features)
        if block is not None:
            return block
        raws = list(raws)
    trees: list[StoredTree] = []
    for part in in_rows([2 * len(raw.left) + 1 for raw in raws]):
        some = raws[part]
        trees += _read_row(some, n_features) or each_tree(
            some, lambda raw: read_tree(raw, n_features), part.start
        )
    return trees


def _read_row(raws: Sequence[RawTree], n_features: int) -> list[StoredTree] | None:
    """Return the checked trees of a row; None where one is not plain and sound."""
    n_inner = np.array([len(raw.left) for raw in raws])
    if any(raw.categories or raw.linear for raw in raws) or not n_inner.any():
        return None
    if any(len(raw.leaf_value) != len(raw.left) + 1 for raw in raws):
        return None
    ends = np.cumsum(n_inner)
    whose = np.repeat(np.arange(len(raws)), n_inner)
    inner = np.arange(ends[-1]) - (ends - n_inner)[whose]
    n, begin = n_inner[whose], 2 * (ends - n_inner)[whose] + whose
    once = np.zeros(2 * int(ends[-1]) + len(raws), dtype=np.bool_)
    sides: list[Wide] = []
    for side in (_all(raws, "left"), _all(raws, "right")):
        child = np.where(side < 0, n - 1 - side, side)
        if np.any(side >= n) or np.any(child > 2 * n) or np.any(child <= inner):
            return None
        once[child + begin] = True
        sides.append(child)
    feature = _all(raws, "feature")
    if np.count_nonzero(once) != 2 * len(inner) or feature.min() < 0 or feature.max() >= n_features:
        return None
    kind, threshold = _all(raws, "missing_type"), _all(raws, "threshold")
    if _all(raws, "categorical").any() or np.isnan(threshold).any():
        return None
    if kind.min() < 0 or kind.max() > MISSING_IS_NAN:
        return None
    if not np.isfinite(_all(raws, "leaf_value")).all():
        return None
    counts = _counts(raws)
    if counts is None:
        return None
    bound, missing_left, misrouted = routes(
        _all(raws, "categorical"), threshold, _all(raws, "default_left"), kind
    )
    lost = np.bincount(whose[misrouted], minlength=len(raws)).tolist()
    rows: Sequence[Wide | None] = [None] * len(raws)
    if len(counts):
        rows = np.split(counts, (2 * ends + np.arange(1, len(raws) + 1))[:-1])
    return [
        StoredTree(
            links=Links(inner=inner[at:to], left=sides[0][at:to], right=sides[1][at:to]),
            raw=raw,
            bound=bound[at:to],
            missing_left=missing_left[at:to],
            misrouted=misplaced,
            n_records=records,
        )
        for raw, (at, to), misplaced, records in zip(
            raws, pairwise([0, *ends.tolist()]), lost, rows, strict=True
        )
    ]


def _all(raws: Sequence[RawTree], name: str) -> Any:  # noqa: ANN401  # an array as in `RawTree`
    return np.concatenate([getattr(raw, name) for raw in raws])


def _counts(raws: Sequence[RawTree]) -> Wide | None:
    """Return the rows of all nodes, none where no tree tells; None where each must be asked."""
    told = [raw.leaf_count is not None and raw.inner_count is not None for raw in raws]
    if not any(told):
        return np.zeros(0, dtype=np.int64)
    if not all(told):
        return None
    inner, leaf = ([getattr(raw, name) for raw in raws] for name in ("inner_count", "leaf_count"))
    found = np.concatenate([part for both in zip(inner, leaf, strict=True) for part in both])
    ends = np.cumsum([len(one) + len(other) for one, other in zip(inner, leaf, strict=True)])
    roots = found[np.concatenate([[0], ends[:-1]])]
    sound = found.min() >= 0 and found.max() <= Most.people and bool(roots.all())
    return found if sound else None


def woven(first: Sequence[_Array], second: Sequence[_Array]) -> _Array:
    """Join two parts of each tree, one tree behind the other."""
    return np.concatenate([part for both in zip(first, second, strict=True) for part in both])


def uneven(trees: Sequence[StoredTree]) -> int | None:
    """Return the first tree in which the rows of two children are not those of their parent."""
    if isinstance(trees, CheckedBlock):
        row, n_records = trees.links, trees.n_records
        if n_records is None or np.array_equal(
            n_records[row.left] + n_records[row.right], n_records[row.inner]
        ):
            return None
    told = [tree for tree in trees if tree.n_records is not None]
    if told:
        row, _ = joined([tree.links for tree in told])
        n = np.concatenate([tree.n_records for tree in told if tree.n_records is not None])
        if np.array_equal(n[row.left] + n[row.right], n[row.inner]):
            return None
    return next((i for i, tree in enumerate(trees) if not add_up(tree)), None)


def builder(
    trees: Sequence[StoredTree], n_categories: Mapping[int, int], told: bool
) -> Callable[[int], Tree]:
    """Return what builds each of the trees; see `StoredTree.tree`."""
    if isinstance(trees, CheckedBlock):
        return _block_builder(trees, n_categories, told)

    def row(part: slice) -> Mapping[str, Array | None] | None:
        some = trees[part]
        raws = [tree.raw for tree in some]
        plain = all(tree.links.stored is None for tree in some)
        if not plain or any(raw.categories or raw.linear for raw in raws):
            return None
        kinds = {(one.raw.inner_value is None, one.n_records is None) for one in some}
        if len(kinds) != 1:
            return None
        n_records = value = None
        if told and some[0].n_records is not None:
            n_records = np.concatenate([one.n_records for one in some if one.n_records is not None])
        inner = [
            np.zeros(len(raw.left)) if raw.inner_value is None else raw.inner_value for raw in raws
        ]
        value = woven(inner, [raw.leaf_value for raw in raws])
        links, start = joined([tree.links for tree in some])
        return arrays_of(
            links,
            start,
            np.concatenate([raw.feature for raw in raws]),
            np.concatenate([tree.bound for tree in some]),
            np.concatenate([tree.missing_left for tree in some]),
            {"n_records": n_records, "value": value},
        )

    return Shelf(
        [tree.links.n_nodes for tree in trees], row, lambda i: trees[i].tree(n_categories, told)
    )


def _block_builder(
    block: CheckedBlock, n_categories: Mapping[int, int], told: bool
) -> Callable[[int], Tree]:
    raw = block.raw
    value: Float = block.woven("internal_value", "leaf_value")

    def row(part: slice) -> Mapping[str, Array | None]:
        nodes, inner = block.nodes(part), block.inner(part)
        n_records = block.n_records[nodes] if told and block.n_records is not None else None
        return arrays_of(
            block.links_of(part),
            block.start[part] - block.start[part.start],
            raw.all("split_feature")[inner],
            block.bound[inner],
            block.missing_left[inner],
            {"n_records": n_records, "value": value[nodes]},
        )

    sizes = (2 * raw.n_leaves - 1).tolist()
    return Shelf(sizes, row, lambda i: block[i].tree(n_categories, told))
