"""Where the cells of an icicle go: nothing is lost, nothing overlaps, nothing grows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import forests
from treeaudit.model.tree import Tree
from treeaudit.reports.icicle import lay_out, level_of, measure_subtrees

INF = np.inf


def chain(length: int) -> Tree:
    """A tree that cuts off one person at every level."""
    parent, low, high, people = [-1], [-INF], [INF], [length + 1]
    for i in range(length):
        above = 0 if i == 0 else len(parent) - 1
        parent += [above, above]
        low += [-INF, float(i)]
        high += [float(i), INF]
        people += [1, length - i]
    feature = [-1] + [0] * (len(parent) - 1)
    return Tree(parent=parent, feature=feature, low=low, high=high, n_records=people)


def bush(depth: int, seed: int = 0) -> Tree:
    """A full binary tree with random group sizes."""
    n = 2 ** (depth + 1) - 1
    size = np.zeros(n, dtype=np.int64)
    size[n // 2 :] = np.random.default_rng(seed).integers(1, 90, n - n // 2)
    for node in range(n - 1, 0, -1):
        size[(node - 1) // 2] += size[node] if node else 0
    odd = np.arange(n) % 2 == 1
    return Tree(
        parent=np.concatenate([[-1], (np.arange(1, n) - 1) // 2]),
        feature=np.concatenate([[-1], np.zeros(n - 1)]),
        low=np.where(odd, -INF, 1.0),
        high=np.where(odd, 1.0, INF),
        n_records=size,
    )


@given(forests(most_trees=1), st.integers(1, 12), st.integers(1, 10))
def test_columns_hold_every_leaf_once(forest, most_columns, most_rows):
    tree = forest.trees[0]
    layout = lay_out(tree, 5, most_columns=most_columns, most_rows=most_rows)
    ends = layout.ends
    assert [cell.first for cell in ends] == list(range(layout.columns))
    assert layout.columns <= max(most_columns, 1)
    leaves = sum(int(layout.below.n_leaves[cell.node]) for cell in ends)
    assert leaves == int((tree.n_records[tree.leaves] > 0).sum())


@given(forests(most_trees=1))
def test_children_tile_their_parent(forest):
    tree = forest.trees[0]
    layout = lay_out(tree, 5)
    cells = {cell.node: cell for cell in layout.cells}
    for cell in layout.cells:
        if cell.kind == "inner":
            below = [c for n, c in cells.items() if n and tree.parent[n] == cell.node]
            assert sum(c.width for c in below) == cell.width
            assert min(c.first for c in below) == cell.first
            assert {c.depth for c in below} == {cell.depth + 1}


@given(forests(most_trees=1), st.integers(1, 20))
def test_subtrees_agree_with_the_leaves(forest, k):
    tree = forest.trees[0]
    below = measure_subtrees(tree, k)
    size = tree.n_records[tree.leaves]
    held = size[size > 0]
    assert below.n_leaves[0] == len(held)
    assert below.small[0] == (held < k).sum()
    assert below.levels[0].sum() == len(held)
    if len(held):
        assert (below.smallest[0], below.largest[0]) == (held.min(), held.max())


def test_a_big_tree_is_folded():
    tree = bush(12)
    layout = lay_out(tree, 5)
    assert layout.columns == 150
    assert layout.rows <= 16
    assert any(cell.kind == "fold" for cell in layout.cells)


def test_small_groups_unfold_first():
    tree = bush(7)
    size = np.full(tree.n_nodes, 50)
    size[127] = 1  # the leftmost leaf
    lonely = Tree(
        parent=tree.parent, feature=tree.feature, low=tree.low, high=tree.high, n_records=size
    )
    layout = lay_out(lonely, 5, most_columns=20)
    assert 127 in {cell.node for cell in layout.cells if cell.kind == "leaf"}


def test_a_deep_chain_is_bounded():
    layout = lay_out(chain(5000), 5)
    assert layout.rows <= 16
    assert layout.columns <= 150


def test_a_single_leaf_is_one_column():
    layout = lay_out(Tree(parent=[-1], feature=[-1], low=[-INF], high=[INF], n_records=[4]), 5)
    assert [(c.kind, c.width) for c in layout.cells] == [("leaf", 1)]


@pytest.mark.parametrize(("size", "level"), [(0, 0), (1, 0), (2, 1), (9, 2), (49, 3), (50, 4)])
def test_levels_begin_where_they_say(size, level):
    assert level_of(size) == level
