"""An accepted report: new or worse fails, the rest is shown and accepted."""

import dataclasses
import hashlib
import json
import math
import re
from datetime import date

import joblib
import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.ledgers import private_of
from treeaudit.attacks import all_checks
from treeaudit.findings.baseline import Acceptance, Baseline, accept, accepted_report
from treeaudit.findings.checks import EVERY_TERM
from treeaudit.findings.findings import Check
from treeaudit.findings.policy import judge, verdict_of
from treeaudit.findings.report_file import terms_of, terms_of_file
from treeaudit.reports.advice import verdict_line
from treeaudit.reports.formats import render
from treeaudit.reports.to_json import json_schema

CHECKS = all_checks()
TERMS = dict.fromkeys(EVERY_TERM)
UNTIL = date(9999, 12, 31)


def signed(path, **changed):
    """Somebody accepts a report, with such words."""
    data = json.loads(path.read_text())
    data = accepted_report(data, by="Ada Lovelace", until=UNTIL, reason="inside the trust only")
    del data["accepted"]["report"]
    data["accepted"] |= changed
    digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    data["accepted"].setdefault("report", digest)
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
    assert (report.verdict, report.exit_code) == ("accepted", 4)
    failed = [c for c in report.checks if c.status == "fail"]
    assert len(failed) == 4
    assert all(c.accepted and c.baseline == c.measured for c in failed)
    form = report.to_dict()
    jsonschema.validate(form, json_schema())
    assert form["baseline"]["name"] == "accepted.json"
    assert [c["accepted"] for c in form["checks"]] == [True] * 4 + [False] * 12


def test_better_is_accepted_and_worse_is_not(figure_3, tmp_path) -> None:
    worse, better = figure_3, scaled(figure_3, 2)
    old = signed(ta.scan(better).save(tmp_path / "better.json"))
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


@given(
    st.sampled_from(sorted(CHECKS)),
    st.floats(0, 1, allow_subnormal=False),
    st.floats(0, 1, allow_subnormal=False),
)
def test_a_check_that_passes_is_never_worse_and_acceptance_is_monotone(name, new, old) -> None:
    def one(value: float) -> Check:
        return Check(name=name, threshold=0, measured=value, status="fail", title="x", bound="x")

    base = Baseline(
        name="x", sha256="", model=None, model_sha256=None, estimator="x", terms=TERMS,
        measured={name: old},
        accepted=Acceptance(by="x", on=UNTIL, until=UNTIL, reason="x", report=""),
    )  # fmt: skip
    assert accept([one(old)], base, TERMS, CHECKS)[0].accepted or (name == "round-to" and old == 0)
    both = {accept([one(v)], base, TERMS, CHECKS)[0].accepted for v in (new, old)}
    if name != "round-to":
        worse = new < old if name.startswith(("min-", "require-")) else new > old
        assert accept([one(new)], base, TERMS, CHECKS)[0].accepted == (
            not worse or math.isclose(new, old, rel_tol=1e-9)
        )
    assert True in both or name == "round-to"


def again(data) -> str:
    """Return a changed report that somebody accepts as it is now."""
    return json.dumps(accepted_report(data, by="Ada", until=UNTIL, reason="as it is"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: "no", "is no JSON report"),
        (lambda d: "[]", "is no treeaudit report"),
        (lambda d: json.dumps({"results": {}}), "is no treeaudit report"),
        (lambda d: json.dumps(d | {"schema_version": 3}), "schema version 3, this treeaudit"),
        (lambda d: again(d | {"findings": [3]}), "no whole accepted treeaudit report"),
        (lambda d: again(d | {"checks": [{"name": "min-leaf", "status": "fail"}]}), "it lacks"),
        (lambda d: json.dumps(d | {"verdict": "pass"}), "it was changed after it was accepted"),
        (
            lambda d: again(d | {"model": d["model"] | {"estimator": "XGBClassifier"}}),
            "about an XGBClassifier, this model is a Tree",
        ),
        (lambda d: json.dumps({"schema_version": 2, "reports": [d]}), "is about several models"),
    ],
)
def test_files_that_are_no_baseline(figure_3, accepted, change, message) -> None:
    accepted.write_text(change(json.loads(accepted.read_text())))
    with pytest.raises(ta.PolicyError, match=message) as told:
        ta.scan(figure_3, baseline=accepted)
    assert "\n" not in str(told.value)


