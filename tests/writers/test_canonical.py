"""What a release writes follows from the model alone, and a released file is canonical."""

import datetime
import json
import os
import pickle
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import (
    calibration,
    compose,
    decomposition,
    ensemble,
    feature_selection,
    impute,
    linear_model,
    model_selection,
    multiclass,
    multioutput,
    preprocessing,
    semi_supervised,
    tree,
)
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline

import treeaudit as ta
from tests.strategies import one_in
from tests.writers.kinds import CANCER, DIABETES, IRIS
from treeaudit.errors import TreeauditError
from treeaudit.readers import load_all
from treeaudit.repair.release import left_out
from treeaudit.writers import suffixes_of, writer_for
from treeaudit.writers.canonical import canonical

PLACE = "steps['genericunivariateselect']"
NOTED = {"['created']", f"{PLACE}.pvalues_", f"{PLACE}.scores_"}
TREE = tree.DecisionTreeClassifier(max_depth=3, random_state=0)
NUMBER = tree.DecisionTreeRegressor(max_depth=3, random_state=0)
WOOD = ensemble.RandomForestClassifier(3, max_depth=3, random_state=0)
LINE = linear_model.LogisticRegression(max_iter=5000)
POSITIVE = (np.abs(CANCER[0]), CANCER[1])
NAMED = (pd.DataFrame(IRIS[0], columns=list("abcd")), np.array(["x", "y", "z"])[IRIS[1]])
BOTH = (IRIS[0], np.column_stack([IRIS[1] // 2, IRIS[1] % 2]))
TABLE = (
    pd.DataFrame({"w": np.array(["u", "v", "w"])[IRIS[1]], "n": IRIS[0][:, 0]}),
    IRIS[1] % 2,
)
TEXTS = ([f"{'red' if i % 3 else 'blue'} house no {i % 7}" for i in range(90)], np.arange(90) % 3)
CODED = (np.column_stack([np.arange(150) % 6, IRIS[0]]), IRIS[1])
PART = (IRIS[0], np.where(np.arange(150) % 3, IRIS[1], -1))

MODELS = {
    "tree": (TREE, NAMED),
    "entropy": (tree.DecisionTreeClassifier(criterion="entropy", class_weight="balanced"), IRIS),
    "weights": (tree.DecisionTreeClassifier(class_weight={0: 1.5, 1: 0.1, 2: 3}), IRIS),
    "monotonic": (tree.DecisionTreeClassifier(max_depth=4, monotonic_cst=[1] + 29 * [0]), CANCER),
    "random tree": (tree.ExtraTreeClassifier(random_state=0), IRIS),
    "numbers": (NUMBER, DIABETES),
    "medians": (tree.DecisionTreeRegressor(criterion="absolute_error", max_depth=2), DIABETES),
    "several outputs": (TREE, BOTH),
    "forest": (WOOD, NAMED),
    "weighted forest": (
        ensemble.RandomForestClassifier(3, class_weight="balanced_subsample", oob_score=False),
        IRIS,
    ),
    "forest of numbers": (ensemble.RandomForestRegressor(3, max_samples=0.5), DIABETES),
    "extra trees": (ensemble.ExtraTreesClassifier(3), IRIS),
    "embedding": (ensemble.RandomTreesEmbedding(3), IRIS),
    "isolation": (ensemble.IsolationForest(n_estimators=3), IRIS),
    "bag": (ensemble.BaggingClassifier(TREE, n_estimators=3), NAMED),
    "bag of columns": (ensemble.BaggingRegressor(n_estimators=3, max_features=0.5), DIABETES),
    "boosted votes": (ensemble.AdaBoostClassifier(TREE, n_estimators=4), IRIS),
    "boosted medians": (ensemble.AdaBoostRegressor(n_estimators=3), DIABETES),
    "boosting": (ensemble.GradientBoostingClassifier(n_estimators=2), IRIS),
    "quantiles": (ensemble.GradientBoostingRegressor(n_estimators=2, loss="quantile"), DIABETES),
    "first a tree": (ensemble.GradientBoostingClassifier(init=TREE, n_estimators=2), CANCER),
    "histograms": (ensemble.HistGradientBoostingClassifier(max_iter=2), IRIS),
    "categories": (
        ensemble.HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]),
        CODED,
    ),
    "vote": (ensemble.VotingClassifier([("a", TREE), ("gone", "drop"), ("b", WOOD)]), NAMED),
    "vote of numbers": (ensemble.VotingRegressor([("a", NUMBER), ("b", clone(NUMBER))]), DIABETES),
    "stack": (ensemble.StackingClassifier([("a", TREE), ("b", WOOD)], LINE, cv=2), IRIS),
    "sigmoid": (calibration.CalibratedClassifierCV(TREE, cv=2), IRIS),
    "isotonic": (calibration.CalibratedClassifierCV(WOOD, method="isotonic", cv=2), CANCER),
    "one-vs-rest": (multiclass.OneVsRestClassifier(TREE), NAMED),
    "one-vs-one": (multiclass.OneVsOneClassifier(TREE), IRIS),
    "codes": (multiclass.OutputCodeClassifier(TREE, random_state=0), IRIS),
    "outputs": (multioutput.MultiOutputClassifier(TREE), BOTH),
    "chain": (multioutput.ClassifierChain(TREE), BOTH),
    "changed target": (
        compose.TransformedTargetRegressor(NUMBER, func=np.log1p, inverse_func=np.expm1),
        DIABETES,
    ),
    "self-training": (semi_supervised.SelfTrainingClassifier(TREE), PART),
    "search": (model_selection.GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=2), IRIS),
    "columns": (
        make_pipeline(
            compose.ColumnTransformer(
                [("w", preprocessing.OneHotEncoder(), ["w"]), ("n", "passthrough", ["n"])]
            ),
            TREE,
        ),
        TABLE,
    ),
    "target encoder": (
        make_pipeline(preprocessing.TargetEncoder(random_state=0), TREE),
        (TABLE[0][["w"]], TABLE[1]),
    ),
    "tf-idf": (make_pipeline(TfidfVectorizer(), TREE), TEXTS),
    "words": (
        make_pipeline(CountVectorizer(ngram_range=(1, 2), stop_words="english"), TREE),
        TEXTS,
    ),
}
STEPS = [
    preprocessing.StandardScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.RobustScaler(),
    preprocessing.MaxAbsScaler(),
    preprocessing.Normalizer(),
    preprocessing.KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    preprocessing.PolynomialFeatures(2),
    preprocessing.PowerTransformer(),
    preprocessing.QuantileTransformer(n_quantiles=10),
    preprocessing.FunctionTransformer(np.log1p),
    impute.SimpleImputer(add_indicator=True),
    feature_selection.VarianceThreshold(0.01),
    feature_selection.SelectKBest(k=3),
    feature_selection.SelectPercentile(percentile=50),
    feature_selection.SelectFpr(),
    feature_selection.SelectFdr(),
    feature_selection.SelectFwe(),
    feature_selection.GenericUnivariateSelect(mode="k_best", param=2),
    feature_selection.SelectFromModel(LINE),
    feature_selection.RFE(LINE, n_features_to_select=5, step=10),
    feature_selection.RFE(TREE, n_features_to_select=5, step=10),
    decomposition.PCA(3),
    decomposition.TruncatedSVD(3, random_state=0),
    FeatureUnion([("a", preprocessing.StandardScaler()), ("b", decomposition.PCA(2))]),
]
MODELS |= {
    f"{i} {type(step).__name__}": (make_pipeline(step, TREE), POSITIVE)
    for i, step in enumerate(STEPS)
}


