"""What the steps of a boosting tell of its draws: of few people only one case fits their digits.

A step of a boosting on draws follows from those who were drawn, and nobody says who that was. In
a leaf of few people there are few draws, and of them one alone explains all digits of its step.
Whoever knows the features of everybody tries them, with both labels for each; who has the labels
too need only try who was drawn, and sees whether the digits are still there.

Nor is a tree independent of its draw: it asks what sets those apart who were drawn. Steps that
were computed once the trees stood are off by chance alone, and by no more.
"""

from collections.abc import Iterator

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.predict.boosted_scores import (
    begins_with,
    column_of_each_tree,
    rate_apart,
    start_of,
)
from treeaudit.people.predict.newton_steps import Newton, newton_of, passes

__all__ = ["drawn_anew", "newton_of_digits", "newton_of_people"]

_CLOSE, _CLOSE_SINGLE = 1e-9, 3e-6
"""Of a step: its digits, where gradients are of double and of single precision."""
_BY_CHANCE = 0.02
"""In so many leaves draws that are tried explain a step by chance, at most about."""
_CASES, _OF_A_LEAF = 20_000_000, 500_000
_SEVERAL, _FAR, _BY_DRAWS = 10, 100.0, 1.3
_PENALTIES = (0.0, *np.geomspace(0.01, 100, 121).tolist())
"""Tried where the file does not tell the one that steps were divided by."""
_FEWEST, _SOME, _MOST = 3, 0.1, 0.8
"""Of steps that are of these people and nothing else, rounding hides a few."""


def newton_of_digits(forest: Forest, node: Int, each: Float | Int | None) -> Newton | None:
    """Return how steps follow from those who were drawn; None where no digits show it.

    Parameters
    ----------
    forest
        A boosting on draws.
    node
        Shape ``(n_people, n_trees)``: where each of the training people ends.
    each
        Labels as positions, or the number that is predicted.
    """
    newton, share = _best(forest, node, each)
    return newton if share > _SOME else None


def newton_of_people(forest: Forest, node: Int, each: Float | Int | None) -> Newton:
    """Return how steps follow from everybody, or from those who were drawn for each tree.

    Parameters
    ----------
    forest, node, each
        As for `newton_of_digits`.

    Raises
    ------
    DataError
        If they follow from neither: with weights, other losses, or other people.
    """
    try:
        return newton_of(forest, node, each)
    except DataError:
        newton, share = _best(forest, node, each)
        if newton is None or share < _MOST:
            raise
        return newton


def drawn_anew(forest: Forest, node: Int, each: Float | Int | None, share: float) -> bool:
    """Tell whether steps are of draws that were made once the trees stood, off by one person.

    Then they are off by what chance makes: the squares of their scores are 1 on average. Those of
    trees that were grown on their draws are about 2, with weights or of other people far more.

    Parameters
    ----------
    forest, node, each
        As for `newton_of_digits`.
    share
        How many of the people were drawn for a tree.
    """
    if column_of_each_tree(forest) is None or each is None:
        return False
    # A rate that is found on the leaves themselves fits them better than it should.
    told = forest.source.library != "XGBoost" or "eta" in forest.source.parameters
    for start, shifted in _begun(forest, each):
        newton = _newton(forest, start, shifted=shifted)
        gathered = list(_leaf_sums(forest, node, newton, newton.wanted(each), share))
        if not gathered:
            return True
        leaves = np.concatenate(gathered, axis=1)
        if not leaves.size:
            continue
        penalties = [newton.penalty] if told else [newton.penalty, *_PENALTIES]
        off = min(
            _squared_scores(leaves, share, newton.rate if told else None, penalty)
            for penalty in penalties
        )
        if off <= _BY_DRAWS + 3 * np.sqrt(2 / leaves.shape[1]):
            return True
    return False


def _leaf_sums(
    forest: Forest, node: Int, newton: Newton, wanted: Float, share: float
) -> Iterator[Float]:
    """Yield per tree what its leaves of several people add up to, a column per leaf.

    The rows are the step, gradient and curvature, the sums of their squares and products, and the
    square of the gradient of one person.
    """
    for i, _, g, h, step in passes(forest, node, newton.start, newton, wanted):
        at, n_nodes = node[:, i], len(step)
        n = np.bincount(at, minlength=n_nodes)
        if not np.ptp(step[n > 0]):
            continue
        sums = [np.bincount(at, one, n_nodes) for one in (g, h, g * g, g * h, h * h)]
        one = sums[2] / np.maximum(n, 1)
        # Where curvature is less than the noise, steps are divided by the noise.
        asked = (n >= _SEVERAL) & (share * sums[1] >= np.sqrt(one))
        yield np.stack([step, *sums, one])[:, asked]


