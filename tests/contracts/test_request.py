"""The law of the request: the command that a report prints gives the same report again."""

import html
import json
import pickle
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.main import get_command
from typer.testing import CliRunner

import treeaudit as ta
from tests.cli.run import run
from treeaudit.cli import app
from treeaudit.findings.baseline import accepted_report
from treeaudit.findings.policy import BUILT_IN, Policy
from treeaudit.findings.request import OPTIONS, Given, Request
from treeaudit.reports.advice import defend_command, reconstruct_command

PARAMETERS = {p.name: p for p in get_command(app).commands["scan"].params if p.name != "help"}

PEOPLE = ["--train", "train.csv", "--target", "job"]
ASKED = {
    "model": ["-o my 'first' $model.pkl"],
    "train": PEOPLE,
    "test": ["--test", "te st.csv", "--target", "job"],
    "target": ["--test", "te st.csv", "--target", "job"],
    "sensitive": [*PEOPLE, "--sensitive", "illness", "--sensitive", "-smokes"],
    "known": ["--known", "-known.csv", "--target", "job"],
    "prior": ["--prior", "prior's.csv"],
    "sampling_fraction": ["--sampling-fraction", "0.123456789"],
    "tolerance": ["--tolerance", "0.25"],
    "person": ["--train", "whose.csv", "--target", "job", "--person", "who is"],
    "rows_per_person": ["--rows-per-person", "3"],
    "repeats": [*PEOPLE, "--repeats", "copies"],
    "policy": ["--policy", "my policy.toml"],
    "baseline": ["--baseline", "accepted.json"],
    "model_name": ["--model-name", "the 'credit' model"],
    "attack": ["--attack", "TA102", "--attack", "ta101"],
    "select": ["two.pkl", "--select", "['b']"],
    "max_bytes": ["--max-bytes", "1234567"],
    "seconds": ["--attack", "TA108", "--seconds", "3.5"],
    "seed": [*PEOPLE, "--test", "te st.csv", "--seed", "7"],
    "annex": ["--annex", "edpb,dp"],
}
"""What each option that is part of the question is tried with; without a model: ``m.pkl``."""

SHOWN = {
    "output": ["-o", "other.txt"],
    "acro": ["--acro", "outputs"],
    "form": ["--format", "json"],
    "release_safe": ["--release-safe"],
    "exit_zero": ["--exit-zero"],
    "by": ["--by", "Ada"],
    "fix": ["--no-fix"],
    "force": ["--force"],
    "jobs": ["--jobs", "2"],
    "quiet": ["--quiet"],
    "verbose": ["--verbose"],
}
"""Options that only say what becomes of the answer."""


