"""``treeaudit scan`` of a file with several models: one report each, the worst decides."""

import copy
import json
import pickle

import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from tests.cli.run import run
from tests.cli.test_release import LEAKY, TREE, X, Y
from tests.trainers.people import SCHEMA, people
from treeaudit.reports.to_json import json_schema
from treeaudit.trainers.private_tree import PrivateTreeClassifier

MILD = DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=100, random_state=1).fit(X, Y)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noted = copy.deepcopy(TREE)
    noted.backup_ = LEAKY
    held = {
        "two.pkl": {"old": TREE, "new": LEAKY},
        "mild.pkl": {"old": TREE, "new": MILD},
        "backup.pkl": noted,
        "three.pkl": {"a": TREE, "b": MILD, "train": X},
    }
    for name, value in held.items():
        (tmp_path / name).write_bytes(pickle.dumps(value))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "verdicts", "code"),
    [
        ("two.pkl", [("['old']", "pass"), ("['new']", "fail")], 1),
        ("mild.pkl", [("['old']", "pass"), ("['new']", "pass")], 0),
        ("three.pkl", [("['a']", "fail"), ("['b']", "fail")], 1),
    ],
)
def test_the_worst_verdict_decides(files, name, verdicts, code) -> None:
    done = run("scan", name, "--format", "json")
    data = json.loads(done.stdout)
    found = [(one["model"]["inside"], one["verdict"]) for one in data["reports"]]
    assert (found, done.returncode) == (verdicts, code)
    assert data["verdict"] == ("fail" if code else "pass")
    jsonschema = pytest.importorskip("jsonschema")
    for one in data["reports"]:
        jsonschema.validate(one, json_schema())


def test_what_is_chosen_names_the_others(files) -> None:
    done = run("scan", "mild.pkl", "--select", "old", "--format", "json")
    data = json.loads(done.stdout)
    assert (data["verdict"], done.returncode) == ("review", 3)
    left = next(one for one in data["findings"] if one["id"] == "TA206")["details"]["leftovers"]
    assert [(one["kind"], one["where"]) for one in left] == [("unseen", "['new']")]


def test_files_of_all_forms(files) -> None:
    written = [word for form in ("html", "json", "txt") for word in ("-o", f"r.{form}")]
    assert run("scan", "backup.pkl", *written).returncode == 1
    page = (files / "r.html").read_text(encoding="utf-8")
    assert page.count("<iframe") == 2
    for told in ("backup.pkl [the file itself]", "backup.pkl [backup_]"):
        assert told in page
        assert told in (files / "r.txt").read_text(encoding="utf-8")
    assert run("scan", "backup.pkl", "-o", "safe.html", "--release-safe").returncode == 1
    assert "Release-safe copy" in (files / "safe.html").read_text(encoding="utf-8")


def test_bytes_behind_the_model_are_left_out_by_the_printed_line(files) -> None:
    path = files / "long.pkl"
    path.write_bytes(pickle.dumps(TREE) + b"33,yes;54,no")
    done = run("scan", "long.pkl", "--fix")
    assert done.returncode == 3
    line = next(line for line in done.stdout.splitlines() if "treeaudit release" in line[:30])
    assert line == "next  1  treeaudit release long.pkl -o clean.pkl"
    again = run(*line.split()[3:])
    assert again.returncode == 0, again.stderr
    assert b"33,yes" not in (files / "clean.pkl").read_bytes()
    assert run("scan", "clean.pkl").returncode == 0


@pytest.mark.parametrize(("each", "code"), [(0.5, 0), (0.6, 1)])
def test_what_several_private_models_cost_adds_up(tmp_path, each, code) -> None:
    private = PrivateTreeClassifier(schema=SCHEMA, epsilon=each)
    held = {name: clone(private).fit(*people(400)) for name in ("a", "b")}
    (tmp_path / "two.pkl").write_bytes(pickle.dumps(held))
    (tmp_path / "policy.toml").write_text("[policies.one]\nmax-epsilon = 1\n")
    done = run(
        "scan", tmp_path / "two.pkl", "--policy", tmp_path / "policy.toml", "--format", "json"
    )
    checks = [one["checks"][0] for one in json.loads(done.stdout)["reports"]]
    assert [check["measured"] for check in checks] == [2 * each, 2 * each]
    assert done.returncode == code
