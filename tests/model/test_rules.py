"""Rules: the conditions of a leaf are exactly what leads into it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import forests, rows
from treeaudit.model.rules import rules_of


def passes(rules, row: int, record) -> bool:
    for i in np.flatnonzero(rules.row == row).tolist():
        x = record[rules.feature[i]]
        codes = rules.categories.of(i)
        if rules.feature[i] == 2:
            if int(x) not in codes:
                return False
        elif not rules.low[i] < x <= rules.high[i]:
            return False
    return True


@given(forests(1), st.integers(0, 2**32 - 1))
def test_a_record_fits_the_rule_of_its_leaf_and_of_no_other(forest, seed) -> None:
    tree = forest.trees[0]
    leaves = tree.leaves
    rules = rules_of(tree, leaves)
    table = rows(seed, 20)
    for record, end in zip(table, tree.apply(table), strict=True):
        fits = [leaf for i, leaf in enumerate(leaves.tolist()) if passes(rules, i, record)]
        assert fits == [end]


@given(forests(1))
def test_only_what_is_asked_for_is_computed(forest) -> None:
    tree = forest.trees[0]
    every = rules_of(tree, tree.leaves)
    last = rules_of(tree, tree.leaves[-1:])
    mine = every.row == len(tree.leaves) - 1
    assert last.feature.tolist() == every.feature[mine].tolist()
    assert last.low.tolist() == every.low[mine].tolist()
    assert last.high.tolist() == every.high[mine].tolist()
    assert set(last.row.tolist()) <= {0}
