"""Pipelines undone: the original records end where the transformed ones do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.readers.damage import same_ends
from treeaudit.findings.details import plain_data
from treeaudit.people.records import read_records
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.preprocessing import plan_of
from treeaudit.table.reconstruction import rule_text

JOBS = ["Sales", "Tech", "Farm", "Army"]


def people(n=400, missing=False) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            # No value lies on the midpoint of two others, where rounding decides.
            "age": rng.uniform(18, 90, n),
            "income": rng.lognormal(10, 1, n),
            "job": rng.choice(JOBS, n),
            "size": rng.choice(["S", "M", "L"], n),
        }
    )
    if missing:
        frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    return frame


def labels(frame: pd.DataFrame) -> np.ndarray:
    rng = np.random.default_rng(1)
    score = frame["age"].fillna(40) / 40 + (frame["job"] == "Tech") + (frame["size"] == "L")
    return np.where(score + rng.normal(0, 0.3, len(frame)) > 2, "yes", "no")


def encode(frame: pd.DataFrame, schema: ta.Schema) -> np.ndarray:
    """Original records as the forest's schema wants them."""
    columns = []
    for feature in schema.features:
        name = feature.name.removesuffix(" (encoded)")
        if feature.categories is None:
            columns.append(frame[name].to_numpy(dtype=float))
        else:
            codes = {c: i for i, c in enumerate(feature.categories)}
            columns.append(frame[name].map(codes).astype(float).to_numpy())
    return np.column_stack(columns)


def ends(model, frame: pd.DataFrame) -> np.ndarray:
    return model[-1].apply(model[:-1].transform(frame)).reshape(len(frame), -1)


def check(model, frame: pd.DataFrame) -> ta.Forest:
    forest = ta.load(model.fit(frame, labels(frame)))
    ours = forest.apply(encode(frame, forest.schema))
    assert np.array_equal(ours, ends(model, frame))
    return forest


NUMBERS = ["age", "income"]
KINDS = ["job", "size"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "numeric",
    [
        "passthrough",
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 3)),
        MaxAbsScaler(),
        make_pipeline(MinMaxScaler((0.2, 0.7), clip=True), StandardScaler()),
        RobustScaler(),
        make_pipeline(SimpleImputer(), StandardScaler()),
        make_pipeline(StandardScaler(), SimpleImputer(strategy="median"), MinMaxScaler()),
        KBinsDiscretizer(5, encode="ordinal", strategy="uniform", subsample=None),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "kinds",
    [
        OneHotEncoder(),
        OneHotEncoder(drop="first"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OrdinalEncoder(),
        make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler()),
    ],
    ids=str,
)
def test_column_transformers(numeric, kinds) -> None:
    prepare = ColumnTransformer([("n", numeric, NUMBERS), ("k", kinds, KINDS)])
    model = Pipeline([("prepare", prepare), ("tree", DecisionTreeClassifier(random_state=0))])
    forest = check(model, people())
    assert forest.schema.names == ["age", "income", "job", "size"]
    assert forest.schema.features[2].categories == tuple(sorted(JOBS))
    assert not forest.warnings


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
def test_missing_values_go_where_their_replacement_goes(strategy) -> None:
    prepare = make_column_transformer((SimpleImputer(strategy=strategy), NUMBERS))
    model = make_pipeline(prepare, DecisionTreeClassifier(max_depth=6, random_state=0))
    check(model, people(missing=True))


@pytest.mark.parametrize(
    "columns",
    [NUMBERS, [0, 1], slice(0, 2), slice("age", "income"), np.array([True, True, False, False])],
    ids=str,
)
def test_columns_chosen_in_every_way(columns) -> None:
    prepare = ColumnTransformer(
        [("n", StandardScaler(), columns), ("job", OneHotEncoder(), ["job"])], remainder="drop"
    )
    model = make_pipeline(prepare, DecisionTreeClassifier(random_state=0))
    assert check(model, people()).schema.names == ["age", "income", "job"]


def with_gaps(nothing=np.nan) -> pd.DataFrame:
    frame = people(800)[["job", "age"]].astype({"job": object})
    frame.loc[::3, "job"] = nothing
    return frame


def of_jobs(step):
    prepare = make_column_transformer((step, ["job"]), remainder="passthrough")
    return make_pipeline(prepare, DecisionTreeClassifier(min_samples_leaf=5, random_state=0))


