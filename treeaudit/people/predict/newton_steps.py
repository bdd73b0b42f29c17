"""How the steps of a boosting follow from labels: of everybody, or of a sample of them.

A leaf with the gradient G and the curvature H steps by ``-rate * G / (H + penalty)``: for two
classes and for several, and with a curvature of 1 a person for squared errors. Rate and penalty
are not in every file; with the people at hand they are what fits all leaves.

If each tree saw a sample (``subsample``), nobody says who was drawn. In a leaf of few people only
one sample explains all digits of its step, so whoever knows the people can try them all. Such a
tree also depends on its sample, since it asks what sets the drawn people apart. Steps that a repair
computed anew, from samples that were drawn once the trees stood, are off by chance alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.predict.predictions import (
    begins_with,
    column_of_each_tree,
    rate_apart,
    shares_of,
    start_of,
)

_EXACT, _MOST = 2e-3, 0.98
"""How far a step may be off that follows from everybody, and the share of leaves that must fit."""
_CLOSE, _CLOSE_SINGLE = 1e-9, 3e-6
"""Digits of a step, if gradients are of double and of single precision."""
_BY_CHANCE = 0.02
"""The chance that one of the samples that are tried explains a step by accident, at most about."""
_CASES, _OF_A_LEAF = 20_000_000, 500_000
"""Samples that are tried for a model, and for a leaf."""
_FEWEST, _SOME, _OF_SAMPLES = 3, 0.1, 0.8
"""Leaves explained by a sample: at least, and as shares; rounding hides a few."""
_SEVERAL, _FAR, _BY_DRAWS = 10, 100.0, 1.3
_ENOUGH, _MANY, _LIKELY = 100, 1_000, 0.05
"""Leaves that show samples, so many of them at most, and how likely their steps must be."""
_PENALTIES = (0.0, *np.geomspace(0.01, 100, 121).tolist())
"""Tried if the file does not tell the penalty."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Newton:
    """How steps follow from labels."""

    start: Float  # Shape ``(n_columns,)``: the scores before the first round
    shifted: bool  # Whether the trees of the first round hold them too
    rate: float
    penalty: float
    apart: float  # What values are multiplied with before they are added to the scores
    squared: bool  # Whether a number is predicted, by squared errors

    def wanted(self, each: Float | Int | None) -> Float:
        """Return the perfect scores, shape ``(n_people, n_columns)``."""
        labels, width = np.zeros(0) if each is None else np.asarray(each), len(self.start)
        if self.squared:
            return labels[:, None].astype(np.float64)
        hit: Float = (labels[:, None] == (np.arange(width) if width > 1 else 1)).astype(np.float64)
        return hit

    def derivatives(self, score: Float, wanted: Float) -> tuple[Float, Float]:
        """Return gradient and curvature of the loss of each person, by column."""
        if self.squared:
            return score - wanted, np.ones_like(score)
        share = shares_of(score)
        return share - wanted, share * (1 - share)

    def steps(
        self,
        node: Int,
        gradient: Float,
        curvature: Float,
        n_nodes: int,
        off: Float | float = 0.0,
        least: Float | float = 0.0,
    ) -> Float:
        """Return the value of each node by the people in it; 0 if nobody is.

        ``off``: shape ``(n_nodes,)``: what is added to the gradients. ``least``: shape
        ``(n_nodes,)``: the least curvature that a step is divided by.
        """
        g = np.bincount(node, gradient, n_nodes) + off
        h = np.maximum(np.bincount(node, curvature, n_nodes) + self.penalty, least)
        value: Float = np.where(h > 0, -self.rate * g / np.where(h > 0, h, 1.0), 0.0)
        return value


