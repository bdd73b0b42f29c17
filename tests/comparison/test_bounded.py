"""Who asks whether a model is bounded gets one answer: scan, compare, reports, policies."""

import json
import math
import pickle
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import treeaudit as ta
from tests.cli.run import run
from tests.ledgers import ledger_of
from tests.trainers.people import SCHEMA, people
from treeaudit.dp import Ledger, Query
from treeaudit.dp.claims import NOT_ASKED, bounded, unbounded_because
from treeaudit.reports.comparison import to_dict, to_text
from treeaudit.reports.formats import render
from treeaudit.trainers import PrivateSearch, save_trained
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier

X, Y = people(400)
SOUND = {
    "a tree": PrivateTreeClassifier(schema=SCHEMA),
    "labels alone": SmoothSensitivityForestClassifier(schema=SCHEMA, n_estimators=3),
    "stopped early": DiffPID3Classifier(schema=SCHEMA, epsilon=0.1),
    "persons": PrivateTreeClassifier(schema=SCHEMA, rows_per_person=4),
    "a delta": PrivateAdditiveTreeClassifier(schema=SCHEMA, delta=1e-6),
}
NOT = {
    "published and flawed": SmoothSensitivityForestClassifier(
        schema=SCHEMA, n_estimators=3, variant="published"
    ),
    "published": DiffPID3Classifier(schema=SCHEMA, variant="published"),
    "seeded": PrivateTreeClassifier(schema=SCHEMA, random_state=0),
    "schema from data": PrivateTreeClassifier(schema="from-data"),
    "a large delta": PrivateAdditiveTreeClassifier(schema=SCHEMA, delta=1e-4),
}
ROW = ledger_of(1)["queries"][0]
FORGED = {
    "a mechanism of no noise": {"queries": [ROW | {"mechanism": "none"}]},
    "no noise, as if not asked": {"queries": [ROW | {"mechanism": "none", "name": NOT_ASKED}]},
    "a mechanism of its own": {"queries": [ROW | {"mechanism": "magic"}]},
    "no unit": {"unit": None},
    "another unit": {"unit": "person, at most 3 rows"},
    "rows of nobody": {"rows_per_person": 0, "unit": "person, at most 0 rows"},
    "no questions": {"queries": []},
    "nothing was asked": {"queries": [ROW | {"asked": 0, "composition": "sequential"}]},
    "asked less than never": {"queries": [ROW, ROW | {"epsilon": "9/10", "asked": -1}]},
    "not asked less than never": {
        "epsilon": 0.1,
        "used": 0.1,
        "queries": [
            ROW,
            {
                **ROW,
                "name": NOT_ASKED,
                "mechanism": "none",
                "epsilon": "9/10",
                "used": "9/10",
                "asked": -1,
            },
        ],
    },
    "asked half of it": {"queries": [ROW | {"asked": 0.5, "composition": "sequential"}]},
    "asked nobody knows how often": {"queries": [ROW | {"asked": None}]},
    "a negative epsilon": {"queries": [ROW, ROW | {"epsilon": "-9/10"}], "epsilon": 0.1},
    "digits without end": {"queries": [ROW | {"epsilon": f"1/{'9' * 399}"}]},
    "a gigantic epsilon": {"queries": [ROW | {"epsilon": "9" * 400}], "epsilon": 1e308},
    "digits beyond any": {"queries": [ROW | {"epsilon": "1" * 401}]},
    "no fraction": {"queries": [ROW | {"epsilon": "1e-9"}]},
    "divided by nothing": {"queries": [ROW | {"epsilon": "1/0"}]},
    "epsilon is text": {"epsilon": "1.0"},
    "more used than asked": {"queries": [ROW | {"used": "2"}]},
    "less used than the rows": {"used": 0.1},
    "answers for nothing": {"queries": [ROW | {"used": "0"}], "used": 0.0},
    "a delta": {"delta": 0.5},
    "questions are no list": {"queries": 3},
    "rows are no questions": {"queries": [3]},
    "no composition": {"queries": [ROW | {"composition": "none"}]},
    "no budget": {"budget": None},
    "reasons are no list": {"reasons": 3},
    "nobody moves it": {"queries": [ROW | {"sensitivity": "0"}]},
    "less than the rows": {"epsilon": 0.1},
    "more than the budget": {"budget": "1/2"},
    "rows that are missing": {"budget": "2"},
    "a candidate that is missing": {
        "queries": [
            ROW | {"name": "candidate 1: leaf counts", "epsilon": "1/2", "used": "1/2"},
            ROW | {"name": "the best of 2 candidates", "epsilon": "1/2", "used": "1/2"},
        ],
    },
    "candidates without a choice": {"queries": [ROW | {"name": "candidate 1: leaf counts"}]},
    "no variant": {"variant": "some"},
    "not private": {"not_private": True},
    "a reason": {"reasons": ["why not"]},
    "no neighbours": {"neighbours": "cousins"},
    "a person moves less than a record": {
        "rows_per_person": 3,
        "unit": "person, at most 3 rows",
    },
}


