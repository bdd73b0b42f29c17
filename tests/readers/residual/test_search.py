"""What a pickle gives away beside its trees: found where it is, proved by using it."""

import io
import os
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.neighbors import KDTree, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.model.source import Extra
from treeaudit.readers.open import open_file
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.pickle_vm import read_pickle
from treeaudit.readers.residual.search import find_extras
from treeaudit.readers.walk import Walk

PEOPLE = 569


@pytest.fixture(scope="module")
def people(cancer):
    """Six columns, the label as 0 and 1, and a number to predict."""
    columns, labels = cancer
    x = columns.to_numpy()[:, :6]
    y = (labels == "benign").to_numpy().astype(int)
    return x, y, x[:, 0] * 3 + np.random.default_rng(0).normal(size=len(x))


def found(model, n_records=PEOPLE) -> dict[str, list[Extra]]:
    """Pickle a model, read it as data, and sort what it gives away by kind."""
    file = read_pickle(pickle.dumps(model))
    kinds: dict[str, list[Extra]] = {}
    for one in find_extras(file.root, n_records, file.mentioned).found:
        kinds.setdefault(one.kind, []).append(one)
    return kinds


def where(kinds, kind) -> list[str]:
    return [one.where for one in kinds.get(kind, [])]


def in_file(model) -> Inert:
    root = read_pickle(pickle.dumps(model)).root
    assert isinstance(root, Inert)
    return root


def stored(record: Inert, name: str):
    value = record.get(name)
    return getattr(value, "content", value)


def test_an_ordinary_tree_gives_nothing_else_away(cancer, people) -> None:
    joblib = pytest.importorskip("joblib")
    x, y, target = people
    for model in (
        DecisionTreeClassifier(random_state=0).fit(*cancer),
        DecisionTreeClassifier(class_weight="balanced", random_state=7).fit(x, y),
        DecisionTreeRegressor(min_samples_leaf=5).fit(x, target),
        ExtraTreesClassifier(3, random_state=0).fit(x, y),
        make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(x, y),
    ):
        assert found(model) == {}
        buffer = io.BytesIO()
        joblib.dump(model, buffer)
        file = read_pickle(buffer.getvalue())
        assert find_extras(file.root, PEOPLE, file.mentioned).found == ()


def test_the_label_of_everybody_is_read_from_the_weights(people) -> None:
    x, y, _ = people
    forest = RandomForestClassifier(20, class_weight="balanced", random_state=0).fit(x, y)
    if not hasattr(forest, "_sample_weight"):
        pytest.skip("scikit-learn before 1.9 does not keep the weights")
    (one,) = found(forest)["labels"]
    assert (one.where, one.n) == ("_sample_weight", PEOPLE)
    assert "2 distinct values for 2 classes" in one.says

    # From the file alone: draw again by the first seed and see which weight is which class.
    file = in_file(forest)
    weights = stored(file, "_sample_weight")
    first = file.get("estimators_")[0]
    steps = np.cumsum(weights / weights.sum())
    source = np.random.RandomState(first.get("random_state"))
    drawn = np.searchsorted(steps / steps[-1], source.random_sample(PEOPLE), side="right")
    table = first.get("tree_")
    share = stored(table, "values")[0, 0] * stored(table, "nodes")["weighted_n_node_samples"][0]
    light, heavy = np.unique(weights)
    heavy_draws = np.count_nonzero(weights[drawn] == heavy)
    assert heavy_draws in np.rint(share)
    heavy_class = int(np.flatnonzero(np.rint(share) == heavy_draws)[0])
    recovered = np.where(weights == heavy, heavy_class, 1 - heavy_class)
    assert recovered.tolist() == y.tolist()
    assert light < heavy


def test_weights_of_rows_are_labels_only_where_they_are_few(people) -> None:
    x, y, _ = people
    many = np.random.default_rng(0).random(PEOPLE)
    for weight, kind in ((np.where(y, 1.0, 2.0), "labels"), (many, "records")):
        model = BaggingClassifier(n_estimators=3).fit(x, y, sample_weight=weight)
        if getattr(model, "_sample_weight", None) is None:
            pytest.skip("this scikit-learn does not keep the weights")
        assert where(found(model), kind) == ["_sample_weight"]
    same = BaggingClassifier(n_estimators=3).fit(x, y, sample_weight=np.ones(PEOPLE))
    assert set(found(same)) == {"seeds"}


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_out_of_bag_predictions(people) -> None:
    x, y, target = people
    classifier = RandomForestClassifier(30, oob_score=True, random_state=0).fit(x, y)
    (one,) = found(classifier)["out-of-bag"]
    assert (one.where, one.n) == ("oob_decision_function_", PEOPLE)
    guessed = in_file(classifier).get("oob_decision_function_").content.argmax(axis=1)
    assert f"right for {np.mean(guessed == y):.0%} of them" in one.says
    regressor = RandomForestRegressor(10, oob_score=True).fit(x, target)
    assert where(found(regressor), "out-of-bag") == ["oob_prediction_"]


