"""Every defense: reachable, explained from its own fields, and no advice that cannot be taken."""

import pickle
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier
from typer.testing import CliRunner

import treeaudit as ta
from tests.test_imports import HEAVY, PACKAGE, loaded_by
from treeaudit.cli import app
from treeaudit.defenses import DEFENSES, DrawSteps
from treeaudit.defenses.defense import parameters, takes_people
from treeaudit.reports.advice import defend_command
from treeaudit.writers import suffixes_of

ADVISED = re.compile(r"(--(?:method|min-leaf|set|train|unanswered)) ([\w=.-]+)")
every = pytest.mark.parametrize("defense", DEFENSES, ids=lambda one: one.id)


def run(*arguments: object):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def people(cancer, tmp_path_factory) -> Path:
    x, y = cancer
    path = tmp_path_factory.mktemp("people") / "people.csv"
    x.assign(diagnosis=y).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def forest(cancer, tmp_path_factory) -> Path:
    made = RandomForestClassifier(
        12, bootstrap=False, max_depth=4, min_samples_leaf=5, random_state=0
    ).fit(*cancer)
    return ta.save(ta.load(made), tmp_path_factory.mktemp("forest") / "forest.json")


@pytest.mark.parametrize(
    "defense", [one for one in DEFENSES if one is not DrawSteps], ids=lambda one: one.id
)
def test_both_doors_lead_to_it(defense, forest, people, tmp_path) -> None:
    who = {"train": people, "target": "diagnosis"} if takes_people(defense) else {}
    what = {name: one.default for name, one in parameters(defense).items() if name != "min_leaf"}
    what.pop("steps", None)  # {} is no text of the command line; see below
    options = [f"--{name}={value}" for name, value in who.items()]
    options += [f"--set={name}={value}" for name, value in what.items()]
    done = run("defend", forest, "--method", defense.id, *options, "-o", tmp_path / "cli.json")
    assert done.exit_code in (0, 1, 3), done.exception
    assert defense().step in " ".join(done.output.split())
    ta.save(ta.defend(forest, method=defense.id, **who, **what), tmp_path / "python.json")
    assert (tmp_path / "cli.json").read_bytes() == (tmp_path / "python.json").read_bytes()


def test_both_doors_lead_to_steps_from_draws(cancer, people, tmp_path) -> None:
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(*cancer)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    who = {"train": people, "target": "diagnosis"}
    options = [f"--{name}={value}" for name, value in who.items()]
    out = tmp_path / "safer.pkl"
    done = run(
        "defend", tmp_path / "model.pkl", "--method", "draw-steps", "--set", "share=0.4", *options,
        "-o", out,
    )  # fmt: skip
    assert done.exit_code in (0, 1, 3), done.exception
    assert DrawSteps(share=0.4).step in " ".join(done.output.split())
    made = ta.defend(tmp_path / "model.pkl", method="draw-steps", share=0.4, **who)
    for forest in (ta.load(out), made):
        assert forest.source.parameters["subsample"] == 0.4


@every
def test_its_parameters_are_told_and_take_their_defaults(defense) -> None:
    for name, one in parameters(defense).items():
        assert len(one.help) > 10, name
        assert one.takes(one.default), name
        assert not one.takes(object()), name
        assert not one.takes(float("nan")), name


def test_the_help_lists_all_and_needs_no_scikit_learn() -> None:
    for asked in (["--help"], ["--method", "list"]):
        shown = run("defend", *asked)
        assert shown.exit_code == 0
        words = shown.output.split()
        for defense in DEFENSES:
            assert defense.id in words
            for name in parameters(defense):
                assert name == "min_leaf" or any(w.startswith(f"{name}=") for w in words)
    code = (
        "import io, contextlib; from treeaudit.cli import app; "
        "hidden = contextlib.redirect_stdout(io.StringIO()); hidden.__enter__(); "
        "app(['defend', '--help'], standalone_mode=False); hidden.__exit__(None, None, None)"
    )
    assert not loaded_by(code) & HEAVY


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "nothing"}, "no method 'nothing'; known: prune-leaves, merge-siblings"),
        ({"method": "labels-only", "t": 1}, "labels-only takes no 't'; it takes no parameters"),
        ({"method": "strip", "min_leaf": 5}, "strip takes no 'min_leaf'"),
        ({"method": "intersect-k", "values": 1}, "takes no 'values'; it takes min_leaf"),
        ({"unanswered": "reject"}, "merge-siblings takes no 'unanswered'"),
        ({"method": "merge-close", "t": 2}, "t is 2: it must be a number from 0 to 1"),
        ({"method": "merge-close", "t": float("nan")}, "must be a number from 0 to 1"),
        ({"method": "merge-close", "t": True}, "must be a number from 0 to 1"),
        ({"method": "merge-diverse", "distinct": 2.5}, "must be a whole number, 2 or more"),
        ({"method": "prune-leaves", "unanswered": "no"}, "must be reject or parent"),
        ({"method": "coarsen", "steps": 5}, "must be numbers by name, such as {age = 5}"),
        ({"method": "coarsen", "steps": {"age": 5}}, "no feature 'age'"),
    ],
    ids=str,
)
def test_what_it_does_not_take_is_one_sentence(cancer_tree, options, says) -> None:
    with pytest.raises(ta.DataError, match=re.escape(says)):
        ta.defend(cancer_tree, **options)


def test_numbers_of_numpy_are_numbers(cancer_tree) -> None:
    assert ta.defend(ta.load(cancer_tree), min_leaf=np.int64(5)).trees[0].n_records.min() >= 5