def content(forest: ta.Forest, suffix: str) -> bytes:
    """Return what a release of a model writes."""
    made = writer_for(forest, suffix)(ta.release(forest))
    return made.encode() if isinstance(made, str) else made


def settled(path: Path, data: bytes) -> ta.Forest:
    """Read a released file, which is written again as it is."""
    path.write_bytes(data)
    forest = ta.load(path)
    assert content(forest, path.suffix) == data
    assert canonical(forest).value is True, canonical(forest)
    beside = [one for one in forest.extras.found if one.kind in ("extra", "seeds")]
    assert [one for one in beside if one.where not in NOTED] == []
    return forest


def answers(model, rows) -> list[np.ndarray]:
    names = ("predict_proba", "decision_function", "predict", "transform", "score_samples")
    said = [getattr(model, name)(rows) for name in names if hasattr(model, name)]
    assert said
    return [np.hstack(one) if isinstance(one, list) else one for one in said]


def alike(one, other) -> bool:
    if hasattr(one, "toarray"):
        one, other = one.toarray(), other.toarray()
    if one.dtype.kind == "f":
        return np.allclose(one, other, rtol=1e-12, atol=1e-14)
    return np.array_equal(one, other)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MODELS)
def test_a_release_is_a_fixed_point(tmp_path, name) -> None:
    model, (x, y) = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(x, y)
        wanted = answers(fitted, x)
    for n in (2, 5):
        (tmp_path / f"{n}.pkl").write_bytes(pickle.dumps(fitted, protocol=n))
    joblib.dump(fitted, tmp_path / "plain.joblib")
    joblib.dump(fitted, tmp_path / "packed.joblib", compress=3)
    read = {path: ta.load(path) for path in sorted(tmp_path.iterdir())}
    assert {canonical(one).value for one in read.values()} == {False}
    made = {content(one, suffix) for one in read.values() for suffix in (".pkl", ".joblib")}
    assert len(made) == 1
    data = made.pop()
    for suffix in (".pkl", ".joblib"):
        settled(tmp_path / f"clean{suffix}", data)
    found = answers(pickle.loads(data), x)
    assert all(map(alike, wanted, found))
    own = content(read[tmp_path / "2.pkl"], ".json")
    settled(tmp_path / "clean.json", own)


