"""Policies: thresholds, files, verdicts."""

import dataclasses
import math
import pickle
import types

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.ledgers import private_of
from treeaudit.attacks import ATTACKS, all_checks
from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.findings.details import People
from treeaudit.findings.policy import BUILT_IN, check_names, read_policy, verdict_of
from treeaudit.findings.policy import judge as judge_with
from treeaudit.model.source import KINDS, Extra, Extras
from treeaudit.reports.formats import render


def dotted(value):
    """Return nested details whose parts are attributes."""
    if isinstance(value, list):
        return [dotted(part) for part in value]
    if not isinstance(value, dict):
        return value
    return types.SimpleNamespace(**{name: dotted(part) for name, part in value.items()})


def measured(attack, values):
    """Return details of an attack that hold some of its numbers only."""
    kind = next(one.details for one in ATTACKS if one.id == attack)
    details = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(details, name, dotted(value))
    return details


def once(people: int, among: int = 10) -> InAnyTree:
    """Return a number of people that is the same in any tree as in the only one."""
    counted = People(people)
    return InAnyTree(tree=0, worst=counted, low=counted, high=counted, among=People(among))


BOUNDS = InAnyTree(tree=3, worst=People(5), low=People(7), high=People(42), among=People(100))
FOUND = ta.Finding(
    id="TA101",
    title="Singling out",
    severity="high",
    leaves=2,
    people=3,
    summary="x.",
    looked=("leaves",),
    details=measured(
        "TA101",
        {"min_leaf": 1, "unique_in_any_tree": once(1), "below_k_in_any_tree": once(3)},
    ),
)
CLEAR = ta.Finding(
    id="TA102",
    title="Homogeneity",
    severity="none",
    leaves=0,
    people=0,
    summary="x.",
    looked=("leaves",),
    details=measured(
        "TA102",
        {
            "certain_share": 0.0,
            "homogeneous_in_any_tree": once(0),
            "nearly_certain_share": 0.0,
            "nearly_certain_in_any_tree": once(0),
        },
    ),
)
MISSING = ta.Skipped(id="TA102", title="Homogeneity", reason="no classes")


CHECKS = all_checks()


def judge(policy, results, forest):
    """Return the checks and the verdict."""
    checks = judge_with(check_names(policy, CHECKS), results, forest, CHECKS)
    return checks, verdict_of(checks)


def verdict(values, results, forest) -> str:
    return judge(ta.Policy(name="mine", values=values), results, forest)[1]


@pytest.mark.parametrize(
    ("values", "results", "verdict"),
    [
        ({"min-leaf": 5}, [FOUND], "fail"),
        ({"min-leaf": 1}, [FOUND], "pass"),
        ({"max-unique-people": 1}, [FOUND], "pass"),
        ({"max-unique-people": 0}, [FOUND], "fail"),
        ({"max-small-leaf-people": 2}, [FOUND], "fail"),
        ({"max-certain-share": 0.0}, [CLEAR], "pass"),
        ({"max-certain-share": 0.0}, [MISSING], "review"),
        ({"max-certain-share": 0.0}, [], "review"),
        ({"max-certain-share": 0.0, "min-leaf": 5}, [FOUND, MISSING], "fail"),
        ({"max-epsilon": 1.0}, [], "fail"),
        ({}, [FOUND], "pass"),
    ],
)
def test_verdicts(figure_3, values, results, verdict) -> None:
    assert judge(ta.Policy(name="mine", values=values), results, figure_3)[1] == verdict


def test_a_model_that_claims_epsilon(figure_3) -> None:
    private = private_of(figure_3, 0.5)
    assert verdict({"max-epsilon": 1.0}, [], private) == "pass"
    assert verdict({"max-epsilon": 0.1}, [], private) == "fail"


