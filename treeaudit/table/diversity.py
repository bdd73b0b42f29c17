"""How much the labels inside a group differ: pure functions of class counts.

Every function takes ``counts`` of shape ``(n_groups, n_classes)`` with at least
one positive entry per row and answers per group, exactly, from the counts.

References
----------
Machanavajjhala et al. (2006), l-diversity: privacy beyond k-anonymity.
Li, Li and Venkatasubramanian (2007), t-closeness. Brickell and Shmatikov
(2008), delta-disclosure privacy. Cao and Karras (2012), beta-likeness. Wong et
al. (2006), (alpha, k)-anonymity.
"""

import numpy as np
import numpy.typing as npt

__all__ = [
    "beta_likeness",
    "closeness",
    "delta_disclosure",
    "distinct",
    "dominance",
    "entropy_l",
    "ordered_closeness",
    "recursive_c",
]

Float = npt.NDArray[np.float64]


def distinct(counts: Float) -> npt.NDArray[np.int64]:
    """Return how many classes occur: distinct l-diversity.

    Examples
    --------
    >>> distinct(np.array([[2.0, 0.0, 1.0], [3.0, 0.0, 0.0]])).tolist()
    [2, 1]
    """
    return np.asarray((counts > 0).sum(axis=1), dtype=np.int64)


def entropy_l(counts: Float) -> Float:
    """Return the exponential of the entropy: entropy l-diversity.

    Rounded to nine decimals, so that four equal classes give exactly 4.

    Examples
    --------
    >>> entropy_l(np.array([[5.0, 5.0, 5.0, 5.0], [7.0, 0.0, 0.0, 0.0]])).tolist()
    [4.0, 1.0]
    """
    share = counts / counts.sum(axis=1, keepdims=True)
    terms = np.zeros_like(share)
    np.log(share, out=terms, where=share > 0)
    return np.asarray(np.round(np.exp(-(share * terms).sum(axis=1)), 9), dtype=np.float64)


def recursive_c(counts: Float, level: int = 2) -> Float:
    """Return the bound that c must exceed for recursive (c, l)-diversity.

    With the class counts in descending order r1 ≥ r2 ≥ …, a group is
    (c, l)-diverse if r1 < c (r_l + … + r_m).

    Parameters
    ----------
    counts
        Class counts.
    level
        The l of the definition, at least 1.

    Returns
    -------
    numpy.ndarray
        ``r1 / (r_l + … + r_m)``, infinite where fewer than l classes occur.

    Examples
    --------
    >>> recursive_c(np.array([[4.0, 1.0, 1.0], [3.0, 0.0, 0.0]])).tolist()
    [2.0, inf]
    """
    ordered = -np.sort(-counts, axis=1)
    rest = ordered[:, level - 1 :].sum(axis=1)
    bound = np.full(len(counts), np.inf)
    np.divide(ordered[:, 0], rest, out=bound, where=rest > 0)
    return bound


def closeness(counts: Float, overall: Float) -> Float:
    """Return the distance of each group from everybody: t-closeness.

    For nominal labels: half the sum of the absolute differences of the class
    shares, between 0 and 1. Labels are never ordered, integers included.

    Parameters
    ----------
    counts
        Class counts per group.
    overall
        Shape ``(n_classes,)``: class counts of everybody.

    Examples
    --------
    >>> closeness(np.array([[4.0, 0.0]]), np.array([6.0, 6.0])).tolist()
    [0.5]
    """
    share = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.abs(share - overall / overall.sum()).sum(axis=1) / 2, dtype=np.float64)


def ordered_closeness(counts: Float, overall: Float) -> Float:
    """Return t-closeness for classes that have an order, in the order of the columns.

    The earth mover's distance where neighbouring classes are 1 / (m - 1) apart,
    between 0 and 1; 0 where there is one class.

    Parameters
    ----------
    counts, overall
        As in `closeness`.

    Examples
    --------
    >>> ordered_closeness(np.array([[4.0, 0.0, 0.0]]), np.array([4.0, 2.0, 2.0])).tolist()
    [0.375]
    """
    share = counts / counts.sum(axis=1, keepdims=True)
    apart = np.abs(np.cumsum(share - overall / overall.sum(), axis=1)).sum(axis=1)
    return np.asarray(apart / max(counts.shape[1] - 1, 1), dtype=np.float64)


def delta_disclosure(counts: Float, overall: Float) -> Float:
    """Return the delta that each group must stay below: the largest log-ratio of shares.

    Infinite where a class that occurs at all is absent from the group.

    Parameters
    ----------
    counts, overall
        As in `closeness`.

    Examples
    --------
    >>> delta_disclosure(np.array([[3.0, 1.0], [4.0, 0.0]]), np.array([8.0, 8.0])).round(4).tolist()
    [0.6931, inf]
    """
    present = overall > 0
    share = counts[:, present] / counts.sum(axis=1, keepdims=True)
    ratio = share / (overall[present] / overall.sum())
    log = np.full(ratio.shape, -np.inf)
    np.log(ratio, out=log, where=ratio > 0)
    return np.asarray(np.abs(log).max(axis=1), dtype=np.float64)


def beta_likeness(counts: Float, overall: Float) -> Float:
    """Return the largest relative gain of any class: basic beta-likeness.

    Parameters
    ----------
    counts, overall
        As in `closeness`.

    Examples
    --------
    >>> beta_likeness(np.array([[3.0, 1.0]]), np.array([4.0, 12.0])).tolist()
    [2.0]
    """
    present = overall > 0
    share = counts[:, present] / counts.sum(axis=1, keepdims=True)
    gain = share / (overall[present] / overall.sum()) - 1
    return np.asarray(np.maximum(gain.max(axis=1), 0.0), dtype=np.float64)


def dominance(counts: Float) -> Float:
    """Return the share of the largest class: (alpha, k)-anonymity asks for at most alpha.

    Examples
    --------
    >>> dominance(np.array([[989.0, 11.0]])).tolist()
    [0.989]
    """
    return np.asarray(counts.max(axis=1) / counts.sum(axis=1), dtype=np.float64)
