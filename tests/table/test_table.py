"""The reconstructed table: the paper's Table 4, row for row, and the laws of any table."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.ensemble import HistGradientBoostingClassifier

import treeaudit as ta
from tests.strategies import forests
from treeaudit.people.records import read_records
from treeaudit.table.labels import people_per_class
from treeaudit.table.reconstruction import rule_text

TABLE_4 = [
    ("< 170", "< 60", "*", "yes"),
    ("< 170", "< 60", "*", "yes"),
    ("< 170", "< 60", "*", "no"),
    ("< 170", "≥ 60", "*", "no"),
    ("< 170", "≥ 60", "*", "no"),
    ("≥ 170", "*", "< 15", "yes"),
    ("≥ 170", "*", "≥ 15", "yes"),
    ("≥ 170", "*", "≥ 15", "no"),
    ("≥ 170", "*", "≥ 15", "no"),
]


def test_table_4_of_the_paper_row_for_row(figure_3) -> None:
    frame = ta.reconstruct(figure_3).expand()
    assert frame.columns.tolist() == ["Height", "Weight", "Age", "Health"]
    assert list(frame.itertuples(index=False, name=None)) == TABLE_4


@pytest.mark.parametrize(("tree", "leaf"), [(0, 0), (0, 7), (0, -1), (1, 3)])
def test_a_rule_of_no_leaf_is_refused(figure_3, tree, leaf) -> None:
    with pytest.raises(ta.DataError, match=r"no leaf|no tree"):
        rule_text(figure_3, tree, leaf)


def test_where_labels_are_not_people_they_are_left_out(cancer) -> None:
    from sklearn.tree import DecisionTreeClassifier

    weights = np.random.default_rng(0).uniform(0.5, 2, len(cancer[1]))
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(*cancer, sample_weight=weights)
    forest = ta.load(model)
    assert forest.counts_are == "weighted"
    people = ta.reconstruct(forest).expand()
    assert len(people) == len(cancer[1])
    table = ta.reconstruct(forest)
    pure = (table.counts() > 0).sum(axis=1) == 1
    assert people["label"].notna().sum() == table.size[pure].sum()


def test_a_regressor_gives_values(cancer) -> None:
    from sklearn.tree import DecisionTreeRegressor

    columns, _ = cancer
    model = DecisionTreeRegressor(max_depth=2, random_state=0).fit(
        columns, columns["mean area"].to_numpy()
    )
    frame = ta.reconstruct(ta.load(model)).to_frame()
    assert (
        frame["value"].tolist() == model.tree_.value[ta.load(model).trees[0].leaves, 0, 0].tolist()
    )


def test_columns_that_share_a_name_are_kept_apart() -> None:
    inf = np.inf
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 1],
        low=[-inf, -inf, -inf],
        high=[inf, 1, 2],
        n_records=[2, 1, 1],
    )
    forest = ta.Forest(
        trees=(tree,), schema=ta.Schema.numeric(["leaf", "leaf"]), counts_are="absent"
    )
    names = ta.reconstruct(forest).to_frame().columns.tolist()
    assert len(names) == len(set(names)) == 6
    assert names[0] == "leaf"
    assert names[-1] == "people"


@given(forests())
def test_agreement_with_every_leaf_looked_at(forest) -> None:
    groups = ta.reconstruct(forest).groups
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


def test_leaves_without_people_are_no_groups() -> None:
    inf = np.inf
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-inf, -inf, 1],
        high=[inf, 1, inf],
        n_records=[2, 2, 0],
        counts=[[1, 1], [1, 1], [0, 0]],
    )
    table = ta.reconstruct(ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1, ["a", "b"])))
    assert (table.leaf.tolist(), table.size.tolist()) == ([1, 2], [2, 0])
    assert table.labels.distinct.tolist() == [2, 0]
    groups = table.groups
    assert (groups.leaf.tolist(), groups.start.tolist()) == ([1], [0, 1])
    assert groups.labels.distinct.tolist() == [2]
    assert (groups.n_nodes, groups.n_leaves) == (3, 2)
    assert groups.groups is groups


def test_draws_are_people_only_where_everybody_was_drawn_once() -> None:
    draws = np.array([[2.0, 1.0], [3.0, 1.0], [5.0, 0.0]])
    people = people_per_class(draws, np.array([3, 2, 2]), "exact")
    assert people[0].tolist() == [2, 1]
    assert np.isnan(people[1]).all()
    assert people[2].tolist() == [2, 0]


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
    forest = ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1), counts_are="absent")
    table = ta.reconstruct(forest)
    assert len(table) == 2
    assert not table.tells_labels
    with pytest.raises(ta.DataError, match="does not tell the labels"):
        _ = table.labels
    assert table.tells_people == table.groups.tells_people == (n_records is not None)
    assert table.groups.size.tolist() == ([] if n_records is None else [1, 2])
    if n_records is None:
        with pytest.raises(ta.DataError, match="does not tell how many people"):
            _ = table.size
        assert table.to_frame().columns.tolist() == ["leaf", "x0_low", "x0_high"]
        assert table.groups.to_frame().columns.tolist() == ["leaf", "x0_low", "x0_high"]


def test_a_row_tells_whether_people_without_a_category_are_in_its_leaf() -> None:
    rng = np.random.default_rng(0)
    sex = rng.choice(["a", "b", "c", None], 400)
    people = pd.DataFrame({"sex": pd.Categorical(sex), "age": rng.normal(size=400)})
    ill = pd.isna(sex).astype(int) ^ ((people.age > 0) & (sex == "a")).to_numpy()
    model = HistGradientBoostingClassifier(
        max_iter=3, categorical_features="from_dtype", random_state=0
    )
    forest = ta.load(model.fit(people, ill))
    frame = ta.reconstruct(forest).to_frame()
    ends = read_records(people, forest).node
    for (_, row), tree in itertools.product(frame.iterrows(), range(3)):
        if row.tree != tree:
            continue
        inside = ends[:, tree] == row.leaf
        assert row.sex_missing == pd.isna(sex[inside]).any()
        names = set(sex[inside][~pd.isna(sex[inside])])
        known = {"*": {"a", "b", "c"}, "missing": set()}.get(row.sex, set(row.sex.split(" or ")))
        assert names <= known
    assert "missing" in set(frame.sex)


@given(forests())
def test_people_are_conserved(forest) -> None:
    table = ta.reconstruct(forest)
    roots = sum(int(tree.n_records[0]) for tree in forest.trees)
    assert int(table.size.sum()) == roots
    assert len(table.expand()) == roots
    assert np.array_equal(table.counts().sum(axis=1), table.size)
