"""An accepted report: new or worse fails, the rest is shown and accepted."""

import dataclasses
import json
import math

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from treeaudit.attacks import all_checks
from treeaudit.findings.baseline import Baseline, accept
from treeaudit.findings.findings import Check
from treeaudit.findings.judging import judge, verdict_of
from treeaudit.reports.to_json import json_schema

CHECKS = all_checks()


@pytest.fixture
def accepted(figure_3, tmp_path):
    """The report of the paper's tree, accepted as it is."""
    return ta.scan(figure_3).save(tmp_path / "accepted.json")


def scaled(forest, times) -> ta.Forest:
    tree = forest.trees[0]
    more = dataclasses.replace(tree, n_records=tree.n_records * times, counts=tree.counts * times)
    return dataclasses.replace(forest, trees=(more,), n_records=None)


def test_the_same_model_again_is_accepted(figure_3, accepted) -> None:
    report = ta.scan(figure_3, baseline=accepted)
    assert (report.verdict, report.exit_code) == ("pass", 0)
    failed = [c for c in report.checks if c.status == "fail"]
    assert len(failed) == 3
    assert all(c.accepted and c.baseline == c.measured for c in failed)
    form = report.to_dict()
    jsonschema.validate(form, json_schema())
    assert form["baseline"]["name"] == "accepted.json"
    assert [c["accepted"] for c in form["checks"]] == [True] * 3 + [False] * 6


def test_better_is_accepted_and_worse_is_not(figure_3, tmp_path) -> None:
    worse, better = figure_3, scaled(figure_3, 2)
    old = ta.scan(better).save(tmp_path / "better.json")
    report = ta.scan(worse, baseline=old)
    assert report.verdict == "fail"
    smallest = next(c for c in report.checks if c.name == "min-leaf")
    assert (smallest.measured, smallest.baseline, smallest.accepted) == (1, 2, False)
    certain = next(c for c in report.checks if c.name == "max-certain-share")
    assert certain.accepted
    old = ta.scan(worse).save(tmp_path / "worse.json")
    assert ta.scan(better, baseline=old).verdict == "pass"


def test_a_check_that_is_new_fails(figure_3, accepted) -> None:
    report = ta.scan(figure_3, baseline=accepted, policy="strict")
    assert report.verdict == "pass"
    report = ta.scan(figure_3, baseline=accepted, policy="acro")
    assert report.verdict == "fail"
    assert [c.name for c in report.checks if c.status == "fail" and c.accepted] == ["min-leaf"]


def test_people_below_another_k_are_not_compared(figure_3, tmp_path) -> None:
    def policy(k: int) -> ta.Policy:
        return ta.Policy(name="p", values={"min-leaf": k, "max-small-leaf-people": 0})

    old = ta.scan(figure_3, policy=policy(5)).save(tmp_path / "old.json")
    assert ta.scan(figure_3, policy=policy(5), baseline=old).verdict == "pass"
    report = ta.scan(figure_3, policy=policy(4), baseline=old)
    assert report.verdict == "fail"
    assert report.checks[1].baseline is None


def test_what_was_skipped_is_never_accepted(figure_3, accepted) -> None:
    assert ta.scan(figure_3, baseline=accepted, attacks=["TA101"]).verdict == "review"


def test_no_epsilon_then_and_now(figure_3, tmp_path) -> None:
    policy = ta.Policy(name="p", values={"max-epsilon": 1})
    old = ta.scan(figure_3, policy=policy).save(tmp_path / "old.json")
    assert ta.scan(figure_3, policy=policy, baseline=old).verdict == "pass"
    private = dataclasses.replace(figure_3, privacy={"epsilon": 8.0})
    old = ta.scan(private, policy=policy).save(tmp_path / "private.json")
    assert ta.scan(figure_3, policy=policy, baseline=old).verdict == "fail"


@given(
    st.sampled_from(sorted(CHECKS)),
    st.floats(0, 1, allow_subnormal=False),
    st.floats(0, 1, allow_subnormal=False),
)
def test_a_check_that_passes_is_never_worse_and_acceptance_is_monotone(name, new, old) -> None:
    def one(value: float) -> Check:
        return Check(name=name, threshold=0, measured=value, status="fail", title="x", bound="x")

    base = Baseline(
        name="x", sha256="", model=None, model_sha256=None, estimator="x", k=5,
        measured={name: old},
    )  # fmt: skip
    assert accept([one(old)], base, 5, CHECKS)[0].accepted or (name == "round-to" and old == 0)
    both = {accept([one(v)], base, 5, CHECKS)[0].accepted for v in (new, old)}
    if name != "round-to":
        worse = new < old if name.startswith("min-") else new > old
        assert accept([one(new)], base, 5, CHECKS)[0].accepted == (
            not worse or math.isclose(new, old, rel_tol=1e-9)
        )
    assert True in both or name == "round-to"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: "no", "cannot be read as JSON"),
        (lambda d: "[]", "is no treeaudit report"),
        (lambda d: json.dumps({"results": {}}), "is no treeaudit report"),
        (lambda d: json.dumps(d | {"schema_version": 2}), "schema version 2, this treeaudit"),
        (lambda d: json.dumps(d | {"findings": [3]}), "no whole treeaudit report"),
        (lambda d: json.dumps(d | {"checks": [{"name": "min-leaf"}]}), "no whole treeaudit report"),
        (
            lambda d: json.dumps(d | {"model": d["model"] | {"estimator": "XGBClassifier"}}),
            "about a XGBClassifier, this model is a Tree",
        ),
    ],
)
def test_files_that_are_no_baseline(figure_3, accepted, change, message) -> None:
    accepted.write_text(change(json.loads(accepted.read_text())))
    with pytest.raises(ta.PolicyError, match=message) as told:
        ta.scan(figure_3, baseline=accepted)
    assert "\n" not in str(told.value)


def test_a_baseline_of_another_model(cancer_file, tmp_path) -> None:
    old = ta.scan(cancer_file).save(tmp_path / "old.json")
    assert ta.scan(cancer_file, baseline=old).verdict == "pass"
    other = cancer_file.rename(tmp_path / "other.pkl")
    with pytest.raises(ta.PolicyError, match=r"about cancer.pkl, not about other.pkl"):
        ta.scan(other, baseline=old)
    with pytest.raises(ta.PolicyError, match="there is no baseline"):
        ta.scan(other, baseline=tmp_path / "nowhere.json")


def test_the_verdict_counts_only_what_is_not_accepted(figure_3) -> None:
    checks = judge(ta.Policy(name="p", values={"min-leaf": 5}), [], figure_3, CHECKS)
    verdict = verdict_of(checks)
    assert verdict == verdict_of(checks) == "review"
    failed = dataclasses.replace(checks[0], status="fail")
    assert verdict_of([failed]) == "fail"
    assert verdict_of([dataclasses.replace(failed, accepted=True)]) == "pass"
