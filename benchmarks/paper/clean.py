"""What treeaudit itself makes of a model: its audit, its defenses, its predictions."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

import treeaudit as ta
from treeaudit.defenses import MergeSiblings, PruneLeaves
from treeaudit.people.predict.predictions import class_shares
from treeaudit.people.records import read_records

__all__ = ["answers", "audited", "defended", "policy_search", "remembering"]

Labels = npt.NDArray[np.object_]


def audited(forest: ta.Forest) -> Mapping[str, float]:
    """Return U, N_l and N_u of a model, and whether it passes the default policy."""
    report = ta.scan(forest)
    singled, alike = report["TA101"].details, report["TA102"].details
    return {
        "U": singled.unique_leaves,
        "N_l": alike.homogeneous_leaves,
        "N_u": alike.homogeneous_people,
        "pass": float(report.verdict == "pass"),
    }


def answers(forest: ta.Forest, features: pd.DataFrame, labels: Labels) -> Mapping[str, float]:
    """Return accuracy among the answered, share answered, accuracy if no answer is wrong."""
    # By name: a class too rare for the training part is in the test part all the same.
    shares, answered = class_shares(forest, read_records(features, forest))
    names = np.array([str(name) for name in forest.schema.classes or ()], dtype=object)
    right = (names[shares.argmax(axis=1)] == labels) & answered
    return {
        "ACC": float(right.sum() / max(answered.sum(), 1)),
        "coverage": float(answered.mean()),
        "ACC, unanswered wrong": float(right.mean()),
    }


def remembering(
    forest: ta.Forest, s: int, features: pd.DataFrame, labels: Labels
) -> Mapping[str, float]:
    """Return the accuracy of Method 1 if the parent answered for all who were in it.

    The product does not: left in the file, the counts of a parent are those of the
    removed leaf again, by subtraction. The difference is what forgetting costs.
    """
    (tree,) = forest.trees
    assert tree.n_records is not None  # every tree of scikit-learn says so
    assert tree.counts is not None
    leaf = read_records(features, forest).node[:, 0]
    node = np.where(tree.n_records[leaf] > s, leaf, tree.parent[leaf])
    names = np.array([str(name) for name in forest.schema.classes or ()], dtype=object)
    return {"ACC, remembering": float((names[tree.counts[node].argmax(axis=1)] == labels).mean())}


def defended(
    forest: ta.Forest, s: int, features: pd.DataFrame, labels: Labels
) -> dict[tuple[str, str], float]:
    """Return what both methods leave, by method and what is counted; k is s + 1."""
    merged = MergeSiblings(min_leaf=s + 1).apply(forest)
    pruned = PruneLeaves(min_leaf=s + 1, unanswered="reject").apply(forest)
    filled = PruneLeaves(min_leaf=s + 1, unanswered="parent").apply(forest)
    refusing = answers(pruned, features, labels)
    figures = {
        "Method 1": {
            **audited(pruned),
            "ACC": answers(filled, features, labels)["ACC"],
            "ACC, abstaining": refusing["ACC"],
            "coverage": refusing["coverage"],
            "ACC, unanswered wrong": refusing["ACC, unanswered wrong"],
            **remembering(forest, s, features, labels),
        },
        "Method 2": {**audited(merged), "ACC": answers(merged, features, labels)["ACC"]},
    }
    return {(rule, what): v for rule, named in figures.items() for what, v in named.items()}


def policy_search(forest: ta.Forest, features: pd.DataFrame, labels: Labels) -> Mapping[str, float]:
    """Return the same for the mildest repair that passes the default policy, NaN if none does."""
    try:
        safe = ta.defend(forest, policy="default")
    except ta.DataError:
        return {"pass": 0.0, "N_u": np.nan, "ACC": np.nan}
    audit = audited(safe)
    accuracy = answers(safe, features, labels)["ACC"]
    return {"pass": audit["pass"], "N_u": audit["N_u"], "ACC": accuracy}
