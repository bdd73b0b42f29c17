"""``treeaudit scan`` of many files."""

import json
import os
import pickle
import re
import signal
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from tests.cli.run import run
from tests.cli.test_release import LEAKY, TREE
from tests.cli.test_scan import Payload
from treeaudit.audit.paths import Place
from treeaudit.cli import workers
from treeaudit.cli.workers import answers
from treeaudit.findings.request import Request
from treeaudit.reports.to_json import json_schema

ODD = "b <i>&\u202e\n\x1b[31m'.pkl"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = tmp_path / "models"
    models.mkdir()
    for name, model in {"good.pkl": TREE, "bad.pkl": LEAKY, ODD: LEAKY}.items():
        (models / name).write_bytes(pickle.dumps(model))
    (models / "two.pkl").write_bytes(pickle.dumps({"old": TREE, "new": LEAKY}))
    (models / "cut.pkl").write_bytes(pickle.dumps(TREE)[:300])
    (models / "hostile.pkl").write_bytes(pickle.dumps(Payload()))
    (models / "people.csv").write_text("age,income\n1,2\n")
    return tmp_path


def test_every_file_is_a_line_and_the_worst_come_first(folder) -> None:
    forms = ("html", "json", "jsonl", "sarif", "xml", "txt")
    done = run("scan", "models", "--jobs", 2, *(w for f in forms for w in ("-o", f"r.{f}")))
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    words = [line.split("  ")[0] for line in lines[:7]]
    assert words == ["UNSAFE"] + ["FAIL"] * 3 + ["NOT AUDITED", "PASS", "PASS"]
    assert "7 models: 1 would run code when loaded, 3 fail, 1 could not be audited, 2 pass" in lines
    assert "1 other was not audited: models/people.csv (a text file)" in lines
    assert "two.pkl [new]" in done.stdout
    assert "good.pkl  All " in done.stdout
    assert re.search(
        r"^next    treeaudit defend models/\w+.pkl .*-o models-\w+-safer.pkl$", done.stdout, re.M
    )
    assert "\x1b" not in done.stdout
    assert not (folder / "marker").exists()

    data = json.loads((folder / "r.json").read_text())
    each = [json.loads(text) for text in (folder / "r.jsonl").read_text().splitlines()]
    assert each == data["reports"]
    assert (data["exit_code"], len(each)) == (1, 7)
    assert [one["model"]["path"] for one in each] == sorted(one["model"]["path"] for one in each)
    jsonschema = pytest.importorskip("jsonschema")
    for one in each:
        if "error" not in one:
            jsonschema.validate(one, json_schema())

    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.index("models/<wbr>bad.pkl") < page.index("models/<wbr>good.pkl")
    assert "treeaudit inspect models/hostile.pkl" in page
    assert re.search(r'<a href="#m(\d+)">models/<wbr>bad.pkl.*id="m\1"', page, re.S)
    assert "<i>" not in page.replace('<i class="', "")
    assert "http" not in page.split("</head>")[1]
    assert "<script" not in page
    suites = Xml.parse(folder / "r.xml").getroot()
    assert len(suites) == 7
    assert suites.get("failures") != "0"


def test_the_same_from_any_number_of_processes(folder) -> None:
    written = [run("scan", "models", "--jobs", n, "--format", "json").stdout for n in (1, 3)]
    assert written[0] == written[1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["good.pkl", "good.pkl", "people.csv"], 2),
        (["good.pkl", "two.pkl", "cut.pkl"], 1),
        (["good.pkl", "hostile.pkl"], 2),
        (["good.pkl", "nowhere.pkl"], 2),
        (["goo*.pkl"], 0),
    ],
)
def test_the_worst_decides(folder, names, code) -> None:
    assert run("scan", *(f"models/{name}" for name in names), "-q").returncode == code
    assert run("scan", *(f"models/{name}" for name in names), "--exit-zero").returncode == 0


def test_a_copy_that_may_leave_the_room(folder) -> None:
    forms = ("html", "sarif", "xml", "json", "jsonl", "md")
    outputs = [word for form in forms for word in ("-o", f"r.{form}")]
    done = run("scan", "models/bad.pkl", "models/good.pkl", "--release-safe", *outputs)
    assert done.returncode == 1
    for form in forms:
        told = (folder / f"r.{form}").read_text(encoding="utf-8")
        assert "certain" in told or form == "md"
        for small in ("Smallest group: 1", "single out", "knows the label", "alone in a leaf:"):
            assert small not in told, form
    each = [json.loads(text) for text in (folder / "r.jsonl").read_text().splitlines()]
    assert [one["release_safe"] for one in each] == [True, True]