@pytest.mark.parametrize("name", ["tree", "forest", "boosting", "histograms", "columns", "stack"])
def test_skops_files_are_fixed_points(tmp_path, name) -> None:
    skops = pytest.importorskip("skops.io")
    model, (x, y) = MODELS[name]
    fitted = clone(model).fit(x, y)
    skops.dump(fitted, tmp_path / "m.skops")
    forest = ta.load(tmp_path / "m.skops")
    assert canonical(forest).value is False
    settled(tmp_path / "clean.skops", content(forest, ".skops"))
    trusted = skops.get_untrusted_types(file=tmp_path / "clean.skops")
    again = skops.load(tmp_path / "clean.skops", trusted=trusted)
    assert all(map(alike, answers(fitted, x), answers(again, x)))


@pytest.mark.libraries
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("data", [CANCER, IRIS, DIABETES], ids=["two", "three", "numbers"])
def test_boosters_are_fixed_points(tmp_path, library, data) -> None:
    module = pytest.importorskip(library)
    kind = "Regressor" if data is DIABETES else "Classifier"
    prefix = {"xgboost": "XGB", "lightgbm": "LGBM"}[library]
    fitted = getattr(module, prefix + kind)(n_estimators=3, max_depth=3).fit(*data)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(fitted))
    joblib.dump(fitted, tmp_path / "m.joblib")
    if library == "xgboost":
        fitted.save_model(tmp_path / "m.json")
        fitted.save_model(tmp_path / "m.ubj")
    else:
        fitted.booster_.save_model(tmp_path / "m.txt")
    made = {}
    for path in sorted(tmp_path.glob("m.*")):
        forest = ta.load(path)
        assert canonical(forest).value is False
        made[path.suffix] = content(forest, path.suffix)
        settled(path.with_stem("clean"), made[path.suffix])
    assert made[".pkl"] == made[".joblib"]
    again = pickle.loads(made[".pkl"])
    assert np.array_equal(again.predict(data[0]), fitted.predict(data[0]))


@pytest.mark.parametrize(
    "kind", ["other format", "in memory", "changed", "compressed", "one more byte"]
)
def test_what_is_said_of_other_files(tmp_path, kind) -> None:
    fitted = clone(TREE).fit(*IRIS)
    path = ta.save(ta.release(fitted), tmp_path / "clean.pkl")
    forest = ta.load(path)
    match kind:
        case "in memory":
            forest = ta.load(fitted)
        case "changed":
            forest.source.settle()
            path.write_bytes(path.read_bytes().replace(b"gini", b"gino"))
        case "compressed":
            joblib.dump(fitted, path, compress=3)
            forest = ta.load(path)
        case "one more byte":
            path.write_bytes(path.read_bytes() + b".")
            forest = ta.load(path)
        case _:
            onnx = pytest.importorskip("skl2onnx")
            path = tmp_path / "m.onnx"
            path.write_bytes(onnx.to_onnx(fitted, IRIS[0][:1]).SerializeToString())
            forest = ta.load(path)
    found = canonical(forest)
    assert found.value is (False if kind in ("compressed", "one more byte") else None)
    assert found.reason


