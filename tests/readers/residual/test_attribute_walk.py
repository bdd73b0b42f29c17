"""Content beyond the model: notes are notes, anything else is named by path and size."""

import collections
import datetime
import decimal
import pathlib
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import randint
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tests.strategies import examples
from treeaudit import load, scan

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 4)), columns=["age", "dose", "height", "weight"])
X["town"] = RNG.choice(["here", "there", "else"], 300)
N = X[["age", "dose", "height", "weight"]]
Y = np.where(N["age"] + RNG.normal(size=300) > 0, "yes", "no")
THREE = np.where(N["dose"] > 1, "some", Y)
TREE = DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=20).fit(N, Y)
FOREST = RandomForestClassifier(100, max_depth=3, random_state=None).fit(N, Y)


def small() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_leaf_nodes=6)


def beyond(model: object) -> dict[str, tuple[str, int]]:
    """Return the notes and the extra content of a model, by their paths."""
    found = load(model).extras.found
    return {one.where: (one.kind, one.n) for one in found if one.kind in ("notes", "extra")}


def changed(model: Any, **more: object) -> Any:
    """Return a copy of a model with more, or other, attributes."""
    copy = pickle.loads(pickle.dumps(model))
    for name, value in more.items():
        copy.__dict__[name] = value
    return copy


GENUINE = {
    "forest": (RandomForestClassifier(5, oob_score=True, random_state=0), N, THREE),
    "isolation": (IsolationForest(n_estimators=10), N, None),
    "boosting": (GradientBoostingClassifier(n_estimators=180, max_depth=2), N, THREE),
    "adaptive": (AdaBoostClassifier(small(), n_estimators=200), N, Y),
    "calibrated": (CalibratedClassifierCV(small(), method="isotonic"), N, Y),
    "stack": (
        StackingClassifier(
            [("a", small()), ("b", SVC()), ("c", MLPClassifier((100, 90), max_iter=5))],
            LogisticRegression(),
        ),
        N,
        Y,
    ),
    "grid": (GridSearchCV(small(), {"max_depth": [*range(1, 90)]}, cv=2), N, Y),
    "search": (
        RandomizedSearchCV(small(), {"max_depth": randint(2, 9), "ccp_alpha": [0.0]}, n_iter=3),
        N,
        Y,
    ),
    "quantiles": (make_pipeline(QuantileTransformer(n_quantiles=200), small()), N, Y),
    "splines": (make_pipeline(SplineTransformer(), small()), N, Y),
    "bins": (make_pipeline(KBinsDiscretizer(5), small()), N, Y),
    "categories": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("words", OneHotEncoder(), ["town"]),
                    ("codes", OrdinalEncoder(), ["town"]),
                    ("numbers", StandardScaler(), ["age", "dose"]),
                ],
                remainder="passthrough",
            ),
            small(),
        ),
        X,
        Y,
    ),
    "words": (
        make_pipeline(TfidfVectorizer(stop_words="english"), small()),
        [f"{town} {'x' * 5_000} word{i}" for i, town in enumerate(X["town"])],
        Y,
    ),
}


@pytest.mark.parametrize("name", GENUINE)
@pytest.mark.filterwarnings("ignore")
def test_what_a_library_writes_is_part_of_the_model(name: str) -> None:
    model, x, y = GENUINE[name]
    assert beyond(model.fit(x, y)) == {}


NOTES = {
    "number": 0.93,
    "version": "1.2.0",
    "trained": datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC),
    "day": datetime.date(2024, 5, 1),
    "took": datetime.timedelta(seconds=9),
    "price": decimal.Decimal("1.50"),
    "path": pathlib.PurePosixPath("models/a.pkl"),
    "metrics": {"auc": 0.9, "folds": [0.8, 0.9], "by": {"yes": {"f1": 0.7}}},
    "options": {"town": ["here", "there"]},
    "columns": pd.Index(["town", "age"], dtype=object),
    "array": np.arange(64),
    "names": np.array(["a", "b"], dtype=object),
    "ordered": collections.OrderedDict(a=1),
    "counted": collections.Counter("abca"),
    "few": {1, 2, 3},
    "a sentence": "x" * 200,
}


