"""Trees of a LightGBM text that are read at once are those that are read one by one."""

import random
import re
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest

from tests.fuzz.model_text import mutate
from tests.libraries import library
from tests.readers.test_booster_rows import same
from treeaudit.errors import TreeauditError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers import read
from treeaudit.readers.lightgbm import model as lightgbm_model
from treeaudit.readers.lightgbm import plain as lightgbm_plain
from treeaudit.readers.lightgbm import text as lightgbm_text
from treeaudit.readers.lightgbm.block import Block, CheckedBlock, check_block
from treeaudit.readers.lightgbm.lines import fields_of, tree_of
from treeaudit.readers.lightgbm.plain import read_alike
from treeaudit.readers.lightgbm.rows import checked, uneven
from treeaudit.readers.lightgbm.tree import read_tree
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import unpack

TREE = """Tree={i}
num_leaves=3
num_cat=0
split_feature=0 1
split_gain=10.5 2.25
threshold=0.27875757217407232 1.0000000180025095e-35
decision_type=2 8
left_child=1 -1
right_child=-2 -3
leaf_value=-0.5 0.25 0.125
leaf_weight=3 5 2
leaf_count=12 20 8
internal_value=0 -0.25
internal_weight=10 5
internal_count=40 20
is_linear=0
shrinkage=1


"""
TEXT = "".join(TREE.format(i=i) for i in range(5)).encode()

