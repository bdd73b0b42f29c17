"""Columns keep their names through ordinary pipelines, and tables are taken as they were before."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.records import read_records
from treeaudit.table.reconstruction import rule_text

N = 300
RNG = np.random.default_rng(0)
JOBS = ["Sales", "Tech", "Farm", "Army", "Judge", "Pilot"]
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, N).astype(float),
        "height/weight": RNG.normal(2.4, 0.3, N).round(3),
        "Größe in cm": RNG.normal(170, 10, N).round(1),
        "job": RNG.choice(JOBS, N, p=[0.4, 0.3, 0.2, 0.05, 0.03, 0.02]),
        "size": RNG.choice(["S", "M", "L"], N),
    }
)
NUMBERS, TEXTS = list(PEOPLE.columns[:3]), list(PEOPLE.columns[3:])
GAPS = PEOPLE.assign(age=PEOPLE["age"].where(RNG.random(N) > 0.1))
SCORE = PEOPLE["age"] / 40 + (PEOPLE["job"] == "Tech") + (PEOPLE["job"] == "Judge")
LABELS = np.where(SCORE + RNG.normal(0, 0.4, N) > SCORE.mean(), "yes", "no")
ONE_HOT = OneHotEncoder(handle_unknown="ignore")
RARE = OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist")


def columns(numbers="passthrough", texts=ONE_HOT, **more) -> ColumnTransformer:
    parts = [("n", numbers, NUMBERS), ("t", texts, TEXTS)]
    return ColumnTransformer(parts, sparse_threshold=0, **more)


class Double(TransformerMixin, BaseEstimator):
    def fit(self, x, y=None):
        self.fitted_ = True
        return self

    def transform(self, x):
        return np.asarray(x) * 2


class Ratio(Double):
    def transform(self, x):
        table = np.asarray(x)
        return np.column_stack([table, table[:, 0] / table[:, 1]])


def squared(x):
    return np.square(x)


STEPS = {
    "one-hot": columns(),
    "rare": columns(texts=OneHotEncoder(min_frequency=20)),
    "rare, most": columns(texts=OneHotEncoder(max_categories=3)),
    "rare, dropped": columns(texts=OneHotEncoder(min_frequency=20, drop="first")),
    "rare, unknown": columns(texts=RARE),
    "rare codes": columns(texts=OrdinalEncoder(min_frequency=20)),
    "bins": columns(KBinsDiscretizer(4)),
    "bins, dense": columns(KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform")),
    "bins, codes": columns(KBinsDiscretizer(4, encode="ordinal")),
    "bins, scaled": columns(make_pipeline(StandardScaler(), KBinsDiscretizer(4))),
    "above": columns(make_pipeline(StandardScaler(), Binarizer())),
    "splines": columns(SplineTransformer(n_knots=4)),
    "powers": columns(make_pipeline(StandardScaler(), PolynomialFeatures(2))),
    "function": columns(FunctionTransformer(np.log1p, feature_names_out="one-to-one")),
    "bent": columns(make_pipeline(SimpleImputer(), PowerTransformer())),
    "quantiles": columns(QuantileTransformer(n_quantiles=50, output_distribution="normal")),
    "normal": columns(Normalizer()),
    "components": columns(make_pipeline(StandardScaler(), PCA(2))),
    "all together": make_pipeline(columns(), TruncatedSVD(3)),
    "gaps": columns(SimpleImputer(add_indicator=True)),
    "gaps, bins": columns(make_pipeline(SimpleImputer(), KBinsDiscretizer(4))),
    "union": columns(FeatureUnion([("a", StandardScaler()), ("b", KBinsDiscretizer(3))])),
    "rest": ColumnTransformer([("t", RARE, TEXTS)], remainder=StandardScaler()),
    "frames": columns(texts=OneHotEncoder(sparse_output=False)).set_output(transform="pandas"),
}
MODELS = [
    DecisionTreeClassifier(min_samples_leaf=3, random_state=0),
    RandomForestClassifier(4, min_samples_leaf=3, random_state=0),
    GradientBoostingClassifier(n_estimators=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, random_state=0),
]


def saved(tmp_path, step, model, table=PEOPLE):
    pipe = make_pipeline(clone(step), clone(model)).fit(table, LABELS)
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(pipe))
    return pipe, path


def column_of(name: str) -> str:
    """The column that scikit-learn's name, or ours, is about."""
    plain = re.sub(r"^([a-z]+__)+", "", name.replace(" (encoded)", ""))
    plain = re.sub(r"^\w+\((.*)\)$", r"\1", plain).replace("missingindicator_", "")
    begun = [one for one in PEOPLE.columns if re.match(re.escape(one) + r"($|[_^ ])", plain)]
    return max(begun, key=len, default=plain.replace("constant", "1"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("model", MODELS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("step", STEPS)
def test_names_and_people(step, model, tmp_path) -> None:
    table = GAPS if step in ("bent", "gaps", "gaps, bins") else PEOPLE
    pipe, path = saved(tmp_path, STEPS[step], model, table)
    forest = ta.load(path)
    theirs = {column_of(name) for name in pipe[0].get_feature_names_out()}
    assert {column_of(name) for name in forest.schema.names} == theirs
    assert not forest.warnings
    found = read_records(table.assign(y=LABELS), forest, target="y")
    if hasattr(model, "apply"):
        own = pipe[-1].apply(pipe[:-1].transform(table)).reshape(N, -1)
        assert np.array_equal(found.node, own)
    report = ta.scan(path, train=table.assign(y=LABELS), target="y", seconds=0.1)
    assert not any("not verified" in text or "undone" in text for text in report.warnings)


@pytest.mark.parametrize(
    ("step", "names"),
    [
        (Double(), [f"Double({name})" for name in NUMBERS]),
        (FunctionTransformer(squared), [f"squared({name})" for name in NUMBERS]),
        (Ratio(), ["Ratio 1", "Ratio 2", "Ratio 3", "Ratio 4"]),
        (FeatureUnion([("a", StandardScaler()), ("b", Ratio())]), [*NUMBERS, "Ratio 1"]),
    ],
    ids=["one to one", "function", "wider", "beside"],
)
def test_a_step_that_is_not_undone_costs_its_own_columns_only(step, names, tmp_path) -> None:
    _, path = saved(tmp_path, columns(step), MODELS[0])
    forest = ta.load(path)
    assert {*names, *TEXTS} <= set(forest.schema.names)
    kind = "FunctionTransformer" if isinstance(step, FunctionTransformer) else names[-1]
    made = re.split(r"[( ]", kind)[0]
    with pytest.raises(
        ta.DataError, match=rf"which {made} made of .* add what this step returns .* columns named"
    ):
        read_records(PEOPLE.assign(y=LABELS), forest, target="y")


def test_what_a_step_returned_is_taken_by_the_names_of_the_report(tmp_path) -> None:
    pipe, path = saved(tmp_path, columns(Double()), MODELS[0])
    made = PEOPLE.rename(columns={name: f"Double({name})" for name in NUMBERS})
    made[made.columns[:3]] *= 2
    found = read_records(made.assign(y=LABELS), ta.load(path), target="y")
    assert np.array_equal(found.node[:, 0], pipe[-1].apply(pipe[:-1].transform(PEOPLE)))


def test_rare_values_are_told_together_and_unknown_ones_are_among_them(tmp_path) -> None:
    pipe, path = saved(tmp_path, columns(texts=RARE), DecisionTreeClassifier(max_depth=4))
    forest = ta.load(path)
    job = forest.schema.features[3]
    assert job.categories == ("Farm", "Sales", "Tech", "Army", "Judge", "Pilot")
    assert job.rare == 3
    rules = [rule_text(forest, 0, leaf) for leaf in forest.trees[0].leaves.tolist()]
    assert any("rare values of job" in rule for rule in rules)
    others = PEOPLE.assign(job=PEOPLE["job"].replace("Sales", "Astronaut"))
    found = read_records(others.assign(y=LABELS), forest, target="y")
    assert np.array_equal(found.node[:, 0], pipe[-1].apply(pipe[:-1].transform(others)))


def test_numbers_of_columns_and_tables_without_names() -> None:
    table = PEOPLE[NUMBERS].to_numpy()
    for step in (PolynomialFeatures(2), KBinsDiscretizer(3), PCA(2)):
        model = make_pipeline(clone(step), MODELS[0]).fit(table, LABELS)
        report = ta.scan(model, train=(table, LABELS), seconds=0.1)
        assert report.warnings == ()


def test_a_gap_that_was_filled_by_other_columns(tmp_path) -> None:
    _, path = saved(tmp_path, columns(KNNImputer()), MODELS[0], GAPS)
    with pytest.raises(ta.DataError, match="'age' has no value, and KNNImputer filled it in: give"):
        read_records(GAPS.assign(y=LABELS), ta.load(path), target="y")


def test_only_listed_functions_and_numbers_that_agree_are_used(tmp_path) -> None:
    pipe, path = saved(tmp_path, columns(FunctionTransformer(np.log1p)), MODELS[0])
    pipe[0].transformers_[0][1].func = np.linspace
    path.write_bytes(pickle.dumps(pipe))
    assert "linspace(age)" in ta.load(path).schema.names
    rare, path = saved(tmp_path, columns(texts=RARE), MODELS[0])
    rare[0].transformers_[1][1]._default_to_infrequent_mappings[0][:] = [0, 1, 2, 3, 3, 3]
    path.write_bytes(pickle.dumps(rare))
    with pytest.raises(ta.ReadError, match="inconsistent: it has other rare values"):
        ta.load(path)
