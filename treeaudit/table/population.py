"""Re-identification risk of groups, and whether people are unique in the population as well.

A *prosecutor* knows that the target is in the data: somebody in a group of f people is found with
probability 1/f. A *journalist* does not: the group holds F people of the population. A *marketer*
wants as many people as possible, and counts the average.

Of the population only the sizes of the groups and the sampling fraction are known. Every number
here is an estimate of a model of the population, and the models disagree:
Pitman's is the best of them where groups are small (Dankar et al., 2012). All
assume that the groups were fixed before the sample was drawn, and that the
population has groups that the data has not.

References
----------
Benedetti and Franconi (1998), for the risk of one record; Rinott (2003).
Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk
assessment. Zayatz (1991), Estimation of the percent of unique population
elements. Chen and Keller-McNulty (1998), Estimation of identification
disclosure risk in microdata (slide negative binomial). Haas and Stokes (1998),
Estimating the number of classes in a finite population. El Emam (2013), Guide to the
De-Identification of Personal Health Information, chapter 16. Dankar and El Emam (2010), A method
for evaluating marketer re-identification risk.
"""

import math
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """How probable it is that a person is found.

    * ``highest``: of the person most at risk.
    * ``average``: over the people: the marketer's risk.
    * ``above_threshold``: share of people whose risk is above the threshold.
    """

    highest: float
    average: float
    above_threshold: float


def risk(size: Wide, threshold: float, chance: Float | None = None) -> Risk:
    """Return the risk of the people in some groups.

    * ``size``: shape ``(n_groups,)``: people of the data in each group, at least one.
    * ``threshold``: the highest acceptable risk, such as 1/k.
    * ``chance``: shape ``(n_groups,)``: the probability to find one of them, such as the
      expectation of 1/F; 1/f unless told.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniques:
    """How many people are alone in the population, by three estimators.

    * ``population``: how many people there are.
    * ``pitman``, ``zayatz``, ``slide``: estimated people who are alone in their group; None where
      the model cannot be fitted.
    """

    population: int
    pitman: float | None
    zayatz: float | None
    slide: float | None


def expected_chance(size: Wide, fraction: float) -> Float:
    """Return the expectation of 1/F given the people of the data in the group."""
    distinct, back = np.unique(size, return_inverse=True)
    # Euler's transformation keeps the power of a small fraction out of the formula.
    value = fraction / distinct * _hypergeometric(distinct, 1 - fraction)
    return np.asarray(value[back.reshape(-1)], dtype=np.float64)


def _hypergeometric(size: Wide, z: float) -> Float:
    """Return 2F1(1, 1; size + 1; z); scipy's overflows from sizes of about 100 on."""
    from scipy.special import hyp2f1

    series, term = np.ones(len(size)), np.ones(len(size))
    for m in range(60):
        term = term * z * (m + 1) / (size + 1 + m)
        series += term
    return np.where(size < 30, hyp2f1(1.0, 1.0, np.minimum(size, 30) + 1.0, z), series)


def population_uniques(size: Wide, fraction: float) -> Uniques:
    """Estimate how many people of the population are alone in their group."""
    return Uniques(
        population=max(round(int(size.sum()) / fraction), int(size.sum())),
        pitman=pitman(size, fraction),
        zayatz=zayatz(size, fraction),
        slide=slide(size, fraction),
    )


def _frequencies(size: Wide) -> tuple[Float, Float]:
    """Return the sizes that occur and how many groups have each."""
    sizes, groups = np.unique(size, return_counts=True)
    return sizes.astype(np.float64), groups.astype(np.float64)


