"""What a certificate rests on: told by the file, against it, or said beside it."""

import json
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.ensemble import RandomForestClassifier as Forest

import treeaudit as ta
from tests.inference.tables import stump, trained
from tests.inference.test_bootstrap import trained as drawn
from tests.inference.test_bounds import holds
from tests.libraries import library
from tests.strategies import examples
from treeaudit.attacks.reconstruction.view import Checked
from treeaudit.defenses import MergeSiblings, RoundCounts
from treeaudit.errors import DataError
from treeaudit.findings.details import People
from treeaudit.findings.findings import Skipped
from treeaudit.inference import coding
from treeaudit.inference.boosted import infer_boosted
from treeaudit.inference.bootstrap import infer_bootstrap, sample_counts
from treeaudit.inference.coding import Layout, coded
from treeaudit.inference.domain import Domain, Variable
from treeaudit.inference.exact import infer_exact
from treeaudit.inference.explanation import explain
from treeaudit.inference.scope import (
    Budget,
    OutOfBudgetError,
    certain_if,
    complete_trees,
    maybe_rounded,
    without_labels,
)
from treeaudit.model.tree import Tree
from treeaudit.readers import load

WEIGHTS, SAME = "rows had no weights of their own", "all trees are of the same people"
UNROUNDED = "no count was rounded"
N = 60


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 4, (N, 3)).astype(float)
    return x, (x.sum(axis=1) + rng.integers(0, 2, N)) % 2


def with_gaps(x) -> np.ndarray:
    return np.where(np.random.default_rng(1).random(x.shape) < 0.15, np.nan, x)


def said(report: ta.Report) -> str:
    return next(one.summary for one in report.results if one.id == "TA108")


def test_weights_that_xgboost_adds_up_are_named_in_the_sentence(rows, tmp_path) -> None:
    xgb = pytest.importorskip("xgboost")
    x, _ = rows
    weight = np.random.default_rng(0).integers(1, 4, N)
    given = {"objective": "reg:squarederror", "max_depth": 3, "min_child_weight": 0, "eta": 0.3}
    path = tmp_path / "m.json"
    xgb.train(given, xgb.DMatrix(x, x.sum(axis=1), weight=weight), 10).save_model(path)
    forest = ta.load(path)
    assert infer_exact(without_labels(forest)).n_people > N
    report = ta.scan(path)
    assert f"given away for certain if {WEIGHTS}, " in said(report)
    assert report["TA108"].details.assumptions[:2] == (WEIGHTS, SAME)


def lightgbm_of(x, y, rounds=4, **more):
    lgb = pytest.importorskip("lightgbm")
    given = {"objective": "binary", "num_leaves": 5, "min_data_in_leaf": 1, "verbose": -1}
    return lgb.train(given, lgb.Dataset(x, y, params={"min_data_in_bin": 1}), rounds, **more)


def test_a_lightgbm_that_was_trained_further_says_so(rows, tmp_path) -> None:
    path = tmp_path / "m.txt"
    first = lightgbm_of(*rows)
    first.save_model(path)
    assert certain_if(ta.load(path)) == ()
    lightgbm_of(*rows, init_model=first).save_model(path)
    assert certain_if(ta.load(path)) == (SAME,)


def halved(*leaves: int) -> ta.Forest:
    """Return one stump a pair of leaves, each on a column of its own, of people of one label."""
    trees = [
        stump(i, [left, 0], [right, 0], n_records=[left + right, left, right])
        for i, (left, right) in enumerate(zip(leaves[::2], leaves[1::2], strict=True))
    ]
    schema = replace(ta.Schema.numeric(len(trees)), classes=("no", "yes"))
    return ta.Forest(trees=tuple(trees), schema=schema, n_records=sum(leaves[:2]))


def test_counts_that_one_number_divides_are_certain_only_if_none_was_rounded() -> None:
    # Of the 8 who are right of the second, 2 to 4 are left of the first, fewer than 5.
    forest = halved(4, 6, 2, 8)
    assert maybe_rounded(forest)
    assert certain_if(forest) == (UNROUNDED,)
    assert f"2 of 10 people are given away for certain if {UNROUNDED}, " in said(ta.scan(forest))
    assert certain_if(halved(4, 6, 5, 5)) == ()


@given(st.integers(0, 2**32 - 1), st.integers(2, 8))
@examples(40)
def test_rounded_counts_make_nobody_certain(seed: int, base: int) -> None:
    forest, *_ = trained(seed)
    assume(all(tree.n_records[0] >= base for tree in forest.trees))
    rounded = RoundCounts(base=base).apply(MergeSiblings(min_leaf=base).apply(forest))
    for one in ta.scan(rounded).results:
        assert one.id != "TA108" or isinstance(one, Skipped)
    # Read again, a file does not tell: what it gives away is certain only if none was rounded.
    again = replace(rounded, counts_are="exact", counts_reason="", n_records=None)
    assert certain_if(again) == (UNROUNDED,)


