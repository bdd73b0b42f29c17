"""What is said of all trees of an XGBoost model together is what is said of each."""

import json

import numpy as np
import pytest

from tests.libraries import library
from treeaudit.errors import ReadError
from treeaudit.model.source import Source
from treeaudit.readers.boosters import xgboost_model, xgboost_trees_beside
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.unpack import unpack

pytestmark = pytest.mark.libraries
xgboost = library("xgboost")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    booster = xgboost.XGBClassifier(n_estimators=12, max_depth=3, base_score=0.5).fit(x, y)
    return json.loads(booster.get_booster().save_raw("json"))


def said(document):
    content = unpack(json.dumps(document).encode())
    try:
        return xgboost_model.read(content, Source(), None, LIMITS).leftovers
    except ReadError as error:
        return str(error)


def trees_of(document):
    return document["learner"]["gradient_booster"]["model"]["trees"]


CHANGES = {
    "nothing": lambda tree: None,
    "gain of a leaf": lambda tree: tree["loss_changes"].__setitem__(-1, 0.5),
    "another parent": lambda tree: tree["parents"].__setitem__(-1, 0),
    "the root's parent": lambda tree: tree["parents"].__setitem__(0, 7),
    "no parent": lambda tree: tree["parents"].__setitem__(0, -1),
    "no parents": lambda tree: tree.pop("parents"),
    "a short list": lambda tree: tree["loss_changes"].pop(),
    "mixed numbers": lambda tree: tree["loss_changes"].__setitem__(0, 1),
    "huge parents": lambda tree: tree.update(parents=[1 << 70] * len(tree["parents"])),
    "parents of fractions": lambda tree: tree.update(parents=[0.5] * len(tree["parents"])),
    "many digits": lambda tree: tree["base_weights"].__setitem__(0, 0.1234567890123),
    "nobody": lambda tree: tree["sum_hessian"].__setitem__(-1, 0.0),
    "an id": lambda tree: tree.update(id=70),
    "a true id": lambda tree: tree.update(id=True),
    "a parameter": lambda tree: tree["tree_param"].update(secret="33"),
    "a wrong parameter": lambda tree: tree["tree_param"].update(num_nodes="33"),
    "a zero parameter": lambda tree: tree["tree_param"].update(num_feature="0"),
    "a number as parameter": lambda tree: tree["tree_param"].update(num_feature=3),
    "no parameters": lambda tree: tree.pop("tree_param"),
    "parameters as text": lambda tree: tree.update(tree_param="33"),
    "categories": lambda tree: tree.update(categories=[1, 2]),
    "vectors": lambda tree: tree.update(leaf_weights=[1.0, 2.0]),
    "a feature of a leaf": lambda tree: tree["split_indices"].__setitem__(-1, 2),
}


@pytest.mark.parametrize("at", [0, 5])
def test_a_leaf_has_no_right_child_of_its_own(model, at) -> None:
    """Any negative number would do as well, and hold thirty bits."""
    document = json.loads(json.dumps(model))
    trees_of(document)[at]["right_children"][-1] = -77
    assert f"tree {at}: node" in said(document)
    assert "negative child" in said(document)


@pytest.mark.parametrize("gain", [float("inf"), -float("inf"), 1e30])
@pytest.mark.parametrize("at", [0, 5])
def test_endless_gains_follow_from_nothing(model, at, gain) -> None:
    document = json.loads(json.dumps(model))
    trees_of(document)[at]["loss_changes"][0] = gain
    content = unpack(json.dumps(document).replace("Infinity", "1E999").encode())
    found = xgboost_model.read(content, Source(), None, LIMITS).leftovers.found
    assert "trees[*]" in [one.where for one in found if one.kind == "extra"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at", [0, 5])
def test_of_all_as_of_each(model, change, at, monkeypatch) -> None:
    document = json.loads(json.dumps(model))
    CHANGES[change](trees_of(document)[at])
    together = said(document)
    monkeypatch.setattr(xgboost_trees_beside, "spare_of", lambda *_: None)
    assert together == said(document)


def test_a_plain_model_is_looked_at_together(model, monkeypatch) -> None:
    seen = []
    plain = xgboost_trees_beside.spare_of
    monkeypatch.setattr(
        xgboost_trees_beside, "spare_of", lambda *a: seen.append(plain(*a)) or seen[-1]
    )
    said(model)
    assert seen[0] is not None
    assert seen[0][0] == 0