def test_a_baseline_follows_the_line_of_a_model_and_not_the_name_of_its_file(tmp_path) -> None:
    rng = np.random.default_rng(0)
    x, y = pd.DataFrame(rng.normal(size=(200, 3)), columns=["age", "pay", "debt"]), np.arange(200)
    path = tmp_path / "model.pkl"

    def wrote(columns, labels) -> None:
        tree = DecisionTreeClassifier(max_depth=5, random_state=0)
        joblib.dump(tree.fit(x.set_axis(columns, axis=1)[sorted(columns)], labels), path)

    wrote(["age", "pay", "debt"], y % 2)
    old = signed(ta.scan(path).save(tmp_path / "old.json"))
    assert ta.scan(path, baseline=old).verdict == "accepted"
    later = path.rename(tmp_path / "model_of_december.pkl")
    assert ta.scan(later, baseline=old).verdict == "accepted"
    wrote(["age", "pay", "debt"], (y // 3) % 2)
    assert ta.scan(path, baseline=old).verdict in ("accepted", "fail")
    for columns, labels in ((["age", "pay", "size"], y % 2), (["age", "pay", "debt"], y % 3)):
        wrote(columns, labels)
        with pytest.raises(ta.PolicyError, match="a model of other columns or labels"):
            ta.scan(path, baseline=old)
    with pytest.raises(ta.PolicyError, match="there is no file"):
        ta.scan(path, baseline=tmp_path / "nowhere.json")


def test_the_verdict_counts_only_what_is_not_accepted(figure_3) -> None:
    checks = judge(ta.Policy(name="p", values={"min-leaf": 5}), [], figure_3, CHECKS)
    verdict = verdict_of(checks)
    assert verdict == verdict_of(checks) == "review"
    failed = dataclasses.replace(checks[0], status="fail")
    assert verdict_of([failed]) == "fail"
    excused = [dataclasses.replace(failed, accepted=True)]
    assert verdict_of(excused) == "accepted"
    assert verdict_of([*excused, checks[0]]) == "review"
    assert verdict_of([*excused, failed]) == "fail"


def test_a_report_that_nobody_answers_for_is_no_baseline(figure_3, tmp_path) -> None:
    """Whoever has the folder has a report of the same failing model: that is no acceptance."""
    path = ta.scan(figure_3).save(tmp_path / "old.json")
    with pytest.raises(ta.PolicyError, match=r"'treeaudit accept old\.json --by NAME --until "):
        ta.scan(figure_3, baseline=path)
    for lacking in ("by", "on", "until", "reason", "report"):
        with pytest.raises(ta.PolicyError, match="no whole accepted treeaudit report"):
            ta.scan(figure_3, baseline=signed(path, **{lacking: None}))


def test_an_acceptance_that_ended_counts_no_more(figure_3, accepted) -> None:
    accepted = signed(accepted, until="2020-01-04")
    report = ta.scan(figure_3, baseline=accepted)
    assert (report.verdict, report.exit_code) == ("fail", 1)
    said = "the acceptance by Ada Lovelace ended on 2020-01-04 and counts no more"
    assert said in verdict_line(report)
    for form in ("txt", "html"):
        assert said in " ".join(render(report, form).split())
        assert "treeaudit accept" in render(report, form)
    jsonschema.validate(report.to_dict(), json_schema())
    jsonschema.validate(json.loads(accepted.read_text()), json_schema())


@pytest.mark.parametrize(
    "changed", [{"until": "9999-12-30"}, {"by": "Eve"}, {"reason": "no"}, {"on": "2020-01-01"}]
)
def test_an_acceptance_that_was_edited_counts_no_more(figure_3, accepted, changed) -> None:
    data = json.loads(accepted.read_text())
    data["accepted"] |= changed
    accepted.write_text(json.dumps(data))
    with pytest.raises(ta.PolicyError, match="it was changed after it was accepted"):
        ta.scan(figure_3, baseline=accepted)


def test_who_accepts_and_until_when_is_said(figure_3, accepted) -> None:
    report = ta.scan(figure_3, baseline=accepted)
    assert report.to_dict()["baseline"] | {"sha256": "", "model_sha256": None} == {
        "name": "accepted.json",
        "sha256": "",
        "model_sha256": None,
        "by": "Ada Lovelace",
        "on": date.today().isoformat(),
        "until": "9999-12-31",
        "reason": "inside the trust only",
        "holds": True,
    }
    for form in ("txt", "html"):
        shown = " ".join(render(report, form).split())
        assert "ACCEPTED" in shown
        assert "accepted by Ada Lovelace until 9999-12-31" in shown
        assert "inside the trust only" in shown
        assert not re.search(r"PASS (?!does not mean)", shown)


@pytest.mark.parametrize(
    "changed",
    [
        {"by": ""},
        {"by": "a\x1b"},
        {"by": 3},
        {"by": "a" * 300},
        {"until": "soon"},
        {"until": 9},
        {"reason": " "},
        {"on": None},
        {"report": "0" * 64},
    ],
)
def test_names_and_dates_that_are_none(figure_3, accepted, changed) -> None:
    with pytest.raises(ta.PolicyError, match="no whole accepted treeaudit report"):
        ta.scan(figure_3, baseline=signed(accepted, **changed))


def numbers(narrow: float):
    """Return a regressor of ten leaves of twenty people whose numbers are so close."""
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(10), 20).astype(float)
    y = (x + 1) * 100 + rng.normal(0, narrow, 200)
    return DecisionTreeRegressor(min_samples_leaf=20).fit(pd.DataFrame({"a": x}), y)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tolerance": 3, "fraction": 0.5, "seconds": 2},
        {"rows_per_person": 3, "policy": "strict"},
        {"attacks": ["TA102"]},
    ],
)
def test_a_report_states_what_its_numbers_rest_on(figure_3, options) -> None:
    for model in (figure_3, numbers(20.0), private_of(figure_3, 8)):
        report = ta.scan(model, **options)
        assert terms_of_file(json.loads(json.dumps(report.to_dict()))) == terms_of(report)
        assert set(terms_of(report)) == {*EVERY_TERM, "seen"}


def test_what_each_check_rests_on() -> None:
    """Options that change what a number means, and what a report states of the data."""
    told = {name: set(one.rule.rests_on) for name, one in CHECKS.items()}
    assert "train" in told["max-nearly-certain-share"]
    assert "unit" in told["max-identifying-features"]
    drawn = {name for name, of in told.items() if "seed" in of}
    assert drawn == {
        "max-attribute-advantage",
        "max-memorised-excess",
        "max-membership-auc",
        "max-membership-tpr",
    }
    assert told["max-memorised-excess"] >= {"counts", "train", "test", "sensitive"}
    assert {"known", "prior", "seed"} <= set(EVERY_TERM)