@pytest.mark.parametrize(
    "step",
    [
        OrdinalEncoder(),
        OrdinalEncoder(encoded_missing_value=-1),
        OrdinalEncoder(encoded_missing_value=9),
        make_pipeline(OrdinalEncoder(), SimpleImputer(strategy="most_frequent")),
        make_pipeline(OrdinalEncoder(encoded_missing_value=-1), StandardScaler()),
    ],
    ids=str,
)
def test_missing_categories_go_where_their_number_goes(step) -> None:
    frame = with_gaps()
    model = of_jobs(step)
    target = np.where(frame["job"].isna(), "none", labels(people(800)))
    forest = ta.load(model.fit(frame, target))
    assert forest.schema.features[0].categories == tuple(sorted(JOBS))
    assert np.array_equal(forest.apply(encode(frame, forest.schema)), ends(model, frame))


def unknown_as(value, gap=np.nan, **settings) -> OrdinalEncoder:
    settings |= {"handle_unknown": "use_encoded_value", "unknown_value": value}
    return OrdinalEncoder(encoded_missing_value=gap, **settings)


LISTED = {"categories": [["Army", "Sales", "Tech"]]}


@pytest.mark.parametrize(
    "step",
    [
        *(unknown_as(value, **LISTED) for value in (-1, 99, np.nan)),
        *(unknown_as(value, gap) for value in (-1, 99, np.nan) for gap in (-5, 50, np.nan)),
        unknown_as(-1, -1),
        make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), unknown_as(-1, **LISTED)),
        make_pipeline(SimpleImputer(strategy="most_frequent"), unknown_as(-1)),
        make_pipeline(unknown_as(np.nan, -3), SimpleImputer(), StandardScaler()),
        make_pipeline(unknown_as(-3), SimpleImputer(), StandardScaler()),
    ],
    ids=str,
)
def test_unknown_categories_go_where_their_number_goes(step) -> None:
    frame = with_gaps()
    model = of_jobs(step)
    target = np.where(frame["job"].isna(), "none", np.where(frame["job"] == "Farm", "far", "near"))
    forest = ta.load(model.fit(frame, target))
    others = frame.copy()
    others.loc[:300:2, "job"] = "Pilot"
    for each in (frame, others):
        ours = read_records(each, forest).node
        assert np.array_equal(ours, ends(model, each))


def test_a_category_of_its_own_that_says_nothing() -> None:
    frame = with_gaps(None)
    model = of_jobs(OrdinalEncoder())
    forest = ta.load(model.fit(frame, np.where(frame["job"].isna(), "none", "some")))
    assert np.array_equal(read_records(frame, forest).node, ends(model, frame))


def test_the_rule_of_what_no_category_is() -> None:
    frame = with_gaps()
    model = make_pipeline(
        make_column_transformer((unknown_as(-1, **LISTED), ["job"])),
        DecisionTreeClassifier(max_depth=1),
    )
    known = frame["job"].isin(LISTED["categories"][0])
    forest = ta.load(model.fit(frame, np.where(known, "near", "far")))
    rules = [rule_text(forest, 0, leaf) for leaf in forest.trees[0].leaves.tolist()]
    assert rules == ["job = missing", "job = Army or Sales or Tech"]
    frame["label"] = np.where(known, "near", "far")
    assert ta.scan(model, train=frame, target="label")["TA101"].people == 0


@pytest.mark.parametrize("value", [-1, np.nan])
def test_sets_of_codes_beside_those_of_unknown_categories(value) -> None:
    frame = people(800)[["job", "age"]]
    model = make_pipeline(
        make_column_transformer((unknown_as(value), ["job"]), remainder="passthrough"),
        HistGradientBoostingClassifier(max_iter=3, categorical_features=[0], random_state=0),
    )
    forest = ta.load(model.fit(frame, np.where(frame["job"].isin(["Farm", "Tech"]), "a", "b")))
    assert forest.schema.features[0].categories == tuple(sorted(JOBS))
    sets = [forest.trees[0].categories.of(node) for node in range(1, forest.trees[0].n_nodes)]
    assert sorted(map(tuple, filter(None, sets)))[:1] == [(0, 2)]


@pytest.mark.parametrize("of", [ColumnTransformer, FeatureUnion])
def test_parts_with_weights_are_scaled_by_them(of) -> None:
    each = ["age"]
    part = ("a", StandardScaler(), each) if of is ColumnTransformer else ("a", StandardScaler())
    both = of([part], transformer_weights={"a": 100.0})
    frame = people()[each]
    model = make_pipeline(both, DecisionTreeClassifier(max_depth=2))
    forest = ta.load(model.fit(frame, labels(people())))
    assert forest.schema.names == each
    assert np.array_equal(forest.apply(frame.to_numpy()), ends(model, frame))


def test_the_remainder_follows() -> None:
    frame = people().drop(columns="size")
    frame["size"] = 1
    prepare = ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder="passthrough")
    model = make_pipeline(prepare, DecisionTreeClassifier(random_state=0))
    assert check(model, frame).schema.names[0] == "age"


def test_forests_and_selections() -> None:
    frame = people()
    prepare = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), KINDS))
    forest = RandomForestClassifier(5, random_state=0)
    check(make_pipeline(prepare, VarianceThreshold(0.1), forest), frame)


