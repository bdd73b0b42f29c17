"""Re-identification risk inside and outside the training data, for TA101.

A *prosecutor* knows that the target is in the data: somebody in a group of f people is found with
probability 1/f. A *journalist* does not: the group holds F people of the population. A *marketer*
wants as many people as possible, and counts the average.

The estimators of population uniqueness know the sizes of the groups and the sampling fraction, and
disagree: Pitman's is the best where groups are small (Dankar et al., 2012). All assume groups that
were fixed before the sample was drawn; those of a tree are drawn afterwards, and every one holds
somebody. So only people who are alone in the data are asked about, and with unseen people the rest
of the population is counted, not guessed.

References
----------
Benedetti and Franconi (1998), for the risk of one record; Rinott (2003).
Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk
assessment. Zayatz (1991), Estimation of the percent of unique population
elements. Chen and Keller-McNulty (1998), Estimation of identification
disclosure risk in microdata (slide negative binomial). Haas and Stokes (1998),
Estimating the number of classes in a finite population. Dankar and El Emam (2010),
A method for evaluating marketer re-identification risk.
"""

import math
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.attacks.case import Case
from treeaudit.findings.details import Details, People, Share
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, wilson
from treeaudit.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """How probable it is that a person is found."""

    highest: float  # Of the person most at risk
    average: float  # Over the people: the marketer's risk
    above_threshold: float  # Share of people whose risk is above the threshold


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