def test_a_skipped_check_says_why(figure_3) -> None:
    checks, _ = judge(BUILT_IN["default"], [FOUND, MISSING], figure_3)
    assert [(c.name, c.status) for c in checks] == [
        ("min-leaf", "fail"),
        ("max-unique-people", "fail"),
        ("max-certain-share", "skipped"),
        ("max-nearly-certain-share", "skipped"),
        ("max-known-number-share", "not-applicable"),  # labels
        ("max-dominating-people", "not-applicable"),
        ("max-certified-people", "not-applicable"),  # one tree
        ("max-joint-label-excess", "not-applicable"),
        ("max-joint-one-label-excess", "not-applicable"),
        ("max-joint-certain-people", "not-applicable"),
        ("max-identifying-features", "skipped"),
        ("max-training-rows-inside", "skipped"),
        ("max-exact-values", "skipped"),
        ("max-calls", "skipped"),
        ("max-malformed-parts", "skipped"),
        ("max-extra-bytes", "skipped"),
    ]
    assert checks[2].reason == "no classes"
    assert checks[2].measured is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"min_leaf": 5}, "did you mean min-leaf"),
        ({"colour": 5}, "known: min-leaf"),
        ({"min-leaf": "5"}, "must be a number"),
        ({"min-leaf": True}, "must be a number"),
        ({"min-leaf": -1}, "at least 0"),
        ({"min-leaf": float("nan")}, "must be a number"),
        ({"max-certain-share": 5}, "share between 0 and 1"),
    ],
)
def test_policies_that_are_not_well_formed(values, message) -> None:
    with pytest.raises(ta.PolicyError, match=message):
        check_names(ta.Policy(name="mine", values=values), CHECKS)


def test_built_in_policies() -> None:
    assert BUILT_IN["default"].k == 5
    assert BUILT_IN["strict"].k == 10
    assert BUILT_IN["observe"].values == {}


def test_policies_from_files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.treeaudit.policies.release]\nmin-leaf = 7\n")
    assert read_policy("release").values == {"min-leaf": 7}
    (tmp_path / "tre.toml").write_text("[policies.tre]\nmin-leaf = 10\nmax-epsilon = 1.0\n")
    assert read_policy("tre.toml").name == "tre"
    assert read_policy("tre", tmp_path / "tre.toml").k == 10


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "releas", "no policy"),
        ("[tool.treeaudit.policies.release]\nmin-leaf = 7\n", "relase", "did you mean release"),
        ("[[[", "release", "cannot be read as TOML"),
        ("tool = 3\n", "release", "no policy"),
        ("[tool.treeaudit.policies]\nrelease = 3\n", "release", "not a table"),
    ],
)
def test_files_that_do_not_help(tmp_path, monkeypatch, text, name, message) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ta.PolicyError, match=message):
        read_policy(name)


@pytest.mark.parametrize("name", [*BUILT_IN, "Default", " strict", "ｄefault"])
def test_no_file_changes_a_policy_that_is_built_in(tmp_path, monkeypatch, name) -> None:
    monkeypatch.chdir(tmp_path)
    text = f'policies."{name}"]\nmin-leaf = 0\n'
    (tmp_path / "pyproject.toml").write_text(f"[tool.treeaudit.{text}", encoding="utf-8")
    (tmp_path / "mine.toml").write_text(f"[{text}", encoding="utf-8")
    for asked in ("default", name, "mine.toml"):
        with pytest.raises(ta.PolicyError, match="built in: give it another name") as told:
            read_policy(asked)
        assert "\n" not in str(told.value)


def test_a_policy_of_a_file_is_named_with_it_in_every_output(
    figure_3, tmp_path, monkeypatch
) -> None:
    from treeaudit.reports.acro import write_acro
    from treeaudit.reports.formats import render

    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.treeaudit.policies.release]\nmin-leaf = 7\n")
    report, named = ta.scan(figure_3, policy="release"), "release of ./pyproject.toml"
    assert report.policy.source == "./pyproject.toml"
    assert f"policy {named}" in " ".join(render(report, "txt").split())
    assert f'<span class="mono">{named}</span>' in render(report, "html")
    assert named in render(report, "html", release_safe=True)
    assert report.to_dict()["policy"]["source"] == "./pyproject.toml"
    records = write_acro(report, tmp_path / "outputs").read_text()
    assert f'"policy": "{named}"' in records
    assert f"of policy {named} failed" in records or f"of policy {named}" in records
    found = ta.compare(figure_3, policy="release")
    assert all(named in found.save(tmp_path / f"c.{form}").read_text() for form in ("html", "txt"))
    assert ta.scan(figure_3).to_dict()["policy"]["source"] is None
    path = tmp_path / "tre.toml"
    path.write_text("[policies.tre]\nmin-leaf = 7\n")
    assert read_policy(str(path)).title == "tre of tre.toml"
    assert read_policy("tre.toml").title == "tre of tre.toml"


def finding(attack: str, *controls, severity="high", **details) -> ta.Finding:
    return ta.Finding(
        id=attack,
        title="x",
        severity=severity,
        leaves=0,
        people=0,
        summary="x.",
        looked=("leaves",),
        details=measured(attack, details),
        controls=controls,
    )