@pytest.mark.parametrize("name", NOTES)
def test_plain_values_are_notes(name: str) -> None:
    value = NOTES[name]
    for holder, where in (
        ({"model": TREE, name: value}, f"['{name}']"),
        (changed(TREE, notes_=value), "notes_"),
        ({"a": [TREE, {name: value}]}, f"['a'][1]['{name}']"),
    ):
        found = beyond(holder)
        assert all(kind == "notes" for kind, _ in found.values())
        assert any(where.startswith(one) for one in found)


@pytest.mark.parametrize("columns", [list(N.columns), N.columns, np.array(N.columns, dtype=object)])
def test_names_of_the_columns_are_part_of_the_model(columns: object) -> None:
    assert beyond({"model": TREE, "features": columns}) == {}


def test_as_many_texts_as_columns_are_notes_unless_they_name_them() -> None:
    people = [f"Ann {i}; 33; ill" for i in range(len(N.columns))]
    found = beyond({"model": TREE, "people": people})
    assert [kind for kind, _ in found.values()] == ["notes"]


class Own:
    """Is of no library."""


def own() -> Own:
    one = Own()
    one.__dict__["text"] = "x" * 300
    return one


EXTRA: dict[str, tuple[Any, int]] = {
    "text": ("x" * 201, 201),
    "bytes": (b"x" * 50, 50),
    "list": ([0.5] * 65, 65 * 8),
    "array": (np.zeros(65), 65 * 8),
    "table": (np.zeros((3, 2)), 48),
    "number": (1 << 4_000, 500),
    "numbers of the file": (list(range(1_000)), 8_000),
    "texts": (["x" * 201, "y"], 201),
    "set": ({*range(100)}, 800),
    "keys": ({f"{i:020d}": None for i in range(100)}, 2_000),
    "a long key": ({"x" * 300: [TREE]}, 300),
    "object": (own(), 300),
    "nested": ([[[[0.5] * 65]]], 65 * 8),
    "counter": (collections.Counter(range(100)), 1_600),
}


@pytest.mark.parametrize("name", EXTRA)
def test_anything_else_has_a_path_and_a_size(name: str) -> None:
    value, least = EXTRA[name]
    for holder, where in (
        ({"model": TREE, "held": value}, "['held']"),
        (changed(TREE, held_=value), "held_"),
        (make_pipeline(changed(StandardScaler().fit(N), held_=value), TREE), "held_"),
    ):
        extra = {w: n for w, (kind, n) in beyond(holder).items() if kind == "extra"}
        assert len(extra) == 1
        ((found, n),) = extra.items()
        assert where in found
        assert least <= n <= 3 * least + 100


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("criterion", "x" * 201),
        ("max_depth", np.zeros((2, 2))),
        ("feature_importances", [[1.0, 2.0]] * 100),
        ("class_weight", dict.fromkeys(range(100), 1.0)),
        ("monotonic_cst", [1] * 100),
    ],
)
def test_an_attribute_that_does_not_fit_its_form(name: str, value: object) -> None:
    found = beyond(changed(FOREST.estimators_[0], **{name: value}))
    assert found[name][0] == "extra"


def test_short_values_in_the_wrong_place_are_notes() -> None:
    assert beyond(changed(TREE, ccp_alpha=[0.1, 0.2]))["ccp_alpha"][0] == "notes"


def test_the_same_attribute_of_all_trees_is_named_once() -> None:
    model = pickle.loads(pickle.dumps(FOREST))
    for i, tree in enumerate(model.estimators_):
        tree.held_ = "x" * (201 + i)
    ((where, (kind, n)),) = beyond(model).items()
    assert (where, kind) == ("estimators_[*].held_", "extra")
    assert n >= 100 * 201


