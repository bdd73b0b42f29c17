"""``treeaudit release``: what was audited is written again, and what was written is audited."""

import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 4))
Y = np.where(RNG.random(2000) < 0.3, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)
TREE = DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=100, random_state=0).fit(X, Y)
LEAKY = DecisionTreeClassifier(random_state=0).fit(X[:300], Y[:300])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noted = copy.deepcopy(TREE)
    noted.note_, noted.other_ = X, LEAKY
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(noted))
    (tmp_path / "two.pkl").write_bytes(pickle.dumps({"old": TREE, "new": LEAKY}))
    return tmp_path


def test_what_is_written_passes(folder) -> None:
    done = run("release", "m.pkl", "-o", "clean.pkl")
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first.startswith("left out: ")
    assert "other_ (another model)" in first
    assert second == "model  clean.pkl"
    assert third.startswith(" PASS   all ")
    live = pickle.loads((folder / "clean.pkl").read_bytes())
    assert np.array_equal(live.predict_proba(X), TREE.predict_proba(X))
    assert not hasattr(live, "note_")


def test_the_returncode_is_that_of_the_scan(folder) -> None:
    done = run("release", "two.pkl", "--select", "new", "-o", "clean.joblib", "-q")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "model  clean.joblib"
    assert done.stdout.splitlines()[1].split()[0] == "FAIL"
    passed = run("release", "two.pkl", "--select", "new", "-o", "c.json", "--policy", "observe")
    assert passed.returncode == 0


def test_every_model_of_a_bundle_is_written_and_audited(folder) -> None:
    noted = copy.deepcopy(TREE)
    noted.note_ = X
    bundle = {"old": noted, "new": LEAKY, "people": X[:50], "n": 4}
    (folder / "b.pkl").write_bytes(pickle.dumps(bundle))
    done = run("release", "b.pkl", "-o", "c.pkl")
    assert done.returncode == 1, done.stderr
    first, second, *rest = done.stdout.splitlines()
    assert first.startswith("left out: ")
    assert all(where in first for where in ("['old'].note_", "['people']"))
    assert "another model" not in first
    assert second == "model  c.pkl"
    assert [line for line in rest if line.startswith("['")] == ["['old']", "['new']"]
    assert rest[-1].split() == "FAIL the file holds 2 models: 1 pass, 1 fail".split()
    again = pickle.loads((folder / "c.pkl").read_bytes())
    assert list(again) == ["old", "new", "n"]
    for name in ("old", "new"):
        assert again[name].random_state is None
        assert np.array_equal(again[name].predict_proba(X), bundle[name].predict_proba(X))
    data = json.loads(run("release", "b.pkl", "-o", "d.pkl", "--format", "json").stdout)
    assert (data["verdict"], len(data["reports"])) == ("fail", 2)
    path = ta.save(ta.release(folder / "b.pkl"), folder / "e.pkl")
    assert path.read_bytes() == (folder / "c.pkl").read_bytes()


def test_a_repair_of_one_model_names_the_others(folder) -> None:
    done = run("defend", "two.pkl", "--select", "new", "--min-leaf", "20", "-o", "safe.pkl")
    assert done.returncode in (0, 1, 3), done.stderr
    assert "the others in it are as they were released: ['old']" in done.stdout
    again = pickle.loads((folder / "safe.pkl").read_bytes())
    assert list(again) == ["old", "new"]
    assert run("defend", "two.pkl", "-o", "other.pkl").returncode == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["two.pkl", "-o", "c.json"], "the file holds 2 models (['old'], ['new']): choose one"),
        (["m.pkl", "-o", "m.pkl", "--force"], "is the model itself"),
        (["m.pkl", "-o", "two.pkl"], "exists already"),
        (["m.pkl", "-o", "c.txt"], "this model is written as .json, .pkl"),
        (["two.pkl", "--select", "x", "-o", "c.pkl"], "--select x: the file holds ['old'], ['new"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(folder, words, sentence) -> None:
    done = run("release", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_without_a_form_of_its_own_names_the_way_that_works(folder) -> None:
    from sklearn.impute import KNNImputer
    from sklearn.pipeline import make_pipeline

    piped = make_pipeline(KNNImputer(), DecisionTreeClassifier(max_depth=2)).fit(X[:200], Y[:200])
    (folder / "s.pkl").write_bytes(pickle.dumps(piped))
    assert "(-o model.treeaudit.json)" in run("release", "s.pkl", "-o", "c.pkl").stderr
    assert run("release", "s.pkl", "-o", "model.treeaudit.json").returncode in (0, 1, 3)
    assert ta.load("model.treeaudit.json").n_trees == 1