def bundle() -> dict:
    x, y = CANCER
    names = [f"column {i}" for i in range(30)]
    table = pd.DataFrame(x, columns=names)
    return {
        "model": clone(WOOD).fit(table, y),
        "scaler": preprocessing.StandardScaler().fit(table),
        "encoder": preprocessing.LabelEncoder().fit(["no", "yes"]),
        "features": table.columns,
        "names": names,
        "metrics": {"auc": 0.97, "folds": [0.9, 0.95]},
        "created": datetime.datetime(2024, 5, 1, 12),
        "version": "1.2",
        "threshold": 0.4,
        "people": table.head(100),
        "rows": x[:2].tolist(),
        "neighbours": KNeighborsClassifier().fit(x, y),
        "text": 300 * "x",
    }


def test_a_bundle_stays_a_bundle(tmp_path) -> None:
    joblib.dump(before := bundle(), tmp_path / "m.joblib")
    forest = ta.load(tmp_path / "m.joblib")
    again = settled(tmp_path / "clean.joblib", content(forest, ".joblib"))
    made = joblib.load(tmp_path / "clean.joblib")
    gone = {"metrics", "created", "version", "people", "rows", "neighbours", "text"}
    assert list(made) == [name for name in before if name not in gone]
    assert made["features"] == made["names"] == before["names"]
    assert made["threshold"] == 0.4
    x = before["people"]
    assert np.array_equal(made["model"].predict_proba(x), before["model"].predict_proba(x))
    assert np.array_equal(made["scaler"].transform(x), before["scaler"].transform(x))
    said = left_out(forest, again)
    assert all(f"['{name}']" in said for name in gone)


def test_places_in_a_tuple_stay_and_every_model_is_written_again(tmp_path) -> None:
    one, other = clone(TREE).fit(*IRIS), clone(WOOD).fit(*CANCER)
    before = (one, CANCER[0][:200], {"second": [other, "note", 2.5]})
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(before))
    forest = ta.load(tmp_path / "m.pkl", select="[0]")
    data = content(forest, ".pkl")
    (tmp_path / "clean.pkl").write_bytes(data)
    again = ta.load(tmp_path / "clean.pkl", select="[0]")
    assert canonical(again).value is True
    made = pickle.loads(data)
    assert (type(made), made[1], made[2]["second"][1:]) == (tuple, None, [None, 2.5])
    assert np.array_equal(made[0].predict(IRIS[0]), one.predict(IRIS[0]))
    assert made[2]["second"][0].random_state is None
    assert np.array_equal(made[2]["second"][0].predict(CANCER[0]), other.predict(CANCER[0]))


def test_a_repair_keeps_the_bundle(tmp_path) -> None:
    joblib.dump(bundle(), tmp_path / "m.joblib")
    repaired = ta.save(ta.defend(tmp_path / "m.joblib", min_leaf=20), tmp_path / "safe.joblib")
    made = joblib.load(repaired)
    assert {"model", "scaler", "features"} <= made.keys()
    nodes = made["model"].estimators_[0].tree_
    assert nodes.n_node_samples[nodes.children_left < 0].min() >= 20
    assert canonical(ta.load(repaired)).value is True


GENUINE = Path(__file__).parents[1] / "readers" / "boosters_genuine"
OLD = sorted(path for path in GENUINE.glob("xgb-1.[0-5]*") if path.suffix in (".json", ".pkl"))