@pytest.mark.parametrize("options", [{}, {"max_samples": 0.5}, {"class_weight": "balanced"}])
def test_seeds_in_the_file_repeat_the_draws(people, options) -> None:
    x, y, _ = people
    forest = RandomForestClassifier(10, random_state=3, **options).fit(x, y)
    kinds = found(forest)
    assert where(kinds, "seeds") == ["estimators_[*].random_state", "random_state"]
    assert [one.n for one in kinds["seeds"]] == [10, 10]
    assert all("drawn again" in one.says for one in kinds["seeds"])


def test_the_draws_repeated_from_the_file_fill_the_leaves(people) -> None:
    x, y, _ = people
    forest = RandomForestClassifier(10, max_depth=4, random_state=3).fit(x, y)
    file = in_file(forest)
    for member, tree in zip(file.get("estimators_"), forest.estimators_, strict=True):
        source = np.random.RandomState(member.get("random_state"))
        n, draws = file.get("_n_samples"), file.get("_n_samples_bootstrap")
        rows = source.randint(0, n or len(x), draws or len(x))  # old versions do not store them
        leaves = tree.apply(x[rows].astype(np.float32))
        nodes = stored(member.get("tree_"), "nodes")
        drawn = np.bincount(leaves, minlength=len(nodes))
        ends = nodes["left_child"] < 0
        assert drawn[ends].tolist() == nodes["weighted_n_node_samples"][ends].tolist()
        distinct = np.unique(rows)
        alone = np.bincount(tree.apply(x[distinct].astype(np.float32)), minlength=len(nodes))
        assert alone[ends].tolist() == nodes["n_node_samples"][ends].tolist()


def test_seeds_that_cannot_be_tried_are_reported(people) -> None:
    """Old versions of scikit-learn do not store how many were drawn, nor from how many."""
    x, y, _ = people
    for options in ({"class_weight": {0: 1.0, 1: 0.3}}, {"max_samples": 100}):
        forest = RandomForestClassifier(10, random_state=3, **options).fit(x, y)
        for name in ("_n_samples", "_n_samples_bootstrap", "_sample_weight"):
            vars(forest).pop(name, None)
        forest.random_state = None
        (one,) = found(forest, None)["seeds"]
        assert (one.where, one.n) == ("estimators_[*].random_state", 10)
        assert "so they were not drawn again" in one.says
        for tree in forest.estimators_:
            tree.random_state = None
        assert found(forest, None) == {}


def test_seeds_that_were_overwritten_are_not_reported(people) -> None:
    x, y, _ = people
    forest = RandomForestClassifier(10, random_state=3).fit(x, y)
    before = forest.predict_proba(x)
    for tree in forest.estimators_:
        tree.random_state = None
    assert where(found(forest), "seeds") == ["random_state"]
    forest.random_state = None
    assert found(forest) == {}
    for number, tree in enumerate(forest.estimators_):
        tree.random_state = number
    assert found(forest) == {}
    for tree in forest.estimators_:
        tree.random_state = 0
    assert found(forest) == {}
    assert np.array_equal(forest.predict_proba(x), before)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BaggingClassifier(n_estimators=4, random_state=1),
        lambda: BaggingClassifier(n_estimators=4, max_features=0.5, bootstrap_features=True),
        lambda: BaggingRegressor(n_estimators=4, max_features=0.5),
    ],
)
def test_seeds_of_bagging(people, make) -> None:
    x, y, _ = people
    model = make().fit(x, y)
    (first, *more) = found(model)["seeds"]
    assert first.where == "_seeds"
    assert "drawn again" in first.says
    assert bool(more) == (model.random_state is not None)


def test_seeds_of_an_isolation_forest_repeat_its_samples(people) -> None:
    x, _, _ = people
    model = IsolationForest(n_estimators=4, random_state=None).fit(x)
    (one,) = found(model)["seeds"]
    assert one.where == "_seeds"
    assert "256 drawn from 569" in one.says
    seeds = stored(in_file(model), "_seeds")
    for seed, rows in zip(seeds, model.estimators_samples_, strict=True):
        again = np.random.RandomState(seed).permutation(PEOPLE)[:256]
        assert sorted(again) == sorted(rows)


