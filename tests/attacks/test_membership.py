"""TA105: what it says of models whose memory is known."""

import json
from dataclasses import replace

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier

import treeaudit as ta
from tests.attacks.people import case_of, population, records_of
from treeaudit.attacks import Case, Membership, run_attack
from treeaudit.attacks.membership_inference import attack
from treeaudit.attacks.membership_inference.attack import (
    _CHECKS,
    _severity,
    membership_scores,
)
from treeaudit.attacks.membership_inference.roc import area, separation, strongest
from treeaudit.attacks.membership_inference.scores import loss, split_groups
from treeaudit.attacks.membership_inference.shadows import _pool, by_shadows, ratios
from treeaudit.findings.details import plain_data
from treeaudit.stats import Estimate

POLICY = ta.Policy(name="any", values={"max-membership-auc": 1.0})


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
    assert details.auc > details.references.shadows.auc
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
    assert finding.details.references.shadows.auc_low > 0.5


def test_nothing_is_clear_where_the_strongest_test_was_not_run(monkeypatch) -> None:
    x, y = population(600, 6)
    model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(x, y)
    monkeypatch.setattr(attack, "by_shadows", lambda *_: "they take too long")
    result = run_attack(Membership(), case_of(model, (x, y), population(600, 7)))
    assert isinstance(result, ta.Skipped)
    assert result.reason.startswith(
        "the counts of leaves found nothing, but the strongest test was not run, shadow models"
    )


def test_what_was_not_run_is_said_and_passes_no_check(monkeypatch) -> None:
    x, y = population(600, 6)
    model = DecisionTreeClassifier(random_state=0).fit(x, y)
    monkeypatch.setattr(attack, "by_shadows", lambda *_: "they take too long")
    people = {"train": (x, y), "test": population(600, 7)}
    report = ta.scan(model, **people, attacks=["TA105"], policy=POLICY)
    assert (
        "Not run, so that more may be found: shadow models (they take too long). The attack "
        "learnt from 300 unseen people, fewer than there are members"
    ) in report["TA105"].summary
    (check,) = [one for one in report.checks if one.name == "max-membership-auc"]
    assert check.status == "skipped"
    assert check.reason == (
        "not everything could be looked at: shadow models, the strongest test (they take too long)"
    )


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
    control = {name: rng.normal(size=2_000) for name in ("counts", "loss", "shadows")}
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
    each = [details.references.counts, details.references.loss, details.references.shadows]
    assert details.auc == max(one.auc for one in each)
    assert details.auc_high == max(one.auc_high for one in each)
    assert details.tpr_at_1_percent_fpr_high == max(
        one.tpr_at_1_percent_fpr_high for one in each if one.tpr_at_1_percent_fpr_high is not None
    )
    assert "the strongest of 3 tests" in finding.summary
    named = {"counts": "the counts of leaves", "loss": "the loss", "shadows": "shadow models"}
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


def test_ratios_by_hand() -> None:
    """The model says 0.9 and 0.2; two shadow models 0.5 and 0.9, and 0.2 and 0.6."""
    others = np.array([[0.5, 0.2], [0.9, 0.6]])
    assert ratios(np.array([0.9, 0.2]), others) == pytest.approx([1.0 / 0.8, 0.3 / 0.5])


