"""Which of two known things stands in a place is a bit: a bundle has room for a few of them."""

import io
import pickle
from collections import OrderedDict, deque

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.trainers.people import SCHEMA, people
from treeaudit.readers.leftovers.leftovers import leftovers
from treeaudit.readers.pickles.pickle_vm import read_pickle
from treeaudit.trainers import PrivateTreeClassifier

X, Y = people(300)
COLUMNS = X[["age", "dose"]]
PRIVATE = PrivateTreeClassifier(schema=SCHEMA, max_depth=2).fit(X, Y)
PLAIN = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40).fit(COLUMNS, Y)
KINDS = ("extra", "unseen", "records")
LABELS = [bool(label == "yes") for label in Y]
PAIRS = {
    "references": lambda m: (lambda: m, lambda: m.classes_),
    "references and nothing": lambda m: (lambda: m, lambda: None),
    "labels and names": lambda m: (lambda: m.classes_, lambda: m.feature_names_in_),
    "empty containers": lambda m: (list, dict),
    "empty tuples": lambda m: (tuple, list),
    "nested containers": lambda m: (lambda: [[]], lambda: [[], []]),
    "other containers": lambda m: (OrderedDict, deque),
    "orders of labels": lambda m: (lambda: ["no", "yes"], lambda: ["yes", "no"]),
    "single labels": lambda m: (lambda: ["no"], lambda: ("yes",)),
    "arrays of labels": lambda m: (lambda: np.array(["no"]), lambda: np.array(["yes"])),
    "texts": lambda m: (lambda: ["abc" * 20, "d"], lambda: ["abc" * 20, "e"]),
}
HOLDERS = {
    "list": lambda m, told: {"model": m, "n": told},
    "tuple": lambda m, told: {"model": m, "n": tuple(told)},
    "deque": lambda m, told: {"model": m, "n": deque(told)},
    "ordered": lambda m, told: OrderedDict(model=m, n=told),
    "root": lambda m, told: [m, *told],
    "inner lists": lambda m, told: {"model": m, "n": [told[:99], told[99:198], told[198:]]},
}


def by_joblib(held) -> bytes:
    buffer = io.BytesIO()
    joblib.dump(held, buffer)
    return buffer.getvalue()


def named(held, by=pickle.dumps):
    """Return where there is what nothing explains."""
    file = read_pickle(by(held))
    found = leftovers(file.root, 300, file.mentioned).found
    return [one.where for one in found if one.kind in KINDS]


@pytest.mark.parametrize("model", [PRIVATE, PLAIN], ids=["private", "plain"])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_bits_are_no_bundle(model, pair) -> None:
    one, other = pair(model)
    told = [one() if bit else other() for bit in LABELS]
    assert named({"model": model, "n": told})
    assert named([model, *told])


@pytest.mark.parametrize("by", [pickle.dumps, by_joblib])
@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_in_whatever_they_stand(holder, by) -> None:
    told = [PRIVATE if bit else PRIVATE.classes_ for bit in LABELS]
    assert named(holder(PRIVATE, told), by)


def test_how_often_alone_is_a_number() -> None:
    assert named({"model": PRIVATE, "n": [PRIVATE] * 300}) == ["['n']"]
    assert named([PRIVATE] * 300) == ["the file itself"]


@given(st.lists(st.integers(0, 3), min_size=200, max_size=400))
def test_a_text_of_references_is_named(digits) -> None:
    known = (PLAIN, PLAIN.classes_, PLAIN.feature_names_in_, None)
    assert named({"model": PLAIN, "n": [known[digit] for digit in digits]})


def test_orders_of_names_are_counted() -> None:
    """Each list of known names tells their order: 40 of 400 columns are 17 KiB."""
    names = [f"column {i}" for i in range(400)]
    wide = np.random.default_rng(0).normal(size=(100, 400))
    model = DecisionTreeClassifier(max_depth=2).fit(wide, wide[:, 0] > 0)
    model.feature_names_in_ = np.array(names, dtype=object)
    orders = [names[i:] + names[:i] for i in range(40)]
    assert named({"model": model, "features": orders[3], "numbers": orders[7]}) == []
    assert named({"model": model, "orders": orders}) == ["what no tree needs"]


