"""Re-identification risk by what the attacker knows: prosecutor, journalist, marketer.

A *prosecutor* knows that the target is in the data: somebody in a group of f
people is found with probability 1/f. A *journalist* does not: the group holds F
people of the population. A *marketer* wants as many people as possible, and
counts the average.

References
----------
El Emam (2013), Guide to the De-Identification of Personal Health Information,
chapter 16. Dankar and El Emam (2010), A method for evaluating marketer
re-identification risk.
"""

from dataclasses import dataclass

from treeaudit.arrays import Float, Wide

__all__ = ["Risk", "risk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """How probable it is that a person is found.

    Attributes
    ----------
    highest
        Of the person most at risk.
    average
        Over the people: the marketer's risk.
    above_threshold
        Share of people whose risk is above the threshold.
    """

    highest: float
    average: float
    above_threshold: float


def risk(size: Wide, threshold: float, chance: Float | None = None) -> Risk:
    """Return the risk of the people in some groups.

    Parameters
    ----------
    size
        Shape ``(n_groups,)``: people of the data in each group, at least one.
    threshold
        The highest acceptable risk, such as 1/k.
    chance
        Shape ``(n_groups,)``: the probability to find one of them, such as the
        expectation of 1/F; 1/f unless told.

    Examples
    --------
    >>> import numpy as np
    >>> risk(np.array([1, 3, 2, 3]), 1 / 3)
    Risk(highest=1.0, average=0.4444444444444444, above_threshold=0.3333333333333333)
    """
    each = 1 / size if chance is None else chance
    total = size.sum()
    # A risk that is the threshold but for the last digit is not above it.
    above = each > threshold * (1 + 1e-12)
    return Risk(
        highest=float(each.max()),
        average=float((size * each).sum() / total),
        above_threshold=float(size[above].sum() / total),
    )