def control(high: float | None) -> ta.Control:
    estimate = None if high is None else ta.Estimate(value=high / 2, low=0.0, high=high, n=9)
    return ta.Control(of="x", claim=ta.Estimate(value=1, low=1, high=1, n=9), excess=estimate)


@pytest.mark.parametrize(
    ("values", "found", "status"),
    [
        (
            {"max-small-leaf-share": 0.1},
            finding("TA101", below_k_share=0.1, below_k_in_any_tree=once(1)),
            "pass",
        ),
        (
            {"max-small-leaf-share": 0.1},
            finding("TA101", below_k_share=0.11, below_k_in_any_tree=once(1)),
            "fail",
        ),
        ({"min-entropy-l": 2}, finding("TA102", entropy_l=2.0, measured_on="people"), "pass"),
        ({"min-entropy-l": 2}, finding("TA102", entropy_l=1.9, measured_on="people"), "fail"),
        ({"min-distinct-l": 2}, finding("TA102", distinct_l=1), "fail"),
        (
            {"max-t-closeness": 0.3},
            finding("TA102", t_closeness=0.31, measured_on="people"),
            "fail",
        ),
        (
            {"max-dominant-share": 0.9},
            finding("TA102", largest_share=0.989, measured_on="people"),
            "fail",
        ),
        # Of draws and weights a pass would not be shown to hold of people.
        ({"min-entropy-l": 2}, finding("TA102", entropy_l=3.0, measured_on="draws"), "skipped"),
        (
            {"max-dominant-share": 0.9},
            finding("TA102", largest_share=0.5, measured_on="draws"),
            "skipped",
        ),
        ({"max-unique-people": 9}, finding("TA101", unique_in_any_tree=BOUNDS), "fail"),
        ({"max-unique-people": 50}, finding("TA101", unique_in_any_tree=BOUNDS), "pass"),
        (
            {"max-certain-share": 0.4},
            finding("TA102", certain_share=0.3, homogeneous_in_any_tree=BOUNDS),
            "fail",
        ),
        ({"min-cell": 10}, finding("TA102", smallest_cell=10), "pass"),
        ({"min-cell": 10}, finding("TA102", smallest_cell=None), "skipped"),
        (
            {"max-absent-label-people": 0},
            finding("TA102", absent_class_in_any_tree=once(1)),
            "fail",
        ),
        (
            {"max-disclosed-by-one-known": 5},
            finding("TA103", disclosed_by_one_in_any_tree=once(6)),
            "fail",
        ),
        ({"max-memorised-excess": 0.1}, finding("TA101", control(0.05)), "pass"),
        ({"max-memorised-excess": 0.1}, finding("TA101", control(0.05), control(0.3)), "fail"),
        ({"max-memorised-excess": 0.1}, finding("TA101", control(0.05), control(None)), "skipped"),
        ({"max-memorised-excess": 0.1}, finding("TA101"), "skipped"),
        ({"max-memorised-excess": 0.1}, finding("TA101", severity="none"), "pass"),
        (
            {"max-attribute-advantage": 0.1},
            finding(
                "TA104",
                not_attacked=[],
                columns=[
                    {"excess_high": 0.3, "beyond_imputation_high": 0.05},
                    {"excess_high": 0.2, "beyond_imputation_high": 0.12},
                ],
            ),
            "fail",
        ),
        ({"max-attribute-advantage": 1}, finding("TA104", not_attacked=["age"]), "skipped"),
        ({"max-membership-auc": 0.55}, finding("TA105", auc_high=0.56), "fail"),
        ({"max-membership-tpr": 0.02}, finding("TA105", tpr_at_1_percent_fpr_high=None), "skipped"),
        ({"min-degrees-of-freedom": 10}, finding("TA101", residual_degrees_of_freedom=-1), "fail"),
        ({"max-training-rows-inside": 0}, finding("TA202", people=9), "fail"),
        ({"max-training-rows-inside": 0}, finding("TA202", people=0), "skipped"),
        ({"max-training-rows-inside": 0}, finding("TA202", severity="none", people=0), "pass"),
        ({"max-calls": 0}, finding("TA205", calls=0, code=1), "fail"),
        ({"max-seeds": 0}, finding("TA203", seeds=100), "fail"),
        ({"max-exact-values": 10}, finding("TA204", exact_values=10), "pass"),
        ({"max-population-uniques": 0}, finding("TA101", population=None), "skipped"),
        (
            {"max-population-uniques": 3},
            finding(
                "TA101",
                population={
                    "alone_in_data": 5,
                    "alone_in_both": {"counted": None, "pitman": 3.5},
                },
            ),
            "fail",
        ),
        # What unseen people tell comes before any model, at its upper end.
        (
            {"max-population-uniques": 3},
            finding(
                "TA101",
                population={
                    "alone_in_data": 5,
                    "alone_in_both": {"counted": {"value": 1, "high": 2.5}, "pitman": 3.5},
                },
            ),
            "pass",
        ),
        (
            {"max-population-uniques": 3},
            finding(
                "TA101",
                population={
                    "alone_in_data": 5,
                    "alone_in_both": {"counted": {"value": 1, "high": 3.5}, "pitman": 2},
                },
            ),
            "fail",
        ),
        (
            {"max-marketer-risk": 0.2},
            finding("TA101", risks={"prosecutor": {"average": 0.2}}),
            "pass",
        ),
    ],
)
def test_every_check_has_its_threshold(figure_3, values, found, status) -> None:
    (check,), verdict = judge(ta.Policy(name="mine", values=values), [found], figure_3)
    assert check.status == status, check
    assert verdict == {"pass": "pass", "fail": "fail", "skipped": "review"}[status]
    assert (check.measured is None) == (status == "skipped")
    assert bool(check.reason) == (status == "skipped")


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_passes_when_its_attack_was_skipped_or_not_run(figure_3, name) -> None:
    policy, rule = ta.Policy(name="mine", values={name: 1}), CHECKS[name]
    regressor = dataclasses.replace(
        figure_3,
        trees=figure_3.trees * 2,
        schema=dataclasses.replace(figure_3.schema, classes=None),
    )
    forest = dataclasses.replace(figure_3, trees=figure_3.trees * 2)
    # What cannot apply to one of them applies to another.
    asked = rule.rule.needless
    model = next(
        one for one in (regressor, figure_3, forest) if asked is None or asked(one) is None
    )
    skipped = [ta.Skipped(id=i, title="x", reason="not possible") for i in rule.attacks]
    for results in (skipped, []):
        (check,), verdict = judge(policy, results, model)
        if rule.attacks:
            assert (check.status, verdict) == ("skipped", "review")


