"""The README: its commands run, and its help is the real one."""

import re
import shlex
from pathlib import Path

import pytest

import treeaudit as ta
from tests.cli.run import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def words(text: str) -> list[str]:
    """The words of a help text, whatever draws the boxes."""
    return re.sub(r"[╭╮╰╯│─]|-{3,}", " ", text).split()


def as_typed(line: str) -> str:
    """A command of the README as it is typed where treeaudit is installed."""
    return line.replace("$ .venv/bin/treeaudit", "$ treeaudit").replace(
        "$ make demo", "$ treeaudit demo"
    )


def test_the_help_is_the_real_one() -> None:
    (shown,) = [body for kind, body in BLOCKS if "--help\n" in body and kind == "console"]
    command, _, text = shown.partition("\n")
    assert command == "$ treeaudit --help"
    assert words(text) == words(run("--help").stdout)


def test_no_command_needs_an_index_that_does_not_have_it() -> None:
    for _, body in BLOCKS:
        assert not re.search(r"pip install (?:--?\S+ )*treeaudit\b", body)


def test_the_commands_run(tmp_path) -> None:
    commands = [
        shlex.split(typed.removeprefix("$ treeaudit "))
        for kind, body in BLOCKS
        for line in body.splitlines()
        if kind == "console" and (typed := as_typed(line)).startswith("$ treeaudit ")
    ]
    assert ["demo"] in commands
    for command in commands:
        if "hostile.pkl" in command:
            continue
        done = run(*command, cwd=tmp_path)
        expected = 1 if command[0] == "scan" else 0
        assert done.returncode == expected, (command, done.stderr)
        if command == ["demo"]:
            (tmp_path / "treeaudit-demo" / "model.pkl").rename(tmp_path / "model.pkl")
    assert (tmp_path / "report.html").is_file()


def test_the_python_runs(tmp_path, monkeypatch, cancer_file) -> None:
    (code,) = [body for kind, body in BLOCKS if kind == "python"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "treeaudit-demo").mkdir()
    cancer_file.rename(tmp_path / "treeaudit-demo" / "model.pkl")
    exec(code, {})  # our own README
    assert (tmp_path / "audit.html").is_file()
    assert (tmp_path / "model.json").is_file()


def test_the_policy_is_well_formed(tmp_path) -> None:
    from treeaudit.attacks import all_checks
    from treeaudit.findings.policy import read_policy

    (text,) = [body for kind, body in BLOCKS if kind == "toml"]
    (tmp_path / "mine.toml").write_text(text)
    policy = read_policy("release", tmp_path / "mine.toml")
    assert set(policy.values) == set(all_checks())


def test_the_refusal_is_the_real_one(tmp_path) -> None:
    import pickle

    from tests.cli.test_scan import Payload

    (tmp_path / "hostile.pkl").write_bytes(pickle.dumps(Payload(), protocol=4))
    done = run("scan", "hostile.pkl", cwd=tmp_path)
    (shown,) = [line for line in README.splitlines() if line.startswith("treeaudit: loading")]
    assert re.sub(r"byte \d+", "byte", done.stderr.strip()) == re.sub(r"byte \d+", "byte", shown)


def test_every_attack_is_listed() -> None:
    from treeaudit.attacks import ATTACKS

    for attack in ATTACKS:
        assert f"| {attack.id} | {attack.title.lower()} |" in README


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)h#][^)]*)\)", README))
def test_links_lead_somewhere(link) -> None:
    assert (ROOT / link).exists()


def test_the_first_screen_comes_first() -> None:
    first = README[:2200]
    for needed in (
        "docs/report.png",
        "treeaudit demo",
        "treeaudit scan model.pkl",
        "does not mean",
    ):
        assert needed in first
    assert ta.__doc__