def rows(seed: int, n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 70, n), "height": rng.integers(150, 200, n)})
    frame["job"] = np.where(frame.age + rng.normal(0, 25, n) > 40, "clerk", "nurse")
    frame["illness"] = rng.choice(["none", "flu"], n)
    frame["-smokes"] = rng.choice(["yes", "no"], n)
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Everything that a case names, in the current folder."""
    monkeypatch.chdir(tmp_path)
    train, test = rows(0), rows(1)
    tree = DecisionTreeClassifier(random_state=0).fit(train[["age", "height"]], train.job)
    stump = DecisionTreeClassifier(max_depth=2, random_state=0)
    stump.fit(train[["age", "height"]], train.job)
    for name in ("m.pkl", ASKED["model"][0]):
        Path(name).write_bytes(pickle.dumps(tree))
    Path("two.pkl").write_bytes(pickle.dumps({"a": tree, "b": stump}))
    train.to_csv("train.csv", index=False)
    train.assign(**{"who is": np.arange(40) // 2}).to_csv("whose.csv", index=False)
    test.to_csv("te st.csv", index=False)
    train.head(5).to_csv("-known.csv", index=False)
    Path("prior's.csv").write_text("clerk,nurse\n0.3,0.7\n")
    Path("my policy.toml").write_text("[policies.mine]\nmin-leaf = 7\n")
    data = json.loads(Path(ta.scan(stump).save("old.json")).read_text())
    signed = accepted_report(data, by="Ada", until=date(9999, 12, 31), reason="inside only")
    Path("accepted.json").write_text(json.dumps(signed))
    return tmp_path


def answer(*words: str) -> tuple[int, dict]:
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    return done.exit_code, json.loads(done.stdout)


def line_for(case: list[str]) -> list[str]:
    """The words of a case, the model behind the options and a ``--`` if a dash begins it."""
    model = case[0] if case[0].endswith(".pkl") else "m.pkl"
    return ["scan", *(word for word in case if word != model), "--format", "json", "--", model]


def printed(page: str | Path) -> str:
    section = Path(page).read_text(encoding="utf-8").split("Repeat this audit</h3>")[1]
    return html.unescape(re.search(r'<code class="command">(.*?)</code>', section, re.S)[1])


def test_every_option_has_a_case() -> None:
    assert set(PARAMETERS) == set(ASKED) | set(SHOWN)


def test_every_question_is_in_the_request() -> None:
    flags = {flag for name in ASKED if name != "model" for flag in PARAMETERS[name].opts}
    assert set(OPTIONS.values()) == flags
    assert {field.name for field in fields(Request)} == {"model", *OPTIONS}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PARAMETERS)
def test_the_printed_command_gives_the_same_report(folder, name) -> None:
    case = ASKED.get(name) or SHOWN[name]
    words = line_for(case)
    code, first = answer(*words[:1], "-o", "page.html", *words[1:])
    again = printed("page.html")
    assert again.startswith("treeaudit scan ")
    if name in ASKED and name != "model":
        assert PARAMETERS[name].opts[0] in again
    code_again, second = answer(*shlex.split(again)[1:], "--format", "json")
    if name == "release_safe":
        # The statement that may leave the room says less than what is repeated.
        assert (first["release_safe"], first["verdict"]) == (True, second["verdict"])
    else:
        assert second == first
    assert code_again == code or name == "exit_zero"


def test_all_that_can_be_asked_at_once(folder) -> None:
    parts = [ASKED[n] for n in ("sensitive", "test", "known", "prior", "sampling_fraction")]
    parts += [ASKED[n] for n in ("policy", "baseline", "max_bytes", "select", "seed")]
    words = line_for(["two.pkl", *(word for part in parts for word in part if word != "two.pkl")])
    code, first = answer(*words[:1], "-o", "page.html", *words[1:])
    assert answer(*shlex.split(printed("page.html"))[1:], "--format", "json") == (code, first)
    assert first["model"]["inside"] == "['b']"


def test_the_printed_command_audits_all_models_again(folder) -> None:
    code, first = answer("scan", "two.pkl", "-o", "page.html", "--format", "json")
    assert [one["model"]["inside"] for one in first["reports"]] == ["['a']", "['b']"]
    Path("inner.html").write_text(html.unescape(Path("page.html").read_text(encoding="utf-8")))
    again = printed("inner.html")
    assert again == "treeaudit scan two.pkl --policy default"
    assert answer(*shlex.split(again)[1:], "--format", "json") == (code, first)


def test_the_printed_release_gives_what_was_promised(folder) -> None:
    x, y = [[1], [2]] * 40, [0, 0, 0, 1, 1, 1, 0, 1] * 10
    data = pickle.dumps(DecisionTreeClassifier(max_depth=1).fit(x, y))
    Path("-long.pkl").write_bytes(data + b"left behind")
    words = ["--policy", "strict", "--", "-long.pkl"]
    _, first = answer("scan", "--format", "json", "-o", "page.html", *words)
    assert first["fix"]["by"] == "release"
    line = re.search(r'<code class="command">(treeaudit release .*?)</code>',
                     Path("page.html").read_text(encoding="utf-8"))[1]  # fmt: skip
    assert line == "treeaudit release ./-long.pkl --policy strict -o clean.pkl"
    _, released = answer(*shlex.split(line)[1:], "--format", "json")
    assert (released["verdict"] == "pass") == first["fix"]["passed"]
    code, again = answer("scan", "clean.pkl", "--policy", "strict", "--format", "json")
    assert (again["checks"], code) == (released["checks"], 0 if first["fix"]["passed"] else 3)


NAMES = ["a b.pkl", "it's.pkl", 'say "x".pkl', "-o.pkl", "$HOME;`id`!.pkl", "*?[ab]~.pkl", "é.pkl"]


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_reads_the_name_that_was_given(name) -> None:
    line = Request(model=name, train=name, select=name, sensitive=(name,)).command()
    script = line.replace("treeaudit", 'printf "%s\\n"', 1)
    shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    path = f"./{name}" if name.startswith("-") else name
    found = shown.splitlines()
    assert found[:2] == ["scan", path]
    assert found[-2:] == ["--policy", "default"]
    words = [word for option in found[2:-2] for word in option.split("=", 1)]
    assert words == ["--select", name, "--train", path, "--sensitive", name]


def test_a_name_that_no_line_can_hold_is_a_call() -> None:
    request = Request(model="a\nb\x1b[31m.pkl", select="b", policy="strict")
    assert request.command() is None
    assert request.repeat() == (
        "treeaudit.scan(treeaudit.load('a\\nb\\x1b[31m.pkl', select='b'), policy='strict')"
    )


def test_objects_are_named_and_not_kept(cancer_tree) -> None:
    x, y = np.zeros((3, 30)), ["benign", "malignant", "benign"]
    report = ta.scan(cancer_tree, test=(x, y), policy=Policy(name="mine"), attacks=["TA101"])
    assert report.request.model == Given("DecisionTreeClassifier")
    assert report.request.test == Given("tuple")
    assert report.request.command() is None
    assert report.request.repeat() == (
        "treeaudit.scan(model, test=test, policy=policy, attacks=['TA101'])"
        "  # model: DecisionTreeClassifier, test: tuple, policy: Policy"
    )


def test_no_attack_at_all_has_no_command() -> None:
    assert Request(model="m.pkl", attacks=()).repeat() == (
        "treeaudit.scan('m.pkl', policy='default', attacks=[])"
    )


def test_the_call_gives_the_same_report(folder) -> None:
    tree, test = pickle.loads(Path("m.pkl").read_bytes()), pd.read_csv("te st.csv")
    report = ta.scan(tree, test=test, target="job", policy="strict", seed=3)
    again = eval(report.request.repeat(), {"treeaudit": ta, "model": tree, "test": test})
    assert again.to_dict() == report.to_dict()


def test_a_page_does_not_tell_where_files_were(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    request = Request(model=tmp_path / "m.pkl", policy=str(tmp_path / "p.toml"), test="t/x.csv")
    assert request.command(folders=False) == ("treeaudit scan m.pkl --test t/x.csv --policy p.toml")
    assert request.call(folders=False) == (
        "treeaudit.scan('m.pkl', test='t/x.csv', policy='p.toml')"
    )
    assert str(tmp_path / "m.pkl") in request.command()


def test_a_page_that_names_files_alone_says_where_to_run_it(folder) -> None:
    ta.scan("m.pkl").save("near.html")
    ta.scan(folder / "m.pkl").save("far.html")
    assert printed("near.html") == printed("far.html") == "treeaudit scan m.pkl --policy default"
    note = "Run it in the folder that holds these files."
    assert note in Path("far.html").read_text(encoding="utf-8")
    assert note not in Path("near.html").read_text(encoding="utf-8")


@pytest.fixture
def apart(folder):
    """The files of ``folder`` in folders beside and above the current one."""
    for place in ("A/deep", "B", "here"):
        Path(place).mkdir(parents=True)
    Path("m.pkl").rename("A/m.pkl")
    for place in ("A/deep", "B", "here"):
        rows(len(place)).to_csv(f"{place}/d.csv", index=False)
    Path("train.csv").rename("A/d.csv")
    Path("my policy.toml").rename("B/p.toml")
    return folder


APART = [  # where it was asked, the model, a table or policy; where the page's line runs, and both
    ("here", "{}/A/m.pkl", "policy {}/B/p.toml", ".", "A/m.pkl", "policy B/p.toml"),
    ("here", "{}/A/m.pkl", "test {}/A/deep/d.csv", "A", "m.pkl", "test deep/d.csv"),
    ("here", "{}/A/m.pkl", "train {}/A/deep/../d.csv", "A", "m.pkl", "train d.csv"),
    ("here", "{}/A/m.pkl", "test d.csv", ".", "A/m.pkl", "test here/d.csv"),
    ("here", "../A/m.pkl", "test {}/A/deep/d.csv", "A", "m.pkl", "test deep/d.csv"),
    (".", "A/m.pkl", "policy B/p.toml", ".", "A/m.pkl", "policy B/p.toml"),
    (".", "{}/A/m.pkl", "train A/d.csv", ".", "A/m.pkl", "train A/d.csv"),
    ("A", "{}/A/m.pkl", "test ../B/d.csv", "A", "m.pkl", "test ../B/d.csv"),
    ("A", "m.pkl", "policy {}/B/p.toml", ".", "A/m.pkl", "policy B/p.toml"),
    (
        "here",
        "{}/A/m.pkl",
        "train {}/A/d.csv test {}/B/d.csv",
        ".",
        "A/m.pkl",
        "train A/d.csv test B/d.csv",
    ),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("asked", "model", "given", "place", "shown", "told"), APART)
def test_a_page_of_files_apart_runs_in_the_folder_that_holds_them(
    apart, monkeypatch, asked, model, given, place, shown, told
) -> None:
    monkeypatch.chdir(apart / asked)
    words = given.replace("{}", str(apart)).split()
    files = dict(zip(words[::2], words[1::2], strict=True))
    model_file, page = model.replace("{}", str(apart)), apart / "page.html"
    report = ta.scan(model_file, target="job", **files)
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    asks = ["scan", model_file, *options, "--target", "job", "-o", str(page)]
    first = answer(*asks, "--format", "json")
    text, again = page.read_text(encoding="utf-8"), printed(page)
    note = "Run it in the folder that holds these files."
    assert (note in text) == ("{}" in model + given)
    assert str(apart) not in text
    assert again.startswith(f"treeaudit scan {shown} ")
    for option, path in zip(told.split()[::2], told.split()[1::2], strict=True):
        assert f" --{option} {path}" in again
    assert reconstruct_command(report) == f"treeaudit reconstruct {shown} -o table.csv"
    policy = f" --{told}" if "policy" in told else ""
    assert defend_command(report) == f"treeaudit defend {shown}{policy} -o safer.pkl"
    call = report.request.call(folders=False)

    monkeypatch.chdir(apart / place)
    again = answer(*shlex.split(again)[1:], "--format", "json")
    by_call = eval(call, {"treeaudit": ta}).to_dict()
    for data in (first[1], again[1], by_call, before := report.to_dict()):
        data["model"].pop("path")
        data["policy"].pop("source")
        for name in {"model", "policy", *files}:
            data["request"].pop(name)
    assert again == first
    assert by_call == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["policy", "select", "model", "max_bytes", "safer.pkl"])
def test_the_next_step_runs(folder, name) -> None:
    case = ASKED.get(name, [name])
    if name == "safer.pkl":
        Path("m.pkl").rename(name)
    shown = CliRunner().invoke(app, [w for w in line_for(case) if w not in ("--format", "json")])
    step = re.search(r"^next  1  (treeaudit defend .*)$", shown.stdout, re.M)[1]
    done = subprocess.run(
        ["sh", "-c", step.replace("treeaudit", f"{shlex.quote(sys.executable)} -m treeaudit", 1)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1, 3), (step, done.stderr)
    assert "before" in done.stdout


def test_the_help_names_every_policy() -> None:
    told = re.sub(r"[│\s]+", " ", run("scan", "--help").stdout)
    assert f"{', '.join(BUILT_IN)}, a name in" in told