def answers(forest: ta.Forest) -> set[bool]:
    """Return what everybody says who tells whether a model is bounded."""
    report = ta.scan(forest, policy="private")
    check = {c.name: c for c in report.checks}["max-epsilon"]
    compared = ta.compare(forest, names=["m"]).models[0]
    text = render(ta.scan(forest), "text")
    assert check.reason == (None if bounded(forest) else unbounded_because(forest))
    return {
        bounded(forest),
        math.isfinite(report.epsilon),
        check.measured is not None,
        compared.epsilon is not None,
        "a claim of the file, not tested" in " ".join(text.split()),
        "bounded by" in render(ta.scan(forest), "html"),
    }


@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
@pytest.mark.parametrize("name", [*SOUND, *NOT])
def test_trained_models(name) -> None:
    model = (SOUND | NOT)[name]
    person = np.arange(len(Y)) // 4 if name == "persons" else None
    assert answers(model.fit(X, Y, person=person).forest_) == {name in SOUND}


def told(path) -> set[bool]:
    """Return what the commands say of a file; nothing where they refuse it."""
    asked = run("scan", path, "--policy", "private", "--format", "json")
    side = run("compare", path, "--format", "json")
    if asked.returncode == 2:
        assert side.returncode == 2
        return set()
    report, compared = json.loads(asked.stdout), json.loads(side.stdout)["models"][0]
    held = {check["name"]: check["status"] for check in report["checks"]}
    privacy = report["model"]["privacy"]
    assert privacy["bounded"] == (privacy["unbounded_because"] is None)
    return {
        privacy["bounded"],
        held["max-epsilon"] == "pass",
        compared["epsilon"] is not None,
        "bounded by epsilon" in " ".join(run("compare", path).stdout.split()),
        "a claim of the file" in " ".join(run("scan", path).stdout.split()),
    }


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
@pytest.mark.parametrize("suffix", ["json", "pkl"])
@pytest.mark.parametrize("name", [*SOUND, *NOT])
def test_files_of_trained_models(tmp_path, name, suffix) -> None:
    model = (SOUND | NOT)[name]
    person = np.arange(len(Y)) // 4 if name == "persons" else None
    path = save_trained(model.fit(X, Y, person=person), tmp_path / f"model.{suffix}")
    assert told(path) == {name in SOUND}


@pytest.mark.parametrize("changes", FORGED.values(), ids=FORGED)
def test_files_with_a_forged_ledger(tmp_path, changes) -> None:
    path = save_trained(SOUND["a tree"].fit(X, Y), tmp_path / "model.json")
    stored = json.loads(path.read_text())
    stored["privacy"] = ledger_of(5) | stored["privacy"] | changes
    path.write_text(json.dumps(stored))
    assert True not in told(path)


def test_noise_that_is_less_than_the_ledger_tells_is_not_bounded(tmp_path) -> None:
    path = save_trained(SOUND["a tree"].fit(X, Y), tmp_path / "model.json")
    stored = json.loads(path.read_text())
    assert told(path) == {True}
    stored["noise"]["rate"] *= 20
    path.write_text(json.dumps(stored))
    assert told(path) == {False}
    stored["noise"]["rate"] /= 20
    stored["source"]["parameters"]["variant"] = "published"
    path.write_text(json.dumps(stored))
    assert told(path) == {False}


@pytest.mark.parametrize(
    "changes",
    [
        {"random_state": 0},
        {"schema": "from-data"},
        {"epsilon": 2.0},
        {"epsilon": "2"},
        {"neighbours": "replace-one"},
        {"rows_per_person": 3},
    ],
    ids=str,
)
def test_parameters_that_undo_the_promise_are_not_bounded(tmp_path, changes) -> None:
    path = save_trained(SOUND["a tree"].fit(X, Y), tmp_path / "model.json")
    stored = json.loads(path.read_text())
    stored["source"]["parameters"] |= changes
    path.write_text(json.dumps(stored))
    assert told(path) == {False}


def test_each_row_that_is_taken_out_of_a_ledger_is_missed(tmp_path) -> None:
    search = PrivateSearch(
        estimator=PrivateTreeClassifier(schema=SCHEMA),
        candidates=[{"max_depth": 1}, {"max_depth": 2}],
        epsilon=1 / 3,
    )
    forest = search.fit(X, Y).best_estimator_.forest_
    whole = Ledger.from_plain(forest.privacy)
    assert bounded(forest)
    for i in range(len(whole.queries)):
        rest = replace(whole, queries=whole.queries[:i] + whole.queries[i + 1 :])
        assert "missing" in str(unbounded_because(replace(forest, privacy=rest.to_plain())))
    first = [q for q in whole.queries if not q.name.startswith("candidate 1:")]
    forged = replace(whole, queries=tuple(first))
    forged = replace(forged, budget=forged.epsilon)
    assert "missing" in str(unbounded_because(replace(forest, privacy=forged.to_plain())))