@pytest.mark.parametrize(
    ("counts", "to", "measured", "verdict"),
    [
        ([[10, 20], [10, 5], [0, 15]], 5, 5, "pass"),
        ([[10, 20], [10, 5], [0, 15]], 10, 5, "fail"),
        ([[10, 20], [10, 4], [0, 16]], 5, 2, "fail"),
        ([[10, 20], [10, 4.5], [0, 15.5]], 5, 1, "fail"),
        ([[10, 20], [10, 20], [0, 0]], 7, 10, "fail"),
    ],
)
def test_rounding_is_seen_in_every_node(figure_3, counts, to, measured, verdict) -> None:
    stump = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-math.inf, -math.inf, 1],
        high=[math.inf, 1, math.inf],
        counts=counts,
    )
    forest = dataclasses.replace(figure_3, trees=(stump,))
    (check,), said = judge(ta.Policy(name="mine", values={"round-to": to}), [], forest)
    assert (check.measured, said) == (measured, verdict)


def test_a_file_with_everybodys_label_inside_does_not_pass(figure_3) -> None:
    """Whatever its leaves: the labels of all training rows are worse than any leaf."""
    left = Extra(kind="labels", where="_sample_weight", n=9, says="one number per person")
    merged = ta.Forest(
        trees=(
            ta.Tree(
                parent=[-1],
                feature=[-1],
                low=[-math.inf],
                high=[math.inf],
                n_records=[90],
                counts=[[40, 50]],
            ),
        ),
        schema=figure_3.schema,
    )
    assert ta.scan(merged).verdict == "review"
    read = dataclasses.replace(merged, extras=Extras(looked_for=KINDS))
    assert ta.scan(read).verdict == "pass"
    found = Extras(found=(left,), looked_for=KINDS)
    report = ta.scan(dataclasses.replace(merged, extras=found))
    assert report.verdict == "fail"
    assert [c.name for c in report.checks if c.status == "fail"] == ["max-training-rows-inside"]


@pytest.mark.parametrize("name", ["acro", "opensafely", "strict"])
def test_the_papers_tree_fails_every_policy(figure_3, name) -> None:
    report = ta.scan(figure_3, policy=name)
    assert report.verdict == "fail"
    # A model in memory is no file.
    skipped = [check.name for check in report.checks if check.status == "skipped"]
    assert skipped == [name for name in ("require-canonical",) if name in report.policy.values]