def test_a_policy_is_refused_once(folder) -> None:
    done = run("scan", "models", "--policy", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("nonsense") == 1
    assert run("scan", "models", "--baseline", "r.json").returncode == 2
    assert run("scan", "models", "--acro", "here").returncode == 2


def test_no_model_is_overwritten_and_a_report_of_before_is(folder) -> None:
    done = run("scan", "models", "-o", "models/r.html", "-q")
    assert done.returncode == 1
    again = run("scan", "models", "-o", "models/r.html", "--force")
    assert "r.html (" not in again.stdout
    safer = folder / "models" / "own.json"
    run("release", "models/good.pkl", "-o", safer)
    before = safer.read_bytes()
    done = run("scan", "models", "-o", safer, "--force")
    assert (done.returncode, safer.read_bytes()) == (2, before)
    assert "is one of the models" in done.stderr


def test_a_folder_without_models_passes_nothing(folder) -> None:
    (folder / "empty").mkdir()
    assert run("scan", "empty").returncode == 2
    (folder / "empty" / "a.txt").write_text("x")
    done = run("scan", "empty")
    assert done.returncode == 2
    assert "no file is a model" in done.stderr


def asked() -> dict:
    from treeaudit.cli.fleet import _plain

    return {
        "request": _plain(Request(model="")),
        "release_safe": False,
        "reports": False,
        "verbose": False,
    }


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_process_that_is_killed_is_a_line(folder, monkeypatch) -> None:
    real = workers._asks

    def asks(process, line):
        if "bad.pkl" in line:
            os.kill(process.pid, signal.SIGKILL)
        return real(process, line)

    monkeypatch.setattr(workers, "_asks", asks)
    places = [Place(path=f"models/{name}", named=True) for name in ("bad.pkl", "good.pkl")]
    found = dict(answers(places, asked(), 1))
    assert "SIGKILL" in found[0].rows[0].said
    assert [found[0].rows[0].verdict, found[1].rows[0].verdict] == ["unread", "pass"]


@pytest.mark.slow
def test_what_lies_beside_a_model_is_not_imported(folder) -> None:
    for name in ("json", "numpy", "treeaudit", "random"):
        (folder / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(9)\n")
    argv = "import sys; sys.argv = ['treeaudit', 'scan', 'models', '-q']"
    import subprocess

    code = f"{argv}; from treeaudit.cli import main; main()"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert not (folder / "ran").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
@pytest.mark.slow
def test_each_file_has_limits_of_its_own(monkeypatch) -> None:
    def burn(*_: object, **__: object) -> None:
        while True:
            pass

    monkeypatch.setenv("TREEAUDIT_MAX_SECONDS", "1")
    monkeypatch.setattr(workers, "attempt", burn)
    (row,) = workers._audit(asked(), "models/good.pkl", named=True)["rows"]
    assert row["verdict"] == "unread"
    assert "TREEAUDIT_MAX_SECONDS" in row["said"]


def test_the_hook_for_pre_commit_stops_a_model_that_fails(folder) -> None:
    text = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text("utf-8")
    hook = dict(re.findall(r"(?m)^[- ] (\w+): (.*?)(?: #.*)?$", text))
    program, *words = hook["entry"].split()
    pattern = re.compile(hook["files"])
    models = sorted(path.name for path in (folder / "models").iterdir() if path.name != ODD)
    names = [f"models/{name}" for name in models if pattern.search(name)]
    assert program == "treeaudit"
    assert ("models/people.csv" in names, "models/bad.pkl" in names) == (False, True)
    assert run(*words, *names).returncode == 1
    assert run(*words, "models/good.pkl").returncode == 0


def shown(form: str, text: str) -> str:
    """Return what a strict reader makes of a file."""
    if form in ("json", "jsonl", "sarif"):
        each = map(json.loads, text.splitlines() if form == "jsonl" else [text])
        text = "".join(json.dumps(one, ensure_ascii=False) for one in each)
        text = text.replace("\\\\", "\\")
    text.encode()
    return text.replace("<wbr>", "").replace("&#92;", "\\")
