"""The JSON report and its schema."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import treeaudit as ta
from tests.contracts.test_attacks import MODELS
from tests.reports.typed_schema import as_types_say, schema_text
from treeaudit.attacks import ATTACKS
from treeaudit.findings.details import Details
from treeaudit.reports.formats import render
from treeaudit.reports.to_json import json_schema

FITS = jsonschema.Draft202012Validator(json_schema())


def test_the_schema_is_a_schema() -> None:
    FITS.check_schema(json_schema())


def test_the_schema_is_what_the_types_say(golden) -> None:
    """Written by ``make golden``; only the rest of the file is written by hand."""
    said = as_types_say(json_schema(), ATTACKS)
    shipped = Path(str(files("treeaudit.reports").joinpath("report.schema.json")))
    golden(str(shipped), schema_text(said) + "\n")
    assert json.loads(schema_text(said)) == said
    rules = said["properties"]["findings"]["items"]["allOf"]
    told = {rule["if"]["properties"].get("id", {}).get("const") for rule in rules}
    assert {attack.id for attack in ATTACKS if attack.details is not Details} <= told


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_fits_the_schema(name) -> None:
    report = ta.scan(MODELS[name])
    data = json.loads(render(report, "json"))
    FITS.validate(data)
    assert data == report.to_dict()


GOLDEN = Path(__file__).parents[1] / "golden" / "reports"
REPORTS = sorted(path for path in GOLDEN.glob("*.json") if not path.stem.startswith("compare"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_every_golden_report_fits_the_schema(path) -> None:
    """With training and unseen people, known people, a prior, sensitive columns."""
    FITS.validate(json.loads(path.read_text(encoding="utf-8")))


def test_the_contract(cancer_file) -> None:
    data = ta.scan(cancer_file).to_dict()
    assert data["schema_version"] == 2
    assert data["tool"]["name"] == "treeaudit"
    model = data["model"]
    assert model["path"] == str(cancer_file)
    assert model["bytes"] == cancer_file.stat().st_size
    assert len(model["sha256"]) == 64
    assert model["format"] == "sklearn-pickle"
    assert model["estimator"] == "DecisionTreeClassifier"
    assert model["classes"] == ["benign", "malignant"]
    assert (model["n_trees"], model["n_features"], model["n_records"]) == (1, 30, 569)
    assert (model["counts_are"], model["records_are"], model["privacy"]) == ("exact", "all", None)
    first = data["findings"][0]
    assert (first["id"], first["status"], first["severity"]) == ("TA101", "found", "high")
    assert data["checks"][0] == {
        "name": "min-leaf",
        "threshold": 5,
        "measured": 1.0,
        "status": "fail",
        "reason": None,
        "accepted": False,
        "baseline": None,
    }
    assert data["verdict"] == "fail"
    assert data["policy"]["name"] == "default"


def test_a_report_that_breaks_the_contract_is_noticed(figure_3) -> None:
    data = ta.scan(figure_3).to_dict()
    FITS.validate(data)
    del data["findings"][0]["details"]["min_leaf"]
    with pytest.raises(jsonschema.ValidationError):
        FITS.validate(data)
