"""The reconstructed table: the paper's Table 4, row for row, and the laws of any table."""

import numpy as np
import pytest
from hypothesis import given

import treeaudit as ta
from tests.strategies import forests
from treeaudit.table import rule_text

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


def test_one_row_per_leaf(figure_3) -> None:
    frame = ta.reconstruct(figure_3).to_frame()
    assert frame.leaf.tolist() == [3, 4, 5, 6]
    assert frame.people.tolist() == [3, 2, 1, 3]
    assert frame["Health=yes"].tolist() == [2, 0, 1, 1]
    assert frame["Health=no"].tolist() == [1, 2, 0, 2]


def test_one_rule_in_words(figure_3) -> None:
    assert rule_text(figure_3, 0, 6) == "Height ≥ 170 · Age ≥ 15"


@pytest.mark.parametrize(("tree", "leaf"), [(0, 0), (0, 7), (0, -1), (1, 3)])
def test_a_rule_of_no_leaf_is_refused(figure_3, tree, leaf) -> None:
    with pytest.raises(ta.DataError, match=r"no leaf|no tree"):
        rule_text(figure_3, tree, leaf)


@given(forests())
def test_people_are_conserved(forest) -> None:
    table = ta.reconstruct(forest)
    roots = sum(int(tree.n_records[0]) for tree in forest.trees)
    assert int(table.n_records.sum()) == roots
    assert len(table.expand()) == roots
    assert np.array_equal(table.counts.sum(axis=1), table.n_records)


@given(forests())
def test_the_chosen_rows_are_those_of_the_whole(forest) -> None:
    table = ta.reconstruct(forest)
    whole = table.to_frame()
    chosen = [len(table) - 1, 0]
    assert (
        table.to_frame(chosen)
        .reset_index(drop=True)
        .equals(whole.iloc[chosen].reset_index(drop=True))
    )


def test_where_labels_are_not_people_they_are_left_out(cancer) -> None:
    from sklearn.tree import DecisionTreeClassifier

    weights = np.random.default_rng(0).uniform(0.5, 2, len(cancer[1]))
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(*cancer, sample_weight=weights)
    forest = ta.load(model)
    assert forest.counts_are == "weighted"
    people = ta.reconstruct(forest).expand()
    assert len(people) == len(cancer[1])
    pure = (ta.reconstruct(forest).counts > 0).sum(axis=1) == 1
    certain = ta.reconstruct(forest).n_records[pure].sum()
    assert people["label"].notna().sum() == certain


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
    assert len(names) == len(set(names)) == 4
    assert names[0] == "leaf"
    assert names[-1] == "people"


def test_a_tree_that_is_not_there_is_refused(figure_3) -> None:
    with pytest.raises(ta.DataError, match="no tree 3"):
        ta.reconstruct(figure_3, [3])