RNG = np.random.default_rng(2)
X = RNG.normal(size=(300, 4))
X[:, 3] = RNG.integers(0, 9, 300)
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
SCORE = X[:, 0] + X[:, 3] % 2 + RNG.normal(size=300) / 2
KINDS = {
    "binary": {"objective": "binary"},
    "multiclass": {"objective": "multiclass", "num_class": 3},
    "regression": {"objective": "regression"},
    "median": {"objective": "regression_l1"},
    "zeros": {"objective": "binary", "zero_as_missing": True},
    "forest": {"objective": "binary", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
    "dart": {"objective": "binary", "boosting": "dart"},
    "penalty": {"objective": "binary", "lambda_l2": 1.5},
    "linear": {"objective": "regression", "linear_tree": True},
    "sets": {"objective": "binary", "min_data_per_group": 5},
}
OLD = re.compile(rb"^(?:is_linear|leaf_weight|internal_weight|tree_sizes)=.*\n", re.MULTILINE)


@pytest.fixture(scope="module", params=KINDS)
def text(request) -> bytes:
    lgb = library("lightgbm")
    params = {"verbose": -1, "num_leaves": 5, "min_data_in_leaf": 8, "num_threads": 1}
    y = SCORE if "regression" in KINDS[request.param]["objective"] else (SCORE > 0.5).astype(int)
    if request.param == "multiclass":
        y = np.digitize(SCORE, [0, 1])
    sets = [3] if request.param == "sets" else "auto"
    data = lgb.Dataset(HOLES, y, categorical_feature=sets)
    return lgb.train({**params, **KINDS[request.param]}, data, 8).model_to_string().encode()


def one_by_one(data: bytes):
    """Read a text as if nothing could be read at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lightgbm_text, "read_alike", lambda *_: None)
        return outcome(data)


def outcome(data: bytes) -> Forest | str:
    try:
        forest = read(unpack(data), Source(path="model.txt"), None, LIMITS)
        forest.trees[-1]
    except TreeauditError as error:
        return f"{type(error).__name__}: {error}"
    return forest


def agree(one: Forest | str, other: Forest | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    told = [
        part.name for part in fields(Forest) if part.name not in ("trees", "source", "boosting")
    ]
    assert all(same(getattr(one, name), getattr(other, name)) for name in told)
    assert all(same(a, b) for a, b in zip(one.trees, other.trees, strict=True))
    assert (one.boosting is None) == (other.boosting is None)
    if one.boosting is not None and other.boosting is not None:
        for part in fields(one.boosting):
            if part.name not in ("trees", "mass"):
                assert same(getattr(one.boosting, part.name), getattr(other.boosting, part.name))
        masses = [(one.boosting.mass(i), other.boosting.mass(i)) for i in range(one.n_trees)]
        assert all(same(a, b) for a, b in masses)
    return True


def test_a_worked_example() -> None:
    block = read_alike(TEXT, 0, 5)
    assert block is not None
    assert len(block) == 5
    bounds = [*(match.start() for match in re.finditer(b"Tree=", TEXT)), len(TEXT)]
    for i, (begin, end) in enumerate(pairwise(bounds)):
        assert same(block[i], tree_of(fields_of(TEXT[begin:end])))
    trees = checked(block, 2)
    assert isinstance(trees, CheckedBlock)
    assert uneven(trees) is None
    assert trees[2].bound.tolist() == [0.27875757217407232, 1.0000000180025095e-35]
    assert trees[-1].n_records is not None
    assert trees[-1].n_records.tolist() == [40, 20, 12, 20, 8]
    assert all(same(one, read_tree(raw, 2)) for one, raw in zip(trees, block, strict=True))
    assert all(same(one, trees[1]) for one in trees[1:3])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"Tree=3", b"Tree=4"),
        (b"Tree=3", b"Tree=03"),
        (b"num_cat=0", b"num_cat=1"),
        (b"num_cat=0\n", b""),
        (b"num_cat=0\n", b"num_cat=0\nnum_cat=0\n"),
        (b"num_leaves=3", b"num_leaves=4"),
        (b"num_leaves=3", b"num_leaves=03"),
        (b"leaf_count=12 20 8", b"leaf_count=12 20 8 9"),
        (b"leaf_count=12 20 8", b"leaf_count=12 20"),
        (b"leaf_count=12 20 8", b"leaf_count="),
        (b"leaf_count=12 20 8", b"leaf_count=12  20 8"),
        (b"leaf_count=12 20 8", b"leaf_count=12 20 8 "),
        (b"leaf_count=12 20 8", b"leaf_count=12 20 8.0"),
        (b"leaf_count", b"leaf_number"),
        (b"leaf_value=-0.5", b"leaf_value=-0.50"),
        (b"leaf_value=-0.5", b"leaf_value=nan"),
        (b"leaf_value=-0.5", b"leaf_value=1e+999"),
        (b"decision_type=2 8", b"decision_type=2 3"),
        (b"decision_type=2 8", b"decision_type=2 16"),
        (b"is_linear=0", b"is_linear=1"),
        (b"shrinkage=1\n", b"shrinkage=1\nleaf_count=12 20 8\n"),
        (b"shrinkage=1\n\n", b"shrinkage=1\nAnn\n"),
        (b"shrinkage=1\n\n", b"shrinkage=1\n=7\n"),
        (b"shrinkage=1\n", b"shrinkage=1\r\n"),
        (b"shrinkage=1\n", b"shrinkage=1\n\n\n"),
        (b"shrinkage=1\n", b"shrinkage=1 1\n"),
    ],
)
def test_a_text_that_departs_is_read_one_by_one(before, after) -> None:
    changed = TEXT.replace(b"Tree=3\n", b"Tree=3\n#", 1).split(b"#")
    assert read_alike(TEXT, 0, 5) is not None
    if before == b"Tree=3":
        changed = [TEXT.replace(before, after, 1)]
    else:
        changed = [changed[0], changed[1].replace(before, after, 1)]
    data = b"".join(changed)
    assert data != TEXT
    assert read_alike(data, 0, 5) is None
    assert read_alike(TEXT, 1, 5) is None


def test_lines_that_no_tree_has_are_not_cut() -> None:
    assert read_alike(b"Tree=0\n" + b"\n" * 10_000, 0, 1) is None


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("left_child", 0, 7),
        ("left_child", 0, 0),
        ("right_child", 0, 1),
        ("right_child", 1, -4),
        ("split_feature", 1, 2),
        ("split_feature", 1, -1),
        ("decision_type", 0, 1),
        ("decision_type", 0, 12),
        ("threshold", 0, np.nan),
        ("leaf_value", 1, np.inf),
        ("leaf_count", 2, -1),
        ("internal_count", 0, 0),
        ("internal_count", 0, (1 << 53) + 1),
    ],
)
def test_a_block_with_a_tree_that_may_be_damaged_is_none(name, at, value) -> None:
    block = read_alike(TEXT, 0, 5)
    assert block is not None
    assert check_block(block, 2) is not None
    block.arrays[name][4 + at] = value
    assert check_block(block, 2) is None


@pytest.mark.libraries
@pytest.mark.parametrize("size", [1 << 20, 4_000])
def test_models_are_the_same_however_they_are_read(monkeypatch, text, size) -> None:
    monkeypatch.setattr(lightgbm_plain, "_PART", size)
    sets = b"cat_boundaries" in text or b"is_linear=1" in text
    assert sets or isinstance(lightgbm_text.parse(text).trees, Block)
    old = OLD.sub(b"", text).replace(b"version=v4", b"version=v3")
    for data in (text, old, re.sub(rb"(?m)^internal_value=.*\n", b"", old)):
        assert isinstance(outcome(data), Forest)
        assert agree(outcome(data), one_by_one(data))


@pytest.mark.libraries
def test_what_is_wrong_with_a_model_is_said_however_it_is_read(monkeypatch, text) -> None:
    monkeypatch.setattr(lightgbm_plain, "_PART", 3_000)
    rng = random.Random(5)
    begin, numbers = text.index(b"Tree=0"), re.compile(rb"(?<=[ =])[0-9.e+-]+")
    for i in range(60):
        data = mutate(text, rng)
        if i % 3:
            found = rng.choice([*numbers.finditer(text, begin, text.index(b"end of trees"))])
            word = rng.choice([b"0", b"-0", b"7", b"0.10", b"1e-05", b"-1", b"1e+999", b"0.12345"])
            data = text[: found.start()] + word + text[found.end() :]
        if lightgbm_model.matches(unpack(data)):
            assert agree(outcome(data), one_by_one(data))
