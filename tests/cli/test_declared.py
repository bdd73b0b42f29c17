"""Lines that are read without typer mean what typer reads in them."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from tests.cli.run import run
from treeaudit.cli import COMMANDS, app
from treeaudit.cli.compare import compare
from treeaudit.cli.declared import parsed
from treeaudit.cli.diff import diff
from treeaudit.cli.scan import scan

FUNCTIONS = {"scan": scan, "compare": compare, "diff": diff}
PLAIN = [
    "scan m.pkl",
    "scan m.pkl -q --seed 3 --seconds 2.5 --policy strict",
    "scan --format json m.pkl --no-fix",
    "scan m.pkl -o a.html --output=b.json --fix --attack TA101 --attack TA102",
    "scan m.pkl --train a.csv --test b.csv --target y --repeats copies --max-bytes 10",
    "compare a.pkl b.pkl c.pkl --seed 4",
    "diff a.pkl b.pkl --rows 3",
]
LEFT = [
    "scan",
    "scan a b --format xml",
    "scan m.pkl --seconds -1",
    "scan m.pkl --seed x",
    "scan m.pkl --seed 1 --seed 2",
    "scan m.pkl --nothing",
    "scan m.pkl --train",
    "scan m.pkl --target -x",
    "scan m.pkl -qv",
    "scan -- -m.pkl",
    "scan m.pkl --max-bytes 0",
    "scan m.pkl --max-bytes 1_0",
    "scan --help",
    "diff a.pkl",
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_gives_what_typer_reads(line) -> None:
    name, *words = line.split()
    command = get_command(app).commands[name]
    theirs = command.make_context(name, list(words)).params
    ours = parsed(FUNCTIONS[name], words)
    assert ours is not None
    assert {key: plain(value) for key, value in ours.items()} == {
        key: plain(theirs[key]) for key in ours
    }


def plain(value: object) -> object:
    """Several values as a list, none as None: what typer makes of its tuples later."""
    if isinstance(value, tuple | list):
        return [str(one) for one in value] or None
    return str(value) if isinstance(value, Path) else value


@pytest.mark.parametrize("line", LEFT)
def test_everything_else_is_left_to_typer(line) -> None:
    name, *words = line.split()
    assert parsed(FUNCTIONS[name], words) is None


def test_every_command_is_there(cancer_file) -> None:
    assert sorted(get_command(app).commands) == sorted(COMMANDS)
    told = run("--help").stdout
    assert all(f" {name} " in told for name in COMMANDS)
    assert run("scan", Path("m.pkl"), "--nothing").returncode == 2
    short = run("-v", "scan", cancer_file, "-q")
    assert short.stdout == run("scan", cancer_file, "-q", "-v").stdout


def test_a_line_without_a_command_shows_the_front_page() -> None:
    done = run()
    assert (done.returncode, done.stdout) == (2, run("--help").stdout)


def words(text: str) -> list[str]:
    """What is said, whatever the boxes; typer adds the type of flags."""
    return re.sub(r"[╭╮╰╯│─]|<bool>", " ", text).split()


def test_the_front_page_is_the_one_of_typer() -> None:
    # With -v before it typer shows the page.
    assert words(run("--help").stdout) == words(run("-v", "--help").stdout)
    assert run().returncode == 2
