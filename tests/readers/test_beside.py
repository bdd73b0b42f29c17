"""Rows hidden beside the trees of a model file are found, wherever the format lets them stand."""

import json
import pickle

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.contracts.test_looked import PMML, X, Y, lightgbm_model, plain, xgboost_model
from treeaudit.model.source import KINDS
from treeaudit.readers.residual.targets import single_targets

TABLE = "<InlineTable><row><age>33</age></row><row><age>54</age></row></InlineTable>"


def kinds_of(path):
    return [one.kind for one in ta.load(path).extras.found]


def test_rows_of_a_verification_are_counted(tmp_path) -> None:
    text = PMML.replace("<!--here-->", f"<ModelVerification>{TABLE}</ModelVerification>")
    (tmp_path / "m.pmml").write_text(text)
    finding = ta.scan(tmp_path / "m.pmml")["TA202"]
    assert (finding.severity, finding.people) == ("high", 2)


def test_a_plain_pmml_passes_as_before(tmp_path) -> None:
    (tmp_path / "m.pmml").write_text(PMML.replace("<!--here-->", ""))
    report = ta.scan(tmp_path / "m.pmml")
    assert report.verdict == "pass"
    assert ta.load(tmp_path / "m.pmml").extras.found == ()


def test_another_model_of_the_file_is_named(tmp_path) -> None:
    start, end = PMML.index("<TreeModel"), PMML.index("</PMML>")
    models = "".join(
        PMML[start:end].replace("<TreeModel", f'<TreeModel modelName="{name}"', 1) for name in "ab"
    )
    (tmp_path / "m.pmml").write_text(PMML[:start] + models + "</PMML>")
    left = ta.load(tmp_path / "m.pmml", select="a").extras.found
    assert any("'b'" in one.where and one.kind == "unseen" for one in left)


@pytest.mark.parametrize("path", [(), ("learner",), ("learner", "gradient_booster"), ("Config",)])
def test_places_in_xgboost(tmp_path, path) -> None:
    document = json.loads(xgboost_model().save_raw("json"))
    if "Config" in path:
        document = {"Model": document, "Config": {}}
    at = document
    for step in path:
        at = at[step]
    at["rows"] = X.tolist()
    (tmp_path / "m.json").write_text(json.dumps(document))
    assert "extra" in kinds_of(tmp_path / "m.json")


def test_a_seed_of_drawn_rows_is_told(tmp_path) -> None:
    lgb = pytest.importorskip("lightgbm")
    params = {"objective": "binary", "verbose": -1, "bagging_fraction": 0.5, "bagging_freq": 1}
    lgb.train(params, lgb.Dataset(X, Y), 2).save_model(tmp_path / "m.txt")
    assert "seeds" in kinds_of(tmp_path / "m.txt")
    lightgbm_model().save_model(tmp_path / "n.txt")
    assert "seeds" not in kinds_of(tmp_path / "n.txt")


def test_metadata_of_catboost_is_named(tmp_path) -> None:
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(
        iterations=2, depth=2, verbose=False, allow_writing_files=False, metadata={"rows": "33,yes"}
    ).fit(X, Y)
    model.save_model(str(tmp_path / "m.json"), format="json")
    assert "notes" in kinds_of(tmp_path / "m.json")


@pytest.mark.parametrize(
    "path", [(), ("schema",), ("source",), ("trees", 0), ("schema", "features", 0)]
)
def test_places_in_our_own_form(tmp_path, path) -> None:
    ta.save(ta.load(plain()), tmp_path / "m.json")
    document = at = json.loads((tmp_path / "m.json").read_text())
    for step in path:
        at = at[step]
    at["rows"] = X.tolist()
    (tmp_path / "m.json").write_text(json.dumps(document))
    (left,) = ta.load(tmp_path / "m.json").extras.found
    assert left.kind == "extra"
    assert left.where.endswith("rows")


def test_targets_of_single_people_are_told_by_our_own_form(tmp_path) -> None:
    from sklearn.tree import DecisionTreeRegressor

    for least, kinds in ((1, ["targets"]), (5, [])):
        tree = DecisionTreeRegressor(min_samples_leaf=least, random_state=0).fit(X, X[:, 0])
        ta.save(ta.load(tree), tmp_path / "m.json", force=True)
        assert kinds_of(tmp_path / "m.json") == kinds
        assert "targets" in ta.load(tmp_path / "m.json").extras.looked_for


def test_leaves_that_do_not_tell_how_many_they_hold_were_not_looked_at() -> None:
    tree = ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], value=[1.0])
    assert single_targets([tree], means=True).looked_for == KINDS - {"targets"}


def test_few_records_are_not_told_from_any_other_array() -> None:
    from sklearn.tree import DecisionTreeClassifier

    few = DecisionTreeClassifier(min_samples_leaf=5).fit(X[:20], Y[:20])
    few.rows_ = X[:20]
    report = ta.scan(few)
    assert report["TA202"].details.rows == 20
    few.rows_ = X[:20, 0]
    assert "records" not in ta.load(few).extras.looked_for
    with pytest.raises(KeyError, match="in a model of 20 people an array"):
        ta.scan(few)["TA202"]


def test_bytes_after_a_pickle_are_named(tmp_path) -> None:
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(plain()) + b"33,yes\n54,no\n")
    assert kinds_of(tmp_path / "m.pkl") == ["extra"]
    report = ta.scan(tmp_path / "m.pkl")
    assert {c.name: c.status for c in report.checks}["max-training-rows-inside"] == "skipped"


def written(tmp_path, **columns):
    """Return a file of a plain tree of three nodes, with more columns for its nodes."""
    X = np.arange(40.0)[:, None]
    tree = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 0] > 19)
    path = tmp_path / "model.json"
    ta.save(ta.load(tree), path)
    stored = json.loads(path.read_text())
    stored["trees"][0] |= columns
    path.write_text(json.dumps(stored))
    return path


def unexplained(path) -> list[str]:
    return [one.where for one in ta.load(path).extras.found if one.kind == "extra"]


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({}, []),
        ({"value": [61.5, 44.25, 80.0]}, ["trees[0].value"]),
        ({"label": [1, 0, 1]}, []),
        ({"label": [0, 0, 1]}, []),
    ],
)
def test_values_of_classes_are_named(tmp_path, columns, named) -> None:
    assert unexplained(written(tmp_path, **columns)) == named
