"""TA202 to TA205: what else the file gives away, and that the remedies remove it."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.findings.details import plain_data
from treeaudit.model.source import KINDS as EVERY
from treeaudit.model.source import Extra, Extras, Source

IDS = ("TA202", "TA203", "TA204", "TA205", "TA206")
KINDS = (
    "labels out-of-bag records targets seeds column-values first-round-counts extremes calls code "
    "flaws"
).split()


@pytest.fixture(scope="module")
def forest(cancer):
    """A forest whose file holds labels, out-of-bag predictions and seeds."""
    model = RandomForestClassifier(
        20, class_weight="balanced", oob_score=True, min_samples_leaf=5, random_state=0
    )
    return model.fit(*cancer)


def scan_with(*found: Extra) -> ta.Report:
    tree = ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], n_records=[50])
    model = ta.Forest(
        trees=(tree,),
        schema=ta.Schema.numeric(1),
        n_records=50,
        extras=Extras(found=found, looked_for=EVERY),
        counts_are="absent",
    )
    return ta.scan(model, attacks=IDS)


def test_a_plain_tree_is_clear(cancer_tree) -> None:
    report = ta.scan(cancer_tree, attacks=IDS)
    for attack in IDS:
        finding = report[attack]
        assert (finding.status, finding.people) == ("clear", 0)
        assert finding.details.leftovers == ()
        assert not any(plain_data(finding.details).values())
    assert report.warnings == ()


def test_a_forest_that_carries_its_training_data(forest) -> None:
    report = ta.scan(forest)
    data, draws = report["TA202"], report["TA203"]
    assert (data.severity, data.people) == ("high", 569)
    kinds = [entry.kind for entry in data.details.leftovers]
    assert "out-of-bag" in kinds
    if hasattr(forest, "_sample_weight"):
        assert kinds[0] == "labels"
        assert data.summary.startswith("A weight for each of 569 training records")
        assert "(_sample_weight)" in data.summary
    # Old versions of scikit-learn do not store how many people a weighted forest has.
    stored = hasattr(forest, "_n_samples")
    assert (draws.severity, draws.people) == ("medium", 569 if stored else 0)
    assert [entry.n for entry in draws.details.leftovers] == ([20, 20] if stored else [20])
    for finding in (data, draws):
        told = plain_data(finding.details)
        assert json.loads(json.dumps(told)) == told


def test_the_remedies_in_words_remove_the_findings(forest, cancer) -> None:
    """Run the very statements that `treeaudit explain` prints."""
    model = RandomForestClassifier(**forest.get_params()).fit(*cancer)
    before = model.predict_proba(cancer[0])
    first = ta.scan(model, attacks=IDS)
    words = {attack: page.words for attack, page in first.pages.items()}
    model._sample_weight = None
    del model.oob_decision_function_
    assert (
        "model.random_state = None; for e in model.estimators_: e.random_state = None"
        in words["TA203"].remedy
    )
    model.random_state = None
    for e in model.estimators_:
        e.random_state = None
    after = ta.scan(model, attacks=IDS)
    assert [after[attack].status for attack in IDS] == ["clear"] * 5
    assert np.array_equal(model.predict_proba(cancer[0]), before)


def test_targets_of_a_regression_tree(cancer) -> None:
    columns, _ = cancer
    y = columns["mean radius"]
    model = DecisionTreeRegressor(random_state=0).fit(columns, y)
    sizes = np.bincount(model.apply(columns))
    alone = ta.scan(model)["TA202"]
    assert (alone.severity, alone.people) == ("high", (sizes * (sizes <= 2)).sum())
    large = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(columns, y)
    assert ta.scan(large)["TA202"].status == "clear"


class OwnTree(DecisionTreeClassifier):
    """A class that no library publishes."""


def test_foreign_code_is_low_and_carried_code_medium(cancer) -> None:
    finding = ta.scan(OwnTree(max_depth=2).fit(*cancer))["TA205"]
    assert finding.severity == "low"
    assert "OwnTree" in finding.summary
    carried = Extra(kind="code", where="cloudpickle", n=3, says="the file carries code")
    named = Extra(kind="calls", where="__main__.T", n=1, says="loading imports __main__")
    assert scan_with(named, carried)["TA205"].severity == "medium"


def test_every_kind_has_one_attack() -> None:
    expected = {
        "labels": ("TA202", "high"),
        "out-of-bag": ("TA202", "high"),
        "records": ("TA202", "high"),
        "targets": ("TA202", "high"),
        "extra": ("TA206", "medium"),
        "unseen": ("TA206", "medium"),
        "category-counts": ("TA202", "medium"),
        "seeds": ("TA203", "medium"),
        "column-values": ("TA204", "medium"),
        "first-round-counts": ("TA204", "medium"),
        "extremes": ("TA204", "low"),
        "calls": ("TA205", "low"),
        "code": ("TA205", "medium"),
        "flaws": ("TA205", "low"),
    }
    for kind, (attack, severity) in expected.items():
        report = scan_with(Extra(kind=kind, where="here", n=7, says="it is here"))
        assert [f.id for f in report.findings if f.status == "found"] == [attack]
        assert report[attack].severity == severity


def test_details_hold_stable_numbers_for_checks() -> None:
    numbers = {
        "TA202": {"people", "labels", "rows", "targets"},
        "TA203": {"people", "seeds"},
        "TA204": {"people", "exact_values", "first_round_counts"},
        "TA205": {"people", "calls", "code", "flaws"},
        "TA206": {"people", "extra_bytes", "note_bytes", "unread_parts"},
    }
    empty = scan_with()
    for attack, names in numbers.items():
        assert set(plain_data(empty[attack].details)) == names | {"leftovers"}
    found = scan_with(
        *(Extra(kind=kind, where=f"a {kind}", n=7, says="it is here") for kind in KINDS),
        *(Extra(kind=kind, where=f"b {kind}", n=9, says="it is here") for kind in KINDS),
    )
    counts = {
        name: getattr(found[attack].details, name)
        for attack, names in numbers.items()
        for name in names
    }
    # The people of two arrays are the same people; seeds, values and calls add up.
    alike = ("labels", "rows", "targets", "first_round_counts")
    assert {name: counts[name] for name in alike} == dict.fromkeys(alike, 9)
    assert counts["exact_values"] == 2 * (7 + 9)
    assert [counts[name] for name in ("seeds", "calls", "code", "flaws")] == [16] * 4
    assert [found[attack].details.people for attack in numbers] == [9, 50, 9, 0, 0]


def reason_of(**source) -> str:
    tree = ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], value=[3.5])
    model = ta.Forest(
        trees=(tree,),
        schema=ta.Schema.numeric(1),
        extras=Extras(looked_for=EVERY - {"targets"}),
        counts_are="absent",
        source=Source(estimator="XGBRegressor", **source),
    )
    return ta.scan(model, attacks=("TA202",)).results[0].reason


@pytest.mark.parametrize("form", ["sklearn-pickle", "xgboost-json", "catboost-json"])
def test_no_other_form_is_named_that_nothing_looks_into(form) -> None:
    library = "CatBoost" if form == "catboost-json" else "XGBoost"
    reason = reason_of(format=form, library=library)
    assert f"nothing looks for single targets in this model of {library}" in reason


def test_a_forest_of_r_does_not_tell_which_leaves_are_of_one_person() -> None:
    reason = reason_of(format="r-rds", library="ranger")
    assert reason.startswith("a leaf of one person has her number")
    assert "pickle" not in reason
