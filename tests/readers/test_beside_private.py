"""Numbers beside a private model: they are in no ledger, so no epsilon bounds the file."""

import pickle

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.dp.bounded import bounded, unbounded_because
from treeaudit.trainers import PrivateTreeClassifier

X, Y = people(300)
MODEL = PrivateTreeClassifier(schema=SCHEMA).fit(X, Y)
NUMBERS = {
    "people": {"n_train": 300},
    "labels": {"positives": 151, "negatives": 149},
    "a list": {"counts": [151, 149]},
    "an array": {"counts": np.array([151, 149])},
    "a score": {"accuracy_on_training_people": 0.8733},
    "a seed": {"seed": 7},
    "a text": {"n_train": "300"},
    "a name": {"n_train_300": None},
    "a number for a name": {300: None},
    "yes or no": {"alice": True},
    "deeper": {"about": {"training": [{"n": (300,)}]}},
    "bytes": {"about": b"300"},
}
WORDS = {
    "nothing": {},
    "a note": {"note": "income"},
    "a date": {"date": "2024-05-01"},
    "a version": {"version": "1.2.0", "python": "3.11.7"},
    "the columns": {"features": ["age", "sex", "dose"]},
    "the labels": {"classes": ["no", "yes"]},
    "the schema": {"schema": SCHEMA},
    "another model": {"other": MODEL},
    "no model of ours": {"other": DecisionTreeClassifier(max_depth=2).fit(X[["age"]], Y)},
}


def loaded(held, path):
    path.write_bytes(pickle.dumps(held))
    return ta.load(path, select="model" if isinstance(held, dict) else None)


@pytest.mark.parametrize("beside", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_a_reason(beside, tmp_path) -> None:
    forest = loaded({"model": MODEL, **beside}, tmp_path / "m.pkl")
    says = "the file also holds numbers that no ledger accounts for"
    assert unbounded_because(forest) == says
    assert forest.warnings == (f"not private: {says}",)


@pytest.mark.parametrize("beside", WORDS.values(), ids=WORDS)
def test_words_are_none(beside, tmp_path) -> None:
    assert bounded(loaded({"model": MODEL, **beside}, tmp_path / "m.pkl"))


def test_wherever_they_stand(tmp_path) -> None:
    path = tmp_path / "m.pkl"
    assert not bounded(loaded((MODEL, 300), path))
    assert not bounded(loaded([MODEL, ["a", 0.5]], path))
    assert bounded(loaded([MODEL, "income"], path))
    piped = Pipeline([("tree", MODEL)])
    assert bounded(loaded(piped, path))
    piped.n_train = 300
    assert not bounded(loaded(piped, path))
    assert not bounded(loaded(Pipeline([("tree", MODEL)], verbose=300), path))


def test_the_policy_fails(tmp_path) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps({"model": MODEL, "n_train": 300}))
    assert ta.scan(path, policy="private").verdict == "fail"
    path.write_bytes(pickle.dumps({"model": MODEL, "note": "income"}))
    assert ta.scan(path, policy="private").verdict == "pass"


def test_written_without_them_the_model_is_bounded_again(tmp_path) -> None:
    forest = loaded({"model": MODEL, "n_train": 300}, tmp_path / "m.pkl")
    written = ta.load(ta.save(forest, tmp_path / "m.json"))
    assert bounded(written)
    assert written.privacy["reasons"] == []
