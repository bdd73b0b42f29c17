"""treeaudit attacks, explain, demo, --help and --version."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import run
from treeaudit.attacks import ATTACKS
from treeaudit.version import __version__


def test_attacks_are_listed(golden) -> None:
    golden("attacks.txt", run("attacks").stdout)


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_is_explained(attack) -> None:
    done = run("explain", attack.id.lower(), COLUMNS="1000")
    assert done.returncode == 0
    for words in (attack.title, attack.words.attacker, attack.words.remedy, attack.words.limit):
        assert words in done.stdout


def test_an_unknown_attack_is_named() -> None:
    done = run("explain", "TA999")
    assert done.returncode == 2
    assert done.stderr.startswith("treeaudit: there is no attack TA999; known: TA101")


def test_an_attack_is_explained_by_its_name() -> None:
    assert run("explain", "singling").stdout == run("explain", "TA101").stdout
    several = run("explain", "merge").stderr
    assert several.startswith("treeaudit: there is no attack merge; known: merge-siblings (")


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
