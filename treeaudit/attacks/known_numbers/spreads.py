"""How far the numbers of the people in a leaf are from what the leaf says."""

from typing import Literal

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.dataclass import dataclass
from treeaudit.model.tree import Tree

__all__ = ["Spreads", "spreads"]

_MOST_DRAWN = 3
"""Draws per person of a leaf, as a rule fewer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spreads:
    """What is known of the numbers in each leaf, one entry per leaf; NaN where nothing is.

    Attributes
    ----------
    spread
        How far numbers are off on average: a standard deviation, of draws where the file
        counts these, or a mean absolute deviation, as in `Tree.spread_is`.
    reach
        No number is further off than that.
    mean
        What the numbers add up to, by the people; NaN where the spread is no deviation.
    untold
        Where the file holds a spread, but not of people, and these are not at hand.
    whose
        Where spreads are from: the ``file``, the training ``people``, or ``none``.
    deviation
        The standard deviation of everybody's numbers; None where nobody knows it.
    """

    spread: Float
    reach: Float
    mean: Float
    untold: Flag
    whose: Literal["file", "people", "none"]
    deviation: float | None


def spreads(case: Case) -> Spreads:
    """Return how far numbers are off in the leaves of a model that predicts a number.

    Where its trees keep no spread of people, that of the training people who end in a leaf
    is taken.
    """
    table, train = case.table, case.train
    spread, reach, mean = np.full((3, len(table)), np.nan)
    untold = np.zeros(len(table), dtype=np.bool_)
    targets = None if train is None else train.targets
    roots, of_people = list[float](), False
    for i, tree in enumerate(case.forest.trees):
        rows = table.rows_of(i)
        leaf, size = table.leaf[rows], table.size[rows]
        file: Float = np.full(len(leaf), np.nan) if tree.spread is None else tree.spread[leaf]
        spread[rows], reach[rows] = file, file * _times(case, tree, size)
        if tree.spread is not None:
            if tree.value is not None and tree.spread_is == "deviation":
                mean[rows] = tree.value[leaf]
            roots.append(_root(tree, targets))
        open_ = np.isnan(file)
        if train is not None and targets is not None and open_.any():
            of_people = True
            each, means = _of_people(targets, train.node[:, i], tree.n_nodes)
            here = np.arange(len(table))[rows][open_]
            spread[here], mean[here] = each[leaf[open_]], means[leaf[open_]]
            reach[here] = spread[here] * np.sqrt(np.maximum(size[open_] - 1, 1))
        elif tree.spread is not None:
            untold[rows] = open_ & (size > 1)
    told = [root for root in roots if not np.isnan(root)]
    deviation = max(told) if told else None if targets is None else float(targets.std())
    whose: Literal["file", "people", "none"] = "file" if roots else "none"
    return Spreads(
        spread=spread,
        reach=reach,
        mean=mean,
        untold=untold,
        whose="people" if of_people else whose,
        deviation=deviation,
    )


def _times(case: Case, tree: Tree, size: Wide) -> Float:
    """Return how many times the spread of a leaf one number in it can be off."""
    # Of draws one may stand for a person, and all others for those at the other side.
    n = np.maximum(size, 2) * (1 if case.forest.records_are == "all" else _MOST_DRAWN)
    times: Float = np.sqrt(n - 1.0) if tree.spread_is == "deviation" else n * 1.0
    return times


def _root(tree: Tree, targets: Float | None) -> float:
    """Return the standard deviation of everybody, or what the file has in its place."""
    if targets is not None and tree.spread_is != "deviation":
        return float(targets.std())
    return float("nan") if tree.spread is None else float(tree.spread[0])


def _of_people(numbers: Float, node: Int, n: int) -> tuple[Float, Float]:
    """Return the standard deviation and the mean of the numbers of whoever ends in each node."""
    people = np.maximum(np.bincount(node, minlength=n), 1)
    mean = np.bincount(node, numbers, n) / people
    # About the mean, so that nothing is lost to the size of the numbers.
    spread: Float = np.sqrt(np.bincount(node, (numbers - mean[node]) ** 2, n) / people)
    return np.where(np.bincount(node, minlength=n) > 0, spread, np.nan), mean