def test_without_sampling_a_seed_repeats_nothing(people) -> None:
    x, y, _ = people
    model = BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0).fit(x, y)
    assert found(model) == {}


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_both_targets_of_two_people_follow_from_their_leaf(people, criterion) -> None:
    x, _, target = people
    model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=2, random_state=0)
    model.fit(x, target)
    file = in_file(model).get("tree_")
    nodes, values = stored(file, "nodes"), stored(file, "values")
    leaves = model.apply(x)
    pairs = np.flatnonzero((nodes["left_child"] < 0) & (nodes["n_node_samples"] == 2))
    for leaf in pairs:
        off = max(nodes["impurity"][leaf], 0)
        off = off if criterion == "absolute_error" else np.sqrt(off)
        told = [values[leaf, 0, 0] - off, values[leaf, 0, 0] + off]
        assert told == pytest.approx(sorted(target[leaves == leaf]), abs=1e-5)
    (one,) = found(model)["targets"]
    assert (one.where, one.n) == ("tree_", 2 * len(pairs))
    assert f"{len(pairs):,} leaves of two people give both targets" in one.says
    assert len(pairs) > 100


def test_one_person_in_a_leaf(people) -> None:
    x, _, target = people
    (one,) = found(DecisionTreeRegressor(random_state=0).fit(x, target))["targets"]
    assert one.n == PEOPLE


def test_targets_of_a_forest_are_those_of_its_worst_tree(people) -> None:
    x, _, target = people
    forest = RandomForestRegressor(5, random_state=0).fit(x, target)
    (one,) = found(forest)["targets"]
    assert one.where == "estimators_[*].tree_"
    assert "in the worst of 5 trees" in one.says
    assert PEOPLE / 2 < one.n <= PEOPLE


def test_the_first_round_of_boosted_regression_starts_from_the_mean(people) -> None:
    x, _, target = people
    model = GradientBoostingRegressor(n_estimators=3, max_depth=12, random_state=0).fit(x, target)
    (one,) = found(model)["targets"]
    assert one.where == "estimators_[0, 0].tree_"
    first = stored(in_file(model), "estimators_")[0, 0].get("tree_")
    nodes, values = stored(first, "nodes"), stored(first, "values")
    leaves = model.estimators_[0, 0].apply(x.astype(np.float32))
    alone = np.flatnonzero((nodes["left_child"] < 0) & (nodes["n_node_samples"] == 1))
    told = [values[leaf, 0, 0] + target.mean() for leaf in alone]
    assert told == pytest.approx([float(target[leaves == leaf][0]) for leaf in alone])


def test_trees_that_predict_something_else_give_no_targets(people) -> None:
    x, y, target = people
    for model in (
        IsolationForest(n_estimators=3).fit(x),
        RandomTreesEmbedding(3).fit(x),
        GradientBoostingClassifier(n_estimators=2, max_depth=10).fit(x, y),
        AdaBoostRegressor(DecisionTreeRegressor(min_samples_leaf=2), n_estimators=3).fit(x, target),
    ):
        assert "targets" not in found(model)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_people_who_agree_have_a_known_number_and_no_row_of_their_own(criterion) -> None:
    group = np.repeat(np.arange(10.0), 10)
    target = np.round(1.7**group + 0.3, 2)
    model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=10)
    assert "targets" not in found(model.fit(group[:, None], target))
    assert ta.scan(model, attacks=["TA109"])["TA109"].people == 100


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_weighted_impurity_is_not_of_people(criterion) -> None:
    # One of ten weighs a million times what the others do: hardly any variance is left.
    group = np.repeat(np.arange(10.0), 10)
    target = 100 * group + np.random.default_rng(0).uniform(1, 90, 100)
    weights = np.tile([1e6, *[1.0] * 9], 10)
    model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=10)
    model.fit(group[:, None], target, sample_weight=weights)
    assert "targets" not in found(model)
    assert "targets" not in found(model.fit(group[:, None], target, sample_weight=weights / 1e5))


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_the_first_round_gives_exact_class_counts(people, subsample) -> None:
    x, y, _ = people
    model = GradientBoostingClassifier(n_estimators=3, subsample=subsample, random_state=0)
    (one,) = found(model.fit(x, y))["first-round-counts"]
    assert (one.where, one.n) == ("estimators_[0]", int(PEOPLE * subsample))
    if subsample < 1:
        return
    file = in_file(model)
    tree = stored(file, "estimators_")[0, 0].get("tree_")
    p = stored(file.get("init_"), "class_prior_")[1]
    n = stored(tree, "nodes")["n_node_samples"]
    told = n * p + stored(tree, "values")[:, 0, 0] * n * p * (1 - p)
    leaves = model.estimators_[0, 0].apply(x.astype(np.float32))
    for leaf in np.unique(leaves):
        assert told[leaf] == pytest.approx(y[leaves == leaf].sum(), abs=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2),
        HistGradientBoostingClassifier(max_iter=2, l2_regularization=2.0),
    ],
    ids=["gradient", "histograms", "regularised"],
)
def test_the_first_round_of_other_boosting(people, model) -> None:
    x, y, target = people
    for labels in (y, np.digitize(target, [35, 45])):
        (one,) = found(model.fit(x, labels))["first-round-counts"]
        assert one.n == PEOPLE
    weight = np.random.default_rng(0).random(PEOPLE)
    assert "first-round-counts" not in found(model.fit(x, y, sample_weight=weight))


