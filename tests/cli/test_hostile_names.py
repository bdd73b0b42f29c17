"""Names of files steer no terminal and make no line of their own, whatever command prints them."""

import pickle
import re

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from tests.cli.run import run
from treeaudit.cli.console import echo

# Clears a line, goes up, rings, turns the reading direction round, and says something of its own.
STEERS = "\x1b[2K\x1b[1A\x9b2J\x07\u202e[red]\nTRUE  all is well"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("hostile")
    X, y = load_iris(return_X_y=True, as_frame=True)
    for name, depth in (("a", 2), (STEERS, 3)):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        (at / f"{name}.pkl").write_bytes(pickle.dumps(tree))
    X.assign(species=y).to_csv(at / f"{STEERS}.csv", index=False)
    pd.DataFrame({"a": [1, 2]}).to_csv(at / f"{STEERS} other.csv", index=False)
    (at / STEERS).mkdir()
    (at / STEERS / f"{STEERS}.pkl").write_bytes((at / f"{STEERS}.pkl").read_bytes())
    (at / STEERS / "note.txt").write_text("hello")
    (at / f"{STEERS}.toml").write_text('[policies."a\\u001b[2K\\nTRUE  b"]\nmin-leaf = 500\n')
    (at / f"{STEERS} bad.toml").write_text("min-leaf: 500\n")
    (at / f"{STEERS} none.json").write_text("{}")
    assert run("scan", f"{STEERS}.pkl", "-o", f"{STEERS}.json", cwd=at).returncode == 1
    assert run("scan", "a.pkl", "-o", "a.json", cwd=at).returncode == 1
    proof = run("reconstruct", "a.pkl", "--people", "-o", f"{STEERS} proof.json", cwd=at)
    assert not proof.returncode, proof.stderr
    return at


SIGNED = ("--by", "Ada", "--until", "2099-01-01", "--reason", STEERS)
SOLD = (
    *("--set", "max_depth=1", "--epsilon", "5", "--schema", f"{STEERS} draft.toml"),
    *("--target", "species", "--person", STEERS),
)
LINES = [
    ("scan", f"{STEERS}.pkl"),
    ("scan", f"{STEERS}.pkl", "--verbose"),
    ("scan", f"{STEERS}.pkl", "--quiet"),
    ("scan", f"{STEERS}.pkl", "--format", "json"),
    ("scan", f"{STEERS}.pkl", "--release-safe"),
    ("scan", f"{STEERS} gone.pkl"),
    ("scan", "a.pkl", "--model-name", STEERS),
    ("scan", "a.pkl", "--select", STEERS),
    ("scan", "a.pkl", "--train", f"{STEERS}.csv"),
    ("scan", "a.pkl", "--train", f"{STEERS} other.csv"),
    ("scan", "a.pkl", "--train", f"{STEERS}.csv", "--target", STEERS),
    ("scan", "a.pkl", "--policy", f"{STEERS}.toml"),
    ("scan", "a.pkl", "--policy", f"{STEERS} bad.toml"),
    ("scan", "a.pkl", "--baseline", f"{STEERS} none.json"),
    ("scan", "a.pkl", "--baseline", f"{STEERS}.json"),
    *(("scan", "a.pkl", "--force", "-o", f"{STEERS}.{form}") for form in ("html", "md", "txt")),
    ("scan", "a.pkl", "-o", f"{STEERS}.csv"),
    ("scan", "a.pkl", "--acro", f"{STEERS} acro"),
    ("scan", "a.pkl", "-o", f"{STEERS} gone/a.html"),
    ("scan", STEERS),
    ("scan", STEERS, "-o", f"{STEERS} fleet.html", "--force"),
    ("scan", "a.pkl", f"{STEERS}.pkl", "--verbose"),
    ("verify", f"{STEERS}.json", f"{STEERS}.pkl"),
    ("verify", "a.json", f"{STEERS}.pkl"),
    ("verify", f"{STEERS}.pkl", f"{STEERS}.json"),
    ("verify", f"{STEERS} none.json", f"{STEERS}.pkl"),
    ("verify", f"{STEERS} proof.json", "a.pkl"),
    ("verify", f"{STEERS} proof.json", f"{STEERS}.pkl"),
    ("accept", f"{STEERS}.json", *SIGNED, "-o", f"{STEERS} signed.json", "--force"),
    ("reconstruct", f"{STEERS}.pkl"),
    ("reconstruct", "a.pkl", "-o", f"{STEERS} table.csv", "--force"),
    ("reconstruct", "a.pkl", "--people", "-o", f"{STEERS} people.csv", "--force"),
    ("reconstruct", "a.pkl", "--people", "-o", f"{STEERS} people.json", "--force"),
    ("reconstruct", "a.pkl", "--tree", "-o", f"{STEERS}.csv"),
    ("inspect", f"{STEERS}.pkl"),
    ("inspect", f"{STEERS}.csv"),
    ("inspect", f"{STEERS}.pkl", "--format", "json"),
    ("compare", "a.pkl", f"{STEERS}.pkl", "-o", f"{STEERS} set.html", "--force"),
    ("diff", "a.pkl", f"{STEERS}.pkl", "-o", f"{STEERS} diff.md", "--force"),
    ("diff", "a.json", f"{STEERS}.json", "-o", f"{STEERS} diff.md", "--force"),
    ("diff", f"{STEERS}.json", f"{STEERS}.pkl"),
    ("release", f"{STEERS}.pkl", "-o", f"{STEERS} clean.pkl", "--force"),
    ("defend", f"{STEERS}.pkl", "-o", f"{STEERS} safe.pkl", "-o", f"{STEERS} s.html", "--force"),
    ("defend", f"{STEERS}.pkl", "--sweep", "2,5", "-o", f"{STEERS} s.html", "--force"),
    ("schema", f"{STEERS}.csv", "--target", "species"),
    ("schema", f"{STEERS}.csv", "--target", "species", "-o", f"{STEERS} draft.toml", "--force"),
    ("train", f"{STEERS}.csv", *SOLD, "-o", f"{STEERS} private.json", "--force"),
    ("budget", f"{STEERS}.budget", "--epsilon", "1"),
    ("budget", f"{STEERS}.budget"),
    ("explain", STEERS),
    ("demo", f"{STEERS} demo"),
    (STEERS,),
    ("scan", "a.pkl", f"--{STEERS}"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("colours", [{}, {"FORCE_COLOR": "1"}], ids=["pipe", "terminal"])
@pytest.mark.parametrize("line", LINES, ids=lambda line: ascii(" ".join(line).replace(STEERS, "_")))
def test_a_name_steers_no_terminal(line, colours, folder) -> None:
    done = run(*line, cwd=folder, **colours)
    for said in (done.stdout, done.stderr):
        shown = COLOUR.sub("", said)
        assert shown.replace("\n", "").isprintable()
        assert "\nTRUE  all is well" not in shown
        assert not shown.startswith("TRUE  all is well")
    assert "internal error" not in done.stderr


def test_a_line_stays_a_line(capsys) -> None:
    echo("of a\x1b[2K\nTRUE\x9b\u202e")
    assert capsys.readouterr().out == "of a␛[2K␊TRUE\\x9b\\u202e\n"
    echo("a\r", err=True)
    assert capsys.readouterr().err == "a␍\n"


def test_verbose_errors_steer_nothing(folder) -> None:
    done = run("--verbose", "scan", f"{STEERS} gone.pkl", cwd=folder)
    assert "Traceback" in done.stderr
    assert done.stderr.replace("\n", "").isprintable()
    assert "\nTRUE  all is well" not in done.stderr
