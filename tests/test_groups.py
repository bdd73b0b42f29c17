"""Groups: one pass over a forest against a leaf-by-leaf brute force."""

import numpy as np
import pytest
from hypothesis import given

import treeaudit as ta
from tests.strategies import forests
from treeaudit.groups import measure, people_per_class


@given(forests())
def test_agreement_with_every_leaf_looked_at(forest) -> None:
    groups = measure(forest)
    sizes, distinct, absent, majority, where = [], [], [], [], []
    for index, tree in enumerate(forest.trees):
        root = tree.counts[0]
        for leaf in range(tree.n_nodes):
            if leaf in tree.parent or tree.n_records[leaf] == 0:
                continue
            row = tree.counts[leaf]
            sizes.append(int(row.sum()))
            distinct.append(sum(n > 0 for n in row))
            absent.append(sum(n == 0 and r > 0 for n, r in zip(row, root, strict=True)))
            majority.append(max(row))
            where.append((index, leaf))
    assert groups.size.tolist() == sizes
    assert groups.labels.distinct.tolist() == distinct
    assert groups.labels.absent.tolist() == absent
    assert groups.labels.majority.tolist() == majority
    trees = groups.tree_of(np.arange(len(sizes))).tolist()
    assert list(zip(trees, groups.leaf.tolist(), strict=True)) == where


@given(forests())
def test_sums_per_tree(forest) -> None:
    groups = measure(forest)
    assert groups.per_tree(groups.size).tolist() == [int(t.n_records[0]) for t in forest.trees]


def test_leaves_without_people_are_no_groups(figure_3) -> None:
    inf = np.inf
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-inf, -inf, 1],
        high=[inf, 1, inf],
        n_records=[2, 2, 0],
        counts=[[1, 1], [1, 1], [0, 0]],
    )
    groups = measure(ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1, ["a", "b"])))
    assert groups.leaf.tolist() == [1]
    assert (groups.n_nodes, groups.n_leaves) == (3, 2)


def test_draws_are_people_only_where_everybody_was_drawn_once() -> None:
    draws = np.array([[2.0, 1.0], [3.0, 1.0], [5.0, 0.0]])
    people = people_per_class(draws, np.array([3, 2, 2]), "exact")
    assert people[0].tolist() == [2, 1]
    assert np.isnan(people[1]).all()
    assert people[2].tolist() == [2, 0]


def test_weights_are_people_only_in_leaves_of_one_class() -> None:
    people = people_per_class(np.array([[1.5, 1.5], [0.0, 7.5]]), np.array([3, 4]), "weighted")
    assert np.isnan(people[0]).all()
    assert people[1].tolist() == [0, 4]


@pytest.mark.parametrize("n_records", [None, [3, 1, 2]])
def test_models_without_labels_or_people(n_records) -> None:
    inf = np.inf
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-inf, -inf, 1],
        high=[inf, 1, inf],
        n_records=n_records,
    )
    groups = measure(ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1), counts_are="absent"))
    assert groups.labels is None
    assert (groups.size is None) == (n_records is None)