def test_bins_lie_between_neighbouring_values(people) -> None:
    x, y, _ = people
    model = HistGradientBoostingClassifier(max_iter=2).fit(x, y)
    (one,) = found(model)["column-values"]
    bins = stored(in_file(model), "_bin_mapper").get("bin_thresholds_")
    bins = [getattr(b, "content", b) for b in bins]
    assert one.where == "_bin_mapper.bin_thresholds_"
    assert one.n == sum(map(len, bins))
    values = np.unique(x[:, 0])
    middles = np.concatenate([(values[1:] + values[:-1]) / 2, values])
    assert np.isclose(bins[0][:, None], middles[None, :]).any(axis=1).all()


def test_transformers_that_keep_values(people) -> None:
    x, _, _ = people
    quantiles = QuantileTransformer(n_quantiles=PEOPLE).fit(x)
    (one,) = found(quantiles)["column-values"]
    assert one.where == "quantiles_"
    assert one.says == "every value of 6 columns, sorted"
    kept = stored(in_file(quantiles), "quantiles_")
    assert np.allclose(kept, np.sort(x, axis=0))
    kinds = found(
        make_pipeline(MinMaxScaler(), KBinsDiscretizer(strategy="uniform", subsample=None)).fit(x)
    )
    assert where(kinds, "extremes") == [
        "steps['minmaxscaler'].data_min_",
        "steps['minmaxscaler'].data_max_",
        "steps['kbinsdiscretizer'].bin_edges_",
    ]


def test_categories_are_private_only_where_nobody_would_list_them() -> None:
    few = np.array([["a"], ["b"], ["c"]] * 100)
    many = np.array([[f"person {i}"] for i in range(300)])
    for encoder in (OneHotEncoder(), OrdinalEncoder()):
        assert found(encoder.fit(few), 300) == {}
        (one,) = found(encoder.fit(many), 300)["column-values"]
        assert (one.where, one.n) == ("categories_", 300)
    public = OneHotEncoder(categories=[sorted(many[:, 0])]).fit(many)
    assert "column-values" not in found(public, 300)


def test_data_left_in_a_bundle(people) -> None:
    x, y, _ = people
    tree = DecisionTreeClassifier().fit(x, y)
    bundle = {
        "model": tree,
        "X": x,
        "ids": [f"p{i}" for i in range(PEOPLE)],
        "names": {f"p{i}": i for i in range(PEOPLE)},
        "ones": np.ones(PEOPLE),
        "other": np.arange(PEOPLE + 1),
    }
    assert where(found(bundle), "records") == ["['X']", "['ids']", "['names']"]
    assert list(found({"model": tree, "x": np.arange(15.0)}, 15)) == ["notes"]


def test_models_that_are_their_training_data(people) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x, y, _ = people
    neighbours = found(KNeighborsClassifier().fit(x, y))
    assert where(neighbours, "records") == ["_fit_X", "_y"]
    brute = KNeighborsClassifier().fit(sparse.csr_matrix(x), y)
    assert where(found(brute), "records")[0] == "_fit_X"
    assert where(found(KDTree(x)), "records") == ["the file itself"]
    (one,) = found(SVC().fit(x, y))["records"]
    assert (one.where, 0 < one.n < PEOPLE) == ("support_vectors_", True)


def test_columns_are_not_taken_for_people() -> None:
    x = np.random.default_rng(0).random((30, 30))
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(x, x[:, 0] > 0.5)
    assert found(model, 30) == {}
    boosted = GradientBoostingClassifier(n_estimators=30).fit(x, x[:, 0] > 0.5)
    assert "records" not in found(boosted, 30)


class OwnTree(DecisionTreeClassifier):
    """A class that no library publishes."""


