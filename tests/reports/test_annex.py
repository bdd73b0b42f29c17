"""The annex: evidence in the words of those who ask for it, and none that the run did not show."""

import json
from importlib.resources import files
from typing import get_args

import jsonschema
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import treeaudit as ta
from tests.cli.run import run
from tests.reports.test_private import private
from treeaudit.attacks import ATTACKS
from treeaudit.attacks.differencing import Differencing
from treeaudit.findings.findings import AttackKind
from treeaudit.reports.annex import annex_of
from treeaudit.reports.annex.private import schema_sha256
from treeaudit.reports.annex.questions import QUESTIONS
from treeaudit.reports.formats import render
from treeaudit.reports.to_json import json_schema

ALL = ["edpb", "satre", "dp"]


def statuses(report: ta.Report) -> dict[str, str]:
    told = annex_of(report).edpb.answers
    return {f"{one.source.split()[0]} {one.name}": one.status for one in told}


def test_every_kind_of_attack_is_asked_for_and_answered() -> None:
    asked = {kind for question in QUESTIONS for kind in question.kinds}
    offered = {kind for one in (*ATTACKS, Differencing) for kind in one.words.kinds}
    assert asked == offered == set(get_args(AttackKind))


def test_a_tree_with_a_person_alone(figure_3) -> None:
    """Table 4 of Wakabayashi et al.: nine people, one of them alone in a leaf."""
    report = ta.scan(figure_3, annex=ALL)
    assert statuses(report) == {
        "EDPB Attribute and membership inference": "contrary evidence",
        "EDPB Exfiltration": "evidence",
        "EDPB Regurgitation of training data": "contrary evidence",
        "EDPB Model inversion": "not run",
        "EDPB Reconstruction": "contrary evidence",
        "EDPB From queries alone": "not run",
        "WP29 Singling out": "contrary evidence",
        "WP29 Linkability": "out of scope",
        "WP29 Inference": "contrary evidence",
        "NIST Data reconstruction": "contrary evidence",
        "NIST Membership inference": "not run",
        "NIST Property inference": "out of scope",
        "NIST Model extraction": "out of scope",
    }
    worst = annex_of(report).edpb.worst_person
    assert (worst.risk, worst.people, worst.attack) == (1.0, 1, "TA101")
    assert worst.rule == "Height ≥ 170 · Age < 15"
    alone = next(one for one in annex_of(report).edpb.attacks if one.id == "TA101")
    assert (alone.people, alone.n) == (9, 9)  # all are in groups below 5
    assert alone.knowledge == "the attacker has the file and knows the features on the path"


def test_what_nobody_ran_is_no_evidence(figure_3) -> None:
    report = ta.scan(figure_3, annex=["edpb"], attacks=["TA202"], policy="observe")
    assert set(statuses(report).values()) == {"not run", "out of scope"}
    told = {one.id: one for one in annex_of(report).edpb.attacks}
    assert told["TA101"].says == "it was not asked for (--attack)"
    assert (told["TA202"].status, told["TA107"].status) == ("evidence", "out of scope")


def test_trees_are_linked_by_the_seeds_of_their_draws(cancer) -> None:
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(*cancer)
    report = ta.scan(forest, annex=["edpb"], attacks=["TA106", "TA203"])
    assert statuses(report)["WP29 Linkability"] == "contrary evidence"
    told = annex_of(report).edpb
    linked = next(one for one in told.answers if one.name == "Linkability")
    assert linked.reason.startswith("something was found by TA203; TA106: ")
    draws = next(one for one in told.attacks if one.id == "TA203")
    assert draws.limit.startswith("tells row numbers, not whose they are")


def test_what_a_bagged_tree_tells_holds_for_who_was_drawn(cancer) -> None:
    """Somebody who was not drawn may fit the rule of a leaf and have another label."""
    forest = RandomForestClassifier(3, max_depth=4, random_state=0).fit(*cancer)
    text = render(ta.scan(forest, annex=["edpb"]), "md")
    assert "anyone who knows the draws can" in text
    assert "of those who were drawn for that tree: others may fit the rule" in text


def test_every_number_has_the_name_of_its_test_and_no_cell_is_cut(cancer) -> None:
    x, y = cancer
    forest = RandomForestClassifier(3, max_depth=4, random_state=0).fit(x[:300], y[:300])
    report = ta.scan(
        forest, train=(x[:300], y[:300]), test=(x[300:], y[300:]), annex=ALL, attacks=["TA105"]
    )
    (one,) = (one for one in annex_of(report).edpb.attacks if one.id == "TA105")
    named = [each.name for each in one.measures if each.name.endswith(": auc")]
    assert named == [f"{test}: auc" for test in ("strongest test", "counts", "loss", "shadows")]
    assert all(each.n is not None for each in one.measures)
    assert "…" not in render(report, "md").partition("Annex")[2]


def test_numbers_have_intervals_and_how_many_they_rest_on(cancer, cancer_tree) -> None:
    x, y = cancer
    rng = np.random.default_rng(0)
    unseen = (x + rng.normal(0, 0.01, x.shape), y)
    report = ta.scan(cancer_tree, train=cancer, test=unseen, attacks=["TA102"], annex=["edpb"])
    (one,) = (one for one in annex_of(report).edpb.attacks if one.id == "TA102")
    measure = next(each for each in one.measures if each.name.endswith("unseen people"))
    assert measure.low < measure.value <= measure.high
    assert measure.n == 51
    assert f"n = {measure.n:,})" in measure.in_words