def test_a_model_inside_extra_content_is_looked_at_as_a_model() -> None:
    one = Own()
    one.__dict__.update(scaler=StandardScaler().fit(N), note="y" * 300)
    found = beyond({"model": TREE, "own": one})
    assert list(found) == ["['own']['note']"]
    assert 300 <= found["['own']['note']"][1] < 600


def test_what_another_finding_reports_is_not_listed_again() -> None:
    model = RandomForestClassifier(20, oob_score=True, random_state=0).fit(N, Y)
    held = {"model": model, "y": (Y == "yes").astype(int), "x": N.to_numpy()}
    assert {one.kind for one in load(held["model"]).extras.found} >= {"out-of-bag"}
    assert beyond(held) == {}


def test_a_node_table_in_a_bundle_is_no_part_of_a_model() -> None:
    other = DecisionTreeClassifier().fit(N, Y)
    assert beyond({"model": TREE, "tree": other.tree_})["['tree']"][1] >= other.tree_.node_count


def test_nodes_that_no_question_leads_to() -> None:
    cls, args, state = TREE.tree_.__reduce__()
    for name in ("nodes", "values"):
        state[name] = np.concatenate([state[name], state[name][-2:]])
    state["node_count"] += 2

    class Longer:
        def __reduce__(self) -> Any:
            return cls, args, state

    found = beyond(changed(TREE, tree_=Longer()))
    assert found == {"tree_.nodes out of reach": ("extra", 2 * state["nodes"].itemsize)}


def test_deep_and_self_referring_content_ends() -> None:
    around: list[object] = [b"x" * 100]
    around.append(around)
    deep: list[object] = ["x" * 300]
    for _ in range(100):
        deep = [deep]
    found = beyond({"model": TREE, "around": around})
    assert [kind for kind, _ in found.values()] == ["extra"]
    assert load({"model": TREE, "deep": deep}).extras.found


MATERIAL = st.one_of(
    st.binary(min_size=17, max_size=400),
    st.text(min_size=201, max_size=400),
    st.lists(st.floats(), min_size=65, max_size=99),
    st.integers(min_value=1 << 70, max_value=1 << 3_000),
    st.integers(65, 140).map(np.ones),  # no more than people, or they are records
)


@examples(60)
@given(value=MATERIAL, of=st.sampled_from(["tree", "member", "bundle"]))
def test_content_of_n_bytes_is_listed_once_with_at_least_n_bytes(value: Any, of: str) -> None:
    model = pickle.loads(pickle.dumps(TREE if of == "tree" else FOREST))
    holder = model if of == "tree" else model.estimators_[3]
    if of != "bundle":
        holder.held_ = value
    found = beyond({"model": model, "held_": value} if of == "bundle" else model)
    least = {
        str: lambda: len(value.encode("utf-8", "surrogatepass")),
        int: lambda: value.bit_length() // 8,
        list: lambda: 8 * len(value),
        np.ndarray: lambda: value.nbytes,
    }.get(type(value), lambda: len(value))()
    ((where, (kind, n)),) = found.items()
    assert "held_" in where
    assert kind == "extra"
    assert n >= least


NAMES = """
contact_telephone|age_(20, 30]|education-num>=12.5|x0_2019-01-01|http://example.com/ns#age|1stFlrSF
x0 x1^2 x3^4|x0_0.30000000000000004|ENSG00000141510.16|SOURCE_A/B (mg/dL)|年龄|العمر|😀|Genève
$50,000 - $75,000|col 1 of 4|192.168.0.1|How often in the last 30 days did you feel that way?
"""


def test_odd_names_of_columns_are_names() -> None:
    names = NAMES.strip().replace("\n", "|").split("|")
    names += ["Age\u00a0(years)", "Taux\u202f%", "Age\r\nat visit", "n\tvisits"]
    rows = np.random.default_rng(0).normal(size=(300, len(names)))
    model = DecisionTreeClassifier(max_depth=3).fit(
        pd.DataFrame(rows, columns=names), rows[:, 0] > 0
    )
    assert scan(model)["TA206"].status == "clear"
