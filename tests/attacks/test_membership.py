"""TA105: what it says of models whose memory is known."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.attacks.people import case_of, population, records_of
from treeaudit.attacks import Case, Membership, run_attack
from treeaudit.attacks.membership_inference import scores
from treeaudit.attacks.membership_inference.attack import _CHECKS, _severity
from treeaudit.attacks.membership_inference.roc import area, separation, strongest
from treeaudit.attacks.membership_inference.scores import split_groups
from treeaudit.findings.details import plain_data
from treeaudit.stats import Estimate


@pytest.fixture(scope="module")
def forest_case():
    """2,000 members of a default forest, 6,000 unseen people."""
    x, y = population(2_000, 0)
    model = RandomForestClassifier(30, random_state=0).fit(x, y)
    return case_of(model, (x, y), population(6_000, 1))


@pytest.fixture(scope="module")
def forest_finding(forest_case):
    return run_attack(Membership(), forest_case)


def test_the_count_score_is_above_the_loss(forest_finding) -> None:
    details = forest_finding.details
    assert details.strongest == "counts"
    assert details.auc_low > details.references.loss.auc_high
    assert details.auc > details.references.lira.auc
    assert forest_finding.severity != "none"
    assert "forest" not in forest_finding.summary
    assert json.loads(json.dumps(plain_data(details), allow_nan=False)) == plain_data(details)


def test_false_alarms_are_at_most_what_is_said(forest_finding) -> None:
    (control,) = forest_finding.controls
    assert control.control.value <= 0.01
    assert control.verified.value == forest_finding.details.tpr_at_1_percent_fpr
    assert control.verified.low < control.verified.value < control.verified.high


def test_a_rate_without_ten_false_alarms_is_refused(forest_finding) -> None:
    assert forest_finding.details.tpr_at_0_1_percent_fpr is None
    assert plain_data(forest_finding.details.refused) == {
        "tpr_at_0_1_percent_fpr": "needs 10,000 control people, there are 3,000"
    }


def test_the_seed_decides(forest_case) -> None:
    one, same = (split_groups(forest_case, "TA105", 500) for _ in range(2))
    assert np.array_equal(one.members, same.members)
    assert np.array_equal(one.control, same.control)
    assert not set(one.control) & set(one.reference)


@pytest.mark.slow
def test_an_unlimited_tree_is_never_called_safe() -> None:
    """Every label differs from its neighbours': one leaf a person, which the loss cannot see."""
    x = np.arange(4_000.0)[:, None]
    model = DecisionTreeClassifier(random_state=0).fit(x, np.arange(4_000) % 2)
    rng = np.random.default_rng(0)
    test = (rng.uniform(0, 4_000, (80, 1)), rng.integers(0, 2, 80))
    finding = run_attack(Membership(), case_of(model, (x, np.arange(4_000) % 2), test))
    assert finding.details.blind
    assert finding.details.people_alone == 4_000
    assert finding.status == "found"
    assert "is blind here" in finding.summary
    assert "4,000 leaves hold one person alone" in finding.summary
    assert "TA101" in finding.summary


def test_people_alone_are_exposed_where_the_test_sees_nothing() -> None:
    """Members and unseen people are the same: nothing can tell them apart."""
    x, y = population(400, 9)
    model = DecisionTreeClassifier(random_state=0).fit(x, y)
    finding = run_attack(Membership(), case_of(model, (x, y), (x, y)))
    assert finding.details.auc_low <= 0.5
    assert finding.severity == "low"
    assert "TA101" in finding.summary


def test_a_regressor_by_the_people_in_its_leaves() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(1_000, 4))
    model = DecisionTreeRegressor(min_samples_leaf=2, random_state=0).fit(x, x[:, 0])
    unseen = rng.normal(size=(2_400, 4))
    finding = run_attack(Membership(), case_of(model, (x, x[:, 0]), (unseen, unseen[:, 0])))
    assert finding.details.auc_low > 0.5
    assert finding.details.references.loss.auc > 0.5
    assert "classify" in finding.details.references.lira.reason


def test_boosting_says_why_the_references_are_left_out() -> None:
    x, y = population(600, 6)
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(x, y)
    details = run_attack(Membership(), case_of(model, (x, y), population(600, 7))).details
    assert "not the mean" in details.references.loss.reason


@pytest.mark.parametrize(
    ("area", "rate", "alone", "severity"),
    [
        ((0.51, 0.49), (0.02, 0.005), 0, "none"),
        ((0.51, 0.49), (0.02, 0.005), 1, "low"),
        ((0.55, 0.52), (0.02, 0.005), 0, "low"),
        ((0.55, 0.52), (0.04, 0.02), 0, "medium"),
        ((0.7, 0.6), (0.02, 0.005), 0, "medium"),
        ((0.51, 0.49), (0.12, 0.05), 0, "high"),
        ((0.9, 0.85), (0.0, 0.0), 0, "high"),
        ((0.9, 0.85), None, 0, "high"),
    ],
)
def test_what_is_certainly_above_chance_decides(area, rate, alone, severity) -> None:
    """AUC and its lower end, hits at 1 % false alarms and theirs."""
    found = replace(separation(np.zeros(5), np.zeros(5)), auc=area[0], auc_low=area[1])
    hits = rate and Estimate(value=rate[0], low=rate[1], high=1.0, n=100)
    assert _severity(found, hits, alone) == severity