CONCENTRATED = Query(
    name="leaf counts",
    mechanism="discrete Gaussian",
    epsilon=Fraction(0),
    sensitivity=Fraction(1),
    rho=Fraction(1, 50),
)


def with_delta(*queries: Query, at: Fraction = Fraction(1, 10**6)) -> Ledger:
    ledger = Ledger(queries=queries, budget=Fraction(1), conversion_delta=at)
    return replace(ledger, budget=ledger.epsilon)


@pytest.mark.parametrize(
    "changes",
    [
        {"delta": 0.0},
        {"delta": 1e-9},
        {"epsilon": 0.5},
        {"rho": 0.001},
        {"conversion_delta": "0"},
        {"conversion_delta": "1/1000000000"},
        {"conversion_delta": "1"},
    ],
    ids=str,
)
def test_a_delta_that_is_not_that_of_the_rows(changes) -> None:
    told = with_delta(CONCENTRATED).to_plain()
    forest = replace(whole(), privacy=told)
    assert bounded(forest)
    assert Ledger.from_plain(told) == with_delta(CONCENTRATED)
    assert answers(replace(forest, privacy=told | changes)) == {False}


def test_a_delta_stands_beside_the_epsilon_wherever_it_is_told(tmp_path) -> None:
    model = SOUND["a delta"].fit(X, Y)
    path = save_trained(model, tmp_path / "model.json")
    report, compared = ta.scan(path, policy="private"), ta.compare(path)
    assert report.verdict == "pass"
    assert {c.name: c.measured for c in report.checks}["max-delta"] == 1e-6
    for form in ("text", "html"):
        for told in (render(report, form), render(ta.scan(path), form)):
            words = " ".join(re.sub(r"<[^>]*>", "", told).split())
            assert re.findall(r"epsilon 1\b", words)
            assert re.findall(r"epsilon 1\b", words) == re.findall(
                r"epsilon 1(?= with delta)", words
            )
    assert "epsilon 1 with delta 1e-06" in " ".join(to_text(compared).split())
    assert "1, δ 1e-06" in to_text(compared)
    found = to_dict(compared)["models"][0]
    assert (found["epsilon"], found["delta"]) == (pytest.approx(1), 1e-6)
    strict = ta.Policy(name="strict", values={"max-epsilon": 2, "max-delta": 1e-9})
    assert {c.name: c.status for c in ta.scan(path, policy=strict).checks} == {
        "max-epsilon": "pass",
        "max-delta": "fail",
    }


def test_the_losses_of_all_models_of_a_file_add_up(tmp_path) -> None:
    path = tmp_path / "two.pkl"
    one, other = (
        PrivateAdditiveTreeClassifier(schema=SCHEMA, epsilon=e, delta=6e-7).fit(X, Y)
        for e in (0.2, 0.3)
    )
    path.write_bytes(pickle.dumps([one, other]))
    done = run("scan", path, "--policy", "private", "--format", "json")
    for report in json.loads(done.stdout)["reports"]:
        held = {check["name"]: check for check in report["checks"]}
        assert held["max-epsilon"]["measured"] == pytest.approx(0.5, rel=1e-6)
        assert (held["max-epsilon"]["status"], held["max-delta"]["status"]) == ("pass", "fail")
        assert held["max-delta"]["measured"] == pytest.approx(1.2e-6)
    replaced = PrivateTreeClassifier(schema=SCHEMA, epsilon=0.2, neighbours="replace-one")
    added = PrivateTreeClassifier(schema=SCHEMA, epsilon=0.2).fit(X, Y)
    path.write_bytes(pickle.dumps([added, replaced.fit(X, Y)]))
    # What is promised of one more is not promised of another in the place of one.
    assert run("scan", path, "--policy", "private").returncode == 1


def whole(**changes) -> ta.Forest:
    tree = ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], counts=[[4, 5]])
    return ta.Forest(
        trees=(tree,), schema=ta.Schema.numeric(["age"], ["no", "yes"]), counts_are="noisy",
        privacy=ledger_of(1, **changes),
    )  # fmt: skip


def test_counts_that_are_no_noise_are_not_bounded() -> None:
    exact = replace(whole(), counts_are="exact")
    assert not bounded(exact)
    old = whole()
    privacy = {k: v for k, v in old.privacy.items() if k not in ("unit", "rows_per_person", "used")}
    assert "does not name its unit" in unbounded_because(replace(old, privacy=privacy))


def test_exact_numbers_of_people_are_not_bounded() -> None:
    forest = SOUND["a tree"].fit(X, Y).forest_
    tree = forest.trees[0]
    counted = replace(tree, n_records=np.full(tree.n_nodes, 3))
    for told in (replace(forest, n_records=400), replace(forest, trees=(counted,))):
        assert "without noise" in str(unbounded_because(told))
