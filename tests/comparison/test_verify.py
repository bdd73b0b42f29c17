"""A report is of a file and true, or the first entry that is not is named."""

import functools
import json

import joblib
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run
from treeaudit.comparison import verify
from treeaudit.findings.baseline import accepted_report


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> tuple[bytes, bytes]:
    """A small tree, and its report."""
    path = tmp_path_factory.mktemp("small") / "tree.pkl"
    x, y = load_iris(return_X_y=True, as_frame=True)
    joblib.dump(DecisionTreeClassifier(max_depth=3, random_state=0).fit(x, y), path)
    report = path.with_name("report.json")
    assert run("scan", path, "-o", report, "-q").returncode == 1
    return path.read_bytes(), report.read_bytes()


@pytest.fixture
def model(written, tmp_path):
    path = tmp_path / "tree.pkl"
    path.write_bytes(written[0])
    return path


@pytest.fixture
def report(written, tmp_path):
    path = tmp_path / "report.json"
    path.write_bytes(written[1])
    return path


def test_a_true_report_and_one_of_another_file(model, report, figure_3, tmp_path) -> None:
    moved = model.rename(tmp_path / "moved.pkl")
    done = run("verify", report, moved)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("TRUE  ")
    assert "verdict  FAIL by policy default" in done.stdout
    other = ta.save(figure_3, tmp_path / "other.json")
    done = run("verify", report, other)
    assert (done.returncode, done.stderr) == (1, "")
    assert "the model other.json is another file" in done.stdout


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from leaves(part, (*path, at))
    else:
        yield path


def forged(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}!"


def test_every_entry_that_is_changed_is_found(model, report, monkeypatch) -> None:
    data = json.loads(report.read_text())
    again = verify.verify([data], model)[0].again
    monkeypatch.setattr(verify, "audit_all", lambda *_: [again])
    monkeypatch.setattr(verify, "with_fix", lambda one, **_: one)
    assert not verify.verify([data], model)[0].differences
    free = {"tool", "request", "schema_version"}
    asked = {("model", "path"), ("policy", "source"), ("policy", "name"), ("model", "sha256")}
    asked |= {("record", "at"), ("record", "by")}  # nothing but a signature holds these
    seen = 0
    for path in leaves(data):
        if path[0] in free or path in asked:
            continue
        *above, last = path
        place = functools.reduce(lambda part, step: part[step], above, data)
        true, place[last] = place[last], forged(place[last])
        assert verify.verify([data], model)[0].differences, path
        place[last] = true
        seen += 1
    assert seen > 300


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["findings"][0].update(people=0), "findings · TA101 · people"),
        (lambda d: d["checks"][0].update(status="pass"), "checks · min-leaf · status"),
        (lambda d: d.update(verdict="pass"), "verdict: the report says pass, it is fail"),
        (lambda d: d["policy"]["values"].update({"min-leaf": 1}), "policy · values · min-leaf"),
        (lambda d: d["findings"].pop(), "findings · TA207"),
        (lambda d: d["checks"].append({"name": "mine"}), "checks · mine"),
    ],
)
def test_forgeries_from_the_command_line(model, report, change, said) -> None:
    data = json.loads(report.read_text())
    change(data)
    report.write_text(json.dumps(data))
    done = run("verify", report, model)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("REFUSED")
    assert said in done.stdout


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        (("request",), "note", "approved by the board"),
        (("request",), "policy", "strict"),
        (("tool",), "approved", True),
        (("policy",), "approved", "yes"),
        (("people", "train"), "sha256", "0"),
    ],
)
def test_nothing_is_added_where_names_are_not_compared(model, tmp_path, where, key, value) -> None:
    people, report = tmp_path / "people.csv", tmp_path / "report.json"
    load_iris(as_frame=True).frame.to_csv(people, index=False)
    run("scan", model, "--train", people, "--target", "target", "-o", report, "-q", "--no-fix")
    assert run("verify", report, model, "--train", people).returncode == 0
    data = json.loads(report.read_text())
    functools.reduce(dict.__getitem__, where, data)[key] = value
    report.write_text(json.dumps(data))
    done = run("verify", report, model, "--train", people)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{' · '.join(where)} · {key}: the report says {value}" in done.stdout