def test_a_table_of_steps_from_the_command_line(cancer_file) -> None:
    steps = 'steps={"mean radius" = 2, "mean texture" = 0.5}'
    done = run("defend", cancer_file, "--method", "coarsen", "--set", steps)
    assert "(mean radius in steps of 2, mean texture in steps of 0.5)" in " ".join(
        done.output.split()
    )


def test_every_method_that_is_named_exists() -> None:
    """In advice, in help texts, in the README and on the site."""
    known = {defense.id for defense in DEFENSES} | {"list"}
    root = PACKAGE.parent
    texts = [*PACKAGE.rglob("*.py"), root / "README.md", *(root / "docs").rglob("*.md")]
    for path in texts:
        named = re.findall(r"--method ([a-z][a-z-]+)", path.read_text(encoding="utf-8"))
        assert set(named) <= known, path


def told_by(forest: ta.Forest, tmp_path, people, *options: object) -> str:
    """Run a command that cannot be done, then all that it advises; return what it said."""
    path = ta.save(forest, tmp_path / "model.json")
    refused = run("defend", path, *options)
    said = str(refused.exception)
    assert isinstance(refused.exception, ta.DataError), refused.output
    advised = ADVISED.findall(said.replace("--train", f"--train {shlex.quote(str(people))}"))
    assert advised, said
    for option, value in advised:
        again = [one for one in options if option != "--train"] if option != "--method" else []
        if option in again:
            again[again.index(option) + 1] = value
        else:
            again = [*again, option, value]
        done = run("defend", path, *again, "-o", tmp_path / "safe.json", "--force")
        assert done.exit_code in (0, 1, 3), (again, done.exception)
    return said


def bare(**columns: object) -> ta.Forest:
    inf = np.inf
    tree = ta.Tree(
        parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1], high=[inf, 1, inf], **columns
    )
    classes = ["a", "b"] if {"counts", "label"} & set(columns) else None
    return ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1, classes), counts_are="absent")


SIZED = ["--min-leaf", 5]
SHARES = replace(bare(counts=[[1, 1], [1, 0], [0, 1]]), counts_are="weighted", counts_reason="w")
LABELS = replace(bare(label=[0, 0, 1]), counts_are="label-only")
VALUES = bare(value=[0.0, 1.0, 2.0])
ALONE = bare(value=[0.0, 1.0, 2.0], n_records=[2, 1, 1])


@pytest.mark.parametrize(
    ("model", "options", "says"),
    [
        (SHARES, SIZED, "--method labels-only or --method strip"),
        (LABELS, SIZED, "--method labels-only or --method strip"),
        (VALUES, SIZED, "use --method strip"),
        (VALUES, [*SIZED, "--method", "prune-leaves"], "use --method strip"),
        (VALUES, ["--method", "labels-only"], "use --method strip"),
        (VALUES, ["--method", "merge-close"], "use --method strip"),
        (SHARES, ["--method", "round-counts"], "--method labels-only or --method strip"),
        (ALONE, SIZED, "use --method strip"),
        (ALONE, [*SIZED, "--method", "prune-leaves"], "use --method strip"),
    ],
)
def test_advice_can_be_taken(model, options, says, tmp_path, people) -> None:
    assert says in told_by(model, tmp_path, people, *options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--min-leaf", 570], "--min-leaf 190"),
        (["--min-leaf", 570, "--method", "merge-closest"], "--min-leaf 190"),
        (["--min-leaf", 400, "--method", "prune-leaves"], "--min-leaf "),
        (["--min-leaf", 5, "--method", "intersect-k"], "--method merge-siblings"),
    ],
    ids=str,
)
def test_advice_for_a_tree_can_be_taken(cancer_tree, options, says, tmp_path, people) -> None:
    assert says in told_by(ta.load(cancer_tree), tmp_path, people, *options)


def test_advice_for_a_forest_can_be_taken(forest, cancer, people, tmp_path) -> None:
    alone = pickle.dumps(IsolationForest(n_estimators=3, random_state=0).fit(cancer[0]))
    (tmp_path / "isolation.pkl").write_bytes(alone)
    for path in (forest, tmp_path / "isolation.pkl"):
        done = run("defend", path, "--min-leaf", 3)
        assert "(--method intersect-k --train DATA)" in " ".join(done.output.split())
        done = run("defend", path, "--min-leaf", 3, "--method", "intersect-k", "--train", people)
        assert done.exit_code in (0, 1, 3), done.exception
    done = run("defend", tmp_path / "isolation.pkl", "--strip", "-o", tmp_path / "bare.pkl")
    assert "--method merge-siblings, without --strip" in str(done.exception)
    merging = ("--method", "merge-siblings", "-o", tmp_path / "merged.pkl")
    assert run("defend", tmp_path / "isolation.pkl", *merging).exit_code in (0, 1, 3)
    assert "intersect-k" not in run("defend", forest, "--method", "labels-only").output


def test_the_file_that_is_advised_can_be_written(figure_3, cancer_tree, tmp_path) -> None:
    assert ".pkl" in suffixes_of(ta.load(cancer_tree))
    assert suffixes_of(figure_3) == [".json"]
    path = ta.save(figure_3, tmp_path / "figure.json")
    assert "nothing written: add -o safe.json" in run("defend", path, "--min-leaf", 2).output
    assert defend_command(ta.scan(path)) == "treeaudit defend figure.json -o safer.json"
    call = "treeaudit.save(treeaudit.defend(model), 'safer.json')"
    assert defend_command(ta.scan(figure_3)) == call
