"""Who asks whether a model is bounded gets one answer: scan, compare, reports, policies."""

import math
from dataclasses import replace

import numpy as np
import pytest

import treeaudit as ta
from tests.ledgers import ledger_of
from tests.trainers.people import SCHEMA, people
from treeaudit.dp.bounded import NOT_ASKED, bounded, unbounded_because
from treeaudit.reports import render
from treeaudit.trainers import (
    DiffPID3Classifier,
    PrivateTreeClassifier,
    SmoothSensitivityForestClassifier,
)

X, Y = people(400)
SOUND = {
    "a tree": PrivateTreeClassifier(schema=SCHEMA),
    "labels alone": SmoothSensitivityForestClassifier(schema=SCHEMA, n_estimators=3),
    "stopped early": DiffPID3Classifier(schema=SCHEMA, epsilon=0.1),
    "persons": PrivateTreeClassifier(schema=SCHEMA, rows_per_person=4),
}
NOT = {
    "published and flawed": SmoothSensitivityForestClassifier(
        schema=SCHEMA, n_estimators=3, variant="published"
    ),
    "published": DiffPID3Classifier(schema=SCHEMA, variant="published"),
    "seeded": PrivateTreeClassifier(schema=SCHEMA, random_state=0),
    "schema from data": PrivateTreeClassifier(schema="from-data"),
}
ROW = ledger_of(1)["queries"][0]
FORGED = {
    "a mechanism of no noise": {"queries": [ROW | {"mechanism": "none"}]},
    "no noise, as if not asked": {"queries": [ROW | {"mechanism": "none", "name": NOT_ASKED}]},
    "a mechanism of its own": {"queries": [ROW | {"mechanism": "magic"}]},
    "no unit": {"unit": None},
    "another unit": {"unit": "person, at most 3 rows"},
    "no questions": {"queries": []},
    "nothing was asked": {"queries": [ROW | {"asked": 0, "composition": "sequential"}]},
    "nobody moves it": {"queries": [ROW | {"sensitivity": "0"}]},
    "less than the rows": {"epsilon": 0.1},
    "more than the budget": {"budget": "1/2"},
    "no variant": {"variant": "some"},
    "not private": {"not_private": True},
    "a reason": {"reasons": ["why not"]},
    "no neighbours": {"neighbours": "cousins"},
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


def whole(**changes) -> ta.Forest:
    tree = ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], counts=[[4, 5]])
    return ta.Forest(
        trees=(tree,), schema=ta.Schema.numeric(["age"], ["no", "yes"]), counts_are="noisy",
        privacy=ledger_of(1, **changes),
    )  # fmt: skip


@pytest.mark.parametrize("changes", FORGED.values(), ids=FORGED)
def test_a_ledger_that_is_not_whole_bounds_nothing(changes) -> None:
    assert bounded(whole())
    assert answers(whole(**changes)) == {False}


def test_counts_that_are_no_noise_are_not_bounded() -> None:
    exact = replace(whole(), counts_are="exact")
    assert not bounded(exact)
    old = whole()
    privacy = {k: v for k, v in old.privacy.items() if k not in ("unit", "rows_per_person", "used")}
    assert "does not name its unit" in unbounded_because(replace(old, privacy=privacy))
