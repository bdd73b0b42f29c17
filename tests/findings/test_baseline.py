"""An accepted report: new or worse fails, the rest is shown and accepted."""

import dataclasses
import json
import math
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.ledgers import private_of
from treeaudit.attacks import all_checks
from treeaudit.findings.baseline import Baseline, accept
from treeaudit.findings.findings import Check
from treeaudit.findings.judging import judge, verdict_of
from treeaudit.reports import render
from treeaudit.reports.advice import verdict_line
from treeaudit.reports.to_json import json_schema

CHECKS = all_checks()


def signed(path, **changed):
    """Somebody accepts a report."""
    data = json.loads(path.read_text())
    data["accepted"] = {"by": "Ada Lovelace", "until": "9999-12-31"} | changed
    path.write_text(json.dumps(data))
    return path


@pytest.fixture
def accepted(figure_3, tmp_path):
    """The report of the paper's tree, accepted as it is."""
    return signed(ta.scan(figure_3).save(tmp_path / "accepted.json"))


def scaled(forest, times) -> ta.Forest:
    tree = forest.trees[0]
    more = dataclasses.replace(tree, n_records=tree.n_records * times, counts=tree.counts * times)
    return dataclasses.replace(forest, trees=(more,), n_records=None)


def test_the_same_model_again_is_accepted(figure_3, accepted) -> None:
    report = ta.scan(figure_3, baseline=accepted)
    assert (report.verdict, report.exit_code) == ("accepted", 0)
    failed = [c for c in report.checks if c.status == "fail"]
    assert len(failed) == 4
    assert all(c.accepted and c.baseline == c.measured for c in failed)
    form = report.to_dict()
    jsonschema.validate(form, json_schema())
    assert form["baseline"]["name"] == "accepted.json"
    assert [c["accepted"] for c in form["checks"]] == [True] * 4 + [False] * 10


def test_better_is_accepted_and_worse_is_not(figure_3, tmp_path) -> None:
    worse, better = figure_3, scaled(figure_3, 2)
    old = ta.scan(better).save(tmp_path / "better.json")
    report = ta.scan(worse, baseline=old)
    assert report.verdict == "fail"
    smallest = next(c for c in report.checks if c.name == "min-leaf")
    assert (smallest.measured, smallest.baseline, smallest.accepted) == (1, 2, False)
    certain = next(c for c in report.checks if c.name == "max-certain-share")
    assert certain.accepted
    old = signed(ta.scan(worse).save(tmp_path / "worse.json"))
    assert ta.scan(better, baseline=old).verdict == "accepted"


def test_a_check_that_is_new_fails(figure_3, accepted) -> None:
    report = ta.scan(figure_3, baseline=accepted, policy="strict")
    assert report.verdict == "accepted"
    report = ta.scan(figure_3, baseline=accepted, policy="acro")
    assert report.verdict == "fail"
    assert [c.name for c in report.checks if c.status == "fail" and c.accepted] == ["min-leaf"]


def test_people_below_another_k_are_not_compared(figure_3, tmp_path) -> None:
    def policy(k: int) -> ta.Policy:
        return ta.Policy(name="p", values={"min-leaf": k, "max-small-leaf-people": 0})

    old = signed(ta.scan(figure_3, policy=policy(5)).save(tmp_path / "old.json"))
    assert ta.scan(figure_3, policy=policy(5), baseline=old).verdict == "accepted"
    report = ta.scan(figure_3, policy=policy(4), baseline=old)
    assert report.verdict == "fail"
    assert report.checks[1].baseline is None


def test_what_was_skipped_is_never_accepted(figure_3, accepted) -> None:
    assert ta.scan(figure_3, baseline=accepted, attacks=["TA101"]).verdict == "review"


def test_no_epsilon_then_and_now(figure_3, tmp_path) -> None:
    policy = ta.Policy(name="p", values={"max-epsilon": 1})
    old = signed(ta.scan(figure_3, policy=policy).save(tmp_path / "old.json"))
    assert ta.scan(figure_3, policy=policy, baseline=old).verdict == "accepted"
    private = private_of(figure_3, 8)
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
    old = signed(ta.scan(cancer_file).save(tmp_path / "old.json"))
    assert ta.scan(cancer_file, baseline=old).verdict == "accepted"
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
    excused = [dataclasses.replace(failed, accepted=True)]
    assert verdict_of(excused) == "review"
    assert verdict_of(excused, signed=True) == "accepted"
    assert verdict_of([*excused, checks[0]], signed=True) == "review"
    assert verdict_of([*excused, failed], signed=True) == "fail"


def test_a_report_that_nobody_answers_for_accepts_nothing(figure_3, tmp_path) -> None:
    """Whoever has the folder has a report of the same failing model: that is no acceptance."""
    path = ta.scan(figure_3).save(tmp_path / "old.json")
    report = ta.scan(figure_3, baseline=path)
    assert (report.verdict, report.exit_code) == ("review", 3)
    for form in ("txt", "html"):
        assert "accepted by nobody in particular" in " ".join(render(report, form).split())
        assert "writes their name and a date into" in " ".join(render(report, form).split())
    report = ta.scan(figure_3, baseline=signed(path, until="2020-01-04"))
    assert report.verdict == "review"
    assert "the acceptance by Ada Lovelace ended on 2020-01-04" in verdict_line(report)
    jsonschema.validate(report.to_dict(), json_schema())
    jsonschema.validate(json.loads(path.read_text()), json_schema())
    for lacking in ({"by": None}, {"until": None}):
        assert ta.scan(figure_3, baseline=signed(path, **lacking)).verdict == "review"


def test_who_accepts_and_until_when_is_said(figure_3, accepted) -> None:
    report = ta.scan(figure_3, baseline=accepted)
    assert report.to_dict()["baseline"] | {"sha256": "", "model_sha256": None} == {
        "name": "accepted.json",
        "sha256": "",
        "model_sha256": None,
        "by": "Ada Lovelace",
        "until": "9999-12-31",
        "holds": True,
    }
    for form in ("txt", "html"):
        shown = " ".join(render(report, form).split())
        assert "ACCEPTED" in shown
        assert "accepted by Ada Lovelace until 9999-12-31" in shown
        assert not re.search(r"PASS (?!does not mean)", shown)


def test_nobody_accepts_what_passes(figure_3, accepted) -> None:
    policy = ta.Policy(name="p", values={"min-leaf": 1})
    assert ta.scan(figure_3, policy=policy, baseline=accepted).verdict == "pass"


@pytest.mark.parametrize(
    "changed",
    [{"by": ""}, {"by": "a\x1b"}, {"by": 3}, {"by": "a" * 300}, {"until": "soon"}, {"until": 9}],
)
def test_names_and_dates_that_are_none(figure_3, accepted, changed) -> None:
    with pytest.raises(ta.PolicyError, match="no whole treeaudit report"):
        ta.scan(figure_3, baseline=signed(accepted, **changed))
