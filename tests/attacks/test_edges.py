"""Edges made ready answer as the tree does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import grow
from treeaudit.attacks.attribute_inference import what_if
from treeaudit.attacks.attribute_inference.what_if import Edges

VALUES = np.array([-30.0, -0.5, 0, 0.5, 1, 2, 3, 4, 7.5, 99, np.nan])


@given(st.integers(0, 2**32 - 1))
def test_agreement_with_the_tree(seed) -> None:
    tree = grow(seed, 2)
    nodes = np.repeat(np.arange(1, tree.n_nodes), len(VALUES)).astype(np.int32)
    x = np.tile(VALUES, tree.n_nodes - 1)
    assert Edges(tree).passes(nodes, x).tolist() == tree.passes(nodes, x).tolist()


def test_sets_that_are_too_wide_are_asked_of_the_tree(monkeypatch) -> None:
    monkeypatch.setattr(what_if, "_MOST_CELLS", 0)
    test_agreement_with_the_tree()