_ASSUMES = (
    "estimates: they take the groups for fixed before the data was drawn, and a tree draws them "
    "afterwards"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Risks(Details):
    """The re-identification risks of the tree that has the most leaves for its people."""

    tree: int
    threshold: Share  # 1 / k
    prosecutor: Risk
    journalist: Risk | None  # None without a sampling fraction
    marketer: Share  # The average of the journalist, or of the prosecutor if there is none
    fraction: float | None  # Of the population in this tree
    estimated: bool  # Whether a model of the population was needed


@dataclass(frozen=True, slots=True, kw_only=True)
class _AloneInBoth(Details):
    """Estimated people who are alone in the data and in the population, by estimator.

    None where the model of the population cannot be fitted.
    """

    # By unseen people, with its 95 % interval; None without them. The upper end is at most the
    # number of leaves of one person that none of them fits, a fact.
    counted: Estimate | None
    # By this estimator
    pitman: float | None
    zayatz: float | None
    slide_negative_binomial: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Population(Details):
    """Whether people who are alone in a leaf are so in the population."""

    tree: int
    # Of the population, and how much of it is in this tree
    people: int
    fraction: float
    # People alone in a leaf, and those of them who are estimated to be alone in the population
    alone_in_data: People
    alone_in_both: _AloneInBoth
    # Further people of the population for each leaf of one person, counted on unseen people; None
    # without them
    others_per_unique_leaf: Estimate | None
    assumes: str


def risks(case: Case) -> Risks:
    """Return the risks of the worst tree."""
    tree, size = _worst_tree(case.table)
    threshold = 1 / case.k
    known = risk(size, threshold)
    fraction = _fraction(case, size)
    unknown = None if fraction is None else risk(size, threshold, expected_chance(size, fraction))
    return Risks(
        tree=tree,
        threshold=Share(threshold),
        prosecutor=known,
        journalist=unknown,
        marketer=Share((unknown or known).average),
        fraction=fraction,
        estimated=unknown is not None,
    )


def population(case: Case) -> Population | None:
    """Return who is alone in the population; None without a sampling fraction."""
    tree, size = _worst_tree(case.table)
    fraction = _fraction(case, size)
    if fraction is None:
        return None
    alone = int((size == 1).sum())
    people = max(round(int(size.sum()) / fraction), int(size.sum()))

    def of_these(value: float | None) -> float | None:
        # Of all who are alone in the population, the fraction is in the data.
        return None if value is None else min(value * fraction, float(alone))

    fits, rest = _unseen_of_each(case, tree), people - int(size.sum())
    return Population(
        tree=tree,
        people=people,
        fraction=fraction,
        alone_in_data=People(alone),
        alone_in_both=_AloneInBoth(
            counted=None if fits is None else alone_in_both(fits, _n_unseen(case), rest),
            pitman=of_these(pitman(size, fraction)),
            zayatz=of_these(zayatz(size, fraction)),
            slide_negative_binomial=of_these(slide(size, fraction)),
        ),
        others_per_unique_leaf=None if fits is None else _others(case, fits, rest),
        assumes=_ASSUMES,
    )


def degrees_of_freedom(forest: Forest, table: Table) -> int | None:
    """Return people minus parameters: two per split, one per leaf and class but the last."""
    people = table.n_people
    if people is None:
        return None
    per_leaf = max(len(forest.schema.classes or ()) - 1, 1)
    return people - 2 * (table.n_nodes - table.n_leaves) - per_leaf * table.n_leaves


def _worst_tree(table: Table) -> tuple[int, Wide]:
    """Return the tree with the most leaves for its people, and their sizes."""
    leaves, people = np.diff(table.start), table.per_tree(table.size)
    tree = int((leaves / np.maximum(people, 1)).argmax())
    return tree, table.size[table.rows_of(tree)]


def _fraction(case: Case, size: Wide) -> float | None:
    """Return the share of the population that is in one tree: less, where it saw a draw."""
    if case.fraction is None:
        return None
    whole = case.table.n_people or int(size.sum())
    return case.fraction * min(int(size.sum()) / whole, 1.0)


def _unseen_of_each(case: Case, tree: int) -> Wide | None:
    """Return how many unseen people end in each leaf of one person; None without either."""
    rows = case.table.rows_of(tree)
    single = np.flatnonzero(case.table.size[rows] == 1)
    if case.test is None or not len(single):
        return None
    test = case.test.in_leaves()
    position = case.table.positions(tree, test.node[:, tree]) - rows.start
    times = _times(test)
    here = (position >= 0) & (position < rows.stop - rows.start)
    fits = np.bincount(position[here], times[here], minlength=rows.stop - rows.start)
    return fits[single].astype(np.int64)


def _times(people: Records) -> Wide:
    """Return how many people each row stands for."""
    return np.ones(len(people), np.int64) if people.times is None else people.times


def _n_unseen(case: Case) -> int:
    return int(_times(case.people("test").in_leaves()).sum())


def _others(case: Case, fits: Wide, rest: int) -> Estimate:
    """Scale unseen people in leaves of one person to the rest of the population."""
    share = wilson(int(fits.sum()), _n_unseen(case))
    scale = rest / len(fits)
    return Estimate(
        value=share.value * scale, low=share.low * scale, high=share.high * scale, n=share.n
    )


def alone_in_both(fits: Wide, n_unseen: int, rest: int) -> Estimate:
    """Return how many leaves of one person hold nobody else of the population.

    Leaves differ in how many people they draw: by a gamma law, whose form follows from the
    share of them that no unseen person fits. What was counted on the unseen people is so
    carried on to the rest of the population (Good and Toulmin ask the same of species).
    """
    n, met, more = len(fits), float(fits.mean()), max(rest / n_unseen, 1.0)
    none = wilson(int((fits == 0).sum()), n)
    value, low, high = (n * _nobody(part, met, more) for part in (none.value, none.low, none.high))
    drawn = wilson(value, n)
    return Estimate(
        value=value,
        low=max(0.0, value - math.hypot(value - low, value - n * drawn.low)),
        high=max(
            value, min(none.value * n, value + math.hypot(high - value, n * drawn.high - value))
        ),
        n=n,
    )


def _nobody(share: float, met: float, more: float) -> float:
    """Return the share of leaves that nobody of ``more`` times as many people fits."""
    if share >= 1 or not met:
        return 1.0
    if share <= math.exp(-met):
        return math.exp(-met * more)
    low, high = -20.0, 20.0
    for _ in range(80):
        form = math.exp((low + high) / 2)
        if form * math.log1p(met / form) + math.log(share) < 0:
            low = math.log(form)
        else:
            high = math.log(form)
    return math.exp(-form * math.log1p(met * more / form))