def test_people_are_given_again(model, tmp_path) -> None:
    x, y = load_iris(return_X_y=True, as_frame=True)
    people = tmp_path / "people.csv"
    table = x.assign(label=y)
    table.to_csv(people, index=False)
    report = ta.scan(model, train=people, target="label").save(tmp_path / "report.json")
    done = run("verify", report, model)
    assert done.returncode == 2
    assert "was made with --train people.csv: give that too" in done.stderr
    moved = people.rename(tmp_path / "moved.csv")
    done = run("verify", report, model, "--train", moved)
    assert (done.returncode, done.stderr) == (0, "")
    pd.concat([table.iloc[1:], table.iloc[:1]]).to_csv(moved, index=False)
    plain = ta.scan(model).save(tmp_path / "plain.json")
    done = run("verify", plain, model, "--train", moved)
    assert done.returncode == 2
    assert "was made without --train: leave it away" in done.stderr


def test_an_accepted_report_is_verified_with_its_signature(model, report) -> None:
    from datetime import date

    data = json.loads(report.read_text())
    signed = accepted_report(data, by="Ada", until=date(9999, 12, 31), reason="inside only")
    report.write_text(json.dumps(signed))
    done = run("verify", report, model)
    assert done.returncode == 0
    assert "decision  may go out, by Ada on " in done.stdout
    assert "inside only\n  until  9999-12-31" in done.stdout
    later = model.with_name("later.json")
    assert run("scan", model, "--baseline", report, "-o", later, "-q").returncode == 4
    assert run("verify", later, model).returncode == 2
    assert run("verify", later, model, "--baseline", report).returncode == 0


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A file of two models, and its report."""
    path = tmp_path_factory.mktemp("two") / "two.pkl"
    x, y = load_iris(return_X_y=True, as_frame=True)
    trees = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(x, y) for d in (2, 3)]
    joblib.dump(dict(zip("ab", trees, strict=True)), path)
    assert run("scan", path, "-o", path.with_name("two.json"), "-q").returncode == 1
    return path, json.loads(path.with_name("two.json").read_text())


def test_a_report_of_several_models(two, tmp_path) -> None:
    path, _ = two
    done = run("verify", path.with_name("two.json"), path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("TRUE  ")
    assert "of the 2 models in" in done.stdout
    one = tmp_path / "one.json"
    assert run("scan", path, "--select", "['b']", "-o", one, "-q").returncode == 1
    done = run("verify", one, path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda d: d["reports"][1]["checks"][0].update(measured=7), 1, "model 2 · checks"),
        (lambda d: d["reports"][1]["request"].update(seed=3), 2, "something else was asked"),
        (lambda d: d["reports"].reverse(), 1, "model 1 · model · inside"),
        (lambda d: d["reports"].pop(), 2, "holds 2 models, and the report is of 1"),
        (lambda d: d["reports"].clear(), 2, "about several models"),
        (lambda d: d.update(verdict="pass"), 1, "of the whole file"),
        (lambda d: d.update(note="it is harmless"), 1, "of the whole file"),
        (lambda d: d["reports"].__setitem__(1, 3), 2, "model 2 is no treeaudit report"),
        (lambda d: d["reports"][1].pop("request"), 2, "no whole treeaudit report"),
    ],
)
def test_forged_reports_of_several_models(two, tmp_path, change, code, said) -> None:
    path, data = two
    data = json.loads(json.dumps(data))
    change(data)
    (forged_ := tmp_path / "forged.json").write_text(json.dumps(data))
    done = run("verify", forged_, path)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done


@pytest.mark.parametrize(
    "key", ["model", "findings", "checks", "policy", "request", "tool", "people"]
)
@pytest.mark.parametrize("part", [None, 3, {"a": 1}])
def test_reports_that_are_not_whole(model, report, key, part) -> None:
    data = json.loads(report.read_text())
    data[key] = part
    report.write_text(json.dumps(data))
    done = run("verify", report, model)
    assert done.returncode in (1, 2)
    assert "internal error" not in done.stderr
    assert done.stderr or done.stdout.startswith("REFUSED")