@pytest.mark.parametrize("model", [
    DecisionTreeClassifier(min_samples_leaf=3),
    RandomForestClassifier(5),
    GradientBoostingClassifier(n_estimators=5),
    HistGradientBoostingClassifier(max_iter=5),
    XGBClassifier(n_estimators=5),
    LGBMClassifier(n_estimators=5, verbose=-1),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_answers_are_those_of_the_library(model) -> None:
    """The loss is the library's probability of the right label, and shadow models are trained."""
    x, y = population(300, 20)
    model.set_params(random_state=0).fit(x, (y == "yes").astype(int))
    case = case_of(model, (x, (y == "yes").astype(int)), (x[:80], (y[:80] == "yes").astype(int)))
    people = split_groups(case, "TA105", 500)
    members, control = loss(case.forest, people)
    answer = model.predict_proba(x)[np.arange(300), (y == "yes").astype(int)]
    assert members == pytest.approx(answer[people.members], abs=1e-6)
    assert control == pytest.approx(answer[people.control], abs=1e-6)
    members, control = by_shadows(case.forest, people, 0)
    assert (len(members), len(control)) == (300, 40)


def test_missing_values_stand_below_all_others() -> None:
    """Trees of old versions, and gradient boosting, take no NaN."""
    x, y = population(100, 26)
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(x, y)
    case = case_of(model, (x, y), (x, y))
    case.train.values[:5, 2] = np.nan
    members, _ = by_shadows(case.forest, split_groups(case, "TA105", 500), 0)
    assert np.isfinite(members).all()


def test_equal_people_have_equal_ratios_whoever_of_them_was_a_member() -> None:
    x, y = population(200, 21)
    model = RandomForestClassifier(5, random_state=0).fit(x, y)
    case = case_of(model, (x, y), (x, y))
    people = split_groups(case, "TA105", 500)
    members, control = by_shadows(case.forest, people, 0)
    found = {}
    for rows, scores in ((people.members, members), (people.control, control)):
        for row, score in zip(rows, scores, strict=True):
            assert found.setdefault((*x[row], y[row]), score) == pytest.approx(score)


@pytest.mark.slow
def test_where_nothing_can_be_found_nothing_is_found() -> None:
    """Members and others were exchanged at random: an area of 0.5 on average."""
    x, y = population(400, 22)
    model = DecisionTreeClassifier(random_state=0).fit(x[:200], y[:200])
    areas = []
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(400)
        one, other = order[:200], order[200:]
        case = case_of(model, (x[one], y[one]), (x[other], y[other]), seed=seed)
        areas.append(area(*by_shadows(case.forest, split_groups(case, "TA105", 500), seed)).value)
    assert np.mean(areas) == pytest.approx(0.5, abs=4 * np.std(areas, ddof=1) / np.sqrt(12))


@pytest.mark.slow
def test_boosting_is_told_by_shadow_models() -> None:
    x, y = population(600, 23)
    x = np.hstack([x, np.random.default_rng(23).normal(size=(600, 4))])
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(x[:300], y[:300])
    case = case_of(model, (x[:300], y[:300]), (x[300:], y[300:]))
    details = run_attack(Membership(), case).details
    assert details.strongest == "shadows"
    assert details.auc_low > 0.6
    assert details.references.counts.auc_high < details.auc


def test_most_people_and_trees_are_bounded() -> None:
    x, y = population(400, 24)
    model = RandomForestClassifier(2, random_state=0).fit(x, y)
    people = split_groups(case_of(model, (x, y), (x[:60], y[:60])), "TA105", 500)
    pool = _pool(people, np.random.default_rng(0), 100)
    # Half of 200 people are drawn; all 60 unseen people are among these.
    sizes = len(pool.members), len(pool.control), len(pool.reference)
    assert sizes == (140, 30, 30)
    assert set(pool.control) == set(people.control)


@pytest.mark.slow
def test_the_interval_holds_what_the_attack_finds_on_average() -> None:
    """One model; the unseen people, what is learnt from them, and the shadow models are drawn."""
    x, y = population(200, 25)
    model = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(x, y)
    found = []
    for seed in range(20):
        case = case_of(model, (x, y), population(160, 100 + seed), seed=seed)
        people = split_groups(case, "TA105", 500)
        scores = {"counts": membership_scores(case, people), "loss": loss(case.forest, people)}
        scores["shadows"] = by_shadows(case.forest, people, seed)
        each = {name: area(*one).value for name, one in scores.items()}
        found.append((strongest(scores)[0], each))
    truth = max(np.mean([each[name] for _, each in found]) for name in scores)
    assert np.mean([one.auc_low <= truth <= one.auc_high for one, _ in found]) >= 0.9
