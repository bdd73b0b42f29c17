"""Trees that are taken from a CatBoost text at once are those that its JSON holds."""

import json
import random
from dataclasses import fields

import numpy as np
import pytest

from tests.libraries import library
from tests.readers.damage import spoil
from treeaudit.errors import ReadError
from treeaudit.model.source import Source
from treeaudit.readers.catboost import model as catboost_model
from treeaudit.readers.catboost.text import trees_of_text
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import unpack

pytestmark = pytest.mark.libraries
catboost = library("catboost")

RNG = np.random.default_rng(5)
X = RNG.normal(size=(400, 4)).round(2)
X[RNG.random(X.shape) < 0.1] = np.nan
Y = (np.nan_to_num(X[:, 0]) + RNG.normal(size=400) > 0).astype(int)
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 1}
NEWTON = {"leaf_estimation_method": "Newton", "leaf_estimation_iterations": 1}
MODELS = {
    "numbers": ("CatBoostRegressor", X[:, 1], {"nan_mode": "Max"}, {}),
    "tiny numbers": ("CatBoostRegressor", np.nan_to_num(X[:, 1]) * 1e-7, {}, {}),
    "two classes": ("CatBoostClassifier", Y, {"boost_from_average": False, **NEWTON}, {}),
    "three classes": ("CatBoostClassifier", Y + (np.nan_to_num(X[:, 1]) > 1), {}, {}),
    "weights": ("CatBoostClassifier", Y, {}, {"sample_weight": RNG.random(400)}),
    "one tree": ("CatBoostClassifier", Y, {"iterations": 1, "depth": 1}, {}),
    "many depths": ("CatBoostClassifier", Y, {"depth": 6, "iterations": 30}, {}),
}


@pytest.fixture(scope="module", params=MODELS)
def text(request, tmp_path_factory):
    kind, y, options, told = MODELS[request.param]
    model = getattr(catboost, kind)(**{"iterations": 5, "depth": 3, **QUIET, **options})
    path = tmp_path_factory.mktemp("catboost") / "model.json"
    model.fit(X, np.nan_to_num(y), **told).save_model(str(path), format="json")
    return path.read_bytes()


def read(data):
    return catboost_model.read(unpack(data), Source(), None, LIMITS)


def result(data):
    """Everything that a model says, or the sentence that refuses it."""
    try:
        forest = read(data)
    except ReadError as error:
        return type(error).__name__, str(error)
    told = [getattr(forest, f.name) for f in fields(forest) if f.name not in ("trees", "source")]
    arrays = [
        None if (a := getattr(tree, f.name)) is None else (str(a.dtype), a.shape, a.tobytes())
        for tree in forest.trees
        for f in fields(tree)
        if f.name not in ("categories", "spread_is")
    ]
    return repr(told), arrays, forest.source.library_version, dict(forest.source.parameters)


@pytest.fixture
def slowly(monkeypatch):
    """Results of the parser of JSON alone."""

    def slow(data):
        with monkeypatch.context() as patch:
            patch.setattr(catboost_model, "trees_of_text", lambda _: None)
            return result(data)

    return slow


def test_the_same_model(text, slowly) -> None:
    assert trees_of_text(text) is not None
    assert result(text) == slowly(text)


def test_the_numbers_of_the_text(text) -> None:
    found, trees = trees_of_text(text), json.loads(text)["oblivious_trees"]
    for name, numbers in (("leaf_values", found.values), ("leaf_weights", found.weights)):
        stored = [number for one in trees for number in one[name]]
        assert numbers.tobytes() == np.array(stored, float).tobytes()
    splits = [split for tree in trees for split in tree["splits"]]
    assert found.border.tolist() == [split["border"] for split in splits]
    assert found.feature.tolist() == [split["float_feature_index"] for split in splits]
    assert found.number.tolist() == [split["split_index"] for split in splits]
    assert text[found.begin : found.end].startswith(b"[\n      {")
    assert json.loads(text[: found.begin] + found.sample + text[found.end :])


def test_a_changed_byte_or_number(text, slowly) -> None:
    rng = random.Random(0)
    begin = text.index(b'"oblivious_trees"')
    for _ in range(60):
        data = bytearray(text)
        at = rng.randrange(begin, len(data))
        new = rng.choice([b"7", b"-", b".", b"e", b"E", b" ", b"\n", b",", b"0", b"}", b'"', b"]"])
        data[at : at + rng.randrange(2)] = new
        assert result(bytes(data)) == slowly(bytes(data))


def test_spoiled_bytes(text, slowly) -> None:
    for data in (spoil(random.Random(i), [text]) for i in range(40)):
        if data[:1] == b"{":
            assert result(data) == slowly(data)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"leaf_weights":', b'"leaf_wei5ghts":'),
        (b'"split_type":"Float', b'"split_type":"Float1'),
        (b'        "splits":\n', b'        "splits": \n'),
        (b'"border":', b'"border": '),
        (b"            {\n", b"            {\r\n"),
        (b'"float_feature_index":', b'"float_feature_index":1'),
        (b'"leaf_values":\n          [', b'"leaf_values":\n         -[ '),
        (b'"oblivious_trees":', b'"oblivious_trees": '),
        (b'"oblivious_trees":', b'"oblivious_trees":7,"trees":'),
        (b'{\n        "leaf_values"', b'{\n        "leaf_values":[1],"leaf_values"'),
        (b'  "scale_and_bias":', b'  "oblivious_trees":\n    [\n    ],\n  "scale_and_bias":'),
        (b'  "scale_and_bias":', b'  "a":NaN,\n  "scale_and_bias":'),
        (b'  "scale_and_bias":', b'  "a":1E5,\n  "scale_and_bias":'),
        (b'\n  "oblivious_trees":', b'\n  "a":{\n  "oblivious_trees":'),
        (b',\n            {\n              "border"', b',,\n            {\n              "border"'),
    ],
)
def test_what_departs_is_said_as_ever(text, slowly, old, new) -> None:
    data = text.replace(old, new, 1)
    assert result(data) == slowly(data)
    last = new.join(text.rsplit(old, 1))
    assert result(last) == slowly(last)


def test_a_text_that_is_too_large_is_refused_as_ever(text, slowly, monkeypatch) -> None:
    sizes = [len(text) * i // 4 for i in range(1, 40)]
    for size in sizes:
        monkeypatch.setattr(type(LIMITS), "objects", lambda *_, size=size: size)
        assert result(text) == slowly(text)
