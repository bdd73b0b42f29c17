"""How the steps of a boosting follow from the labels of people: found on the people themselves.

A leaf that holds the gradient G and the curvature H steps by ``-rate * G / (H + penalty)``: for
two classes and for several, and with a curvature of 1 a person for squared errors. Rate and
penalty are not in every file; with the people at hand they are what fits all leaves.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.steps import begins_with, column_of_each_tree, rate_apart, shares_of, start_of

__all__ = ["Newton", "newton_of"]

_EXACT, _MOST = 2e-3, 0.98


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Newton:
    """How steps follow from labels.

    Attributes
    ----------
    start
        Shape ``(n_columns,)``: the scores before the first round.
    shifted
        Whether the trees of the first round hold them too.
    rate, penalty
        As above.
    apart
        What values are multiplied with before they are added to the scores.
    squared
        Whether a number is predicted, by squared errors.
    """

    start: Float
    shifted: bool
    rate: float
    penalty: float
    apart: float
    squared: bool

    def wanted(self, each: Float | Int | None) -> Float:
        """Return what the scores shall become, shape ``(n_people, n_columns)``."""
        return _wanted(each, len(self.start), self.squared)

    def derivatives(self, score: Float, wanted: Float) -> tuple[Float, Float]:
        """Return gradient and curvature of the loss of each person, by column."""
        return _derivatives(score, wanted, self.squared)

    def steps(self, node: Int, gradient: Float, curvature: Float, n_nodes: int) -> Float:
        """Return the value of each node by the people in it; 0 where nobody is."""
        g = np.bincount(node, gradient, n_nodes)
        h = np.bincount(node, curvature, n_nodes) + self.penalty
        value: Float = np.where(h > 0, -self.rate * g / np.where(h > 0, h, 1.0), 0.0)
        return value


def newton_of(forest: Forest, node: Int, each: Float | Int | None) -> Newton:
    """Return how the steps of a model follow from the people it was trained on.

    Parameters
    ----------
    forest
        As it was trained.
    node
        Shape ``(n_people, n_trees)``: where each ends.
    each
        Labels as positions, or the number that is predicted.

    Raises
    ------
    DataError
        If no rate and penalty fit all leaves: with weights, other losses, or other people.
    """
    squared, apart = forest.schema.classes is None, rate_apart(forest)
    begun = []
    if each is not None and column_of_each_tree(forest) is not None:
        begun = [(start_of(forest, each), False)]
        if forest.source.library == "LightGBM":
            begun.append((begins_with(forest, each), True))
    for start, shifted in begun:
        if start is None:
            continue
        rate, penalty, fits = _fitted(forest, node, each, start, shifted, squared, apart)
        if fits >= _MOST and rate > 0:
            return Newton(
                start=start,
                shifted=shifted,
                rate=rate,
                penalty=max(penalty, 0.0),
                apart=apart,
                squared=squared,
            )
    raise DataError(
        "the steps of this model do not follow from the labels of these people: it was trained on "
        "others, with weights, or to another end"
    )


def _fitted(
    forest: Forest,
    node: Int,
    each: Float | Int | None,
    start: Float,
    shifted: bool,
    squared: bool,
    apart: float,
) -> tuple[float, float, float]:
    """Return rate and penalty that fit best, and the share of the leaves that they fit."""
    width = len(start)
    score, wanted = np.tile(start, (len(node), 1)), _wanted(each, width, squared)
    rows, told, size = [], [], []
    for i, tree in enumerate(forest.trees):
        k, at = i % width, node[:, i]
        if k == 0:
            gradient, curvature = _derivatives(score, wanted, squared)
        shift = start[k] if shifted and i < width else 0.0
        value = np.zeros(tree.n_nodes) if tree.value is None else tree.value
        held = np.unique(at)
        g, h, both = (
            np.bincount(at, one, tree.n_nodes)[held]
            for one in (gradient[:, k], curvature[:, k], np.abs(gradient[:, k]))
        )
        step = value[held] - shift
        rows.append(np.column_stack([step * h, step]))
        told.append(-g)
        size.append(both)
        score[:, k] += apart * value[at] - shift
    a, b, scale = np.concatenate(rows), np.concatenate(told), np.concatenate(size) + 1e-9
    (inner, outer), *_ = np.linalg.lstsq(a / scale[:, None], b / scale, rcond=None)
    off = np.abs(a @ (inner, outer) - b) / scale
    rate = 1 / inner if inner > 0 else 0.0
    return rate, outer * rate, float((off <= _EXACT).mean())


def _wanted(each: Float | Int | None, width: int, squared: bool) -> Float:
    told = np.zeros(0) if each is None else np.asarray(each)
    if squared:
        return told[:, None].astype(np.float64)
    hit: Float = (told[:, None] == (np.arange(width) if width > 1 else 1)).astype(np.float64)
    return hit


def _derivatives(score: Float, wanted: Float, squared: bool) -> tuple[Float, Float]:
    if squared:
        return score - wanted, np.ones_like(score)
    share = shares_of(score)
    return share - wanted, share * (1 - share)