def test_rules_read_as_they_were_asked() -> None:
    frame = people()
    prepare = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["job"]))
    model = make_pipeline(prepare, DecisionTreeClassifier(max_depth=2, random_state=0))
    forest = check(model, frame)
    rules = [rule_text(forest, 0, leaf) for leaf in forest.trees[0].leaves.tolist()]
    assert any("job = Tech" in rule for rule in rules)
    assert any("job not Tech" in rule or "job = Army or" in rule for rule in rules)
    ages = [float(r.split("age > ")[1].split(" ")[0].strip(",")) for r in rules if "age > " in r]
    assert all(18 < age < 90 for age in ages)


def test_the_same_people_as_the_bare_tree() -> None:
    frame = people()
    prepare = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), KINDS))
    model = make_pipeline(prepare, DecisionTreeClassifier(random_state=0)).fit(frame, labels(frame))
    whole, bare = ta.scan(model), ta.scan(model[-1])
    for attack in ("TA101", "TA102", "TA103"):
        first, second = plain_data(whole[attack].details), plain_data(bare[attack].details)
        # Which columns single people out is told by name.
        first.pop("contribution", None), second.pop("contribution", None)
        assert first == second


def test_too_many_categories_leave_transformed_units(monkeypatch) -> None:
    monkeypatch.setattr(Most, "made_codes", 10)
    frame = people()
    prepare = make_column_transformer((OrdinalEncoder(), ["size"]), (OneHotEncoder(), ["job"]))
    model = make_pipeline(prepare, DecisionTreeClassifier(random_state=0))
    forest = ta.load(model.fit(frame, labels(frame)))
    assert not forest.schema.named
    assert any("in transformed units" in one for one in forest.warnings)


def test_a_step_that_only_tells_its_width() -> None:
    step = Inert(Global("their.package", "Mystery", 0, True), ())
    names = [[f.name for f in plan_of([step], n, ["age", "income"]).features] for n in (2, 3)]
    assert names[0] == ["Mystery(age)", "Mystery(income)"]
    plan = plan_of([step], 3)
    assert [f.name for f in plan.features] == ["Mystery(x0)", "Mystery(x1)", "Mystery(x2)"]
    assert plan.made == ("Mystery",)


def test_a_scale_that_takes_a_threshold_to_infinity_is_refused() -> None:
    x = np.array([[0.0], [1.0], [2.0], [4.0]])
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(x, [0, 0, 0, 1])
    pipe[0].scale_[:] = 1e308
    pipe[0].mean_[:] = 1e308
    assert np.isfinite(pipe[1].tree_.threshold[0] * 1e308)
    with pytest.raises(ta.ReadError, match="takes a threshold to infinity"):
        tuple(ta.load(pipe).trees)


def test_hostile_steps_are_not_undone() -> None:
    for attributes in (
        {"mean_": np.zeros(3), "scale_": np.ones(2)},
        {"mean_": np.zeros(2), "scale_": np.array([0.0, 1.0])},
        {"mean_": np.zeros(2), "scale_": np.array([np.nan, 1.0])},
        {"mean_": "zero", "scale_": np.ones(2)},
        {"n_features_in_": 1 << 40},
        {"n_features_in_": -1},
        {"n_features_in_": "two"},
    ):
        step = Inert(Global("sklearn.preprocessing._data", "StandardScaler", 0, True), ())
        step.state = attributes
        plan = plan_of([step], 2)
        assert plan is None or plan.made
    loop = Inert(Global("sklearn.pipeline", "Pipeline", 0, True), ())
    loop.state = {"steps": [("again", loop)]}
    assert plan_of([loop], 2) is None


@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_on_the_cuts_of_xgboost_go_where_it_sends_them(scaler, seed) -> None:
    """XGBoost cuts at numbers of the data: those are on a bound, and on its upper side."""
    xgb = pytest.importorskip("xgboost")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 600), "bmi": rng.normal(25, 4, 600).round(1)})
    frame["dose"] = rng.normal(size=600) * 1e4
    y = frame.age * 10 + frame.bmi + frame.dose / 100 + rng.normal(size=600)
    model = make_pipeline(scaler(), xgb.XGBRegressor(n_estimators=8, max_depth=5, n_jobs=1))
    model.fit(frame, y)
    told = xgb.DMatrix(model[0].transform(frame))
    theirs = model[1].get_booster().predict(told, pred_leaf=True)
    ours = ta.load(model).apply(frame.to_numpy())
    for tree in range(8):
        same_ends(ours[:, tree], theirs[:, tree])
    said = ta.scan(model, train=frame.assign(y=y), target="y", seconds=0.1).warnings
    assert not any("not the training data" in one for one in said)