@pytest.mark.parametrize(("policy", "verdict"), [(True, "fail"), (False, "pass"), (None, "pass")])
def test_a_policy_may_require_a_canonical_file(tmp_path, policy, verdict) -> None:
    """A file that its library saved fails with the command that helps, a released one passes."""
    rng = np.random.default_rng(0)
    saved = tmp_path / "model.pkl"
    rows = rng.integers(0, 9, (300, 2))
    saved.write_bytes(pickle.dumps(DecisionTreeClassifier(max_depth=2).fit(rows, rows[:, 0] > 4)))
    values = {} if policy is None else {"require-canonical": policy}
    asked = ta.Policy(name="own", values=values)
    report = ta.scan(saved, policy=asked)
    assert (report.verdict, report.to_dict()["model"]["canonical"]) == (verdict, False)
    if verdict == "fail":
        assert "treeaudit.release('model.pkl')" in " ".join(render(report, "txt").split())
    clean = ta.save(ta.release(saved), tmp_path / "clean.pkl")
    report = ta.scan(clean, policy=asked)
    assert (report.verdict, report.to_dict()["model"]["canonical"]) == ("pass", True)


def test_every_check_can_be_made_where_everything_is_given() -> None:
    """A policy that asks for all of them, on a real audit: no name of a detail is wrong."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 4000), "sex": rng.integers(0, 2, 4000)})
    frame["money"] = rng.lognormal(8, 1, 4000).round()
    frame["sick"] = np.where(frame.age + rng.normal(0, 20, 4000) > 60, "yes", "no")
    train, test = frame[:2000], frame[2000:]
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    report = ta.scan(
        tree.fit(train[["age", "sex"]], train.sick),
        train=train,
        test=test,
        target="sick",
        sensitive=["money"],
        fraction=0.1,
        policy=ta.Policy(name="all", values=dict.fromkeys(CHECKS, 1)),
    )
    assert [c.name for c in report.checks if c.status == "skipped"] == ["require-canonical"]
    assert {c.name for c in report.checks} == set(CHECKS)
    for check in report.checks:
        if CHECKS[check.name].rule.share:
            assert 0 <= check.measured <= 1, check


@pytest.mark.parametrize(
    ("name", "measured", "threshold", "shown", "bound"),
    [
        ("max-certain-share", 104 / 10_000, 0.01, "1.04%", "at most 1.0%"),
        ("max-certain-share", 0.002, 0.0004, "0.2%", "at most 0.04%"),
        ("max-certain-share", 0.0123, 0.0125, "1.2%", "at most 1.25%"),
        ("max-certain-share", 0.3, 0.05, "30.0%", "at most 5.0%"),
        ("max-t-closeness", 0.3000001, 0.3, "30.00001%", "at most 0.3"),
        ("min-leaf", 4, 4.5, "4", "at least 4.5 people"),
        ("min-leaf", 4, 5, "4", "at least 5 people"),
        ("max-unique-people", 12_345, 1_234_567, "12,345", "at most 1,234,567"),
        ("min-entropy-l", 1.99996, 2, "1.99996", "at least 2"),
        ("max-epsilon", 1.000001, 1, "1.000001", "at most 1"),
        ("max-epsilon", 1.0, 1.0000001, "1", "at most 1.0000001"),
        ("max-delta", 2e-6, 1e-6, "2e-06", "at most 1e-06"),
    ],
)
def test_no_number_is_rounded_onto_its_bound(name, measured, threshold, shown, bound) -> None:
    rule = CHECKS[name].rule
    assert (rule.show(measured, threshold), rule.asked(threshold)) == (shown, bound)


def test_bounds_over_all_trees_are_told_and_judged_by_their_upper_end(figure_3) -> None:
    policy = ta.Policy(name="mine", values={"max-unique-people": 40})
    (check,), _ = judge(policy, [finding("TA101", unique_in_any_tree=BOUNDS)], figure_3)
    assert (check.measured, check.status) == (42, "fail")
    assert check.shown == "7 to 42"
    share = ta.Policy(name="mine", values={"max-certain-share": 0.01})
    found = finding("TA102", certain_share=0.6, homogeneous_in_any_tree=BOUNDS)
    (check,), _ = judge(share, [found], figure_3)
    of_all = BOUNDS.high / BOUNDS.among
    assert check.measured == max(0.6, of_all)
    # Of a tree of draws and of everybody: two shares of different people.
    assert check.shown == f"60.0% in tree 3, up to {of_all:.1%} over all trees"
