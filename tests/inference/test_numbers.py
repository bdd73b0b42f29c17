"""Leaves of one number each: no certificate is ever wrong, and regressors give people away."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

import treeaudit as ta
from tests.strategies import examples
from treeaudit.errors import DataError
from treeaudit.inference.bootstrap import BootstrapSolution
from treeaudit.inference.numbers import columns_known, infer_numbers, known_by_one_tree, numbers_of
from treeaudit.inference.scope import Budget
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree

INF = np.inf


def solved(forest: Forest) -> BootstrapSolution:
    return infer_numbers(forest, numbers_of(forest), Budget(seconds=5.0))


def tree(parent, feature, low, high, people, value) -> Tree:
    edges = {"parent": parent, "feature": feature, "low": low, "high": high}
    return Tree(**edges, n_records=people, value=value, spread=np.zeros(len(parent)))


def by_hand() -> Forest:
    """Return two trees of four people, two of whom have the number 20."""
    return Forest(
        trees=(
            # a up to 0.5: 10, up to 1: 20, up to 100: 20, above: 30.
            tree(
                [-1, 0, 0, 1, 1, 2, 2], [-1, 0, 0, 0, 0, 0, 0],
                [-INF, -INF, 1, -INF, 0.5, 1, 100], [INF, 1, INF, 0.5, 1, 100, INF],
                [4, 2, 2, 1, 1, 1, 1], [20, 15, 25, 10, 20, 20, 30],
            ),
            # b up to 5: 30. Above, a up to 0.75: 10 if b is up to 6, else 20. Above both: 20.
            tree(
                [-1, 0, 0, 2, 2, 3, 3], [-1, 1, 1, 0, 0, 1, 1],
                [-INF, -INF, 5, -INF, 0.75, -INF, 6], [INF, 5, INF, 0.75, INF, 6, INF],
                [4, 1, 3, 2, 1, 1, 1], [20, 30, 50 / 3, 15, 20, 10, 20],
            ),
        ),
        schema=Schema(features=(Feature(name="a"), Feature(name="b"))),
        counts_are="absent",
        n_records=4,
        values_are="means",
    )  # fmt: skip


def test_two_trees_by_hand() -> None:
    found = solved(by_hand())
    edges = [variable.edges for variable in found.domain.variables]
    boxes = {
        (found.numbers[found.label[i]],
         *(float(edge[side[column, i]]) for column, edge in enumerate(edges)
           for side in (found.cells.low, found.cells.high)))
        for i in np.flatnonzero(found.bounds.low)
    }  # fmt: skip
    # Whoever has 20 and is above 1 is not in the leaf up to 0.75: the other one is.
    assert boxes == {
        (10, -INF, 0.5, 5, 6),
        (20, 0.5, 0.75, 6, INF),
        (20, 1, 100, 5, INF),
        (30, 100, INF, -INF, 5),
    }
    # Of eight numbers one is known: 0.25 is no more than 1 % of the range from 0.5 to 100.
    known, columns = columns_known(found.cells)
    assert (found.bounds.low @ known, columns, known_by_one_tree(by_hand())) == (1, 2, 1 / 8)


def test_leaves_that_do_not_hold_one_number_each_are_none() -> None:
    forest = by_hand()
    mixed = replace(forest.trees[0], n_records=[4, 2, 2, 2, 0, 1, 1], spread=[1.0] * 7)
    assert numbers_of(replace(forest, trees=(mixed, forest.trees[1]))) is None
    assert numbers_of(replace(forest, values_are="unknown")) is None
    assert numbers_of(replace(forest, records_are="bootstrap")) is None
    x, y = load_diabetes(return_X_y=True)
    bounded = RandomForestRegressor(2, monotonic_cst=[1] + [0] * 9, random_state=0).fit(x, y)
    assert numbers_of(ta.load(bounded)) is None


def test_trees_that_contradict_each_other_are_refused() -> None:
    forest = by_hand()
    other = replace(forest.trees[0], value=[20, 15, 25, 10, 10, 20, 30])
    with pytest.raises(DataError, match="not trained on the same people"):
        solved(replace(forest, trees=(other, forest.trees[1])))
    x, y = load_diabetes(return_X_y=True)
    forest = ta.load(RandomForestRegressor(3, random_state=0).fit(x[:50], y[:50]))
    with pytest.raises(DataError, match="seeds do not draw"):
        solved(replace(forest, seeds=(1, 2, 3)))


@given(st.integers(0, 2**32 - 1))
@examples(40)
def test_what_is_certain_is_true(seed) -> None:
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, 50)), int(rng.integers(1, 5))
    x = np.column_stack([rng.integers(0, high, n) for high in rng.integers(2, 90, width)]) / 3
    y = rng.integers(0, int(rng.integers(2, 60)), n) * [1.0, 0.1, -1e6][int(rng.integers(3))]
    grown = (RandomForestRegressor, ExtraTreesRegressor)[int(rng.integers(2))](
        int(rng.integers(2, 25)), bootstrap=bool(rng.integers(2)), random_state=seed
    ).fit(x, y)
    forest = ta.load(grown)
    assume(numbers_of(forest) is not None)
    found, seen = solved(forest), forest.apply(x)
    if found.person.max(initial=-1) >= 0:
        draws = [np.random.RandomState(one).randint(0, n, n) for one in forest.seeds]
        seen[~np.stack([np.isin(np.arange(n), one) for one in draws], axis=1)] = -1
    codes, low, high = found.domain.codes(x), found.cells.low, found.cells.high
    places = list(zip(found.domain.variables, found.cells.layout.row.tolist(), strict=False))
    for i, row in enumerate(found.person.tolist()):
        there = (seen == found.cells.leaf[:, i]).all(axis=1)
        there &= np.isclose(y, found.numbers[found.label[i]], rtol=1e-5, atol=1e-5)
        there &= (np.arange(n) == row) | (row < 0)
        for column, (variable, place) in enumerate(places):
            code = codes[there, column]
            if variable.cuts is not None:
                assert ((low[place, i] <= code) & (code < high[place, i])).all()
        assert found.bounds.low[i] <= there.sum() <= found.bounds.high[i]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "draws", "people", "share"), [
    (RandomForestRegressor, True, 438, 0.0439), (RandomForestRegressor, False, 442, 0.0032),
    (ExtraTreesRegressor, True, 431, 0.0742), (ExtraTreesRegressor, False, 440, 0.1663),
])  # fmt: skip
def test_people_of_a_regression_come_back_with_their_numbers(kind, draws, people, share) -> None:
    table = load_diabetes(as_frame=True).frame
    grown = kind(20, bootstrap=draws, random_state=0)
    grown.fit(table.drop(columns="target"), table["target"])
    details = ta.scan(grown, train=table, target="target")["TA108"].details
    assert (details.given_away, details.in_order is not None) == (people, draws)
    assert (details.checked.cells > 400, details.checked.wrong) == (True, 0)
    assert details.numbers == pytest.approx(share, abs=1e-4)


@pytest.mark.slow
def test_of_classes_one_tree_alone_is_counted() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    report = ta.scan(RandomForestClassifier(20, random_state=0).fit(x, y))
    reasons = [one.reason for one in report.results if one.id == "TA108"]
    assert "one tree alone gives away 0.02% of the numbers" in reasons[0]
