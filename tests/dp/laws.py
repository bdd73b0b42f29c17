"""The exact law of every mechanism: what the privacy tests enumerate."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float
from treeaudit.trainers.smooth_sensitivity_forest import smooth_exponent


def discrete_laplace_law(values: npt.ArrayLike, rate: Fraction) -> Float:
    """Return the log-probability of each whole number under `discrete_laplace`.

    Examples
    --------
    >>> log_p = discrete_laplace_law(np.arange(-40, 41), Fraction(1))
    >>> round(float(np.exp(log_p).sum()), 12)
    1.0
    """
    r = float(rate)
    log_p: Float = np.log(np.tanh(r / 2)) - r * np.abs(np.asarray(values, dtype=np.float64))
    return log_p


def exponential_mechanism_law(
    scores: npt.ArrayLike, rate: Fraction, weights: npt.ArrayLike | None = None
) -> Float:
    """Return the log-probability of each candidate of one row.

    Examples
    --------
    >>> np.exp(exponential_mechanism_law([0, 1], Fraction(1))).round(3).tolist()
    [0.269, 0.731]
    """
    table = np.asarray(scores, dtype=np.float64)
    mass = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    with np.errstate(divide="ignore"):
        exponent = np.log(mass) + float(rate) * (table - table.max())
    return np.asarray(exponent - np.logaddexp.reduce(exponent), dtype=np.float64)


def permute_and_flip_law(scores: npt.ArrayLike, rate: Fraction) -> Float:
    """Return the log-probability of each candidate of one row.

    With ``q_s`` the chance that the coin of s comes up, candidate c is chosen
    with ``q_c * E[1 / (1 + N)]``, where N counts the others that come up.

    Examples
    --------
    >>> np.exp(permute_and_flip_law([0, 1], Fraction(1))).round(4).tolist()
    [0.1839, 0.8161]
    """
    table = np.asarray(scores, dtype=np.float64)
    log_q = -float(rate) * (table.max() - table)
    q = np.exp(log_q)
    share = np.empty(len(table))
    for c in range(len(table)):
        others = np.ones(1)
        for chance in np.delete(q, c):
            others = np.convolve(others, [1 - chance, chance])
        share[c] = np.log(np.sum(others / np.arange(1, len(others) + 1)))
    log_p: Float = log_q + share
    return log_p


def smooth_label_law(counts: npt.ArrayLike, epsilon: float) -> Float:
    """Return the log-probability of each class of one leaf under `smooth_label`.

    Examples
    --------
    One person against two, at a claim of 1:

    >>> one, two = smooth_label_law([1, 0], 1.0), smooth_label_law([2, 0], 1.0)
    >>> round(float(one[1] - two[1]), 3)
    2.131
    """
    largest, above = smooth_exponent(counts, epsilon)
    exponent = np.where(largest, above[..., None], 0.0)
    return np.asarray(exponent - np.logaddexp.reduce(exponent, axis=-1, keepdims=True))


def privacy_loss(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return the largest change of a log-probability between two neighbouring inputs.

    A mechanism is epsilon-differentially private where this is at most epsilon
    for all neighbours.

    Examples
    --------
    >>> round(privacy_loss(np.log([0.5, 0.5]), np.log([0.25, 0.75])), 3)
    0.693
    """
    return float(np.max(np.abs(np.asarray(one) - np.asarray(other))))
