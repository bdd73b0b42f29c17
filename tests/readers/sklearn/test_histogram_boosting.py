"""Histogram gradient boosting: sets, missing values, people, and what is damaged."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeRegressor

from tests.fuzz.model_text import mutate
from tests.readers.damage import sentence_or_model
from treeaudit import Forest, ModelTooLargeError, ReadError, load
from treeaudit.readers.pickle import model as pickle_file

RANDOM = np.random.default_rng(0)
N = 400
JOBS = np.array(["Army", "Sales", "Tech", "Zoo"])
JOB = RANDOM.integers(0, 4, N)
HOURS = RANDOM.normal(40, 9, N).round(2)
CODE = RANDOM.choice([0, 3, 7, 200], N)
LABEL = (RANDOM.random(N) < np.where(JOB % 2 == 0, 0.8, 0.2) + (CODE == 7) * 0.2).astype(int)
SMALL: dict[str, Any] = {"max_iter": 3, "max_leaf_nodes": 8, "min_samples_leaf": 5}


def _values(model: Any, seen: np.ndarray) -> list[np.ndarray]:
    """Return what each tree adds for each row, as scikit-learn routes it."""
    inside = getattr(model, "_preprocessor", None)
    seen = np.asarray(seen if inside is None else inside.transform(seen), dtype=np.float64)
    known = model._bin_mapper.make_known_categories_bitsets()
    return [p.predict(seen, *known, 1) for each in model._predictors for p in each]


def _routed(forest: Forest, rows: np.ndarray, values: list[np.ndarray]) -> None:
    node = forest.apply(rows)
    assert forest.n_trees == len(values)
    for i, expected in enumerate(values):
        tree = forest.trees[i]
        assert tree.value[node[:, i]].tolist() == expected.tolist()
        people = np.bincount(node[:, i], minlength=tree.n_nodes)[tree.leaves]
        assert people.tolist() == tree.n_records[tree.leaves].tolist()


def _holes(table: np.ndarray, share: float = 0.1) -> np.ndarray:
    table = table.astype(np.float64)
    table[RANDOM.random(table.shape) < share] = np.nan
    return table


def test_numbers_and_missing_values() -> None:
    table = _holes(np.c_[HOURS, JOB, CODE])
    for model, counts_are in (
        (HistGradientBoostingClassifier(**SMALL).fit(table, LABEL), "likely"),
        (HistGradientBoostingClassifier(**SMALL).fit(table, JOBS[JOB]), "likely"),
        (HistGradientBoostingRegressor(**SMALL).fit(table, HOURS), "absent"),
    ):
        forest = load(model)
        _routed(forest, table, _values(model, table))
        assert (forest.counts_are, forest.records_are, forest.n_records) == (counts_are, "all", N)
        assert not forest.single_precision
    classes = load(HistGradientBoostingClassifier(**SMALL).fit(table, JOBS[JOB])).schema.classes
    assert classes == tuple(JOBS)


def test_the_leaves_add_up_to_what_the_model_predicts() -> None:
    table = np.c_[HOURS, JOB]
    model = HistGradientBoostingClassifier(**SMALL).fit(table, LABEL)
    forest = load(model)
    node = forest.apply(table)
    raw = sum(tree.value[node[:, i]] for i, tree in enumerate(forest.trees))
    assert np.allclose(raw + model._baseline_prediction.ravel(), model.decision_function(table))


def test_codes_are_sets_of_the_numbers_that_occurred() -> None:
    table = _holes(np.c_[HOURS, CODE, JOB])
    model = HistGradientBoostingClassifier(categorical_features=[1, 2], **SMALL).fit(table, LABEL)
    forest = load(model)
    assert [f.categories for f in forest.schema.features] == [
        None,
        ("0", "3", "7", "200"),
        ("0", "1", "2", "3"),
    ]
    assert any(tree.categories is not None for tree in forest.trees)
    coded = table.copy()
    known = ~np.isnan(coded[:, 1])
    coded[known, 1] = np.searchsorted([0, 3, 7, 200], coded[known, 1])
    _routed(forest, coded, _values(model, table))


def test_categories_of_a_table_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    if HistGradientBoostingClassifier().categorical_features is None:
        pytest.skip("this scikit-learn takes no categories of a table")
    table = pandas.DataFrame({"hours": HOURS, "job": pandas.Categorical(JOBS[JOB])})
    table.loc[:9, "job"] = None
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", **SMALL)
    forest = load(model.fit(table, LABEL))
    assert forest.schema.features[1].categories == tuple(JOBS)
    assert forest.schema.names == ["hours", "job"]
    codes = table["job"].cat.codes.to_numpy().astype(np.float64)
    codes[codes < 0] = np.nan
    _routed(forest, np.c_[HOURS, codes], _values(model, table))


def test_sets_behind_an_encoder_are_sets_of_its_categories() -> None:
    table = np.c_[JOBS[JOB], JOBS[CODE % 4]].astype(object)
    boosting = HistGradientBoostingClassifier(categorical_features=[0], **SMALL)
    model = make_pipeline(OrdinalEncoder(), boosting).fit(table, LABEL)
    forest = load(model)
    assert forest.schema.features[0].categories == tuple(JOBS)
    encoded = model[0].transform(table)
    _routed(forest, encoded, _values(model[1], encoded))


def test_a_vote_of_two_precisions_routes_both() -> None:
    table = np.c_[HOURS, JOB + RANDOM.random(N)]
    members = [
        ("a", HistGradientBoostingClassifier(**SMALL)),
        ("b", RandomForestClassifier(3, max_depth=6, random_state=0)),
    ]
    vote = VotingClassifier(members).fit(table, LABEL)
    forest = load(vote)
    assert not forest.single_precision
    node = forest.apply(table)
    boosted, trees = vote.estimators_
    for i, expected in enumerate(_values(boosted, table)):
        assert forest.trees[i].value[node[:, i]].tolist() == expected.tolist()
    assert node[:, 3:].tolist() == trees.apply(table).tolist()
    assert forest.counts_are == "likely"
    assert forest.counts_reason.startswith("estimators_[0]: ")


def test_the_first_layout_knew_neither_sets_nor_missing_values() -> None:
    table = np.c_[HOURS, JOB]
    model = HistGradientBoostingClassifier(**SMALL).fit(table, LABEL)
    expected = _values(model, table)
    for predictor in (each[0] for each in model._predictors):
        names = ("value", "count", "feature_idx", "threshold", "left", "right", "is_leaf")
        kinds = ("f8", "u4", "u4", "f8", "u4", "u4", "u1")
        nodes = np.zeros(len(predictor.nodes), np.dtype(list(zip(names, kinds, strict=True))))
        for name in names:
            nodes[name] = predictor.nodes["num_threshold" if name == "threshold" else name]
        predictor.nodes = nodes
        predictor.raw_left_cat_bitsets = None
    forest = load(model)
    assert forest.trees[0].missing is None
    _routed(forest, table, expected)


def _damaged(change: Any) -> Any:
    table = np.c_[HOURS, JOB]
    model = HistGradientBoostingClassifier(categorical_features=[1], **SMALL).fit(table, LABEL)
    predictor = model._predictors[0][0]
    predictor.nodes = predictor.nodes.copy()
    change(model, predictor)
    return model


def _set(name: str, node: int, value: Any) -> Any:
    def change(model: Any, predictor: Any) -> None:
        column = predictor.nodes[name]
        column[node] = np.asarray(value).astype(column.dtype)

    return change


def _leaf_is_inner(model: Any, predictor: Any) -> None:
    predictor.nodes["is_leaf"][np.flatnonzero(predictor.nodes["is_leaf"])[0]] = 0


def _all_by_sets(model: Any, predictor: Any) -> None:
    predictor.nodes["is_categorical"][:] = 1
    predictor.nodes["bitset_idx"][:] = 99


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_set("left", 0, 10**6), "a child is out of range"),
        (_set("right", 0, 0), "comes before its parent"),
        (_set("count", 0, 7), "do not add up"),
        (_set("feature_idx", 0, 50), "a feature that does not exist"),
        (_set("feature_idx", 0, -1), "a feature that does not exist"),
        (_set("value", 1, np.nan), "a value is not a number"),
        (_leaf_is_inner, "damaged"),
        (_all_by_sets, "damaged"),
        (lambda model, p: setattr(p, "nodes", p.nodes[:0]), "node table is missing"),
        (lambda model, p: setattr(p, "nodes", p.nodes["count"]), "lacks"),
        (
            lambda model, p: setattr(p, "raw_left_cat_bitsets", np.zeros((3, 2), np.uint32)),
            "wrong shape",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_tree_ends_in_a_sentence(change: Any, sentence: str) -> None:
    model = _damaged(change)
    with pytest.raises(ReadError, match=sentence) as caught:
        load(model)
    assert "\n" not in str(caught.value)


def test_one_tree_named_a_thousand_times_is_too_large() -> None:
    model = HistGradientBoostingClassifier(**SMALL).fit(np.c_[HOURS], LABEL)
    model._predictors = model._predictors[:1] * 1000
    with pytest.raises(ModelTooLargeError, match="larger than the file"):
        load(model)


def test_spoiled_bytes_end_in_a_sentence() -> None:
    import random

    table = np.c_[HOURS, JOB]
    model = HistGradientBoostingClassifier(categorical_features=[1], **SMALL).fit(table, LABEL)
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    vote = VotingClassifier([("a", forest)]).fit(table, LABEL)
    chance, seeds = random.Random(0), [pickle.dumps(model), pickle.dumps(vote)]
    for _ in range(300):
        sentence_or_model(pickle_file, mutate(chance.choice(seeds), chance))


@pytest.mark.parametrize("beside", [lambda tree: tree, lambda _: [], lambda _: "rate"])
def test_a_tree_beside_the_rounds_is_refused(beside: Any) -> None:
    model = HistGradientBoostingClassifier(**SMALL).fit(np.c_[HOURS, JOB], LABEL)
    other = HistGradientBoostingClassifier(**SMALL).fit(np.c_[HOURS, HOURS], LABEL)
    model._predictors.append(beside(other._predictors[0][0]))
    with pytest.raises(ReadError, match="no list of trees"):
        load(model)


def test_numbers_whose_squares_are_none_end_in_no_error() -> None:
    grown = DecisionTreeRegressor(max_depth=1).fit(HOURS.reshape(-1, 1), HOURS)
    grown.tree_.value[:] = 1e200
    assert load(grown).n_trees == 1