def test_nobody_is_certain_where_trees_show_that_values_were_missing() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 4, (600, 3)).astype(float)
    y = (x.sum(axis=1) + rng.integers(0, 2, 600)) % 2
    for model in (
        ExtraTreesClassifier(10, random_state=0),
        Forest(10, bootstrap=False, random_state=0),
        HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=1),
    ):
        whole = ta.load(model.fit(x, y))
        assert len([*complete_trees(whole, whole.trees)]) == whole.n_trees
        forest = ta.load(model.fit(with_gaps(x), y))
        with pytest.raises(DataError, match="only where no value was missing"):
            infer_exact(without_labels(forest))
        found = next(one for one in ta.scan(model).results if one.id == "TA108")
        assert isinstance(found, Skipped)
        assert "no value was missing" in found.reason


def test_a_column_that_is_asked_nothing_is_refused() -> None:
    domain = Domain(variables=(Variable(name="a", features=(0,), kind="number", cuts=[0.5]),))
    inf = np.inf
    tree = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 1, 1],
        low=[-inf, -inf, -inf],
        high=[inf, inf, inf],
        counts=[[2.0], [1.0], [1.0]],
    )
    with pytest.raises(DataError, match="no threshold and no category"):
        coded([tree], Layout.of(domain))


def test_nobody_is_certain_where_catboost_tells_of_missing_values(rows, tmp_path) -> None:
    catboost = pytest.importorskip("catboost")
    path = tmp_path / "m.json"
    model = catboost.CatBoostClassifier(
        iterations=5, depth=2, verbose=0, allow_writing_files=False, thread_count=1
    )
    model.fit(with_gaps(rows[0]), rows[1]).save_model(str(path), format="json")
    assert any(
        one["has_nans"] for one in json.loads(path.read_text())["features_info"]["float_features"]
    )
    with pytest.raises(DataError, match="some were of column"):
        infer_exact(without_labels(ta.load(path)))


def test_what_is_not_true_of_the_training_people_is_not_certain(monkeypatch) -> None:
    model = Forest(2, bootstrap=False, max_depth=1, random_state=0)
    values = np.repeat([0.0, 1.0], [3, 26])[:, None]
    people = values, values[:, 0].astype(int)
    forest = ta.load(model.fit(*people))
    assert ta.scan(forest, train=people)["TA108"].details.checked.wrong == 0

    def two_wrong(*_: object) -> Checked:
        return Checked(cells=People(2, "cell", "cells"), wrong=People(2, "cell", "cells"))

    monkeypatch.setattr("treeaudit.attacks.reconstruction.people.checked_on", two_wrong)
    results = ta.scan(forest, train=people).results
    found = next(one for one in results if one.id == "TA108")
    assert "not true of the training people, so that something taken for granted" in found.reason


@pytest.mark.libraries
@pytest.mark.parametrize(("top", "flags"), [(1, True), (2, False)])
def test_a_column_that_the_file_says_held_a_two_holds_not_only_0_or_1(top, flags) -> None:
    lgb = library("lightgbm")
    rng = np.random.default_rng(5)
    values, labels = rng.integers(0, top + 1, (24, 4)).astype(float), np.arange(24) % 4
    # One bin above zero: no tree asks about the rest.
    bins = {"max_bin": 2, "min_data_in_bin": 1, "min_data_in_leaf": 1}
    settings = {"verbose": -1, "objective": "multiclass", "num_class": 4, "num_leaves": 16} | bins
    data = lgb.Dataset(values, labels, params=bins)
    booster = lgb.train(settings | {"min_sum_hessian_in_leaf": 0}, data, 11)
    said = infer_boosted(load(booster), budget=Budget(seconds=5)).domain.assumptions
    assert any("hold 0 or 1" in one for one in said) is flags


@given(st.integers(0, 2**32 - 1), st.integers(200, 5_000))
@examples(30)
def test_little_room_ends_it_earlier_and_says_nothing_wrong(seed, room) -> None:
    forest, values, labels = trained(seed)
    with patch.object(coding, "_MOST_BYTES", room):
        answer = infer_exact(forest)
        holds(answer, forest, values, labels)
        shown = explain(forest, answer)
    whole = infer_exact(forest)
    assert answer.n_trees <= whole.n_trees
    if answer.n_trees < whole.n_trees:
        assert answer.stopped is not None
        assert answer.stopped.endswith(" columns each")
    assert shown is None or answer.certified


@given(st.integers(0, 2**32 - 1), st.integers(200, 5_000))
@examples(20)
def test_little_room_ends_the_search_for_rows(seed, room) -> None:
    forest, *_ = drawn(seed, 30)
    times = sample_counts(forest)
    found, said = None, ""
    with patch.object(coding, "_MOST_BYTES", room):
        try:
            found = infer_bootstrap(forest, times)
        except OutOfBudgetError as ended:
            said = str(ended)
    if found is None:
        assert said.endswith(" columns each")
    else:
        assert len(found.cells) == len(infer_bootstrap(forest, times).cells)
