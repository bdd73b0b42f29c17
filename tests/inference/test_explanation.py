"""A person whom a few leaves prove: every sentence of it is true of the trees and of the people."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.inference.tables import small, stump
from tests.strategies import examples
from treeaudit.inference.exact import infer_exact
from treeaudit.inference.explanation import Exclusion, Explanation, explain
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema


def test_two_stumps_by_hand() -> None:
    # One yes with a = 1; nobody with b = 0 is a yes: the yes has a = 1 and b = 1.
    forest = Forest(
        trees=(stump(0, (2, 0), (1, 1)), stump(1, (2, 0), (1, 1))),
        schema=Schema(features=(Feature(name="a"), Feature(name="b")), classes=("no", "yes")),
        counts_are="exact",
    )
    assert explain(forest, infer_exact(forest)) == Explanation(
        tree=0, leaf=2, people=1, label="label = yes", rule="a > 0.5", fits=2,
        others=(Exclusion(tree=1, leaf=1, rule="b ≤ 0.5"),), left="a > 0.5 · b > 0.5",
    )  # fmt: skip


@given(st.integers(0, 2**32 - 1))
@examples(60)
def test_what_is_shown_is_so(seed) -> None:
    forest, values, labels, grid = small(seed)
    answer = infer_exact(forest)
    seen = explain(forest, answer)
    if seen is None:
        return
    label = [f"label = {name}" for name in forest.schema.classes].index(seen.label)
    leaf, codes = forest.apply(grid), answer.domain.codes(grid)
    fits = leaf[:, seen.tree] == seen.leaf
    # Between two thresholds there may be no value of the grid.
    assert len(np.unique(codes[fits], axis=0)) <= seen.fits
    assert forest.trees[seen.tree].counts[seen.leaf, label] == seen.people
    for other in seen.others:
        assert forest.trees[other.tree].counts[other.leaf, label] == 0
        fits &= leaf[:, other.tree] != other.leaf
    left = np.unique(codes[fits], axis=0)
    assert len(left) == 1
    there = (forest.apply(values)[:, seen.tree] == seen.leaf) & (labels == label)
    assert there.sum() == seen.people
    assert (answer.domain.codes(values)[there] == left).all()
