"""What every attack keeps, built in or from elsewhere."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

import treeaudit as ta
from tests.strategies import grow
from treeaudit.attacks import ATTACKS, Case, run_attack
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import plain_data
from treeaudit.findings.findings import AttackKind


def forest_of(*seeds, **stated) -> ta.Forest:
    features = (
        ta.Feature(name="age"),
        ta.Feature(name="income"),
        ta.Feature(name="kind", categories=("a", "b", "c", "d")),
    )
    schema = ta.Schema(features=features, classes=("no", "yes", "maybe"))
    return ta.Forest(trees=tuple(grow(seed, 3) for seed in seeds), schema=schema, **stated)


def case_of(forest: ta.Forest, **options) -> Case:
    return Case(forest=forest, table=ta.reconstruct(forest).groups, **options)


MODELS = {
    "one tree": forest_of(1),
    "forest": forest_of(1, 2, 3),
    "weighted": forest_of(4, counts_are="weighted", counts_reason="weights"),
    "bootstrap": forest_of(5, 6, records_are="bootstrap", counts_reason="draws"),
    "bare": ta.Forest(
        trees=(ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf]),),
        schema=ta.Schema.numeric(1),
        counts_are="absent",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
class TestEveryAttack:
    def test_it_says_what_it_is(self, attack) -> None:
        assert re.fullmatch(r"TA\d{3}", attack.id)
        assert attack.title
        words = dataclasses.asdict(attack.words)
        kinds = words.pop("kinds")
        assert all(len(text) > 10 for text in words.values())
        assert set(kinds) <= set(get_args(AttackKind))
        assert kinds or attack.id in {"TA205", "TA207"}  # which are about no person
        assert attack.__doc__

    def test_it_is_frozen_data(self, attack) -> None:
        with pytest.raises((AttributeError, TypeError)):
            attack().anything = 1

    @pytest.mark.parametrize("name", MODELS)
    def test_it_answers_for_every_model_and_changes_nothing(self, attack, name) -> None:
        case = case_of(MODELS[name])
        first, second = run_attack(attack(), case), run_attack(attack(), case)
        assert first == second
        assert first.id == attack.id
        if isinstance(first, ta.Skipped):
            assert first.reason
        else:
            plain = plain_data(first.details)
            assert json.loads(json.dumps(plain, allow_nan=False)) == plain
            assert 0 <= first.leaves <= case.table.n_leaves
            assert first.summary.endswith(".")

    def test_the_order_of_the_trees_does_not_matter(self, attack) -> None:
        one, other = (run_attack(attack(), case_of(forest_of(*s))) for s in ((1, 2, 3), (3, 1, 2)))
        if isinstance(one, ta.Skipped):
            assert one == other
            return
        assert (one.leaves, one.people, one.severity) == (
            other.leaves,
            other.people,
            other.severity,
        )


def test_ids_are_unique_and_in_order() -> None:
    ids = [attack.id for attack in ATTACKS]
    assert ids == sorted(set(ids))


def offer(monkeypatch, load, name="offered") -> None:
    """Let another package offer an attack, loaded by a call."""
    entry = SimpleNamespace(name=name, value="other.package:Offered", load=load)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])


def test_other_packages_offer_attacks_too(monkeypatch) -> None:
    rule = Rule(name="max-odd", title="Odd", bound="at most {:g}", measure=most("unique_people"))

    class Offered(ATTACKS[0]):
        id = "TA901"
        title = "Offered"
        checks = (rule,)

    offer(monkeypatch, lambda: Offered)
    policy = ta.Policy(name="mine", values={"max-odd": 0})
    report = ta.scan(MODELS["one tree"], policy=policy)
    assert report["TA901"].title == "Offered"
    assert [(check.name, check.attack) for check in report.checks] == [("max-odd", "TA901")]


def foreign(**parts) -> type:
    return type("Foreign", (ATTACKS[0],), parts)


def broken() -> type:
    raise ImportError("no module named gone")


def leaving() -> type:
    raise SystemExit(0)


FIRST = ATTACKS[0]
REFUSED = [
    (broken, "cannot be imported (ImportError: no module named gone)"),
    (leaving, "cannot be imported (SystemExit: 0)"),
    (lambda: foreign(), "the id TA101 is taken"),
    (lambda: object, "it has no id, title, words"),
    (lambda: foreign(id="ta101"), "it has no id"),
    (lambda: foreign(id="TA901", needs=None), "it has no needs"),
    (lambda: foreign(id="TA901", checks=[]), "it has no checks"),
    (lambda: FIRST(), "it is no class"),
    (lambda: foreign(id="TA901"), "TA901 has a check min-leaf of its own"),
    (
        lambda: foreign(id="TA901", checks=(replace(FIRST.checks[0]),)),
        "TA901 has a check min-leaf of its own",
    ),
]


@pytest.mark.parametrize(("load", "reason"), REFUSED)
def test_an_attack_that_is_refused_is_named_and_nothing_passes(monkeypatch, load, reason) -> None:
    # The name of an entry point is no id: it cannot stand in the place of a built-in attack.
    offer(monkeypatch, load, name="TA101")
    policy = ta.Policy(name="mine", values={"min-leaf": 1})
    report = ta.scan(MODELS["one tree"], policy=policy)
    assert report["TA101"].title == "Singling out"
    (left_out,) = [result for result in report.results if result.id == "offered TA101"]
    assert reason in left_out.reason
    assert (report.verdict, report.exit_code) == ("review", 3)
    assert report.checks[0].status == "pass"
    failing = ta.Policy(name="mine", values={"min-leaf": 10**6})
    assert ta.scan(MODELS["one tree"], policy=failing).verdict == "fail"


def fails(self, case):
    raise RuntimeError("no idea")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"run": fails}, "it ended in RuntimeError: no idea"),
        ({"run": lambda self, case: None}, "it gave back no finding of its own"),
        ({"run": FIRST.run, "title": "Copy"}, None),
        (
            {"run": lambda self, case: replace(FIRST().run(case), id="TA202")},
            "no finding of its own",
        ),
        ({"__init__": fails}, "it ended in"),
    ],
)
def test_an_attack_that_fails_is_named_and_nothing_passes(monkeypatch, parts, reason) -> None:
    offer(monkeypatch, lambda: foreign(**{"id": "TA901", "checks": (), **parts}))
    report = ta.scan(MODELS["one tree"], policy=ta.Policy(name="mine", values={"min-leaf": 1}))
    if reason is None:
        assert (report.verdict, report["TA901"].title) == ("pass", "Copy")
        return
    (failed,) = [result for result in report.results if result.id == "TA901"]
    assert reason in failed.reason
    assert report.verdict == "review"
    assert [check.name for check in report.checks] == ["min-leaf", "attack TA901"]


def test_an_installed_attack_is_seen(tmp_path) -> None:
    package = tmp_path / "guest-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[treeaudit.attacks]\nguest = nowhere:Nothing\n")
    code = "from treeaudit.attacks import offered_attacks as found; print(len(found().refused))"
    for folder, said in ((tmp_path, "1"), (tmp_path / "empty", "0")):
        environment = os.environ | {"PYTHONPATH": str(folder)}
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        assert done.stdout.strip() == said
