"""What known people and unseen people make of the leaves: taken out, and held against."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from tests.route.expected import Expected
from tests.route.leaves import Group

__all__ = ["claims", "falling"]


def falling(expected: Expected, known: np.ndarray) -> dict[str, int]:
    """Return who is certain before, and who falls once known rows of a single tree are taken out.

    A leaf falls where all who are not known have one label; whoever is in a leaf of one label is
    certain before.
    """
    tree, each = expected.drawn.trees[0], expected.trees[0]
    before, after = 0, 0
    for group in each:
        labels = tree.label[group.members]
        if len(set(labels)) == 1:
            before += group.size
            continue
        left = group.members[~known[group.members]]
        if len(left) and len(set(tree.label[left])) == 1:
            after += len(left)
    return {"people_certain_before": before, "people_falling": after}


def claims(expected: Expected, test: pd.DataFrame, label: np.ndarray) -> dict[str, Any]:
    """Return claim, truth and control of TA101 and TA102, of people who count once in all trees."""
    k = expected.k
    return {
        f"leaves of fewer than {k} people": _claim(expected, test, label, lambda g: g.size < k),
        f"one-label leaves of fewer than {k} people":
            _claim(expected, test, label, lambda g: g.size < k and g.distinct == 1),
        f"one-label leaves of {k} or more people":
            _claim(expected, test, label, lambda g: g.size >= k and g.distinct == 1),
    }  # fmt: skip


def _claim(expected: Expected, test: pd.DataFrame, label: np.ndarray, chosen: Any) -> Any:
    groups = [g for tree in expected.of_people for g in tree if chosen(g)]
    if not groups:
        return None
    people = sum(g.size for g in groups)
    real = expected.drawn.trees[0].label
    told: Mapping[str, Any] = {
        "claim": (sum(g.share * g.size for g in groups) / people, people),
        "verified": _right(expected, [tree.leaf for tree in expected.drawn.trees], real, chosen),
        "control": _right(expected, [tree.route(test) for tree in expected.drawn.trees], label,
                          chosen),
    }  # fmt: skip
    return told


def _right(expected: Expected, leaf: list[np.ndarray], label: np.ndarray, chosen: Any) -> Any:
    """Return how often what the leaves say is right, a mean over people, and of how many."""
    made, right = np.zeros((2, len(label)))
    for tree, where in zip(expected.of_people, leaf, strict=True):
        says: dict[int, Group] = {g.leaf: g for g in tree if chosen(g)}
        for i, at in enumerate(where.tolist()):
            if at in says:
                made[i] += 1
                right[i] += says[at].top == label[i]
    asked = made > 0
    return ((right[asked] / made[asked]).mean(), int(asked.sum())) if asked.any() else None
