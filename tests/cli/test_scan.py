"""treeaudit scan: output, exit codes, files, errors."""

import json
import os
import pickle
import tomllib
from pathlib import Path

import jsonschema
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.cli.run import run
from treeaudit.reports.to_json import json_schema

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


class Payload:
    def __reduce__(self):
        return os.system, ("touch marker",)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 1),
        (["--policy", "observe"], 0),
        (["--exit-zero"], 0),
        (["--attack", "TA103"], 3),
        (["--policy", "nowhere"], 2),
        (["--attack", "TA9"], 2),
        (["--nonsense"], 2),
        (["--format", "yaml"], 2),
        (["-o", "report.pdf"], 2),
        (["-o", "nowhere/report.html"], 2),
        (["--max-bytes", "10"], 2),
        (["--select", "other"], 2),
    ],
)
def test_exit_codes(cancer_file, tmp_path, options, code) -> None:
    done = run("scan", cancer_file, *options, cwd=tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    if code == 2:
        assert done.stdout == ""
        assert done.stderr


def test_the_same_exit_code_for_every_format(cancer_file, tmp_path) -> None:
    files = ["-o", tmp_path / "r.html", "-o", tmp_path / "r.json", "-o", tmp_path / "r.txt"]
    assert run("scan", cancer_file, *files).returncode == 1
    done = run("scan", cancer_file, "--format", "json")
    assert done.returncode == 1
    jsonschema.validate(json.loads(done.stdout), json_schema())
    assert json.loads(done.stdout) == json.loads((tmp_path / "r.json").read_text())
    assert (tmp_path / "r.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_a_report_that_may_leave_the_room(cancer_file, tmp_path) -> None:
    options = ["--release-safe", "-o", tmp_path / "safe.html"]
    assert run("scan", cancer_file, *options).returncode == 1
    assert "fewer than 5" in (tmp_path / "safe.html").read_text()
    done = run("scan", cancer_file, "--release-safe", "-o", tmp_path / "safe.json")
    assert done.returncode == 1
    assert "Release-safe copy" in done.stdout
    assert json.loads((tmp_path / "safe.json").read_text())["release_safe"] is True


def test_nothing_is_overwritten(cancer_file, tmp_path) -> None:
    report = tmp_path / "r.json"
    report.write_text("mine")
    done = run("scan", cancer_file, "-o", report)
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert report.read_text() == "mine"
    assert run("scan", cancer_file, "-o", report, "--force").returncode == 1
    assert report.read_text() != "mine"


def test_the_model_is_never_overwritten(cancer_file) -> None:
    model = cancer_file.rename(cancer_file.with_suffix(".json"))
    before = model.read_bytes()
    done = run("scan", model, "-o", model, "--force")
    assert done.returncode == 2
    assert "is the model itself" in done.stderr
    assert model.read_bytes() == before


def test_a_payload_is_not_run_and_is_named(tmp_path) -> None:
    path = tmp_path / "evil.pkl"
    path.write_bytes(pickle.dumps(Payload()))
    done = run("scan", path, cwd=tmp_path)
    assert done.returncode == 2
    assert f"would run {os.name}.system('touch marker')" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["evil.pkl"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"age,income\n1,2\n", "is a text file"),
        (b"{}", "JSON file"),
        (b"<!doctype html><title>404</title>", "HTML page"),
        (pickle.dumps(LogisticRegression()), "LogisticRegression, which is no tree model"),
        (pickle.dumps(DecisionTreeClassifier()), "was never fitted"),
        (pickle.dumps(DecisionTreeRegressor().fit([[0], [1]], [0, 1]))[:-40], "byte"),
        (pickle.dumps([1, 2, 3]), "holds a list without a tree model"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_no_model_is_named_in_one_sentence(tmp_path, content, says) -> None:
    path = tmp_path / "file.pkl"
    path.write_bytes(content)
    done = run("scan", path)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("treeaudit: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_verdict(cancer_file) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "treeaudit", "scan", str(cancer_file), "-v"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        process.wait()


def test_a_bug_is_no_verdict(cancer_file, monkeypatch, capsys) -> None:
    import sys

    import treeaudit.cli

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the sky")

    monkeypatch.setattr("treeaudit.audit.preparation.measure", broken)
    monkeypatch.setattr(sys, "argv", ["treeaudit", "scan", str(cancer_file)])
    with pytest.raises(SystemExit) as stopped:
        treeaudit.cli.main()
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert "internal error (RuntimeError: the sky)" in said
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert f"report it at {project['urls']['Issues']}" in said


def test_an_accepted_report(cancer_file, tmp_path) -> None:
    accepted = tmp_path / "accepted.json"
    assert run("scan", cancer_file, "-q", "-o", accepted).returncode == 1
    done = run("scan", cancer_file, "--baseline", accepted)
    assert done.returncode == 2
    assert "is a report that nobody accepts" in done.stderr
    who = ("--by", "Ada Lovelace", "--until", "9999-12-31", "--reason", "inside the trust")
    done = run("accept", accepted, *who, "-o", accepted, "--force")
    assert done.returncode == 0
    assert done.stdout.startswith("ACCEPTED  4 failed checks, by Ada Lovelace until 9999-12-31")
    done = run("scan", cancer_file, "--baseline", accepted)
    assert done.returncode == 4
    assert "ACCEPTED" in done.stdout
    said = " ".join(done.stdout.split())
    assert "4 of 10 checks of policy default failed, no worse than in accepted.json, acc" in said
    assert "accepted  Smallest group: 1, was 1 (at least 5 people)" in done.stdout
    done = run("scan", cancer_file, "--baseline", accepted, "--policy", "acro", "-q")
    assert done.returncode == 1
    assert "1 accepted by accepted.json" in done.stdout
    done = run("scan", cancer_file, "--baseline", tmp_path / "nowhere.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no file" in done.stderr


def test_an_entry_for_the_output_checker(cancer_file, tmp_path) -> None:
    folder = tmp_path / "outputs"
    done = run("scan", cancer_file, "-q", "--acro", folder)
    assert done.returncode == 1
    results = json.loads((folder / "results.json").read_text())["results"]
    assert results["treeaudit_cancer.pkl"]["status"] == "fail"
    again = run("scan", cancer_file, "-q", "--acro", folder)
    assert (again.returncode, again.stdout) == (2, "")
    assert "--force" in again.stderr
    assert run("scan", cancer_file, "-q", "--acro", folder, "--force").returncode == 1


def test_a_share_of_the_population(cancer_file, tmp_path) -> None:
    done = run("scan", cancer_file, "--sampling-fraction", "0.1", "--format", "json")
    details = json.loads(done.stdout)["findings"][0]["details"]
    assert details["population"]["people"] == 5690
    assert details["risks"]["journalist"]["highest"] == pytest.approx(0.25584, abs=5e-6)
    for wrong in ("0", "1.5", "-1"):
        refused = run("scan", cancer_file, "--sampling-fraction", wrong)
        assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_is_printed_may_leave_the_room_too(cancer_file, form) -> None:
    printed = run("scan", cancer_file, "--release-safe", "--format", form).stdout
    assert printed == run("scan", cancer_file, "--release-safe", "--format", form, "--fix").stdout
    assert "Smallest group: 1" not in printed
    if form == "json":
        assert json.loads(printed)["release_safe"]
