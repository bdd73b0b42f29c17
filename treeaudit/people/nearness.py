"""How likely it is that noise is as small as counts are near: bounds by Chernoff."""

import math

import numpy as np

from treeaudit.arrays import Float, Wide

__all__ = ["chance_of_so_many", "chance_of_so_near", "peak_of_gaussian", "peak_of_sum"]

_TILTS = np.logspace(-2, 12, 113, base=2.0)


def chance_of_so_near(
    off: Float, room: Float, rate: float | None, peak: Float | None = None
) -> float:
    """Return a bound of the chance that noise is as small as this, altogether.

    Chernoff's bound of the sum of the distances, each of which is seen up to its room. Sums of
    several counts, and counts that are held against other people, are farther off still.

    Parameters
    ----------
    off
        How far each count is off.
    room
        How far that can be seen.
    rate
        Of discrete Laplace noise; None for another law, of which the peak is told.
    peak
        The largest chance that any one number has, of each.

    Examples
    --------
    >>> far = np.full(20, np.inf)
    >>> bool(chance_of_so_near(np.zeros(20), far, 0.3) < 1e-15)
    True
    >>> chance_of_so_near(np.full(20, 3.0), far, 0.3), chance_of_so_near(np.zeros(20), far, 50.0)
    (1.0, 1.0)
    """
    seen = room > 0
    off, room = off[seen], room[seen]
    if not len(off):
        return 1.0
    highest = np.ones(len(off)) if peak is None else np.minimum(peak[seen], 1.0)
    near = float(np.minimum(off, room).sum())
    kinds, n = np.unique(np.stack([np.ceil(room), highest]), axis=1, return_counts=True)
    most, highest = kinds
    tilts = np.geomspace(float(highest.min()) / 4, 200, 113) if rate is None else rate * _TILTS
    least = 0.0
    for tilt in tilts.tolist():
        each = _flat(most, highest, tilt)
        if rate is not None:
            each = np.minimum(each, _laplace(most, rate, tilt))
        least = min(least, float(tilt * near + (n * np.log(np.maximum(each, 1e-300))).sum()))
    return math.exp(least)


def _laplace(most: Float, rate: float, tilt: float) -> Float:
    """Return the mean of ``exp(-tilt * off)`` of discrete Laplace noise, seen up to some."""
    q = math.exp(-rate)
    zero = (1 - q) / (1 + q) if rate > 1e-12 else rate / 2
    a = math.exp(-rate - tilt)
    open_ = np.isinf(most)
    k = np.where(open_, 1.0, most)
    sums = np.where(open_, a / (1 - a), (a - a**k) / (1 - a))
    beyond = np.where(open_, 0.0, 2 * np.exp(-rate * k - tilt * (k - 0.5)) / (1 + q))
    found: Float = np.minimum(zero * (1 + 2 * sums) + beyond, 1.0)
    return found


def _flat(most: Float, peak: Float, tilt: float) -> Float:
    """Return a bound of the same for any noise of which no number is likelier than a peak."""
    a = math.exp(-tilt)
    if a >= 1:
        return np.ones(len(most))
    open_ = np.isinf(most)
    k = np.where(open_, 1.0, most)
    sums = np.where(open_, a / (1 - a), (a - a**k) / (1 - a))
    beyond = np.where(open_, 0.0, np.exp(-tilt * (k - 0.5)))
    found: Float = np.minimum(peak * (1 + 2 * sums) + beyond, 1.0)
    return found


def chance_of_so_many(hits: int, n: int, chance: float) -> float:
    """Return a bound of the chance that so many of n are hit, each by a chance at most.

    Examples
    --------
    >>> chance_of_so_many(3, 10, 0.5), chance_of_so_many(2, 2, 0.1) <= 0.01 * (1 + 1e-12)
    (1.0, True)
    """
    if not n or hits <= n * chance:
        return 1.0
    share = hits / n
    apart = share * math.log(share / chance)
    if share < 1:
        apart += (1 - share) * math.log((1 - share) / (1 - chance))
    return math.exp(-n * apart)


def peak_of_sum(rate: float, n: Wide) -> Float:
    """Return the chance of 0, the likeliest sum of n numbers of discrete Laplace noise, or above.

    An integral over what the law is made of, which falls: by its left ends it is no smaller.

    Examples
    --------
    >>> peak_of_sum(0.3, np.array([1, 2])).round(3).tolist()
    [0.149, 0.076]
    """
    q = math.exp(-rate)
    zero = math.tanh(rate / 2)
    angle = np.concatenate([[0.0], np.geomspace(min(1.0, rate) * 1e-5, math.pi, 2000)])
    fall = -np.log1p(4 * q * np.sin(angle[:-1] / 2) ** 2 / (1 - q) ** 2)
    sizes, place = np.unique(n, return_inverse=True)
    each = [float((np.exp(m * fall) * np.diff(angle)).sum() / math.pi) for m in sizes.tolist()]
    found: Float = np.minimum(np.array(each), zero)[place.ravel()]
    return found


def peak_of_gaussian(variance: float, n: Wide) -> Float:
    """Return the same of discrete Gaussian noise.

    Examples
    --------
    >>> peak_of_gaussian(4.0, np.array([1, 4])).round(3).tolist()
    [0.201, 0.101]
    """
    if variance < 1:
        steps = np.arange(1, 12)
        return np.full(len(n), 1 / (1 + 2 * np.exp(-(steps**2) / (2 * variance)).sum()))
    # From a variance of 1 on the sum over whole numbers is the integral, to eight digits.
    return np.asarray(1.01 / np.sqrt(2 * math.pi * variance * n))
