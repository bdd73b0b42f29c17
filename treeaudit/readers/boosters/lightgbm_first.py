"""What the leaves of the first tree of a LightGBM classifier of two classes tell of labels."""

import math
import re

from treeaudit.model.leftovers import Leftover
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters.lightgbm_text import Booster
from treeaudit.readers.boosters.lightgbm_tree import StoredTree
from treeaudit.readers.first_round import SINGLE, Step

__all__ = ["first_counts", "step_of"]

_BINARY = re.compile(r"binary sigmoid:([0-9.e+-]{1,20})")
_ROOT = 1e-4
"""How far the start that the root tells is off, as a part of it."""


def step_of(booster: Booster, tree: StoredTree) -> Step | None:
    """Return what the leaves of the first tree are, where the file tells how it was trained.

    The root holds the score that boosting starts from, to six digits: enough to tell how many
    people of the class there are, and with them the score to all digits.
    """
    stated, objective = booster.parameters, _BINARY.fullmatch(booster.objective)
    if stated is None or objective is None or tree.n_records is None or tree.raw.linear:
        return None
    rate, penalty, sigmoid = (
        _number(stated.get("learning_rate")),
        _number(stated.get("lambda_l2", "0")),
        _number(objective[1]),
    )
    weighted = stated.get("is_unbalance", "0") != "0"
    weighted = weighted or _number(stated.get("scale_pos_weight", "1")) != 1.0
    inner = tree.raw.inner_value
    if weighted or inner is None or not len(inner) or not rate or penalty is None or not sigmoid:
        return None
    n, start, p = int(tree.n_records[0]), 0.0, 0.5
    learnt = stated.get("boost_from_average", "1") != "0"
    if learnt:
        told = 1 / (1 + math.exp(-min(max(float(inner[0]) * sigmoid, -30.0), 30.0)))
        people = round(n * told)
        if not 0 < people < n or abs(n * told - people) > _ROOT * (1 + n * told):
            return None
        p = people / n
        start = math.log(p / (1 - p)) / sigmoid
    return Step(
        p=p,
        curvature=sigmoid * sigmoid * p * (1 - p),
        rate=rate * sigmoid,
        penalty=penalty,
        start=start,
        learnt=learnt,
        rounding=SINGLE,
    )


def _number(word: str | None) -> float | None:
    try:
        number = float(word) if word is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def first_counts(tree: Tree | None) -> tuple[Leftover, ...]:
    """Return the class counts of the first tree as something that lies beside it."""
    if tree is None or tree.counts is None:
        return ()
    held = tree.counts[tree.is_leaf]
    pure = int((held.min(axis=1) == 0).sum())
    says = (
        "unless rows had weights, the leaf values of the first tree give the exact number of "
        f"people of each class in its {len(held):,} leaves: {pure:,} hold one class alone"
    )
    where, n = "leaf_value of Tree=0", int(held.sum())
    return (Leftover(kind="first-round-counts", where=where, n=n, says=says),)
