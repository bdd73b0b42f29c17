"""What the help and the shell offer: names from the registries, rare options last."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from tests.cli.run import run, spawn
from treeaudit.attacks import ATTACKS
from treeaudit.cli import COMMANDS, app
from treeaudit.findings.policy import BUILT_IN
from treeaudit.readers import READERS
from treeaudit.trainers.algorithms import ALGORITHMS


def words(*command: str) -> str:
    return " ".join(re.sub("[─│╭╮╰╯]", " ", run(*command, "--help", COLUMNS="200").stdout).split())


@pytest.mark.parametrize("command", ["scan", "compare", "defend", "release", "verify"])
def test_policies_are_those_that_there_are(command) -> None:
    assert ", ".join(BUILT_IN) in words(command)


@pytest.mark.parametrize("command", ["scan", "defend", "reconstruct", "release", "verify"])
def test_formats_are_those_that_are_read(command) -> None:
    assert ", ".join(one.title for one in READERS) in words(command)


def test_algorithms_are_those_that_there_are() -> None:
    assert ", ".join(trainer.algorithm for trainer in ALGORITHMS) in words("train")


def test_what_is_no_model_is_told_what_is_read(tmp_path) -> None:
    import pickle

    path = tmp_path / "no.pkl"
    path.write_bytes(pickle.dumps({"a": 1}))
    said = run("scan", path).stderr
    for title in ("XGBoost", "LightGBM", "CatBoost", "ONNX", "PMML"):
        assert title in [one.title for one in READERS]
        assert title in said


@pytest.mark.parametrize("command", COMMANDS)
def test_types_are_told_in_words_that_one_writes(command) -> None:
    """No <bool>, <path> or "int range" of Python, and no line that the terminal breaks."""
    shown = run(command, "--help", COLUMNS="80", TERMINAL_WIDTH="80").stdout
    assert re.findall(r"<[\w|\[\]-]+>|\brange\b", shown) == []
    assert max(map(len, shown.splitlines())) <= 80
    # Sentences run on to the end of a line.
    prose = shown[: shown.index("╭")]
    assert all(len(line.strip()) > 40 for line in prose.splitlines()
               if line.rstrip().endswith((",", " and", " the"))), prose  # fmt: skip


def test_rare_options_of_scan_come_last() -> None:
    shown = run("scan", "--help", COLUMNS="100", TERMINAL_WIDTH="100").stdout
    panels = re.findall(r"╭─ (.*?) ─", shown)
    assert panels[:2] == ["Arguments", "Options"]
    assert panels[2:5] == ["People", "Policy", "Output"]
    assert set(panels[5:]) == {
        *("What the attacker knows", "Attacks", "Whose rows they are", "Input"),
    }


def complete(line: str) -> list[str]:
    done = spawn(
        _TREEAUDIT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" "))
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("treeaudit sc", ["scan", "schema"]),
        ("treeaudit scan --polic", ["--policy"]),
        ("treeaudit scan m.pkl --policy str", ["strict"]),
        ("treeaudit scan m.pkl --attack ta10", []),
        ("treeaudit scan m.pkl --attack TA10", [a.id for a in ATTACKS if a.id[:4] == "TA10"]),
        ("treeaudit train d.csv --algorithm dp", ["dpdf"]),
    ],
)
def test_the_shell_completes(line, offered) -> None:
    assert complete(line) == offered


def test_every_command_is_there(cancer_file) -> None:
    assert sorted(get_command(app).commands) == sorted(COMMANDS)
    told = run("--help").stdout
    assert all(f" {name} " in told for name in COMMANDS)
    assert run("scan", Path("m.pkl"), "--nothing").returncode == 2
    short = run("-v", "scan", cancer_file, "-q")
    assert short.stdout == run("scan", cancer_file, "-q", "-v").stdout
