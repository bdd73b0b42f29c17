"""Joining small leaves with one sibling: by hand, and what holds for every tree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples, forests, rows
from treeaudit import Feature, Forest, Schema, Tree
from treeaudit.defenses import MergeClosest, MergeSiblings
from treeaudit.model.tree import CategorySets
from treeaudit.repair.attempts import training_accuracy

INF = np.inf


def jobs(*counts) -> Forest:
    n = len(counts)
    tree = Tree(
        parent=[-1] + [0] * n,
        feature=[-1] + [0] * n,
        low=[-INF] * (n + 1),
        high=[INF] * (n + 1),
        categories=CategorySets(start=[0, 0, *range(1, n + 1)], codes=list(range(n))),
        n_records=[sum(map(sum, counts)), *map(sum, counts)],
        counts=[np.sum(counts, axis=0), *counts],
    )
    job = Feature(name="job", categories=tuple("abcdef"[:n]))
    return Forest(trees=(tree,), schema=Schema(features=(job,), classes=("no", "yes")))


def test_a_small_leaf_joins_the_sibling_that_answers_alike() -> None:
    model = jobs([9, 1], [2, 0], [1, 9], [0, 1])
    tree = MergeClosest(min_leaf=5).apply(model).trees[0]
    assert tree.counts.tolist() == [[12, 11], [11, 1], [1, 10]]
    assert [tree.categories.of(node) for node in (1, 2)] == [[0, 1], [2, 3]]
    assert MergeSiblings(min_leaf=5).apply(model).trees[0].n_nodes == 1


def test_intervals_join_where_they_touch() -> None:
    tree = Tree(
        parent=[-1, 0, 0, 0],
        feature=[-1, 0, 0, 0],
        low=[-INF, -INF, 1, 2],
        high=[INF, 1, 2, INF],
        n_records=[21, 10, 10, 1],
        counts=[[11, 10], [10, 0], [0, 10], [1, 0]],
    )
    model = Forest(trees=(tree,), schema=Schema.numeric(1, ["no", "yes"]))
    joined = MergeClosest(min_leaf=2).apply(model).trees[0]
    assert joined.low.tolist() == [-INF, -INF, 1]
    assert joined.counts.tolist() == [[11, 10], [10, 0], [1, 10]]


@examples(150)
@given(forests(), st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_the_same_guarantee_for_less(forest, k, seed) -> None:
    if any(tree.n_records[0] < k for tree in forest.trees):
        return
    closest, siblings = MergeClosest(min_leaf=k).apply(forest), MergeSiblings(min_leaf=k)
    assert training_accuracy(closest) >= training_accuracy(siblings.apply(forest)) - 1e-12
    again = MergeClosest(min_leaf=k).apply(closest)
    table = rows(seed)
    for old, tree, twice in zip(forest.trees, closest.trees, again.trees, strict=True):
        leaves = tree.leaves
        assert tree.n_records[leaves].min() >= k
        assert tree.counts[leaves].sum(axis=0).tolist() == old.counts[0].tolist()
        assert np.array_equal(tree.parent, twice.parent)
        # Whoever was answered is answered.
        assert tree.is_leaf[tree.apply(table)][old.is_leaf[old.apply(table)]].all()
        # On binary trees it is Method 2.
        if np.diff(old.children()[0]).max() <= 2:
            one = siblings.apply(Forest(trees=(old,), schema=forest.schema)).trees[0]
            assert np.array_equal(one.parent, tree.parent)
            assert np.array_equal(one.counts, tree.counts)