def test_code_of_its_own(people) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    file = read_pickle(cloudpickle.dumps({"f": lambda row: row}))
    kinds = [one.kind for one in find_extras(file.root, None, file.mentioned).found]
    assert "code" in kinds


def test_pickles_inside_a_joblib_file_are_told_where_there_is_code(people) -> None:
    joblib = pytest.importorskip("joblib")
    x, y, _ = people
    labels = np.array(["no", "yes"], dtype=object)[y]
    for model, told in ((OwnTree(), True), (DecisionTreeClassifier(), False)):
        buffer = io.BytesIO()
        joblib.dump(model.fit(x, labels), buffer)
        file = read_pickle(buffer.getvalue())
        says = [one.says for one in find_extras(file.root, PEOPLE, file.mentioned).found]
        assert any("GHSA-m62q-453p-gv66" in text for text in says) == told


def test_what_is_too_deep_is_said_not_passed_over() -> None:
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    assert [one.kind for one in find_extras(deep, None, ()).found] == ["unseen"]
    loop: list = []
    loop.append(loop)
    assert find_extras(loop, None, ()).found == ()


NASTY = (
    None, True, -1, 2**63, 10**400, float("nan"), float("inf"), "", "a\ud800", b"z", (), [], {},
    ("a", 1), [[]], np.empty(0), np.empty((0, 3)), np.array(5.0), np.array([np.nan, 1]),
    -np.ones(PEOPLE), np.array([np.inf] * PEOPLE), np.array([None, 1], dtype=object),
    np.empty((2, 0), dtype=object), np.array(["a"] * PEOPLE), np.zeros(2, dtype="V4"),
    np.zeros(3, dtype=[("left_child", "<i8"), ("n_node_samples", "<f8"), ("value", "S3")]),
    np.array([1 + 2j]), np.array([2**63], dtype=np.uint64),
    Inert(Global("sklearn.x", "Tree", 0, True)),
    Inert(Global("scipy.sparse", "csr_matrix", 0, True), state={"_shape": ("a",)}),
    Inert(Global("sklearn.neighbors._kd_tree", "KDTree", 0, True), state=(np.ones((9, 2)),)),
)  # fmt: skip


@pytest.mark.slow
def test_doctored_models_never_break_the_search(people) -> None:
    x, y, target = people
    models = (
        RandomForestClassifier(3, class_weight="balanced", random_state=0).fit(x, y),
        RandomForestRegressor(3).fit(x, target),
        BaggingClassifier(n_estimators=3, max_features=0.5).fit(x, y),
        GradientBoostingClassifier(n_estimators=2).fit(x, y),
        HistGradientBoostingClassifier(max_iter=2).fit(x, y),
        make_pipeline(MinMaxScaler(), KBinsDiscretizer()).fit(x),
    )
    files = [pickle.dumps(model) for model in models]
    draw = random.Random(0)
    for _ in range(400):
        file = read_pickle(draw.choice(files))
        states = [
            place.value.state
            for place in Walk(file.root)
            if isinstance(place.value, Inert) and isinstance(place.value.state, dict)
        ]
        for _ in range(3):
            state = draw.choice(states)
            state[draw.choice(list(state))] = draw.choice(NASTY)
        for one in find_extras(file.root, draw.choice([None, PEOPLE, 2**60]), file.mentioned).found:
            assert one.n >= 0
            (one.where + one.says).encode()


# -- files of other versions ---------------------------------------------------------

OLD = {
    "0.20.4/rf_oob": {"out-of-bag", "seeds"},
    "0.20.4/bagging": {"seeds"},
    "0.20.4/gb_bin_sub": {"first-round-counts"},
    "0.20.4/dt_reg_full": {"targets"},
    "1.2.2/rf_max_samples": {"seeds"},
    "1.2.2/hgb_multi": {"column-values", "first-round-counts"},
    "1.2.2/dt_iris": set(),
    "1.6.1/dt_cw_balanced": set(),
    "1.9.1/rf_cw_balanced": {"labels", "seeds"},
    "1.9.1/rf_noboot": set(),
}


@pytest.mark.parametrize("name", OLD)
def test_files_of_many_versions(name) -> None:
    folder = os.environ.get("TREEAUDIT_MODELS")
    if not folder:
        pytest.skip("TREEAUDIT_MODELS does not name a folder with model files")
    (path, *_) = sorted(Path(folder).glob(f"{name}.*"))
    file = read_pickle(open_file(path).data)
    assert {one.kind for one in find_extras(file.root, None, file.mentioned).found} == OLD[name]
