"""Real files of R, against what R said of them (``r`` in the folder of model files)."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from treeaudit import ReadError
from treeaudit.errors import SeveralModelsError
from treeaudit.readers.inspect import describe
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import open_file
from treeaudit.readers.r.contents import frames
from treeaudit.readers.r.model import extras_of, parse
from treeaudit.readers.r.walk import model_places, walk

FOLDER = Path(os.environ.get("TREEAUDIT_MODELS", "")) / "r"
if not os.environ.get("TREEAUDIT_MODELS") or not FOLDER.is_dir():
    pytest.skip("TREEAUDIT_MODELS names no folder with files of R", allow_module_level=True)

FILES = json.loads((FOLDER / "manifest.json").read_text())["files"]
READ = [one for one in FILES if one.get("inside")]
CORRUPT = [one for one in FILES if one["file"].startswith("corrupt_")]
# R made these tables when it was asked for them: in the file they are a promise of `train`.
PROMISED = re.compile(r"environment\(\$(trafo|update)\)\$data")
ROWS = {"records", "labels", "out-of-bag", "targets"}


def name(file: dict[str, Any]) -> str:
    return str(file["file"])


def root_of(file: dict[str, Any]) -> Any:
    content = open_file(FOLDER / file["file"])
    return parse(content, content.within(LIMITS)).root


@pytest.mark.parametrize("file", [one for one in READ if one.get("models")], ids=name)
def test_models_are_where_r_has_them(file) -> None:
    stated = [one["path"].replace("$raw", "") for one in file["models"]]
    usual, elsewhere = model_places([*walk(root_of(file))])
    assert [place.path for place in usual or elsewhere] == stated


@pytest.mark.parametrize("file", READ, ids=name)
def test_every_table_and_every_vector_is_named_with_its_size(file) -> None:
    root = root_of(file)
    places = [*walk(root)]
    found = extras_of(places).found
    stored = Counter((one.rows, len(one.place.value.names)) for one in frames(places))
    reported = Counter(
        (int(size[1].replace(",", "")), int(size[2].replace(",", "")))
        for one in found
        if (size := re.match(r"a table of ([\d,]+) rows and ([\d,]+) column", one.says))
    )
    tables = [one for one in file["inside"]["data_frames"] if not PROMISED.match(one["path"])]
    assert not Counter((one["rows"], one["cols"]) for one in tables) - stored
    training = [one for one in tables if one["training_rows"]]
    assert not Counter((one["rows"], one["cols"]) for one in training) - reported
    named = Counter((one.n, last(one.where)) for one in found if one.kind in ROWS)
    vectors = file["inside"]["vectors_of_training_length"]
    assert {(one["dim"][0], last(one["path"])) for one in vectors} <= set(named)


def last(path: str) -> str:
    """Return the last step: environments are found on another way than R went."""
    return re.split(r"[$@]", re.sub(r"\[\[\d+\]\]", "[[*]]", path))[-1].rstrip("`")


@pytest.mark.parametrize("file", READ, ids=name)
def test_an_honest_file_is_not_said_to_act(file) -> None:
    found = extras_of([*walk(root_of(file))]).found
    assert not [one for one in found if one.kind == "code"]


@pytest.mark.parametrize("file", CORRUPT, ids=name)
def test_a_damaged_file_is_one_sentence(file) -> None:
    with pytest.raises(ReadError) as raised:
        root_of(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("file", READ, ids=name)
def test_every_file_can_be_inspected(file) -> None:
    contents = describe(FOLDER / file["file"])
    assert contents.versions == ("R 4.2.2",)
    assert contents.outline is not None


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("lm.rds", r"class lm with a table of 106 rows and 6 columns \(\$model\) and 4 more"),
        ("kmeans.rds", r"class kmeans with the cluster for each of 145 training rows"),
        (
            "closure_bytecode.rds",
            r"an R closure with a table of 100 rows .*environment\(\)\$lookup",
        ),
        ("hclust.rds", "class hclust; it is no tree model"),
    ],
)
def test_what_is_no_model_says_what_it_is(file: str, says: str) -> None:
    assert re.search(says, describe(FOLDER / file).no_model or "")


def test_several_models_are_named() -> None:
    from treeaudit import load

    with pytest.raises(SeveralModelsError, match=r"\$fit_tree, \$fit_forest"):
        load(FOLDER / "session_several.RData")
