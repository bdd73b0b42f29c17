"""treeaudit inspect: what is inside any file, and that nothing of it is run."""

import json
import os
import pickle

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run
from tests.cli.test_scan import Payload


def dump(model, path):
    path.write_bytes(pickle.dumps(model))
    return path


@pytest.fixture
def forest_file(cancer, tmp_path):
    model = RandomForestClassifier(10, max_depth=3, oob_score=False, random_state=0)
    return dump(model.fit(*cancer), tmp_path / "forest.pkl")


def test_a_forest(forest_file) -> None:
    done = run("inspect", forest_file)
    assert (done.returncode, done.stderr) == (0, "")
    forest = ta.load(forest_file)
    nodes = sum(tree.n_nodes for tree in forest.trees)
    text = " ".join(done.stdout.split())
    for part in (
        "file forest.pkl format sklearn-pickle · pickle protocol",
        f"{forest_file.stat().st_size:,} bytes",
        forest.source.sha256,
        f"written by scikit-learn {forest.source.library_version}",
        "audits RandomForestClassifier: 10 trees, 569 people",
        f"RandomForestClassifier 10 trees · {nodes:,} nodes",
        "30 features · 2 classes: benign, malignant",
        f"{nodes:,} record estimators_[*].tree_.nodes",
        "estimators_[*].random_state: 10 seeds tell who is in which tree",
        "sklearn.ensemble._forest.RandomForestClassifier",
    ):
        assert part in text
    assert "\x1b" not in done.stdout
    assert all(len(line) <= 80 and line == line.rstrip() for line in done.stdout.splitlines())


def test_what_would_run_is_said_and_not_run(tmp_path) -> None:
    path = dump(Payload(), tmp_path / "evil.pkl")
    done = run("inspect", path, cwd=tmp_path)
    assert done.returncode == 2
    assert "refused" in done.stdout
    assert f"would run {os.name}.system('touch marker')" in " ".join(done.stdout.split())
    as_json = run("inspect", path, "--format", "json", cwd=tmp_path)
    assert as_json.returncode == 2
    assert f"{os.name}.system" in json.loads(as_json.stdout)["refused"]
    assert [p.name for p in tmp_path.iterdir()] == ["evil.pkl"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (pickle.dumps([1, 2, 3]), "list  3 items"),
        (pickle.dumps({"a": 1}), "'a': 1"),
        (b"<!doctype html><title>404</title>", "an HTML page"),
        (b"age,income\n1,2\n", "a text file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
    ],
)
def test_what_is_no_model_is_shown_all_the_same(tmp_path, content, says) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(content)
    done = run("inspect", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert says in done.stdout
    assert "no model" in done.stdout


@pytest.mark.parametrize("content", [b"", pickle.dumps([1] * 99, protocol=4)[:-20]])
def test_what_is_damaged_is_one_sentence(tmp_path, content) -> None:
    path = tmp_path / "file.pkl"
    path.write_bytes(content)
    done = run("inspect", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert run("inspect", tmp_path / "nowhere").returncode == 2


def test_json(forest_file) -> None:
    done = run("inspect", forest_file, "--format", "json")
    data = json.loads(done.stdout)
    assert data["schema_version"] == 1
    assert data["outline"]["kind"] == "RandomForestClassifier"
    assert data["refused"] is None
    assert data["arrays"][0]["where"] == "estimators_[*].tree_.nodes"
    assert {one["kind"] for one in data["leftovers"]} == {"seeds"}
    assert all(not name["foreign"] for name in data["names"])


def test_hostile_text_is_harmless(cancer, tmp_path) -> None:
    columns, labels = cancer
    tree = DecisionTreeClassifier(max_depth=2).fit(columns, labels + "\x1b[31m\u202e[bold]")
    done = run("inspect", dump({"\x1b[2J[red]\ud800": tree}, tmp_path / "x.pkl"))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "[bold]" in done.stdout


def test_a_billion_laughs_are_a_short_outline() -> None:
    from treeaudit.readers.inspect import outline

    laughs: list = ["ha"]
    for _ in range(30):
        laughs = [laughs] * 20
    todo, n = [outline(laughs)], 0
    while todo:
        n += 1
        todo += todo.pop().parts
    assert n < 1000