def newton_of(forest: Forest, node: Int, each: Float | Int | None) -> Newton:
    """Return how the steps of a model follow from all people it was trained on.

    ``forest``: as it was trained. ``node``: shape ``(n_people, n_trees)``: where each ends.
    ``each``: labels as positions, or the number that is predicted.
    """
    newton, share = _of_everybody(forest, node, each)
    if newton is None or share < _MOST:
        raise DataError(
            "the steps of this model do not follow from the labels of these people: it was trained "
            "on others, with weights, or to another end"
        )
    return newton


def newton_of_digits(forest: Forest, node: Int, each: Float | Int | None) -> Newton | None:
    """Return how steps follow from samples, if their digits show that; as `newton_of`."""
    newton, share = _of_samples(forest, node, each)
    return newton if share > _SOME else None


def newton_of_people(forest: Forest, node: Int, each: Float | Int | None) -> Newton:
    """Return how steps follow from everybody, or from a sample for each tree; as `newton_of`."""
    try:
        return newton_of(forest, node, each)
    except DataError:
        newton, share = _of_samples(forest, node, each)
        if newton is None or share < _OF_SAMPLES:
            raise
        return newton


def means_from_steps(forest: Forest, node: Int, each: Float | Int | None) -> list[Float] | None:
    """Return the average label of the people in each node by the steps, per tree.

    Steps of samples are off by the people who were left out. Rate and penalty are those that fit
    the people best, since an attacker may know them. None if none fit.
    """
    newton, _ = _of_everybody(forest, node, each)
    if newton is None:
        return None
    means, wanted = [], newton.wanted(each)
    for i, column, gradient, curvature, step in _passes(forest, node, newton, wanted):
        at, n_nodes = node[:, i], len(step)
        people = np.maximum(np.bincount(at, minlength=n_nodes), 1)
        real, g, h = (np.bincount(at, x, n_nodes) for x in (wanted[:, column], gradient, curvature))
        # The sum of labels is that of the answers less the gradient.
        mean = (real + g + step * (h + newton.penalty) / newton.rate) / people
        means.append(mean if newton.squared else np.clip(mean, 0.0, 1.0))
    return means


def resampled_steps(forest: Forest, node: Int, each: Float | Int | None, share: float) -> bool:
    """Tell whether steps are of samples that were drawn once the trees stood, as the file says."""
    return any(
        not off.size or off.mean() <= _BY_DRAWS + 3 * np.sqrt(2 / len(off))
        for off in _scores_of_samples(forest, node, each, share)
    )


