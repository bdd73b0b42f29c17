"""Whether trees are no larger than what a ledger asked for: nobody else's trees go under it."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.dp.ledger import Query
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree, depths_of

__all__ = ["fits_of", "grown_beyond", "trees_counted"]

_CANDIDATE = re.compile(r"candidate ([1-9]\d{0,3}): (.*)", re.ASCII | re.DOTALL)
_OF_TREE = re.compile(r"(?:leaf counts of tree (\d{1,6})|tree (\d{1,6}): leaf counts)", re.ASCII)
_TOGETHER = frozenset(("leaf counts", "leaf labels", "leaf sums", "groups"))
_NODES = re.compile(r"tree (\d{1,6}): classes of level (\d{1,3})", re.ASCII)
_SPLITS = re.compile(
    r"(?:tree (\d{1,6}): )?(?:splits"
    r"|values(?: and classes)? of (?:column|attribute) 1) of level (\d{1,3})",
    re.ASCII,
)
_STEP = re.compile(r"specialization \d{1,5}", re.ASCII)
_STUMPS = "columns"
_ADDED = "PrivateAdditiveTreeClassifier"
_TAUGHT = "SemiSupervisedForestClassifier"
_ALL = 0


def fits_of(queries: Sequence[Query]) -> list[list[Query]]:
    """Return what was asked for each candidate of a search, or for the one fit that there was."""
    fits = defaultdict[str, list[Query]](list)
    for query in queries:
        found = _CANDIDATE.fullmatch(query.name)
        mine, name = (found[1], found[2]) if found else ("", query.name)
        fits[mine].append(replace(query, name=name))
    if len(fits) > 1:
        # What was chosen by is asked of all candidates together.
        fits.pop("", None)
    return list(fits.values())


def grown_beyond(forest: Forest, queries: Sequence[Query]) -> bool:
    """Tell whether the trees have more leaves, splits or levels than any fit of a ledger asked for.

    Every leaf that tells something was counted, and every split chosen, by a question that is
    in the ledger. Trees that are drawn at random ask for their leaves alone.

    Parameters
    ----------
    forest
        The model.
    queries
        What was asked; of a search, for each of its candidates.
    """
    return not any(_holds(forest, _answered(rows)) for rows in fits_of(queries))


def _answered(rows: Sequence[Query]) -> list[Query]:
    """Return the rows without those that cost nothing and so tell nothing.

    Splits that all cost nothing are drawn evenly, as those of a random tree.
    """
    splits = [row for row in rows if _SPLITS.fullmatch(row.name)]
    drawn = all(not row.epsilon and not row.rho for row in splits)
    return [row for row in rows if row.epsilon or row.rho or (drawn and row in splits)]


def trees_counted(forest: Forest, queries: Sequence[Query]) -> int:
    """Return how many trees, the first ones, have leaves with noise of their own."""
    names = [_CANDIDATE.sub(r"\2", query.name) for query in queries]
    if _STUMPS in names:
        return forest.n_trees
    own = [int(f[1] or f[2]) for name in names if (f := _OF_TREE.fullmatch(name))]
    return min(forest.n_trees, max(own, default=forest.n_trees))


def _holds(forest: Forest, asked: Sequence[Query]) -> bool:
    """Tell whether the trees can be those of one fit."""
    rows = {query.name: query.asked for query in asked}
    together = [n for name, n in rows.items() if name in _TOGETHER]
    own, nodes, splits = (
        defaultdict[int, int](int),
        _by_level(_NODES, rows),
        _by_level(_SPLITS, rows),
    )
    for name, n in rows.items():
        if found := _OF_TREE.fullmatch(name):
            own[int(found[1] or found[2])] += n
    trees = list(forest.trees)
    if _STUMPS in rows:
        trees, stumps = trees[:1], trees[1:]
        if not _are_stumps(stumps, rows[_STUMPS]):
            return False
    elif forest.source.estimator == _ADDED and len(trees) > 1:
        return False
    if nodes:
        return _within(trees, nodes, inner=False) and _within(trees, splits, inner=True)
    if own:
        taught = len(trees) - max(own)
        public = forest.source.parameters.get("n_public_trees")
        if taught > 0 and (forest.source.estimator != _TAUGHT or taught != public):
            return False
        if not _hold_the_same(trees[max(own) :]):
            return False
        if any(_n_leaves(tree) > own[i] for i, tree in enumerate(trees[: max(own)], start=1)):
            return False
        return not splits or _within(trees, splits, inner=True)
    if sum(map(_n_leaves, trees)) > sum(together):
        return False
    if "leaf labels" in rows:
        return True
    steps = sum(_STEP.fullmatch(name) is not None for name in rows)
    if "groups" in rows:
        return all(int(depths_of(tree.parent).max()) <= steps for tree in trees)
    return _within(trees, splits, inner=True)


def _by_level(names: re.Pattern[str], rows: dict[str, int]) -> dict[tuple[int, int], int]:
    """Return how often was asked, by tree, or of all together, and by level."""
    found = defaultdict[tuple[int, int], int](int)
    for name, n in rows.items():
        if match := names.fullmatch(name):
            key = int(match[1] or _ALL), int(match[2])
            found[key] = max(found[key], n)
    return found


def _within(trees: Sequence[Tree], asked: dict[tuple[int, int], int], *, inner: bool) -> bool:
    """Tell whether no level has more nodes, or more that are split, than were asked about."""
    told = defaultdict[tuple[int, int], int](int)
    apart = any(tree != _ALL for tree, _ in asked)
    for i, tree in enumerate(trees, start=1):
        for level, n in enumerate(_per_level(tree, inner=inner).tolist(), start=1):
            told[i if apart else _ALL, level] += n
    return all(n <= asked.get(key, 0) for key, n in told.items())


def _per_level(tree: Tree, *, inner: bool) -> Wide:
    depth = depths_of(tree.parent)
    counted: Wide = np.bincount(depth[~tree.is_leaf] if inner else depth)
    return counted


def _hold_the_same(trees: Sequence[Tree]) -> bool:
    """Tell whether trees hold whole people of the same number for each class, none below zero."""
    held = [tree.counts for tree in trees if tree.counts is not None]
    if not all((np.rint(counts) == counts).all() and (counts >= 0).all() for counts in held):
        return False
    return all(np.array_equal(counts[0], held[0][0]) for counts in held)


def _n_leaves(tree: Tree) -> int:
    return int(tree.is_leaf.sum())


def _are_stumps(trees: Sequence[Tree], most: int) -> bool:
    """Tell whether each tree asks about one column, another one each."""
    tested = [np.unique(tree.feature[tree.feature >= 0]).tolist() for tree in trees]
    columns = [column for each in tested for column in each]
    one = all(len(each) <= 1 for each in tested)
    return one and len(trees) <= most and len(set(columns)) == len(columns)