ROWS = ["0.13;-0.13;0.64;no", "1.33;0.25;-0.04;yes"]


@pytest.mark.parametrize("by", [pickle.dumps, by_joblib])
@pytest.mark.parametrize("made", [list, tuple, lambda rows: np.array(rows, dtype=object)])
@pytest.mark.parametrize("rows", [ROWS, ["\U0001f600\u0301\x07", "\u2801\u2802"]])
def test_rows_are_no_list_of_names(made, rows, by) -> None:
    """As many texts as columns, of which none reads as a name."""
    assert named({"model": PLAIN, "names": made(rows)}, by)
    assert named([PLAIN, made(rows)], by)


def test_what_is_set_on_an_ordered_dictionary_is_named() -> None:
    held = OrderedDict(model=PLAIN)
    held.note = "Ann;33;ill"
    assert named(held) == ["__state__"]


@pytest.mark.parametrize(
    "change",
    [
        {"extra_": PLAIN.classes_},
        {"extra_": [PLAIN.classes_, PLAIN.feature_names_in_] * 50},
        {"extra_": ""},
    ],
    ids=["a reference", "references", "nothing"],
)
def test_an_attribute_that_no_class_has_is_named(change) -> None:
    model = DecisionTreeClassifier()
    model.__dict__.update({**vars(PLAIN), **change})
    assert named(model) == ["extra_"]


def test_references_in_one_attribute_are_few() -> None:
    """Lists of lists would have room for as many as their lengths make."""
    model = make_pipeline(PCA(2), DecisionTreeClassifier(max_depth=2)).fit(COLUMNS, Y)
    shared = [0, 1], [1, 0]
    for n, found in ((4, False), (16, True)):
        model[0].components_ = [[shared[bit] for bit in LABELS[i : i + n]] for i in range(n)]
        assert bool(named(model)) is found


STEPS = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(COLUMNS, Y)
STACK = StackingClassifier([("a", DecisionTreeClassifier(max_depth=2))], cv=2).fit(COLUMNS, Y)
SEARCH = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(COLUMNS, Y)
SCORED = GridSearchCV(
    DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2, scoring=make_scorer(accuracy_score)
).fit(COLUMNS, Y)
ORDINARY = {
    "one scorer in two attributes": SCORED,
    "twice": {"model": PLAIN, "latest": PLAIN},
    "private twice": [PRIVATE, PRIVATE],
    "its schema": {"model": PRIVATE, "schema": PRIVATE.schema},
    "its labels": {"model": PLAIN, "classes": PLAIN.classes_, "names": PLAIN.feature_names_in_},
    "labels as a list": {"model": PLAIN, "classes": ["no", "yes"], "names": ["age", "dose"]},
    "steps": [STEPS, STEPS[0], STEPS[-1]],
    "members": {"stack": STACK, "members": [("a", STACK.estimators_[0])]},
    "a search": {"search": SEARCH, "model": SEARCH.best_estimator_, "best": SEARCH.best_params_},
    "models": {f"fold_{i}": {"tree": PLAIN, "features": ["age", "dose"]} for i in "abcdefghij"},
    "pairs": [(f"fold{i}", PLAIN) for i in "abcdefghij"],
    "kinds of columns": {"model": PLAIN, "columns": {"numbers": ["dose"], "all": ["age", "dose"]}},
    "names of its own": {"model": PLAIN, "columns": ["Age (years)", "dose in mg/kg, 2nd visit"]},
    "nothing": {"model": PLAIN, "encoder": None, "more": [], "about": {}},
}


@pytest.mark.parametrize("held", ORDINARY.values(), ids=ORDINARY)
@pytest.mark.parametrize("by", [pickle.dumps, by_joblib])
def test_ordinary_bundles_are_explained(held, by) -> None:
    assert named(held, by) == []