def stated(part: object) -> set[str]:
    """Return every name in a document."""
    parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return {*(part if isinstance(part, dict) else ())}.union(*map(stated, parts))


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.name)
def test_old_boosters_are_written_as_their_version_loads_them(tmp_path, path) -> None:
    forest = ta.load(path)
    data = content(forest, path.suffix)
    clean = tmp_path / f"clean{path.suffix}"
    clean.write_bytes(data)
    again = ta.load(clean)
    assert content(again, path.suffix) == data
    assert canonical(again).value is True
    assert [one for one in again.extras.found if one.kind in ("extra", "seeds")] == []
    before, after = forest.source.stored.document, again.source.stored.document
    if path.suffix == ".pkl":
        # JSON, and no UBJSON, in the place of the handle.
        assert b'{"Config":{' in data
    else:
        assert json.loads(data) == after
    outer = after["learner"]["gradient_booster"]
    model = outer.get("model") or outer["gbtree"]["model"]
    asked = {"default_left", "parents", "sum_hessian"}
    if "1.0.2" in path.name:
        asked.add("leaf_child_counts")
    for one in model["trees"]:
        assert asked <= one.keys()
        assert {*map(type, one["default_left"])} == {bool}
    if path.name == "xgb-1.0.2-train.json":
        stored = before["learner"]["gradient_booster"]["model"]["trees"]
        names = ("leaf_child_counts", "default_left", "left_children")
        for one, other in zip(stored, model["trees"], strict=True):
            assert [one[name] for name in names] == [other[name] for name in names]


def test_a_booster_before_1_is_written_for_newer_versions() -> None:
    forest = ta.load(GENUINE / "xgb-0.90-train-names.pkl")
    assert ".pkl" not in suffixes_of(forest)
    assert json.loads(content(forest, ".json"))["learner"]["feature_names"] == []


@pytest.mark.parametrize("path", sorted(GENUINE.glob("xgb-[1-3]*.pkl")), ids=lambda path: path.name)
def test_the_configuration_of_a_booster_has_no_seed(tmp_path, path) -> None:
    (tmp_path / "clean.pkl").write_bytes(content(ta.load(path), ".pkl"))
    config = ta.load(tmp_path / "clean.pkl").source.stored.document["Config"]
    assert config["learner"]
    assert stated(config) & {"rng_state", "random_state", "seed", "subsample"} == set()


def test_the_settings_of_an_old_wrapper_have_no_seed() -> None:
    data = json.loads(content(ta.load(GENUINE / "xgb-1.3.3-reg-pois.json"), ".json"))
    settings = json.loads(data["learner"]["attributes"]["scikit_learn"])
    assert settings["n_estimators"] == 4
    assert "random_state" not in settings


def shared(kind: str) -> dict:
    x, y = CANCER
    wood = clone(WOOD).fit(x, np.array(["ill", "well"])[y])
    match kind:
        case "a tree of a forest":
            return {"chosen": wood, "other": wood.estimators_[0]}
        case "the tree first":
            return {"other": wood.estimators_[0], "chosen": wood}
        case "a forest of a vote":
            vote = ensemble.VotingClassifier([("a", TREE), ("b", WOOD)]).fit(x, y)
            return {"chosen": vote, "other": vote.estimators_[1]}
        case _:
            vote = ensemble.VotingClassifier([("a", TREE), ("b", WOOD)]).fit(x, y)
            return {"other": vote, "chosen": vote.estimators_[1]}


def smallest(model) -> int:
    each = model.estimators_ if hasattr(model, "estimators_") else [model]
    if not hasattr(model, "tree_"):
        return min(map(smallest, each))
    return model.tree_.n_node_samples[model.tree_.children_left < 0].min()


SHARED = ["a tree of a forest", "the tree first", "a forest of a vote", "the vote beside it"]


@pytest.mark.parametrize("kind", SHARED)
def test_what_stands_twice_is_repaired_in_both_places(tmp_path, kind) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(made := shared(kind)))
    assert smallest(made["other"]) < 20
    forest = ta.load(path, select="chosen")
    repaired = ta.save(ta.defend(forest, min_leaf=20), tmp_path / "safe.pkl")
    again = pickle.loads(repaired.read_bytes())
    assert smallest(again["chosen"]) >= 20
    held = {"chosen": again["chosen"], "other": again["other"]}
    outer = "other" if kind == "the vote beside it" else "chosen"
    inner = held["chosen" if outer == "other" else "other"]
    assert any(one is inner for one in held[outer].estimators_)
    assert smallest(inner) >= 20


@pytest.mark.parametrize("kind", SHARED)
def test_what_stands_twice_is_released_alike_whoever_is_chosen(tmp_path, kind) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(shared(kind)))
    data = {content(ta.load(path, select=name), ".pkl") for name in ("chosen", "other")}
    assert len(data) == 1
    path.write_bytes(data.pop())
    assert {canonical(one).value for one in load_all(path)} == {True}


