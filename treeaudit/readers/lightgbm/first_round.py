"""What the leaves of the first tree of a LightGBM classifier of two classes tell of labels."""

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from treeaudit.arrays import Float
from treeaudit.model.forest import Boosting
from treeaudit.model.source import Extra
from treeaudit.model.tree import Tree
from treeaudit.readers.first_round import DOUBLE, SINGLE, Step, with_people
from treeaudit.readers.lightgbm.text import Booster
from treeaudit.readers.lightgbm.trees import StoredTree

_BINARY = re.compile(r"(?:binary|multiclassova num_class:\d{1,9}) sigmoid:([0-9.e+-]{1,20})")
_SOFTMAX = re.compile(r"multiclass num_class:(\d{1,9})")
_BENDING = ("lambda_l1", "max_delta_step", "path_smooth", "use_quantized_grad")
"""What makes the values of leaves something else than steps."""
_ROOT = 1e-4
"""How far the start that the root tells is off, as a part of it."""


def _step_of(booster: Booster, tree: StoredTree) -> Step | None:
    """Return what the leaves of the first tree are, where the file tells how it was trained.

    The root holds the score that boosting starts from, to six digits, or else the leaves hold it as
    their mean: enough to tell how many people of the class there are, and with them the score to
    all digits.
    """
    stated, objective = booster.parameters, _BINARY.fullmatch(booster.objective)
    several = _SOFTMAX.fullmatch(booster.objective)
    told = objective is not None or several is not None
    if stated is None or not told or tree.n_records is None or tree.raw.linear:
        return None
    rate, penalty, sigmoid = (
        _number(stated.get("learning_rate")),
        _number(stated.get("lambda_l2", "0")),
        1.0 if objective is None else _number(objective[1]),
    )
    weighted = stated.get("is_unbalance", "0") != "0"
    weighted = weighted or _number(stated.get("scale_pos_weight", "1")) != 1.0
    if weighted or not len(tree.links.inner) or not rate or penalty is None or not sigmoid:
        return None
    k = int(several[1]) if several is not None else 2
    n, start, p = int(tree.n_records[0]), 0.0, 1 / k
    learnt = stated.get("boost_from_average", "1") != "0"
    if learnt:
        told_start = _start(tree, penalty)
        if told_start is None:
            return None
        root = min(max(told_start * sigmoid, -30.0), 30.0)
        share = 1 / (1 + math.exp(-root)) if several is None else math.exp(root)
        people = round(n * share)
        if not 0 < people < n or abs(n * share - people) > _ROOT * (1 + n * share):
            return None
        p = people / n
        start = math.log(p / (1 - p)) / sigmoid if several is None else math.log(p)
    # Softmax of LightGBM multiplies the second derivative with k / (k - 1).
    factor = sigmoid * sigmoid if several is None else k / max(k - 1, 1)
    return Step(
        p=p,
        curvature=factor * p * (1 - p),
        rate=rate * sigmoid,
        penalty=penalty,
        start=start,
        learnt=learnt,
        rounding=SINGLE,
    )


def _start(tree: StoredTree, penalty: float) -> float | None:
    """Return the score of the root; a penalty draws the mean of the leaves away from it."""
    if tree.raw.inner_value is not None:
        return float(tree.raw.inner_value[0])
    if penalty or tree.n_records is None:
        return None
    leaf = tree.links.is_leaf
    value = tree.raw.leaf_value[tree.links.order[leaf] - len(tree.raw.left)]
    return float(np.average(value, weights=tree.n_records[leaf]))


def first_round(
    booster: Booster, trees: Sequence[StoredTree], build: Callable[[int], Tree]
) -> tuple[bool, list[Tree]]:
    """Return whether the file tells what the first round is, and its trees with class counts.

    No trees where the counts of one of them do not follow.
    """
    k = booster.n_outputs
    steps = [_step_of(booster, tree) for tree in trees[:k]]
    if len(steps) < k or None in steps:
        return False, []
    counted = [with_people(build(i), s, i if k > 1 else 1, max(k, 2)) for i, s in enumerate(steps)]
    first = [one[0] for one in counted if one is not None and one[1]]
    return True, first if len(first) == k else []


def boosting_of(
    booster: Booster, stored: Sequence[StoredTree], trees: Sequence[Tree]
) -> Boosting | None:
    """Return how the trees follow from labels; None where the file says too little."""
    k, said = booster.n_outputs, booster.parameters or {}
    steps = [step for tree in stored[:k] if (step := _step_of(booster, tree)) is not None]
    objective, several = (pattern.fullmatch(booster.objective) for pattern in (_BINARY, _SOFTMAX))
    sigmoid = objective is not None and k == 1 and float(objective[1]) == 1.0
    softmax = several is not None and k == int(several[1]) > 2
    plain = said.get("boosting", "gbdt") == "gbdt" and (sigmoid or softmax)
    plain = plain and all(_number(said.get(name, "0")) == 0.0 for name in _BENDING)
    # Leaves below a split by categories carry a penalty of their own.
    odd = any(tree.raw.linear or tree.raw.categorical.any() for tree in stored)
    complete = all(tree.raw.grown is not None for tree in stored)
    odd = odd or said.get("monotone_constraints", "") != ""
    if len(steps) < k or not plain or odd or not complete:
        return None

    return Boosting(
        trees=trees,
        start=tuple(
            math.log(step.p) if softmax else math.log(step.p / (1 - step.p)) for step in steps
        ),
        shift=tuple(step.start for step in steps),
        rate=steps[0].rate,
        penalty=steps[0].penalty,
        curve=k / (k - 1) if softmax else 1.0,
        mass=lambda i: _mass(stored[i]),
        single=False,
        derivatives=SINGLE,
        stored=DOUBLE,
        assumptions=("rows had no weights of their own",),
    )


def _mass(tree: StoredTree) -> Float:
    """Return the sum of second derivatives of each node; those of inner nodes have six digits."""
    leaf = np.zeros(0) if tree.raw.grown is None else tree.raw.grown.leaf_weight
    return np.concatenate([np.full(len(tree.raw.left), np.nan), leaf])[tree.links.order]


def _number(word: str | None) -> float | None:
    try:
        number = float(word) if word is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def first_counts(first: Sequence[Tree]) -> tuple[Extra, ...]:
    """Return the class counts of the first round as something that lies beside its trees."""
    held = [tree.counts[tree.is_leaf] for tree in first if tree.counts is not None]
    if not held:
        return ()
    pure = sum(int(((counts > 0).sum(axis=1) == 1).sum()) for counts in held)
    leaves, n = sum(map(len, held)), max(int(counts.sum()) for counts in held)
    says = (
        "unless rows had weights, the leaf values of the first round give the exact number of "
        f"people of a class and of others in its {leaves:,} leaves: {pure:,} hold one alone"
    )
    where = "leaf_value of Tree=0" if len(held) == 1 else f"leaf_value of Tree=0 to {len(held) - 1}"
    return (Extra(kind="first-round-counts", where=where, n=n, says=says),)