def test_a_private_model_tells_the_elements_of_its_claim() -> None:
    told = annex_of(ta.scan(private(), annex=ALL)).dp
    elements = {one.name: one for one in told.elements}
    assert {*elements} == {
        "Does it bound what the file gives away?", "Unit of privacy", "Neighbours", "Loss",
        "Mechanisms", "Composition", "Proof", "Source of randomness", "Public inputs",
        "SHA-256 of the schema (as JSON, not of a file)",
    }  # fmt: skip
    assert elements["Unit of privacy"].value == "one record"
    assert elements["Loss"].value == "epsilon 1, delta 0"
    assert "leaf counts: discrete Laplace, sensitivity 1, asked 8 times, in parallel" in (
        elements["Mechanisms"].value
    )
    assert elements["Source of randomness"].basis == "not shown"
    assert len(told.gaps) == 5
    refuted = annex_of(ta.scan(private(reasons=["a seed"], not_private=True), annex=ALL)).dp
    assert refuted.elements[0].value.startswith("no: ")
    assert refuted.gaps[0] == "a seed"
    damaged = annex_of(ta.scan(private(queries="none"), annex=ALL)).dp
    assert "the privacy ledger is damaged" in damaged.gaps[0]


def test_the_hash_of_a_schema_is_of_what_is_public() -> None:
    one, same, other = (
        ta.Schema.numeric([name], ["no", "yes"], "ill") for name in ("age", "age", "size")
    )
    assert schema_sha256(one) == schema_sha256(same) != schema_sha256(other)


def test_a_plain_model_claims_nothing(figure_3) -> None:
    told = annex_of(ta.scan(figure_3, annex=["dp"])).dp
    assert (told.claimed, told.elements, len(told.gaps)) == (False, (), 1)


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_it_stands_in_every_form_and_fits_the_schema(figure_3, form) -> None:
    report = ta.scan(figure_3, annex=ALL, by="Ada")
    text = render(report, form)
    for said in ("paragraph 55 (v)", "NIST AI 100-2", "a person decides", "SHA-256 of the cri"):
        assert said in text
    assert "Annex" not in render(ta.scan(figure_3), form).replace("annex", "")
    if form == "json":
        jsonschema.Draft202012Validator(json_schema()).validate(json.loads(text))


@pytest.mark.parametrize("form", ["html", "md", "json", "txt"])
def test_what_leaves_the_room_tells_what_was_run_alone(figure_3, form) -> None:
    text = render(ta.scan(figure_3, annex=ALL), form, release_safe=True)
    assert "Regurgitation of training data" in text
    assert "run in part" in text
    for secret in ("Height", "contrary", "evidence on", "in 1"):
        assert secret not in text


def test_what_leaves_the_room_agrees_with_the_annex(figure_3) -> None:
    report = ta.scan(figure_3, annex=["edpb"])
    told = annex_of(report).edpb.answers
    safe = json.loads(render(report, "json", release_safe=True))["annex"]["answers"]
    both = {one.name: (one.status, other["status"]) for one, other in zip(told, safe, strict=True)}
    assert both["Linkability"] == ("out of scope", "out of scope")
    assert both["Exfiltration"] == ("evidence", "run")
    assert both["Reconstruction"] == ("contrary evidence", "run")
    assert both["Model inversion"] == ("not run", "not run")


def test_hostile_names_are_text(figure_3) -> None:
    from dataclasses import replace

    schema = ta.Schema.numeric(["<script>x", "|b|", "c"], ["yes", "no"], target="[a](b)")
    report = ta.scan(replace(figure_3, schema=schema), annex=ALL)
    assert "<script>x" not in render(report, "html")
    assert "<script>x" not in render(report, "md")


def test_nothing_is_called_what_only_people_can_call_it() -> None:
    folder = files("treeaudit.reports") / "annex"
    texts = [part.read_text(encoding="utf-8") for part in folder.iterdir() if part.is_file()]
    texts.append((files("treeaudit.reports") / "templates" / "annex.html.j2").read_text())
    assert len(texts) > 5
    assert not any("complian" in text.lower() for text in texts)


def test_it_is_asked_for_on_the_command_line(cancer_file, tmp_path) -> None:
    asks = ("scan", cancer_file, "-q", "--no-fix")
    done = run(*asks, "--annex", "edpb")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--annex is part of a file: add -o report.html, .md or .json" in done.stderr
    report = tmp_path / "report.json"
    done = run(*asks, "--annex", "edpd", "-o", report)
    assert "there is no annex 'edpd'; there are: edpb, satre, dp" in done.stderr
    assert run(*asks, "--annex", "edpb,satre", "--by", "Ada", "-o", report).returncode == 1
    data = json.loads(report.read_text())
    assert {*data["annex"]} == {"note", "edpb", "satre"}
    assert run("verify", report, cancer_file).returncode == 0
    data["annex"]["edpb"]["answers"][0]["status"] = "evidence"
    report.write_text(json.dumps(data))
    done = run("verify", report, cancer_file)
    assert done.returncode == 1
    assert "annex · edpb · answers · 1 · status: the report says evidence" in done.stdout
    done = run("scan", cancer_file, cancer_file, "--by", "Ada")
    assert "--by takes one model: name one file" in done.stderr
