"""How the steps of a boosting follow from the labels of people: found on the people themselves.

A leaf that holds the gradient G and the curvature H steps by ``-rate * G / (H + penalty)``: for
two classes and for several, and with a curvature of 1 a person for squared errors. Rate and
penalty are not in every file; with the people at hand they are what fits all leaves.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.predict.boosted_scores import (
    begins_with,
    column_of_each_tree,
    rate_apart,
    shares_of,
    start_of,
)

__all__ = ["Newton", "newton_of", "passes", "told_by_steps"]

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

    def steps(
        self,
        node: Int,
        gradient: Float,
        curvature: Float,
        n_nodes: int,
        off: Float | float = 0.0,
        least: Float | float = 0.0,
    ) -> Float:
        """Return the value of each node by the people in it; 0 where nobody is.

        Parameters
        ----------
        off
            Shape ``(n_nodes,)``: what is added to the gradients.
        least
            Shape ``(n_nodes,)``: the least curvature that a step is divided by.
        """
        g = np.bincount(node, gradient, n_nodes) + off
        h = np.maximum(np.bincount(node, curvature, n_nodes) + self.penalty, least)
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
    found = _best(forest, node, each)
    if found is None or found.fits < _MOST:
        raise DataError(
            "the steps of this model do not follow from the labels of these people: it was trained "
            "on others, with weights, or to another end"
        )
    return found.newton


def told_by_steps(forest: Forest, node: Int, each: Float | Int | None) -> list[Float] | None:
    """Return what steps say the labels of the people in each node are, on average, by tree.

    As exactly as they are of everybody: of draws they are off by those who were left out. Rate and
    penalty are those that fit the people best, who may be taken for known. None where none fit.
    """
    found = _best(forest, node, each)
    if found is None:
        return None
    newton, means = found.newton, []
    wanted = newton.wanted(each)
    for i, column, gradient, curvature, step in passes(forest, node, newton.start, newton, wanted):
        n_nodes = len(step)
        held = np.maximum(np.bincount(node[:, i], minlength=n_nodes), 1)
        g = np.bincount(node[:, i], gradient, n_nodes)
        h = np.bincount(node[:, i], curvature, n_nodes)
        real = np.bincount(node[:, i], wanted[:, column], n_nodes)
        # The sum of labels is that of the answers less the gradient.
        said = (real + g + step * (h + newton.penalty) / newton.rate) / held
        means.append(said if newton.squared else np.clip(said, 0.0, 1.0))
    return means


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """What fits the leaves best, and the share of the leaves that it fits."""

    newton: Newton
    fits: float


def _best(forest: Forest, node: Int, each: Float | Int | None) -> _Fit | None:
    begun = []
    if each is not None and column_of_each_tree(forest) is not None:
        begun = [(start_of(forest, each), False)]
        if forest.source.library == "LightGBM":
            begun.append((begins_with(forest, each), True))
    tried = [_fitted(forest, node, each, one, shifted) for one, shifted in begun if one is not None]
    return max((one for one in tried if one is not None), key=lambda one: one.fits, default=None)


def _fitted(
    forest: Forest, node: Int, each: Float | Int | None, start: Float, shifted: bool
) -> _Fit | None:
    """Return rate and penalty that fit best."""
    newton = Newton(
        start=start,
        shifted=shifted,
        rate=1.0,
        penalty=0.0,
        apart=rate_apart(forest),
        squared=forest.schema.classes is None,
    )
    rows, told, size = [], [], []
    wanted = newton.wanted(each)
    for i, _, gradient, curvature, step in passes(forest, node, start, newton, wanted):
        at, held = node[:, i], np.unique(node[:, i])
        g, h, both = (
            np.bincount(at, one, len(step))[held] for one in (gradient, curvature, np.abs(gradient))
        )
        rows.append(np.column_stack([step[held] * h, step[held]]))
        told.append(-g)
        size.append(both)
    a, b, scale = np.concatenate(rows), np.concatenate(told), np.concatenate(size) + 1e-9
    (inner, outer), *_ = np.linalg.lstsq(a / scale[:, None], b / scale, rcond=None)
    if inner <= 0:
        return None
    off = np.abs(a @ (inner, outer) - b) / scale
    made = replace(newton, rate=float(1 / inner), penalty=max(float(outer / inner), 0.0))
    return _Fit(newton=made, fits=float((off <= _EXACT).mean()))


def passes(
    forest: Forest, node: Int, start: Float, newton: Newton, wanted: Float
) -> Iterator[tuple[int, int, Float, Float, Float]]:
    """Yield tree, column, gradient and curvature of each person before it, and its steps."""
    width, score = len(start), np.tile(start, (len(node), 1))
    gradient = curvature = score
    for i, tree in enumerate(forest.trees):
        k = i % width
        if k == 0:
            gradient, curvature = newton.derivatives(score, wanted)
        shift = start[k] if newton.shifted and i < width else 0.0
        step = (np.zeros(tree.n_nodes) if tree.value is None else tree.value) - shift
        yield i, k, gradient[:, k], curvature[:, k], step
        score[:, k] += newton.apart * (step[node[:, i]] + shift) - shift


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
