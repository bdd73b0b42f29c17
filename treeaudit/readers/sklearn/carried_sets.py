"""Carry the category sets of a tree through the steps in front of it.

`treeaudit.readers.sklearn.undo` makes sets of thresholds on encoded columns. Trees that
split by sets themselves, on the codes that an encoder gave out, need those
codes turned into the categories behind them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treeaudit.model.schema import Feature
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.sklearn.column import Column
from treeaudit.readers.sklearn.preprocessing import Plan
from treeaudit.readers.sklearn.undo import undo
from treeaudit.readers.types import Wide


def codes_behind(seen: Sequence[Feature], plan: Plan) -> list[Wide | None] | None:
    """Return what the categories that a tree knows are in terms of the data.

    Returns
    -------
    list or None
        Per feature None, or for each of its categories the code behind it;
        None for all where a step does not tell.
    """
    codes: list[Wide | None] = []
    for feature, column in zip(seen, plan.columns, strict=True):
        if feature.categories is None:
            codes.append(None)
            continue
        known = _codes(feature.categories, column)
        if known is None:
            return None
        codes.append(np.array([*known, max(known, default=-1) + 1], dtype=np.int64))
    return codes


def _codes(categories: tuple[str, ...], column: Column) -> list[int] | None:
    # A set takes what is below 0 for missing.
    other = column.fill is not None and (column.kind != "ordinal" or column.fill >= 0)
    if column.scale != 1 or column.shift != 0 or other or column.apart is not None:
        return None
    if column.kind == "number":
        return list(range(len(categories)))
    if column.kind != "ordinal" or not all(text.isdecimal() for text in categories):
        return None
    codes = [int(text) for text in categories if len(text) < 10]
    fits = len(codes) == len(categories) and max(codes, default=0) < len(column.known)
    return codes if fits else None


def features_behind(seen: Sequence[Feature], plan: Plan) -> tuple[Feature, ...]:
    """Return the features of the data, with the categories that only the tree knows."""
    features = list(plan.features)
    for feature, column, home in zip(seen, plan.columns, plan.home, strict=True):
        if feature.categories is not None and column.kind == "number":
            features[home] = Feature(name=features[home].name, categories=feature.categories)
    return tuple(features)


def undo_with_sets(
    tree: Tree, plan: Plan, codes: Sequence[Wide | None], *, rounded: bool = False
) -> Tree:
    """Return the tree over the original columns, its own sets included; as `undo` does."""
    undone = undo(tree, plan, rounded=rounded)
    if tree.categories is None:
        return undone
    owner, code = _listed(tree.categories)
    last = np.array([0 if each is None else len(each) for each in codes], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(last)])
    behind = np.concatenate([each for each in codes if each is not None])
    column = tree.feature[owner]
    code = behind[start[column] + np.minimum(code, last[column] - 1)]
    if undone.categories is not None:
        others, known = _listed(undone.categories)
        sets = np.diff(tree.categories.start) > 0
        owner = np.concatenate([owner, others[~sets[others]]])
        code = np.concatenate([code, known[~sets[others]]])
    order = np.lexsort((code, owner))
    ends = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=tree.n_nodes), out=ends[1:])
    return replace(undone, categories=CategorySets(start=ends, codes=code[order].astype(np.int32)))


def _listed(sets: CategorySets) -> tuple[Wide, Wide]:
    owner = np.repeat(np.arange(len(sets.start) - 1), np.diff(sets.start))
    return owner, sets.codes.astype(np.int64)
