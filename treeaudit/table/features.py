"""Which columns single people out: what would hide them again if it were left out.

A leaf is small because of the conditions on its way. The file tells the last of
them; with the people at hand each feature can be left out for real.

References
----------
Elliot, Manning and Ford (2002), A computational algorithm for handling the
special uniques problem (SUDA), for the question; the answer here is for leaves.
"""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.model.rules import Rules, rules_of
from treeaudit.model.tree import Tree

_SAMPLE = 500


def people_by_feature(tree: Tree, leaves: npt.ArrayLike, people: Wide, n_features: int) -> Wide:
    """Return how many of the people in some leaves have a condition on each feature.

    * ``leaves``: node numbers, shape ``(n,)``.
    * ``people``: shape ``(n,)``: people in each of them.
    """
    rules = rules_of(tree, leaves)
    return np.bincount(rules.feature, people[rules.row], n_features).astype(np.int64)


def people_by_last_split(
    tree: Tree, leaves: npt.ArrayLike, people: Wide, n_features: int, k: int
) -> Wide:
    """Return how many people the last condition of their leaf alone puts below k.

    Counted for the feature of that condition, where the node above it holds at
    least k people; shapes as in `people_by_feature`.
    """
    leaf = np.asarray(leaves, dtype=np.int64)
    leaf, people = leaf[tree.parent[leaf] >= 0], people[tree.parent[leaf] >= 0]
    if tree.n_records is None:
        return np.zeros(n_features, dtype=np.int64)
    whole = tree.n_records[tree.parent[leaf]] >= k
    counted = np.bincount(tree.feature[leaf[whole]], weights=people[whole], minlength=n_features)
    return np.asarray(counted, dtype=np.int64)


def hidden_without(rules: Rules, n_leaves: int, values: Float, k: int) -> Flag:
    """Tell which leaves would hold k people if one feature were left out of their rule.

    * ``values``: shape ``(n_people, n_features)``: the people, as the model sees them.

    Returns: shape ``(n_leaves, n_features)``.
    """
    hidden = np.zeros((n_leaves, values.shape[1]), dtype=np.bool_)
    first = np.searchsorted(rules.row, np.arange(n_leaves + 1))
    columns = np.asfortranarray(values)
    sample = values[:: max(len(values) // _SAMPLE, 1)]
    for leaf in range(n_leaves):
        conditions = np.arange(int(first[leaf]), int(first[leaf + 1]))
        # The conditions that few people meet come first, so that most are gone early.
        passing = [_fits(rules, i, sample[:, rules.feature[i]]).mean() for i in conditions.tolist()]
        left = np.arange(len(values))
        broken = np.full(len(values), -1, dtype=np.int32)
        for i in conditions[np.argsort(passing, kind="stable")].tolist():
            column = columns[:, rules.feature[i]]
            fits = _fits(rules, i, column if len(left) == len(column) else column[left])
            # Who breaks a second condition is in no group that one feature less would make.
            keep = fits | (broken < 0)
            broken = np.where(fits, broken, rules.feature[i])[keep]
            left = left[keep]
        own = int((broken < 0).sum())
        more = np.bincount(broken[broken >= 0], minlength=values.shape[1])
        asked = rules.feature[conditions]
        hidden[leaf, asked] = own + more[asked] >= k
    return hidden


def _fits(rules: Rules, condition: int, value: Float) -> Flag:
    low, high = rules.low[condition], rules.high[condition]
    codes = [] if rules.categories is None else rules.categories.of(condition)
    fits = np.isin(value, codes) if codes else (value > low) & (value <= high)
    return np.asarray(fits | (np.isnan(value) & bool(rules.missing[condition])))
