"""Merging until labels differ: worked leaves, and what holds for every tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.strategies import examples, forests
from treeaudit import DataError, Forest, Schema, Tree
from treeaudit.defenses import MergeClose, MergeDiverse, MergeDominated
from treeaudit.table.diversity import counted

INF = np.inf


def chain(*counts) -> Forest:
    """A tree that splits one leaf off at each step: (leaf, rest), (leaf, rest), …"""
    n = len(counts)
    parent = [-1] + [2 * (i // 2) for i in range(n - 1)]
    low, high = [-INF], [INF]
    for i in range(n - 1):
        low.append(-INF if i % 2 == 0 else i)
        high.append(i + 1 if i % 2 == 0 else INF)
    tree = Tree(
        parent=parent,
        feature=[-1] + [0] * (n - 1),
        low=low,
        high=high,
        n_records=[sum(c) for c in counts],
        counts=counts,
    )
    return Forest(trees=(tree,), schema=Schema.numeric(1, ["no", "yes"]))


CHAIN = chain([50, 50], [10, 0], [40, 50], [38, 30], [2, 20], [0, 20], [2, 0])


def test_uniform_leaves_are_merged() -> None:
    tree = MergeDiverse().apply(CHAIN).trees[0]
    assert tree.counts.tolist() == [[50, 50]]
    assert tree.n_nodes == 1


def test_dominated_leaves_are_merged() -> None:
    tree = MergeDominated(most=0.95).apply(chain([10, 10], [9, 1], [1, 9])).trees[0]
    assert tree.n_nodes == 3
    assert MergeDominated(most=0.9).apply(chain([10, 10], [9, 1], [1, 9])).trees[0].n_nodes == 1


def test_far_leaves_are_merged() -> None:
    far = chain([10, 10], [9, 1], [1, 9])
    assert MergeClose(t=0.4).apply(far).trees[0].n_nodes == 3
    assert MergeClose(t=0.39).apply(far).trees[0].n_nodes == 1


def test_what_cannot_be_reached_is_said() -> None:
    alike = chain([20, 0], [19, 0], [1, 0])
    with pytest.raises(DataError, match="only 1 in the tree"):
        _ = MergeDiverse().apply(alike).trees[0]
    with pytest.raises(DataError, match=r"100\.0% of everybody"):
        _ = MergeDominated().apply(alike).trees[0]
    bare = Forest(
        trees=(Tree(parent=[-1], feature=[-1], low=[-INF], high=[INF]),),
        schema=Schema.numeric(1),
        counts_are="absent",
    )
    for defense in (MergeDiverse(), MergeClose(), MergeDominated()):
        with pytest.raises(DataError, match="without class counts"):
            _ = defense.apply(bare).trees[0]


def leaf_counts(tree: Tree) -> np.ndarray:
    counts = tree.counts[tree.leaves]
    return counts[counts.sum(axis=1) > 0]


@examples(300)
@given(forests(), st.integers(2, 3), st.floats(0, 0.5))
def test_no_more_than_the_allowed_share_is_certain(forest, distinct, allowed) -> None:
    if any((tree.counts[0] > 0).sum() < distinct for tree in forest.trees):
        return
    safe = MergeDiverse(distinct=distinct, allowed=allowed).apply(forest)
    for tree, old in zip(safe.trees, forest.trees, strict=True):
        counts = leaf_counts(tree)
        certain = counts[(counts > 0).sum(axis=1) < distinct].sum()
        assert certain <= allowed * tree.n_records[0]
        assert tree.counts[tree.leaves].sum(axis=0).tolist() == old.counts[0].tolist()
    if distinct == 2:
        assert ta.reconstruct(safe).tells_labels


@examples(300)
@given(forests(), st.floats(0, 1))
def test_no_leaf_is_farther_than_t(forest, t) -> None:
    for tree in MergeClose(t=t).apply(forest).trees:
        assert (counted(leaf_counts(tree), tree.counts[0]).closeness <= t).all()


@examples(300)
@given(forests(), st.floats(0.3, 1))
def test_no_label_dominates(forest, most) -> None:
    for i, tree in enumerate(forest.trees):
        one = Forest(trees=(tree,), schema=forest.schema)
        if counted(tree.counts[:1]).dominance[0] >= most:
            continue
        safe = MergeDominated(most=most).apply(one).trees[0]
        assert (counted(leaf_counts(safe)).dominance < most).all(), i
