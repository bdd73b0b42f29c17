"""treeaudit attacks, explain, demo, --help and --version."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from tests.cli.run import run
from treeaudit.attacks import ATTACKS, all_checks
from treeaudit.defenses import DEFENSES
from treeaudit.findings.findings import Verdict
from treeaudit.findings.policy import BUILT_IN
from treeaudit.reports.explanations import explanations
from treeaudit.version import __version__


def test_attacks_are_listed(golden) -> None:
    golden("attacks.txt", run("attacks").stdout)


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_is_explained(attack) -> None:
    done = run("explain", attack.id.lower(), COLUMNS="1000")
    assert done.returncode == 0
    for words in (attack.title, attack.words.attacker, attack.words.remedy, attack.words.limit):
        assert words in done.stdout


@pytest.mark.parametrize("word", explanations(), ids=lambda word: f"{word.kind}-{word.name}")
def test_every_word_is_explained_by_its_name(word, monkeypatch, capsys) -> None:
    from treeaudit.cli.explain import explain

    monkeypatch.setenv("COLUMNS", "1000")
    explain(word.name)
    printed = capsys.readouterr().out
    assert printed.startswith(f"{word.name}  {word.title}")
    assert all(text in printed for text in word.parts.values())


def test_every_word_of_a_report_is_explained() -> None:
    known = {(word.kind, word.name) for word in explanations()}
    assert {name for kind, name in known if kind == "check"} == set(all_checks())
    assert {name for kind, name in known if kind == "policy"} == set(BUILT_IN)
    assert {name for kind, name in known if kind == "repair"} == {one.id for one in DEFENSES}
    assert {name for kind, name in known if kind == "exit"} == {"0", "1", "2", "3", "4", "130"}
    verdicts = {name.lower() for kind, name in known if kind == "verdict"}
    assert verdicts == set(get_args(Verdict))
    assert all(
        word.parts["means"] and word.parts["example"]
        for word in explanations()
        if word.kind == "check"
    )


@pytest.mark.parametrize("asked", ["exit code 3", "3", "Exit Code 3"])
def test_words_are_found_however_they_are_written(asked) -> None:
    assert "The verdict is REVIEW" in " ".join(run("explain", asked).stdout.split())


def test_an_unknown_attack_is_named() -> None:
    done = run("explain", "TA999")
    assert done.returncode == 2
    assert done.stderr.startswith("treeaudit: there is no word TA999 in a report; known: TA101")


def test_an_attack_is_explained_by_its_name() -> None:
    assert run("explain", "singling").stdout == run("explain", "TA101").stdout
    several = run("explain", "merge").stderr
    assert several.startswith(
        "treeaudit: there is no word merge in a report; known: merge-siblings ("
    )


def test_version_and_help() -> None:
    assert run("--version").stdout == f"treeaudit {__version__}\n"
    done = run("-h")
    for command in ("scan", "reconstruct", "explain", "attacks", "demo"):
        assert command in done.stdout
        assert run(command, "--help").returncode == 0


def test_the_demo_works_twice_and_overwrites_nothing_unasked(tmp_path) -> None:
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "treeaudit-demo" / "report.html").is_file()
    step = "treeaudit defend treeaudit-demo/model.pkl -o safer.pkl"
    assert f"next  1  {step}\n         tried: " in done.stdout
    assert run(*step.split()[1:], cwd=tmp_path).returncode == 0
    assert "FAIL" in done.stdout
    again = run("demo", cwd=tmp_path)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert run("demo", "--force", cwd=tmp_path).returncode == 0
    assert run("scan", tmp_path / "treeaudit-demo" / "model.pkl").returncode == 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_no_bug() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "treeaudit", "attacks"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "treeaudit: a file could not be read or written: no space left" in done.stderr
    assert "Traceback" not in done.stderr