def test_the_strongest_is_corrected_for_choosing() -> None:
    """Never below a test by itself, at either end, and its lower end pays for the choice."""
    rng = np.random.default_rng(4)
    control = {name: rng.normal(size=2_000) for name in ("counts", "loss", "lira")}
    tests = {name: (rng.normal(0.1 * i, 1, 900), control[name]) for i, name in enumerate(control)}
    found, by_area, by_rate = strongest(tests)
    each = [separation(*one) for one in tests.values()]
    assert by_area == max(tests, key=lambda name: area(*tests[name]).value)
    assert by_rate in tests
    assert found.auc == max(one.auc for one in each)
    assert found.auc_high == max(one.auc_high for one in each)
    assert found.auc_low < max(one.auc_low for one in each)
    assert found.tpr_at_1_percent_fpr == max(one.tpr_at_1_percent_fpr for one in each)
    highest = max(one.tpr_at_1_percent_fpr_high for one in each)
    assert found.tpr_at_1_percent_fpr_high == highest


def test_policies_judge_the_strongest_of_the_tests() -> None:
    x, y = population(1_500, 11)
    model = DecisionTreeClassifier(random_state=0).fit(x, y)
    case = case_of(model, (x, y), population(5_000, 12))
    finding = run_attack(Membership(), case)
    details = finding.details
    each = [details.references.counts, details.references.loss, details.references.lira]
    assert details.auc == max(one.auc for one in each)
    assert details.auc_high == max(one.auc_high for one in each)
    assert details.tpr_at_1_percent_fpr_high == max(
        one.tpr_at_1_percent_fpr_high for one in each if one.tpr_at_1_percent_fpr_high is not None
    )
    assert "the strongest of 3 tests" in finding.summary
    named = {"counts": "the counts of leaves", "loss": "the loss", "lira": "LiRA"}
    assert f"by {named[details.strongest]}" in finding.summary
    auc, tpr = (rule.measure([finding], case.forest) for rule in _CHECKS)
    assert (auc, tpr) == (details.auc_high, details.tpr_at_1_percent_fpr_high)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"train": None}, "needs --train to"),
        ({"test": None}, "needs --test to"),
        ({"train": None, "test": None}, "needs --train and --test to tell success from chance"),
    ],
)
def test_without_people_it_is_skipped(forest_case, change, reason) -> None:
    given = {"train": forest_case.train, "test": forest_case.test} | change
    result = run_attack(
        Membership(), Case(forest=forest_case.forest, table=forest_case.table, **given)
    )
    assert isinstance(result, ta.Skipped)
    assert reason in result.reason


def test_too_few_people_and_no_labels_are_skipped() -> None:
    x, y = population(100, 8)
    model = DecisionTreeClassifier(max_depth=3).fit(x, y)
    few = run_attack(Membership(), case_of(model, (x, y), (x[:39], y[:39])))
    assert few.reason == "test has 39 people; at least 40 are needed"
    blank = run_attack(Membership(), case_of(model, (x, y), x))
    assert blank.reason == "test has no column of labels; name it with --target"


def test_noise_is_not_taken_for_counts(figure_3) -> None:
    noisy = ta.Forest(trees=figure_3.trees, schema=figure_3.schema, counts_are="noisy")
    people = records_of(noisy, [[160, 50, 20]] * 50, [0] * 50)
    result = run_attack(
        Membership(),
        Case(forest=noisy, table=ta.reconstruct(noisy).groups, train=people, test=people),
    )
    assert result.details.score == "answers"
    assert result.details.auc == 0.5


def test_of_a_private_model_only_the_answers_can_be_attacked() -> None:
    """Labels only: whoever is answered rightly scores 1; by hand the areas are pair counts."""
    stump = ta.Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 0],
                    high=[np.inf, 0, np.inf], label=[0, 0, 1])  # fmt: skip
    forest = ta.Forest(
        trees=(stump,), schema=ta.Schema.numeric(1, ["no", "yes"]), counts_are="label-only"
    )
    x = np.tile([[-1.0], [1.0]], (100, 1))
    members = (x, np.tile(["no", "yes"], 100))
    others = (x, np.tile(["no", "no"], 100))
    report = ta.scan(forest, train=members, test=others, attacks=["TA105"])
    details = report["TA105"].details
    assert details.score == "answers"
    # Every member is answered rightly, about half of the others: 1 * 1/2 + 1/2 * 1/2.
    assert details.auc == pytest.approx(0.75, abs=0.06)
    assert "by what the model answers" in report["TA105"].summary


@pytest.mark.parametrize(
    ("trees", "expected"),
    [
        # Shadows answer 0.5 and 0.9, the model 0.9: logits 0, 2.197 and 2.197, which are 1.554
        # apart. Of a forest the logit of 0.7 is taken, of a tree the mean of 0 and 2.197.
        (2, (2.19722 - 0.84730) / 1.55367),
        (1, (2.19722 - 1.09861) / 1.55367),
    ],
)
def test_lira_by_hand(trees, expected, monkeypatch) -> None:
    answers = iter([np.array([0.5, 0.5]), np.array([0.9, 0.9])])
    told = (np.array([0.9]), np.array([0.9]))
    monkeypatch.setattr(scores, "_shadow_rows", lambda *_: 1)
    monkeypatch.setattr(scores, "loss", lambda *_: told)
    monkeypatch.setattr(scores, "_shadow", lambda *_, **__: next(answers))
    one = SimpleNamespace(values=np.zeros((2, 1)), known_labels=np.zeros(2, dtype=int))
    first = np.array([0])
    people = SimpleNamespace(train=one, test=one, members=first, control=first, reference=first)
    members, control = scores.lira(SimpleNamespace(n_trees=trees), people, 0, shadows=2)
    assert members == pytest.approx([expected], abs=1e-4)
    assert control == pytest.approx([expected], abs=1e-4)
