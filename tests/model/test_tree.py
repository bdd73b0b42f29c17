"""Tree and Forest: frozen arrays, checks, routing, graphs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.strategies import examples, forests, rows
from treeaudit.model import forest
from treeaudit.model.forest import LazyTrees
from treeaudit.model.tree import CategorySets

INF = np.inf


def stump(**changes):
    parts = {
        "parent": [-1, 0, 0],
        "feature": [-1, 0, 0],
        "low": [-INF, -INF, 1.5],
        "high": [INF, 1.5, INF],
    }
    return ta.Tree(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parent": [], "feature": [], "low": [], "high": []}, "at least a root"),
        ({"parent": [0, 0, 0]}, "node 0 must be the root"),
        ({"parent": [-1, 0, 2]}, "one parent that comes before"),
        ({"parent": [-1, 2, 0]}, "one parent that comes before"),
        ({"parent": [-1, -1, 0]}, "one parent that comes before"),
        ({"feature": [-1, -1, 0]}, "names no feature"),
        ({"low": [-INF, np.nan, 1.5]}, "not a number"),
        ({"n_records": [1, 2]}, "2 rows for 3 nodes"),
        ({"categories": CategorySets(start=[0, 0], codes=[])}, "not for 3 nodes"),
    ],
)
def test_a_tree_that_is_none_is_refused(changes, message) -> None:
    with pytest.raises(ta.DataError, match=message):
        stump(**changes)


def test_arrays_are_read_only_and_the_callers_stay_writable() -> None:
    mine = np.array([5, 2, 3])
    tree = stump(n_records=mine)
    with pytest.raises(ValueError, match="read-only"):
        tree.n_records[0] = 7
    mine[0] = 7
    with pytest.raises(AttributeError):
        tree.parent = None


@examples(25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.booleans())
def test_routing_agrees_with_scikit_learn(seed, classes, missing) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 4)).round(1)
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    y = rng.integers(0, classes, 300)
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(x, y)
    forest = ta.load(model)
    fresh = rng.normal(size=(500, 4)).astype(np.float32)
    if missing:
        fresh[rng.random(fresh.shape) < 0.1] = np.nan
    assert forest.apply(fresh)[:, 0].tolist() == model.apply(fresh).tolist()


@given(forests(1), st.integers(0, 2**32 - 1))
def test_leaves_partition_the_records(forest, seed) -> None:
    tree = forest.trees[0]
    ends = tree.apply(rows(seed))
    assert set(ends.tolist()) <= set(tree.leaves.tolist())


def test_a_record_that_no_edge_lets_through_stays() -> None:
    tree = stump(high=[INF, 1.0, INF])
    assert tree.apply([[0.5], [1.2], [2.0], [np.nan]]).tolist() == [1, 0, 2, 0]


@given(forests(1))
def test_the_graph_is_the_tree(forest) -> None:
    tree = forest.trees[0]
    graph = tree.to_networkx()
    assert nx.is_arborescence(graph)
    assert [node for node in graph if graph.out_degree(node) == 0] == tree.leaves.tolist()
    assert sum(graph.nodes[leaf]["n_records"] for leaf in tree.leaves.tolist()) == int(
        tree.n_records[0]
    )


def test_lazy_trees_are_a_sequence() -> None:
    built = []

    def build(i: int) -> ta.Tree:
        built.append(i)
        return stump(n_records=[i, i, 0])

    trees = LazyTrees(build, 4)
    assert len(trees) == 4
    assert built == []
    assert trees[-1].n_records[0] == 3
    assert [int(tree.n_records[0]) for tree in trees[1:3]] == [1, 2]
    with pytest.raises(IndexError):
        trees[4]
    assert [int(tree.n_records[0]) for tree in trees] == [0, 1, 2, 3]
    assert built == [3, 1, 2, 0]


def test_lazy_trees_that_do_not_fit_are_built_again(monkeypatch) -> None:
    size = stump(n_records=[0, 0, 0]).n_bytes
    monkeypatch.setattr(forest, "ROOM", 2 * size)
    built = []

    def build(i: int) -> ta.Tree:
        built.append(i)
        return stump(n_records=[i, i, 0])

    trees = LazyTrees(build, 3)
    assert [[int(tree.n_records[0]) for tree in trees] for _ in range(2)] == [[0, 1, 2]] * 2
    assert built == [0, 1, 2]
    assert [int(trees[i].n_records[0]) for i in (0, 2, 1, 2)] == [0, 2, 1, 2]
    assert built == [0, 1, 2]
    assert LazyTrees(build, 3)[2] is not LazyTrees(build, 3)[2]
