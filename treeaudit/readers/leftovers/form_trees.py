"""What trees of our own form hold that no answer is made of: bounds and codes on their edges."""

from collections.abc import Iterator

import numpy as np

from treeaudit.arrays import Flag
from treeaudit.model.forest import Forest
from treeaudit.model.leftovers import Leftover
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.leftovers.extra import extra

__all__ = ["beside_edges", "untested_bounds"]

_FEW = 64
"""All of a table of so few columns is explained."""


def beside_edges(forest: Forest) -> Iterator[Leftover]:
    """Yield codes that stand twice on an edge, and bounds where no number is compared.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> job = Feature(name="job", categories=("a", "b"))
    >>> sets = CategorySets(start=[0, 0, 3, 4], codes=[0, 0, 0, 1])
    >>> tree = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[33, -np.inf, -np.inf],
    ...             high=[np.inf] * 3, categories=sets)
    >>> model = Forest(trees=(tree,), schema=Schema(features=(job,)), counts_are="absent")
    >>> [one.where for one in beside_edges(model)]
    ['trees[0].categories', 'trees[0].low']
    """
    for i, tree in enumerate(forest.trees):
        if (again := _again(tree.categories)).any() and tree.categories is not None:
            yield extra(f"trees[{i}].categories", tree.categories.codes[again].tolist())
        silent = _silent(tree)
        for name, bound in (("low", tree.low), ("high", tree.high)):
            if (told := silent & np.isfinite(bound)).any():
                yield extra(f"trees[{i}].{name}", bound[told].tolist())


def _again(sets: CategorySets | None) -> Flag:
    """Tell which codes are on their edge already."""
    if sets is None or not len(sets.codes):
        return np.zeros(0, dtype=np.bool_)
    owner = np.repeat(np.arange(len(sets.start) - 1), np.diff(sets.start))
    key = owner * (int(sets.codes.max()) + 1) + sets.codes
    again = np.ones(len(key), dtype=np.bool_)
    again[np.unique(key, return_index=True)[1]] = False
    return again


def _silent(tree: Tree) -> Flag:
    """Tell which nodes are reached without a look at a number."""
    silent = tree.parent < 0
    if tree.categories is not None:
        silent = silent | (np.diff(tree.categories.start) > 0)
    return silent


def untested_bounds(forest: Forest, tested: set[int]) -> int:
    """Return how many bytes the bounds of columns take that no tree of a private model tests.

    Those that many columns have are told once, and all of a table of few columns.
    """
    features = forest.schema.features
    if forest.privacy is None or len(features) <= _FEW:
        return 0
    untested = [one for i, one in enumerate(features) if i not in tested]
    bounds = {bound for one in untested for bound in (one.low, one.high) if bound is not None}
    return sum(len(f"{bound:.17g}") for bound in bounds)
