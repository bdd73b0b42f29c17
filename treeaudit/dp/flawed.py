"""Mechanisms as printed that do not keep what they promise: for study, and for the auditor."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.dp.entropy import Entropy, unit
from treeaudit.dp.mechanisms import exponential_mechanism

__all__ = ["gaussian", "smooth_exponent", "smooth_label", "smooth_sensitivity"]

_FINE = 1 << 20
_MOST = 1 << 20


def smooth_sensitivity(margin: npt.ArrayLike, epsilon: float) -> Float:
    """Return ``exp(-j * epsilon)`` for a margin j (Fletcher & Islam 2017, equation 8).

    Examples
    --------
    >>> [round(float(s), 5) for s in smooth_sensitivity([0, 1, 5], 1.0)]
    [1.0, 0.36788, 0.00674]
    """
    return np.exp(-float(epsilon) * np.asarray(margin, dtype=np.float64))


def smooth_exponent(counts: npt.ArrayLike, epsilon: float) -> tuple[Flag, Float]:
    """Return which classes are largest, and how far their exponent is above the others'."""
    table = np.asarray(counts, dtype=np.int64)
    ordered = np.sort(table, axis=-1)
    second = ordered[..., -2] if table.shape[-1] > 1 else np.zeros(table.shape[:-1], np.int64)
    margin = ordered[..., -1] - second
    with np.errstate(over="ignore"):
        above = epsilon / (2 * smooth_sensitivity(margin, epsilon))
    return table == ordered[..., -1:], above


def smooth_label(counts: npt.ArrayLike, epsilon: float, entropy: Entropy) -> Wide:
    """Choose a class per leaf, as printed.

    The exponential mechanism with score 1 for the largest classes, 0 for the
    others, and the smooth sensitivity in the place of the sensitivity. It is
    not differentially private for any epsilon: one more person multiplies the
    exponent by ``exp(epsilon)``, so the loss grows without bound (2.131 at a
    claim of 1 between leaves of one and of two people). Counts are of shape
    ``(n_leaves, n_classes)``.
    """
    largest, above = smooth_exponent(counts, epsilon)
    units = np.floor(np.minimum(above, _MOST) * _FINE).astype(np.int64)
    return exponential_mechanism(
        np.where(largest, units[..., None], 0), Fraction(1, _FINE), entropy
    )


def gaussian(deviation: float, n: int, entropy: Entropy) -> Wide:
    """Draw Gaussian noise, rounded to whole numbers, from floating-point uniform numbers.

    It promises (epsilon, delta) where the deviation is large enough, never epsilon alone.
    """
    radius = np.sqrt(-2 * np.log1p(-unit(entropy, n)))
    noise = deviation * radius * np.cos(2 * np.pi * unit(entropy, n))
    return np.asarray(np.rint(noise), dtype=np.int64)
