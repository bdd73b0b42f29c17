"""Re-identification risk inside and outside the training data, for TA101.

The groups of a tree are drawn after the data was seen, and every group holds
somebody of it. Estimators of population uniqueness know neither, so that only
people who are alone in the data are asked about, and with unseen people the
rest of the population is counted, not guessed.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case
from treeaudit.disclosure.population import expected_chance, population_uniques
from treeaudit.disclosure.risks import risk
from treeaudit.groups import Groups
from treeaudit.stats import wilson
from treeaudit.tree import Forest

__all__ = ["degrees_of_freedom", "population", "risks"]

Wide = npt.NDArray[np.int64]

_ASSUMES = (
    "estimates: they take the groups for fixed before the data was drawn, and a tree draws them "
    "afterwards"
)


def risks(case: Case) -> dict[str, Any]:
    """Return the risks of the tree that has the most leaves for its people.

    ``tree``; ``threshold`` (1/k); ``prosecutor``, for somebody who is known to
    be in the data: ``highest``, ``average`` and ``above_threshold`` (share of
    people); ``journalist``, for somebody of whom that is not known: the same,
    or None without a sampling fraction; ``marketer``: the average of the
    journalist, or of the prosecutor where there is none; ``fraction``, of the
    population in this tree; ``estimated``: whether a model of the population
    was needed.
    """
    tree, size = _worst_tree(case.groups)
    threshold = 1 / case.k
    known = risk(size, threshold)
    fraction = _fraction(case, size)
    unknown = None if fraction is None else risk(size, threshold, expected_chance(size, fraction))
    return {
        "tree": tree,
        "threshold": threshold,
        "prosecutor": known.to_dict(),
        "journalist": None if unknown is None else unknown.to_dict(),
        "marketer": (unknown or known).average,
        "fraction": fraction,
        "estimated": unknown is not None,
    }


def population(case: Case) -> dict[str, Any] | None:
    """Return whether people who are alone in a leaf are so in the population; None without it.

    ``tree``; ``people`` of the population; ``fraction`` of it in this tree;
    ``alone_in_data``; ``alone_in_both``, estimated people who are alone in the
    data and in the population, by ``pitman``, ``zayatz`` and
    ``slide_negative_binomial`` (None where the model cannot be fitted);
    ``others_per_unique_leaf``: further people of the population for each leaf
    of one person, counted on unseen people, with ``low``, ``high`` and ``n``
    (None without ``--test``); ``assumes``: a sentence.
    """
    tree, size = _worst_tree(case.groups)
    fraction = _fraction(case, size)
    if fraction is None:
        return None
    alone = int((size == 1).sum())
    uniques = population_uniques(size, fraction)
    both = {
        "pitman": uniques.pitman,
        "zayatz": uniques.zayatz,
        "slide_negative_binomial": uniques.slide,
    }
    return {
        "tree": tree,
        "people": uniques.population,
        "fraction": fraction,
        "alone_in_data": alone,
        # Of all who are alone in the population, the fraction is in the data.
        "alone_in_both": {
            name: None if value is None else min(value * fraction, float(alone))
            for name, value in both.items()
        },
        "others_per_unique_leaf": _others(case, tree, uniques.population - int(size.sum()), alone),
        "assumes": _ASSUMES,
    }


def degrees_of_freedom(forest: Forest, groups: Groups) -> int | None:
    """Return people minus parameters: two per split, one per leaf and class but the last.

    None where the file does not tell how many people there are.
    """
    people = forest.n_records
    if people is None and forest.n_trees == 1 and groups.size is not None:
        people = int(groups.size.sum())
    if people is None:
        return None
    per_leaf = max(len(forest.schema.classes or ()) - 1, 1)
    return people - 2 * (groups.n_nodes - groups.n_leaves) - per_leaf * groups.n_leaves


def _worst_tree(groups: Groups) -> tuple[int, Wide]:
    """Return the tree with the most leaves for its people, and their sizes."""
    size = groups.size if groups.size is not None else np.empty(0, np.int64)
    leaves, people = np.diff(groups.start), groups.per_tree(size)
    tree = int((leaves / np.maximum(people, 1)).argmax())
    return tree, size[groups.start[tree] : groups.start[tree + 1]]


def _fraction(case: Case, size: Wide) -> float | None:
    """Return the share of the population that is in one tree: less, where it saw a draw."""
    if case.fraction is None:
        return None
    whole = case.forest.n_records or int(size.sum())
    return case.fraction * min(int(size.sum()) / whole, 1.0)


def _others(case: Case, tree: int, rest: int, alone: int) -> dict[str, Any] | None:
    """Count unseen people in leaves of one person, and scale to the rest of the population."""
    if case.test is None or not alone or case.groups.size is None:
        return None
    position = case.groups.positions(tree, case.test.node[:, tree])
    inside = (position >= 0) & (case.groups.size[position] == 1)
    share = wilson(int(inside.sum()), len(inside))
    scale = rest / alone
    return {
        "value": share.value * scale,
        "low": share.low * scale,
        "high": share.high * scale,
        "n": share.n,
    }
