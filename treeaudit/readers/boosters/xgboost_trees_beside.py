"""What the trees of an XGBoost file hold beside questions and answers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.inner_nodes import Inner
from treeaudit.readers.boosters.inner_numbers import strays
from treeaudit.readers.boosters.shelf import joined
from treeaudit.readers.boosters.xgboost_plain import (
    NO_PARENT,
    OF_NODES,
    OF_SETS,
    OF_THE_READER,
    WHOLE,
    spare_of,
)
from treeaudit.readers.boosters.xgboost_rows import StoredRow, StoredTrees
from treeaudit.readers.boosters.xgboost_schema import Booster
from treeaudit.readers.boosters.xgboost_tree import StoredTree
from treeaudit.readers.leftovers.extra import extra, name_in_path
from treeaudit.readers.leftovers.spelled_numbers import no_single
from treeaudit.readers.limits import Most
from treeaudit.readers.types import Flag, Float, Wide

__all__ = ["OF_NODES", "OF_SETS", "are_numbers", "few_whole", "in_trees"]

_NODE_BYTES = 8 * len(OF_NODES)
_NO_VALUE = np.float32(1e-45)
_NEAR, _ENOUGH = 1e-4, 3
_SAME, _SAME_COVER, _SLACK = 1e-5, 1e-6, 5e-6
# The values of leaves are found anew when a tree is grown.
_REFILLED = ("reg:absoluteerror", "reg:quantileerror")


def are_numbers(part: object, n: int, most_bytes: int = 8) -> bool:
    """Tell whether a list or array holds so many numbers, and nothing else."""
    if isinstance(part, np.ndarray):
        fits = part.dtype.kind in "iu" or part.dtype.itemsize <= most_bytes
        return part.shape == (n,) and part.dtype.kind in "iuf" and fits
    if not isinstance(part, list) or len(part) != n:
        return False
    kinds = set(map(type, part))
    # Of two kinds of one number, which one it is would say something.
    return len(kinds) <= 1 and kinds <= {int, float, bool}


def few_whole(part: object, most: int) -> bool:
    """Tell whether a list holds whole numbers, and not more of them than there is use for."""
    if isinstance(part, np.ndarray):
        return part.dtype.kind in "iu" and part.ndim == 1 and len(part) <= most
    return isinstance(part, list) and len(part) <= most and set(map(type, part)) <= {int}


def in_trees(booster: Booster, trees: StoredTrees) -> Iterator[Leftover]:
    """Yield the arrays that do not fit their tree, and the entries that no prediction needs."""
    row = trees.whole()
    plain = None if row is None else spare_of(booster, row)
    if plain is not None:
        spare, texts = plain
        yield from _of_all(booster, trees, row, 0, spare, np.concatenate([np.zeros(0), *texts]))
        return
    loose = spare = 0
    told: list[list[float]] = []
    for i, (raw, tree) in enumerate(zip(booster.trees, trees, strict=True)):
        if not isinstance(raw, dict):
            continue
        where, n = f"trees[{i}]", len(raw["left_children"])
        loose += tree.links.cut_off
        n_leaves, width = len(tree.links.inner) + 1, booster.leaf_width
        known: dict[str, Any] = {}
        for name in (*OF_NODES, "base_weights", "leaf_weights"):
            part = raw.get(name)
            if part is None:
                continue
            fits: tuple[int, ...] = (n,)
            if name == "base_weights":
                fits = (n, n * width)
            elif name == "leaf_weights":
                fits = (0, n_leaves * width)
            # The reader of the tree has looked at its own lists.
            read = name in OF_THE_READER and isinstance(part, list)
            if not read and not any(are_numbers(part, size, 4) for size in fits):
                yield extra(f"{where}.{name}", part)
                continue
            known[name] = part
            if isinstance(part, list) and name not in WHOLE:
                told.append(part)
        wanted = {
            "num_nodes": n,
            "num_feature": booster.n_features,
            "size_leaf_vector": width,
            "num_deleted": tree.links.cut_off,
        }
        stated = raw.get("tree_param", {})
        for name, part in stated.items() if isinstance(stated, dict) else [("", stated)]:
            if name not in wanted or part not in (str(wanted[name]), "0", wanted[name]):
                yield extra(f"{where}.tree_param.{name_in_path(name)}", part, name)
        if raw.get("id", i) != i:
            yield extra(f"{where}.id", raw["id"])
        spare += _spare(known, tree)
        if width > 1:
            spare += _bad_leaves(raw, tree)
        yield from _sets(raw, tree, where)
        yield from _codes(booster, tree, where)
    numbers = np.fromiter(chain.from_iterable(told), np.float64, sum(map(len, told)))
    yield from _of_all(booster, trees, row, loose, spare, numbers)


def _of_all(
    booster: Booster,
    trees: Sequence[StoredTree],
    row: StoredRow | None,
    loose: int,
    spare: int,
    texts: Float,
) -> Iterator[Leftover]:
    """Yield what is said of all trees together."""
    odd = no_single(texts)
    for n, size, says in (
        (loose, _NODE_BYTES, "nodes that were pruned are still stored, with thresholds and covers"),
        (spare, 8, "numbers of leaves that only a question could need"),
        (_nobodies(trees, row), 8, "nodes that nobody was in"),
        (int(np.count_nonzero(odd)), 4, "numbers with more digits than 32 bits have"),
        (
            _strays(booster, trees, row),
            4,
            "covers, weights and gains that do not follow from the leaves",
        ),
    ):
        if n:
            yield Leftover(kind="extra", where="trees[*]", n=size * n, says=f"{n:,} {says}")
    if booster.leaf_width > 1:
        says = "weights, covers and gains above leaves that hold several numbers were not looked at"
        yield Leftover(kind="unseen", where="trees[*]", n=1, says=says)


def _nobodies(trees: Sequence[StoredTree], row: StoredRow | None) -> int:
    """Count the nodes without cover of all trees."""
    everywhere = row is not None and (row.cover is None or bool((row.cover != 0).all()))
    return 0 if everywhere else sum(map(_nobody, trees))


def _nobody(tree: StoredTree) -> int:
    """Count the nodes without cover, where any has some: no training makes one."""
    return 0 if tree.cover is None or not tree.cover.any() else int(np.sum(tree.cover == 0))


def _bad_leaves(raw: Mapping[str, Any], tree: StoredTree) -> int:
    """Count the conditions of leaves that hold vectors: XGBoost writes one number there."""
    leaf = tree.links.order[tree.links.is_leaf]
    stated = np.asarray(raw["split_conditions"], dtype=np.float32)[leaf]
    return int(np.count_nonzero((stated != 0) & (stated != _NO_VALUE) & ~np.isnan(stated)))


class _Told(NamedTuple):
    """Trees that ask something and state all their numbers, behind one another.

    Attributes
    ----------
    sizes
        How many nodes each has.
    node, left, right
        The inner nodes and their children, counted from the first node of the first tree.
    cover, weight, value
        Of all nodes.
    gain
        Of the inner ones.
    """

    sizes: Sequence[int]
    node: Wide
    left: Wide
    right: Wide
    cover: Float
    weight: Float
    value: Float
    gain: Float


def _told_by_row(booster: Booster, row: StoredRow) -> _Told | None:
    """Return the numbers of a row; None where a tree of it does not ask or state as much."""
    sizes = np.diff(row.start, append=row.links.n_nodes).tolist()
    raws: Sequence[Any] = booster.trees
    gains = [raw.get("loss_changes") for raw in raws]
    if row.cover is None or row.weight is None or min(sizes) < 2:
        return None
    if not all(isinstance(one, list | np.ndarray) for one in gains):
        return None
    if [*map(len, gains)] != sizes:
        return None
    links, gain = row.links, np.concatenate(gains).astype(np.float64)
    numbers = (row.cover, row.weight, row.value, gain[links.inner])
    return _Told(sizes, links.inner, links.left, links.right, *numbers)


def _told_by_each(booster: Booster, trees: Sequence[StoredTree]) -> tuple[_Told | None, int]:
    """Return the numbers of the trees that state them all, and how many others state."""
    told, loose = [], 0
    for tree, gain in _grown(booster, trees):
        if tree.cover is not None and tree.weight is not None and gain is not None:
            told.append((tree, gain))
        else:
            # XGBoost writes all of them: nothing tells what one alone should be.
            some = [one for one in (tree.cover, tree.weight, gain) if one is not None]
            loose += sum(int(np.count_nonzero(one)) for one in some)
    if not told:
        return None, loose
    links, _ = joined([tree.links for tree, _ in told])
    cover, weight, value = (
        np.concatenate([getattr(tree, name) for tree, _ in told])
        for name in ("cover", "weight", "value")
    )
    gain = np.concatenate([gain for _, gain in told]).astype(np.float64)
    sizes = [tree.links.n_nodes for tree, _ in told]
    return _Told(sizes, links.inner, links.left, links.right, cover, weight, value, gain), loose


def _strays(booster: Booster, trees: Sequence[StoredTree], row: StoredRow | None) -> int:
    """Count the numbers of inner nodes that are not what those of their leaves make them."""
    told, loose = None if row is None else _told_by_row(booster, row), 0
    if told is None:
        told, loose = _told_by_each(booster, trees)
    if told is None:
        return loose
    sizes, node, left, right, cover, weight, value, gain = told
    leaf = np.ones(len(weight), dtype=np.bool_)
    leaf[node] = False
    # Where a leaf keeps its weight as it was grown, its value is that times the rate.
    scaled = leaf & (np.abs(weight - value) <= _SAME * np.abs(value))
    if booster.loss.objective in _REFILLED:
        scaled = leaf
    # Whoever took the gains out, as a release does, has merged leaves without weights of their own.
    bare = not gain.any()
    if booster.loss.objective not in _REFILLED:
        whose = np.repeat(np.arange(len(sizes)), sizes)
        merged = (weight == 0) & bare
        if (apart := leaf & ~scaled & ~merged).any():
            loose += _unlike(value, weight, whose, apart)
    inner = Inner(
        node=node,
        left=left,
        right=right,
        tree=np.repeat(np.arange(len(sizes)), np.array(sizes) // 2),
        cover=cover,
        weight=weight,
        scaled=scaled,
        told=~(leaf & (weight == 0)) if bare else np.ones(len(weight), dtype=np.bool_),
        gain=gain,
        slack=_SLACK,
        bound=booster.loss.max_delta_step or np.inf,
    )
    odd = np.abs(cover[left] + cover[right] - cover[node]) > _SAME_COVER * cover[node]
    weights, gains = strays(inner)
    return loose + sum(int(np.count_nonzero(one)) for one in (odd, weights, gains & (not bare)))


def _unlike(value: Float, weight: Float, tree: Wide, at: Flag) -> int:
    """Count the leaves whose value is not their weight times the rate of the tree."""
    with np.errstate(all="ignore"):
        rate = value[at] / weight[at]
        usual = np.zeros(int(tree.max(initial=0)) + 1)
        some, start = np.unique(tree[at], return_index=True)
        all_of_them = np.median(rate)
        for i, own in zip(some.tolist(), np.split(rate, start[1:]), strict=True):
            usual[i] = np.median(own) if len(own) >= _ENOUGH else all_of_them
        far = np.abs(rate - usual[tree[at]]) > _NEAR * np.abs(rate)
    return int(np.count_nonzero(far | ~np.isfinite(rate)))


def _grown(
    booster: Booster, trees: Sequence[StoredTree]
) -> Iterator[tuple[StoredTree, Float | None]]:
    """Yield the trees that ask something, with the gains of their questions where they fit."""
    for raw, tree in zip(booster.trees, trees, strict=True):
        if booster.leaf_width == 1 and len(tree.links.inner) and isinstance(raw, dict):
            gain = raw.get("loss_changes")
            fits = isinstance(gain, list | np.ndarray) and len(gain) == len(raw["left_children"])
            inner, stored = tree.links.inner, tree.links.stored
            at = inner if stored is None else stored[inner]
            yield tree, np.asarray(gain)[at] if fits else None


def _spare(columns: Mapping[str, Any], tree: StoredTree) -> int:
    """Count the entries of leaves that stand where only inner nodes need one."""
    links, n = tree.links, tree.spare
    at = links.order
    if "loss_changes" in columns:
        n += int(np.count_nonzero(np.asarray(columns["loss_changes"])[at[links.is_leaf]]))
    if "parents" in columns:
        told = np.asarray(columns["parents"])[at]
        n += int(np.count_nonzero(told[1:] != at[links.parent[1:]]))
        n += int(told[0]) not in (-1, NO_PARENT)
    return n


def _sets(raw: Mapping[str, Any], tree: StoredTree, where: str) -> Iterator[Leftover]:
    """Yield the lists of categories that are not those of the questions."""
    parts = [raw.get(name) for name in OF_SETS]
    if all(part is None or len(part) == 0 for part in parts):
        return
    if not all(few_whole(part, Most.codes) for part in parts):
        yield extra(f"{where}.categories", parts)
        return
    codes, nodes, starts, sizes = (np.asarray(part, dtype=np.int64) for part in parts)
    asked = np.sort(tree.links.order[sorted(tree.categories)])
    in_turn = np.concatenate([[0], np.cumsum(sizes)])
    needed = sum(map(len, tree.categories.values()))
    fits = np.array_equal(np.sort(nodes), asked) and np.array_equal(starts, in_turn[:-1])
    # Those of a set ascend: another order could spell something.
    falls = np.setdiff1d(np.flatnonzero(np.diff(codes) <= 0) + 1, in_turn)
    if not fits or not len(codes) == in_turn[-1] == needed or len(falls):
        yield extra(f"{where}.categories", parts)


def _codes(booster: Booster, tree: StoredTree, where: str) -> Iterator[Leftover]:
    """Yield the categories that splits name by their numbers alone, and those that are none."""
    unnamed = 0
    for node, codes in tree.categories.items():
        names = booster.categories.get(int(tree.feature[node]), ())
        if not names:
            unnamed += len(codes)
        elif len(beyond := codes[codes >= len(names)]):
            yield extra(f"{where}.categories", beyond)
    if unnamed:
        says = "the numbers of categories, which occurred in the training data"
        yield Leftover(kind="column-values", where=f"{where}.categories", n=unnamed, says=says)
