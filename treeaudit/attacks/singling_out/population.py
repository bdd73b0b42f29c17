"""Re-identification risk inside and outside the training data, for TA101.

The groups of a tree are drawn after the data was seen, and every group holds
somebody of it. Estimators of population uniqueness know neither, so that only
people who are alone in the data are asked about, and with unseen people the
rest of the population is counted, not guessed.
"""

import math
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.attacks.case import Case
from treeaudit.findings.details import Details, People, Share
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, wilson
from treeaudit.table.population import Risk, expected_chance, population_uniques, risk
from treeaudit.table.table import Table

_ASSUMES = (
    "estimates: they take the groups for fixed before the data was drawn, and a tree draws them "
    "afterwards"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Risks(Details):
    """The re-identification risks of the tree that has the most leaves for its people.

    * ``tree``: which one.
    * ``threshold``: ``1 / k``.
    * ``prosecutor``: of somebody who is known to be in the data.
    * ``journalist``: of somebody of whom that is not known; None without a sampling fraction.
    * ``marketer``: the average of the journalist, or of the prosecutor where there is none.
    * ``fraction``: of the population in this tree, or None.
    * ``estimated``: whether a model of the population was needed.
    """

    tree: int
    threshold: Share
    prosecutor: Risk
    journalist: Risk | None
    marketer: Share
    fraction: float | None
    estimated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _AloneInBoth(Details):
    """Estimated people who are alone in the data and in the population, by estimator.

    None where the model of the population cannot be fitted.

    * ``counted``: by unseen people, with its 95 % interval; None without them. The upper end is at
      most the number of leaves of one person that none of them fits, a fact.
    * ``pitman``, ``zayatz``, ``slide_negative_binomial``: by this estimator.
    """

    counted: Estimate | None
    pitman: float | None
    zayatz: float | None
    slide_negative_binomial: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Population(Details):
    """Whether people who are alone in a leaf are so in the population.

    * ``tree``: the tree that was looked at.
    * ``people``: of the population.
    * ``fraction``: of it in this tree.
    * ``alone_in_data``: people alone in a leaf.
    * ``alone_in_both``: those of them who are estimated to be alone in the population.
    * ``others_per_unique_leaf``: further people of the population for each leaf of one person,
      counted on unseen people; None without them.
    * ``assumes``: what the estimates assume, in a sentence.
    """

    tree: int
    people: int
    fraction: float
    alone_in_data: People
    alone_in_both: _AloneInBoth
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
    uniques = population_uniques(size, fraction)

    def of_these(value: float | None) -> float | None:
        # Of all who are alone in the population, the fraction is in the data.
        return None if value is None else min(value * fraction, float(alone))

    fits, rest = _unseen_of_each(case, tree), uniques.population - int(size.sum())
    return Population(
        tree=tree,
        people=uniques.population,
        fraction=fraction,
        alone_in_data=People(alone),
        alone_in_both=_AloneInBoth(
            counted=None if fits is None else alone_in_both(fits, _n_unseen(case), rest),
            pitman=of_these(uniques.pitman),
            zayatz=of_these(uniques.zayatz),
            slide_negative_binomial=of_these(uniques.slide),
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
