"""A person decides on a report of any verdict; what was changed since then is named."""

import json
from datetime import date
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.cli.run import run
from treeaudit.findings import baseline

WHO = ("--by", "Ada Lovelace", "--until", "9999-12-31", "--reason", "inside the trust")
PEOPLE = ("--train", "people.csv", "--target", "ill")


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """A tree that passes a policy of its own, its people, and the signed report."""
    folder = tmp_path_factory.mktemp("decided")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        people = pd.DataFrame({"age": range(40), "ill": ["no", "yes"] * 20})
        people.to_csv("people.csv", index=False)
        tree = DecisionTreeClassifier(max_leaf_nodes=2, min_samples_leaf=15, random_state=0)
        joblib.dump(tree.fit(people[["age"]], people["ill"]), "tree.pkl")
        Path("mine.toml").write_text("[policies.mine]\nmin-leaf = 5\n")
        asks = ("--policy", "mine.toml", "--attack", "TA101", "--no-fix", "-q")
        done = run("scan", "tree.pkl", *PEOPLE, *asks, "-o", "report.json")
        assert (done.returncode, done.stderr) == (0, "")
        condition = ("--condition", "no copy leaves", "--condition", "until the next release")
        done = run("accept", "report.json", *WHO, *condition, "-o", "signed.json")
        assert done.stdout.startswith("ACCEPTED  a PASS, by Ada Lovelace until 9999-12-31\nfile  ")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def files(decided, tmp_path, monkeypatch):
    """The files in a folder of their own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    for name, content in decided.items():
        Path(name).write_bytes(content)


def verify():
    words = ("signed.json", "tree.pkl", "--train", "people.csv", "--policy", "mine.toml")
    return run("verify", *words)


def test_a_signed_pass_is_verified(files) -> None:
    done = verify()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("TRUE  signed.json is of tree.pkl")
    assert "decision  may go out, by Ada Lovelace on " in done.stdout
    assert "  if  no copy leaves\n  if  until the next release\n  until  9999-12-31" in done.stdout
    told = json.loads(Path("signed.json").read_text())
    assert told["accepted"]["file"] == told["model"]["sha256"]


CHANGES = {
    "tree.pkl": (lambda data: data[:-1] + b"x", "the model tree.pkl is another file"),
    "people.csv": (lambda data: data.replace(b"39,", b"38,"), "--train people.csv is another tab"),
    "mine.toml": (lambda data: data.replace(b"5", b"4"), "the policy mine.toml is not that of"),
    "signed.json": (
        lambda data: data.replace(b"inside", b"beside"),
        "the report is not what was signed: it was changed after it was accepted",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_byte_is_named(files, name) -> None:
    change, said = CHANGES[name]
    before = Path(name).read_bytes()
    Path(name).write_bytes(change(before))
    assert Path(name).read_bytes() != before
    done = verify()
    assert (done.returncode, done.stderr) == (1, "")
    (line,) = done.stdout.splitlines()
    assert line.startswith("REFUSED  signed.json is of something else: ")
    assert said in line


def test_all_that_was_changed_is_named_at_once(files) -> None:
    for name, (change, _) in CHANGES.items():
        Path(name).write_bytes(change(Path(name).read_bytes()))
    done = verify()
    said = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert all(" ".join(told.split()) in said for _, told in CHANGES.values())


def test_a_decision_ends(files, monkeypatch) -> None:
    class Later(date):
        @classmethod
        def today(cls):
            return cls(9999, 12, 31)

    data = json.loads(Path("report.json").read_text())
    signed = baseline.accepted_report(data, by="Ada", until=date.today(), reason="for a day")
    Path("signed.json").write_text(json.dumps(signed))
    assert verify().returncode == 0
    monkeypatch.setattr(baseline, "date", Later)
    done = verify()
    assert done.returncode == 1
    assert "ENDED  " in done.stdout


def test_a_review_is_signed_and_accepts_nothing_later(files) -> None:
    Path("mine.toml").write_text("[policies.mine]\nmax-membership-tpr = 0.1\n")
    done = run("scan", "tree.pkl", "--policy", "mine.toml", "-q", "-o", "review.json", "--no-fix")
    assert done.returncode == 3
    done = run("accept", "review.json", *WHO, "-o", "accepted.json")
    assert done.stdout.startswith("ACCEPTED  a REVIEW, by Ada Lovelace")
    again = run("scan", "tree.pkl", "--policy", "mine.toml", "--baseline", "accepted.json", "-q")
    assert again.returncode == 3


def test_nothing_is_signed_without_a_word(files) -> None:
    done = run("accept", "report.json", *WHO, "--condition", " ", "-o", "other.json")
    assert done.returncode == 2
    assert "--condition takes one line of 1 to 200 characters" in done.stderr


def test_a_policy_is_its_thresholds_whatever_it_is_called(files) -> None:
    Path("other.toml").write_text("[policies.other]\nmin-leaf = 5.0\n")
    words = ("verify", "signed.json", "tree.pkl", "--train", "people.csv")
    assert run(*words, "--policy", "other.toml").returncode == 0
    assert "its thresholds are as the report states them" in run(*words).stdout
    Path("mine.toml").write_text("[policies.mine]\nmin-leaf = 4\n")
    done = run(*words)
    assert done.returncode == 0
    assert "the policy changed: mine.toml asks for other thresholds now (hash " in done.stdout
