"""Whether the total of a group gives away what one person contributed to it.

References
----------
Hundepool et al. (2012), Statistical Disclosure Control, section 4.2: the (n, k)
rule and the p % rule. ACRO uses n = 2, k = 0.90 and p = 0.10.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide

__all__ = ["dominated", "estimable"]


def dominated(value: Float, group: Wide, n_groups: int, *, n: int = 2, k: float = 0.9) -> Flag:
    """Tell where the n largest contributions are more than the share k of the total.

    Parameters
    ----------
    value
        Shape ``(n_people,)``: what each person contributes. Of negative numbers
        the size counts.
    group
        Shape ``(n_people,)``: group of each person, from 0.
    n
        How many people contribute together.
    k
        The largest acceptable share, between 0 and 1.

    Returns
    -------
    numpy.ndarray
        Shape ``(n_groups,)``; False for a group whose total is nothing.

    Examples
    --------
    >>> income = np.array([80.0, 15.0, 5.0, 30.0, 30.0, 30.0])
    >>> dominated(income, np.array([0, 0, 0, 1, 1, 1]), 2).tolist()
    [True, False]
    """
    largest, total = _largest(_sizes(value, group, n_groups), group, n_groups, n)
    # Contributions that are the share but for the last digit are not above it.
    return np.asarray((total > 0) & (largest > k * total * (1 + 1e-12)))


def estimable(value: Float, group: Wide, n_groups: int, *, p: float = 0.1, most: int = 1) -> Flag:
    """Tell where the second-largest contributor can estimate the largest to within p.

    They know the total and their own part; what is left beside the largest is
    all that hides it. True where that is less than the share p of the largest.

    Parameters
    ----------
    value, group, n_groups
        As in `dominated`.
    p
        The smallest acceptable error, relative to the largest contribution.
    most
        How many of the values may be those of one person.

    Examples
    --------
    >>> income = np.array([80.0, 15.0, 5.0, 30.0, 30.0, 30.0])
    >>> estimable(income, np.array([0, 0, 0, 1, 1, 1]), 2).tolist()
    [True, False]
    """
    size = _sizes(value, group, n_groups)
    two, total = _largest(size, group, n_groups, 2 * most)
    one, _ = _largest(size, group, n_groups, most)
    return np.asarray((total > 0) & ((total - two) < p * one * (1 - 1e-12)))


def _sizes(value: Float, group: Wide, n_groups: int) -> Float:
    """Return contributions as parts of the largest of their group, whose sum is finite."""
    size, most = np.abs(value), np.zeros(n_groups)
    np.maximum.at(most, group, size)
    of = np.where(most > 0, most, 1.0)[group]
    return np.where(np.isinf(of), np.isinf(size), size / np.where(np.isinf(of), 1.0, of))


def _largest(size: Float, group: Wide, n_groups: int, n: int) -> tuple[Float, Float]:
    """Return the sum of the n largest contributions of each group, and of all of them."""
    order = np.lexsort((-size, group))
    size, group = size[order], group[order]
    first = np.searchsorted(group, np.arange(n_groups))
    rank = np.arange(len(group)) - first[group]
    total = np.bincount(group, weights=size, minlength=n_groups)
    top = rank < n
    largest = np.bincount(group[top], weights=size[top], minlength=n_groups)
    return largest.astype(np.float64), total.astype(np.float64)
