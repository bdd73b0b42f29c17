"""The bill of materials and the model card: valid, bound by hash, and without people."""

import hashlib
import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.ensemble import IsolationForest, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.cli.run import run
from treeaudit.reports.beside_model import to_bom, to_card
from treeaudit.reports.formats import suffix_of

METADATA = {"library_name", "pipeline_tag", "tags"}
"""What the Hub documents of what the card tells; other keys are kept as they are."""


@pytest.fixture
def file(cancer: Any, tmp_path: Path) -> Path:
    path = tmp_path / "model.pkl"
    model = DecisionTreeClassifier(min_samples_leaf=40, random_state=0).fit(*cancer)
    path.write_bytes(pickle.dumps(model))
    return path


def front_matter(card: str) -> Any:
    yaml = pytest.importorskip("yaml")
    empty, head, body = card.split("---\n", 2)
    assert (empty, body[:3]) == ("", "\n# ")
    return yaml.safe_load(head)


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a/model.CDX.json", "cdx.json"),
        ("model.card.md", "card.md"),
        ("cdx.json", "json"),
        ("card.md", "md"),
        ("model.json", "json"),
    ],
)
def test_the_names_do_not_collide_with_reports(path: str, form: str) -> None:
    assert suffix_of(path) == form


def test_both_are_bound_to_the_statement_that_may_leave(file: Path) -> None:
    card, statement = file.parent / "model.card.md", file.parent / "statement.json"
    done = run("scan", file, "-o", card, "-o", statement, "--release-safe", "--exit-zero")
    assert done.returncode == 0
    text = card.read_text()
    for one in (file, statement):
        assert hashlib.sha256(one.read_bytes()).hexdigest() in text
    assert f"policy-sha256: `{ta.scan(file).policy.sha256}`" in text
    assert "**FAIL** under the policy default" in text


def test_the_card_is_what_the_hub_reads(file: Path) -> None:
    told = front_matter(to_card(ta.scan(file)))
    assert told.keys() == METADATA | {"treeaudit"}
    assert told["library_name"] == "sklearn"
    assert told["pipeline_tag"] == "tabular-classification"
    assert told["tags"] == ["tabular-classification", "treeaudit"]
    assert told["treeaudit"]["verdict"] == "fail"
    assert told["treeaudit"]["model_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (RandomForestRegressor(2, max_depth=2), "pipeline_tag: tabular-regression"),
        (IsolationForest(n_estimators=2), "tags:"),
    ],
)
def test_what_is_no_classifier_is_not_called_one(cancer: Any, model: Any, task: str) -> None:
    rows, labels = cancer
    report = ta.scan(model.fit(rows, labels == "malignant"))
    assert to_card(report).splitlines()[2] == task
    assert "model-sha256" not in to_card(report)  # a model in memory has no file


def test_neither_tells_of_people_or_follows_the_name_of_a_file(cancer: Any, tmp_path: Path) -> None:
    path = tmp_path / "a`b\n---\nlicense: mit |.pkl"
    path.write_bytes(pickle.dumps(DecisionTreeClassifier(max_depth=3).fit(*cancer)))
    report = ta.scan(path)
    card = to_card(report)
    assert card.count("---\n") == 2
    assert "\nlicense" not in card
    assert "share_about" not in card
    # Of 569 people, told as about 570.
    assert not re.findall(r"\b5[67]\d\b", re.sub("[0-9a-f]{64}", "", card))
    assert not re.findall(r"about \d", card)


def test_the_bill_of_materials_fits_its_schema(file: Path) -> None:
    validation = pytest.importorskip("cyclonedx.validation.json")
    pytest.importorskip("jsonschema")
    from cyclonedx.schema import SchemaVersion

    text = to_bom(ta.scan(file))
    assert validation.JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    (model,) = json.loads(text)["components"]
    assert model["type"] == "machine-learning-model"
    assert model["hashes"][0]["content"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert model["modelCard"]["modelParameters"]["task"] == "classification"
    told = {one["name"]: one["value"] for one in model["properties"]}
    assert told["treeaudit:verdict"] == "fail"
    assert told["treeaudit:check:max-malformed-parts"] == "pass"
    numbers = [value for value in told.values() if re.fullmatch(r"[\d.,% ]+", value)]
    assert numbers in ([], [ta.__version__])


def test_without_the_library_it_is_refused_before_the_audit(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cyclonedx", None)
    monkeypatch.setattr("treeaudit.reports.beside_model.find_spec", lambda name: None)
    done = run("scan", file, "-o", file.parent / "model.cdx.json")
    assert done.returncode == 2
    assert "pip install treeaudit[bom]" in done.stderr


def test_several_models_are_not_told_as_one(file: Path) -> None:
    done = run("scan", file.parent, "-o", file.parent / "model.card.md")
    assert done.returncode == 2
    assert "tells of one model" in done.stderr