def _squared_scores(leaves: Float, share: float, rate: float | None, penalty: float) -> float:
    """Return the mean square of how far steps are off, by what chance makes.

    The rate is the one that fits best, unless told.
    """
    step, g, h, gg, gh, hh, one = leaves
    left = share * (1 - share)
    divided = share * h + penalty
    whole = -share * g / divided
    if rate is None:
        weight = divided**2 / (left * gg + one)
        rate = float((weight * step * whole).sum() / (weight * whole**2).sum())
        if rate <= 0:
            return _FAR
    told = step / rate
    chance = left * (gg + 2 * told * gh + told * told * hh) + one
    off = (told - whole) * divided
    return float(np.minimum(off * off / np.maximum(chance, 1e-12), _FAR).mean())


def _best(forest: Forest, node: Int, each: Float | Int | None) -> tuple[Newton | None, float]:
    """Return what explains most leaves, and the share that it does."""
    column = column_of_each_tree(forest)
    if column is None or each is None:
        return None, 0.0
    found: Newton | None = None
    most, share = _FEWEST - 1, 0.0
    for start, shifted in _begun(forest, each):
        newton = _newton(forest, start, shifted=shifted)
        explained, looked = _explained(forest, node, newton, newton.wanted(each))
        if explained > most:
            found, most, share = newton, explained, explained / looked
    return found, share


def _begun(forest: Forest, each: Float | Int) -> list[tuple[Float, bool]]:
    begun = [(start_of(forest, each), False)]
    if forest.source.library == "LightGBM":
        begun.append((begins_with(forest, each), True))
    return [(start, shifted) for start, shifted in begun if start is not None]


def _newton(forest: Forest, start: Float, *, shifted: bool) -> Newton:
    return Newton(
        start=start,
        shifted=shifted,
        apart=rate_apart(forest),
        squared=forest.schema.classes is None,
        **_stated(forest, len(start)),
    )


def _stated(forest: Forest, width: int) -> dict[str, float]:
    """Return rate and penalty as the file states them, or as the library has them."""
    stated = forest.source.parameters

    def of(default: float, *names: str) -> float:
        told = [float(str(stated[name])) for name in names if stated.get(name) is not None]
        return told[0] if told else default

    several = (width - 1) / width if width > 1 else 1.0
    match forest.source.library:
        case "XGBoost":
            # Of several classes it doubles the curvature.
            halved = 2.0 if width > 1 else 1.0
            rate, penalty = of(0.3, "learning_rate", "eta"), of(1.0, "lambda", "reg_lambda")
            return {"rate": rate / halved, "penalty": penalty / halved}
        case "LightGBM":
            rate, penalty = of(0.1, "learning_rate"), of(0.0, "lambda_l2", "reg_lambda")
            return {"rate": rate * several, "penalty": penalty * several}
    return {"rate": several, "penalty": 0.0}


def _explained(forest: Forest, node: Int, newton: Newton, wanted: Float) -> tuple[int, int]:
    """Return of how many leaves a draw explains the step, and how many were asked."""
    close = _CLOSE if forest.source.library == "scikit-learn" else _CLOSE_SINGLE
    explained, looked, left = 0, 0, _CASES
    for i, _, gradient, curvature, step in passes(forest, node, newton.start, newton, wanted):
        at = node[:, i]
        order = np.argsort(at, kind="stable")
        size = np.bincount(at, minlength=len(step))
        for leaf, people in enumerate(np.split(order, np.cumsum(size)[:-1])):
            each = np.stack([gradient[people], curvature[people]], axis=1)
            found = _draws(each, min(left, int(_BY_CHANCE / close), _OF_A_LEAF))
            if found is None:
                continue
            g, h = found.T
            made = -newton.rate * g / np.maximum(h + newton.penalty, 1e-12)
            told, left, looked = step[leaf], left - len(g), looked + 1
            off = np.abs(made - told) / max(abs(told), 1e-6)
            explained += bool((off <= close).any())
    return explained, looked


def _draws(each: Float, most: int) -> Float | None:
    """Return what all draws of people add up to; None where there are none, or too many.

    People who add the same are one kind, of whom some number is drawn.

    Examples
    --------
    >>> _draws(np.array([[1.0, 0.5], [1.0, 0.5], [-1.0, 0.5]]), 10).tolist()
    [[1.0, 0.5], [2.0, 1.0], [-1.0, 0.5], [0.0, 1.0], [1.0, 1.5]]
    >>> _draws(np.eye(9, 2), 10) is None
    True
    """
    if not len(each) or len(each) > most:
        return None
    kinds, n = np.unique(each, axis=0, return_counts=True)
    if np.log(n + 1.0).sum() > np.log(most):
        return None
    total = np.zeros((1, 2))
    for kind, times in zip(kinds, n.tolist(), strict=True):
        total = (total[:, None] + np.arange(times + 1)[:, None] * kind).reshape(-1, 2)
    # Nobody at all is no draw.
    return total[1:]