def shows_samples(forest: Forest, node: Int, each: Float | Int | None, share: float) -> bool:
    """Tell whether steps show that of themselves: they are off as samples are, leaf by leaf.

    Steps of everybody are not off at all, and those of merged leaves too little or too much.
    """
    from scipy.stats import kstest

    return any(
        # With very many leaves it would show that a sum of few draws is not quite normal.
        len(off) >= _ENOUGH
        and kstest(off[:: 1 + len(off) // _MANY], "chi2", args=(1,)).pvalue > _LIKELY
        for off in _scores_of_samples(forest, node, each, share)
    )


def _scores_of_samples(
    forest: Forest, node: Int, each: Float | Int | None, share: float
) -> Iterator[Float]:
    """Yield how far the steps of leaves are off if they are of samples, as squared z-scores."""
    # A rate that is fitted to the leaves fits them better than it should.
    known = forest.source.library != "XGBoost" or "eta" in forest.source.parameters
    for newton in _by_library(forest, each):
        sums = list(_leaf_sums(forest, node, newton, newton.wanted(each), share))
        leaves = np.concatenate(sums, axis=1) if sums else np.zeros((7, 0))
        if sums and not leaves.size:
            continue
        yield min(
            (
                _squared_scores(leaves, share, newton.rate if known else None, penalty)
                for penalty in ([newton.penalty] if known else [newton.penalty, *_PENALTIES])
            ),
            key=lambda off: float(off.mean()) if off.size else 0.0,
        )


def _starts(forest: Forest, each: Float | Int | None) -> list[tuple[Float, bool]]:
    """Return the scores that a boosting may begin with, and whether its first trees hold them."""
    if column_of_each_tree(forest) is None or each is None:
        return []
    starts = [(start_of(forest, each), False)]
    if forest.source.library == "LightGBM":
        starts.append((begins_with(forest, each), True))
    return [(start, shifted) for start, shifted in starts if start is not None]


def _newton(forest: Forest, start: Float, shifted: bool, rate: float, penalty: float) -> Newton:
    return Newton(
        start=start,
        shifted=shifted,
        rate=rate,
        penalty=penalty,
        apart=rate_apart(forest),
        squared=forest.schema.classes is None,
    )


def _passes(
    forest: Forest, node: Int, newton: Newton, wanted: Float
) -> Iterator[tuple[int, int, Float, Float, Float]]:
    """Yield tree, column, gradient and curvature of each person before it, and its steps."""
    start, width = newton.start, len(newton.start)
    score = np.tile(start, (len(node), 1))
    gradient = curvature = score
    for i, tree in enumerate(forest.trees):
        k = i % width
        if k == 0:
            gradient, curvature = newton.derivatives(score, wanted)
        shift = start[k] if newton.shifted and i < width else 0.0
        step = (np.zeros(tree.n_nodes) if tree.value is None else tree.value) - shift
        yield i, k, gradient[:, k], curvature[:, k], step
        score[:, k] += newton.apart * (step[node[:, i]] + shift) - shift


def _of_everybody(
    forest: Forest, node: Int, each: Float | Int | None
) -> tuple[Newton | None, float]:
    """Return the rate and penalty that fit most leaves by least squares, and their share."""
    best: tuple[Newton | None, float] = (None, -1.0)
    for start, shifted in _starts(forest, each):
        newton = _newton(forest, start, shifted, 1.0, 0.0)
        rows, sums, size = [], [], []
        for i, _, gradient, curvature, step in _passes(forest, node, newton, newton.wanted(each)):
            at, there = node[:, i], np.unique(node[:, i])
            g, h, both = (
                np.bincount(at, x, len(step))[there]
                for x in (gradient, curvature, np.abs(gradient))
            )
            rows.append(np.column_stack([step[there] * h, step[there]]))
            sums.append(-g)
            size.append(both)
        # step * (H + penalty) / rate = -G: linear in 1 / rate and penalty / rate.
        a, b, scale = np.concatenate(rows), np.concatenate(sums), np.concatenate(size) + 1e-9
        (inner, outer), *_ = np.linalg.lstsq(a / scale[:, None], b / scale, rcond=None)
        if inner <= 0:
            continue
        fits = float((np.abs(a @ (inner, outer) - b) / scale <= _EXACT).mean())
        if fits > best[1]:
            penalty = max(float(outer / inner), 0.0)
            best = replace(newton, rate=float(1 / inner), penalty=penalty), fits
    return best


def _of_samples(forest: Forest, node: Int, each: Float | Int | None) -> tuple[Newton | None, float]:
    """Return the parameters by which samples explain most leaves, and the share of leaves."""
    found: Newton | None = None
    most, share = _FEWEST - 1, 0.0
    for newton in _by_library(forest, each):
        explained, n = _explained(forest, node, newton, newton.wanted(each))
        if explained > most:
            found, most, share = newton, explained, explained / n
    return found, share


def _by_library(forest: Forest, each: Float | Int | None) -> Iterator[Newton]:
    """Yield rate and penalty as the file states them, or as the library has them by default."""
    stated = forest.source.parameters

    def of(default: float, *names: str) -> float:
        given = [float(str(stated[name])) for name in names if stated.get(name) is not None]
        return given[0] if given else default

    for start, shifted in _starts(forest, each):
        width = len(start)
        rate = factor = (width - 1) / width if width > 1 else 1.0
        penalty = 0.0
        match forest.source.library:
            case "XGBoost":
                # It doubles the curvature of several classes.
                factor = 0.5 if width > 1 else 1.0
                rate = of(0.3, "learning_rate", "eta") * factor
                penalty = of(1.0, "lambda", "reg_lambda") * factor
            case "scikit-learn" if "max_iter" in stated:
                rate, penalty = of(0.1, "learning_rate"), of(0.0, "l2_regularization")
            case "LightGBM":
                rate = of(0.1, "learning_rate") * factor
                penalty = of(0.0, "lambda_l2", "reg_lambda") * factor
        yield _newton(forest, start, shifted, rate, penalty)


def _explained(forest: Forest, node: Int, newton: Newton, wanted: Float) -> tuple[int, int]:
    """Return of how many leaves a sample explains the step, and how many were tried."""
    close = _CLOSE if forest.source.library == "scikit-learn" else _CLOSE_SINGLE
    explained, n, left = 0, 0, _CASES
    for i, _, gradient, curvature, step in _passes(forest, node, newton, wanted):
        at = node[:, i]
        order = np.argsort(at, kind="stable")
        size = np.bincount(at, minlength=len(step))
        for leaf, people in enumerate(np.split(order, np.cumsum(size)[:-1])):
            each = np.stack([gradient[people], curvature[people]], axis=1)
            sums = _sums_of_samples(each, min(left, int(_BY_CHANCE / close), _OF_A_LEAF))
            if sums is None:
                continue
            g, h = sums.T
            made = -newton.rate * g / np.maximum(h + newton.penalty, 1e-12)
            left, n = left - len(g), n + 1
            off = np.abs(made - step[leaf]) / max(abs(step[leaf]), 1e-6)
            explained += bool((off <= close).any())
    return explained, n


def _sums_of_samples(each: Float, most: int) -> Float | None:
    """Return the sums of all samples of people; None if there are none, or too many."""
    if not len(each) or len(each) > most:
        return None
    distinct, n = np.unique(each, axis=0, return_counts=True)
    if np.log(n + 1.0).sum() > np.log(most):
        return None
    total = np.zeros((1, 2))
    for one, times in zip(distinct, n.tolist(), strict=True):
        total = (total[:, None] + np.arange(times + 1)[:, None] * one).reshape(-1, 2)
    # An empty sample is none.
    return total[1:]


def _leaf_sums(
    forest: Forest, node: Int, newton: Newton, wanted: Float, share: float
) -> Iterator[Float]:
    """Yield the sums of the leaves of several people, a column per leaf, tree by tree."""
    for i, _, g, h, step in _passes(forest, node, newton, wanted):
        at, n_nodes = node[:, i], len(step)
        n = np.bincount(at, minlength=n_nodes)
        if not np.ptp(step[n > 0]):
            continue
        sums = [np.bincount(at, x, n_nodes) for x in (g, h, g * g, g * h, h * h)]
        one = sums[2] / np.maximum(n, 1)
        # If curvature is less than the noise, steps are divided by the noise.
        usable = (n >= _SEVERAL) & (share * sums[1] >= np.sqrt(one))
        yield np.stack([step, *sums, one])[:, usable]


def _squared_scores(leaves: Float, share: float, rate: float | None, penalty: float) -> Float:
    """Return the squared z-scores of the steps of new samples; the best rate unless given."""
    step, g, h, gg, gh, hh, one = leaves
    left = share * (1 - share)
    divided = share * h + penalty
    whole = -share * g / divided
    if rate is None:
        weight = divided**2 / (left * gg + one)
        rate = float((weight * step * whole).sum() / (weight * whole**2).sum())
        if rate <= 0:
            return np.full(len(step), _FAR)
    plain = step / rate
    variance = left * (gg + 2 * plain * gh + plain * plain * hh) + one
    off = (plain - whole) * divided
    scores: Float = np.minimum(off * off / np.maximum(variance, 1e-12), _FAR)
    return scores