def pitman(size: Wide, fraction: float) -> float | None:
    """Estimate population uniques by Pitman's sampling formula."""
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    sizes, groups = _frequencies(size)
    n, u = float(size.sum()), float(len(size))
    if fraction == 1 or u in (1, n):
        # The likelihood has no maximum where all groups are alike in this way.
        return None if fraction < 1 else float((size == 1).sum())

    def loss(point: Float) -> float:
        alpha, theta = _parameters(point)
        grown = (u - 1) * math.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
        drawn = gammaln(theta + n) - gammaln(theta + 1)
        inside = (groups * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
        return float(-(grown - drawn + inside) / n)

    def _parameters(point: Float) -> tuple[float, float]:
        alpha = float(np.clip(expit(point[0]), 1e-9, 1 - 1e-9))
        return alpha, math.exp(min(float(point[1]), 40.0)) - alpha + 1e-12

    starts = [(a, math.log(t)) for a in (-3.0, 0.0, 2.0) for t in (1.0, u, 10 * n)]
    fits = [minimize(loss, start, method="Nelder-Mead", tol=1e-10) for start in starts]
    best = min(fits, key=lambda fit: float(fit.fun))
    if not math.isfinite(float(best.fun)):
        return None
    alpha, theta = _parameters(best.x)
    whole = n / fraction
    share = gammaln(theta + alpha + whole - 1) - gammaln(theta + alpha)
    share += gammaln(theta + 1) - gammaln(theta + whole)
    return float(min(whole * math.exp(min(float(share), 0.0)), whole))


def zayatz(size: Wide, fraction: float) -> float | None:
    """Estimate population uniques by Zayatz's equivalence class method."""
    from scipy.special import gammaln

    sizes, groups = _frequencies(size)
    n, alone = float(size.sum()), float((size == 1).sum())
    if fraction == 1 or not alone:
        return alone
    whole = float(round(n / fraction))
    # Hypergeometric: exactly one of i people of the population is drawn.
    rest = whole - sizes
    possible = rest >= n - 1
    rest, sizes, groups = rest[possible], sizes[possible], groups[possible]
    log_one = (
        np.log(sizes)
        + (gammaln(rest + 1) - gammaln(n) - gammaln(rest - n + 2))
        - (gammaln(whole + 1) - gammaln(n + 1) - gammaln(whole - n + 1))
    )
    one = groups * np.exp(log_one)
    unique = float(one[sizes == 1].sum() / one.sum())
    return min(unique * alone / fraction, whole)


def slide(size: Wide, fraction: float, groups: float | None = None) -> float | None:
    """Estimate population uniques by the slide negative binomial model.

    A group of the population has 1 + NB(alpha, beta) people; the two are solved
    from the expected groups of one and of two people in the data. None where
    that has no solution.
    """
    from scipy.optimize import least_squares
    from scipy.special import expit

    alone, pairs = float((size == 1).sum()), float((size == 2).sum())
    if fraction == 1:
        return alone
    if not alone or not pairs:
        return None
    whole = _all_groups(size, fraction) if groups is None else groups

    def miss(point: Float) -> list[float]:
        one, two = _expected_groups(whole, fraction, math.exp(point[0]), float(expit(point[1])))
        return [math.log(max(one, 1e-300) / alone), math.log(max(two, 1e-300) / pairs)]

    starts = [(a, b) for a in (-3.0, -1.0, 0.5, 3.0) for b in (-6.0, -3.0, 0.0, 3.0)]
    fits = [least_squares(miss, start, bounds=([-30, -30], [30, 30])) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost))
    if best.cost > 1e-6:
        return None
    log_alpha, logit_beta = (float(x) for x in best.x)
    return float(whole * math.exp(math.exp(log_alpha) * math.log(expit(logit_beta))))


def _expected_groups(
    groups: float, fraction: float, alpha: float, beta: float
) -> tuple[float, float]:
    """Return the expected groups of one and of two people in the data."""
    stay = (1 - fraction) * (1 - beta)
    d = 1 - stay
    power = math.exp(alpha * math.log(beta / d))
    one = groups * fraction * power * (1 + alpha * stay / d)
    two = groups * fraction**2 / 2 * alpha * (1 - beta) * power * (2 - (1 - alpha) * stay) / d**2
    return one, two


def _all_groups(size: Wide, fraction: float) -> float:
    """Estimate how many groups the population has: the third estimator of Haas and Stokes."""
    sizes, groups = _frequencies(size)
    q = fraction
    alone = float((size == 1).sum())
    first = (sizes * q**2 * (1 - q**2) ** (sizes - 1) * groups).sum()
    second = (((1 - q) * (1 + q)) ** sizes * groups - (1 - q) ** sizes * groups).sum()
    third = ((1 - q) ** sizes * groups).sum() / (sizes * q * (1 - q) ** (sizes - 1) * groups).sum()
    return float(len(size) + alone * first / second * third**2)