def test_a_tree_that_was_taken_out_does_not_stay_beside_the_forest(tmp_path) -> None:
    wood = clone(WOOD).fit(*CANCER)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps({"wood": wood, "last": wood.estimators_[2]}))
    forest = ta.load(path, select="wood")
    repaired = ta.defend(forest, method="keep-trees", trees=1)
    again = pickle.loads(ta.save(repaired, tmp_path / "safe.pkl").read_bytes())
    assert list(again) == ["wood"]
    assert len(again["wood"].estimators_) == 1


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False),
    st.text(max_size=50), st.dates(), st.datetimes(),
)  # fmt: skip
NUMBERS = (bool, int, float)
NOTES = st.dictionaries(
    st.text(min_size=1, max_size=9).filter(lambda key: key != "model"),
    st.one_of(
        PLAIN,
        st.lists(st.text(max_size=9), max_size=5),
        st.dictionaries(st.sampled_from(["auc", "f1", "n"]), PLAIN, max_size=3),
    ),
    max_size=6,
)
SMALL = tree.DecisionTreeClassifier(max_depth=2).fit(*IRIS)


@settings(deadline=None)
@given(notes=NOTES, protocol=st.sampled_from([2, 4, 5]))
def test_of_notes_only_single_numbers_stay(tmp_path_factory, notes, protocol) -> None:
    path = tmp_path_factory.mktemp("notes") / "m.pkl"
    path.write_bytes(pickle.dumps({**notes, "model": SMALL}, protocol=protocol))
    data = content(ta.load(path), ".pkl")
    made = pickle.loads(data)
    assert np.array_equal(made.pop("model").predict(IRIS[0]), SMALL.predict(IRIS[0]))
    assert made == {k: one for k, one in notes.items() if one is None or type(one) in NUMBERS}
    path.write_bytes(data)
    again = ta.load(path)
    assert content(again, ".pkl") == data
    assert canonical(again).value is True


def test_no_list_of_notes_can_hold_people(tmp_path) -> None:
    columns = ["age", "income"]
    model = clone(TREE).fit(pd.DataFrame(IRIS[0][:, :2], columns=columns), IRIS[1])
    rows = [f"65 {i} 95616 yes" for i in range(30)]
    lists = {
        "classes": [0, 1, 2],
        "labels": [0, 1, 1],
        "columns": rows,
        "notes": rows,
        "x": rows[0],
    }
    keys = {**dict.fromkeys(rows, "age"), **dict.fromkeys("abcdefghijkl"), rows[0] * 3: 1}
    bundle = {"model": model, "features": columns, **lists, "t": 0.5, **keys}
    bundle |= {f"again {one}": model for one in rows}
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(bundle))
    made = pickle.loads(content(ta.load(tmp_path / "m.pkl"), ".pkl"))
    assert list(made) == ["model", "features", "classes", "t", *rows[:5]]


@pytest.mark.slow
def test_every_file_of_the_corpus_is_written_once(tmp_path) -> None:
    if not os.environ.get("TREEAUDIT_MODELS"):
        pytest.skip("TREEAUDIT_MODELS names no folder of model files")
    folder = Path(os.environ["TREEAUDIT_MODELS"])
    files = one_in(3, json.loads((folder / "manifest.json").read_text())["files"])
    made: dict[tuple[str, str], set[bytes]] = {}
    n = 0
    for one in files:
        try:
            forest = ta.load(folder / one["path"])
            named = Path(one["path"]).suffix
            suffix = named if named in suffixes_of(forest) else suffixes_of(forest)[0]
            data = content(forest, suffix)
        except TreeauditError:
            continue
        path = tmp_path / f"clean{suffix}"
        path.write_bytes(data)
        again = ta.load(path)
        assert content(again, suffix) == data, one["path"]
        assert canonical(again).value is True, one["path"]
        made.setdefault((one["model"], suffix.replace("joblib", "pkl")), set()).add(data)
        n += 1
    assert n == len(files) - sum("cloud_lambda_pipe" in one["model"] for one in files)
    assert {name: len(each) for name, each in made.items() if len(each) > 1} == {}
