"""Small trees, written as R keeps them, by each package's own rules."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from treeaudit import ReadError
from treeaudit.model.source import Source
from treeaudit.readers.boosters import reading
from treeaudit.readers.r.model import MODELS
from treeaudit.readers.r.objects import RObject
from treeaudit.writers.r.encode import encode


def r(value: Any, **attributes: Any) -> RObject:
    """What R makes of a value: a dict is a list with names, numbers are doubles."""
    kept = {name.replace("_", "."): r(one) for name, one in attributes.items()}
    if isinstance(value, RObject):
        return value
    if isinstance(value, dict):
        kept["names"] = r(list(value))
        return RObject("list", [r(one) for one in value.values()], kept)
    values = value if isinstance(value, list) else [value]
    if values and isinstance(values[0], str):
        return RObject("string", values, kept)
    if values and isinstance(values[0], list | dict | RObject):
        return RObject("list", [r(one) for one in values], kept)
    return RObject("double", np.array(values, dtype=">f8"), kept)


def read(kind: str, model: RObject) -> Any:
    with reading("damaged"):
        return MODELS[kind](model, Source(estimator=kind))


def edges(tree: Any) -> list[Any]:
    """The parent of each node but the root, and what leads into it."""
    found = []
    for node in range(1, tree.n_nodes):
        codes = [] if tree.categories is None else tree.categories.of(node)
        bounds = [] if codes else [float(f"{tree.low[node]:.4g}"), float(f"{tree.high[node]:.4g}")]
        found.append((int(tree.parent[node]), int(tree.feature[node]), codes or bounds))
    return found


INF = float("inf")
FRAME = {
    "var": ["age", "<leaf>", "job", "<leaf>", "<leaf>"],
    "n": [10, 4, 6, 1, 5],
    "wt": [10, 4, 6, 1, 5],
    "ncompete": [0] * 5,
    "nsurrogate": [0] * 5,
}
COUNTS = r([1, 1, 2, 2, 2, 5, 4, 1, 0, 1, 5, 0, 5, 1, 4], dim=[5, 3])


def rpart(**changes: Any) -> RObject:
    """Ten people: those of age 40 and over are on the left, the others split by their job."""
    frame = RObject(**{
        name: getattr(r({**FRAME, "yval2": COUNTS, **changes}), name)
        for name in ("kind", "values", "attributes")
    })  # fmt: skip
    frame.attributes["row.names"] = r([1, 2, 3, 6, 7])
    splits = r([10, 6, 1, 3, 9, 2, 40, 1], dim=[2, 4])
    held = {"frame": frame, "splits": splits, "csplit": r([3, 1, 2], dim=[1, 3]), "method": "class"}
    ordered = r([0, 0], names=["age", "job"])
    model = r({**held, "ordered": ordered}, ylevels=["no", "yes"])
    model.attributes["xlevels"] = r({"job": ["cook", "nurse", "pilot"]})
    return model


def test_rpart_says_which_side_is_which() -> None:
    forest = read("rpart", rpart())
    (tree,) = forest.trees
    # A level that nobody in the node had follows most people.
    assert edges(tree) == [
        (0, 0, [40.0, INF]), (0, 0, [-INF, 40.0]), (2, 1, [1]), (2, 1, [0, 2]),
    ]  # fmt: skip
    assert tree.n_records.tolist() == [10, 4, 6, 1, 5]
    assert tree.counts.tolist() == [[5, 5], [4, 0], [1, 5], [0, 1], [1, 4]]
    assert (forest.counts_are, forest.schema.classes) == ("exact", ("no", "yes"))
    assert forest.schema.features[1].categories == ("cook", "nurse", "pilot")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"n": [10, 4, 6, 1, 6]}, "do not add up"),
        ({"n": [10, 4, 6, 1, 4]}, "do not add up"),
        ({"n": [10, 4, 6, 1, -5]}, "negative"),
        ({"var": ["age", "<leaf>", "pay", "<leaf>", "<leaf>"]}, "column that does not exist"),
        ({"var": ["age", "<leaf>", "job", "job", "<leaf>"]}, "node 12 is missing"),
        ({"nsurrogate": [1, 0, 0, 0, 0]}, "not as many splits"),
    ],
)
def test_damaged_frames_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ReadError, match=says):
        read("rpart", rpart(**changes))


def random_forest(**changes: Any) -> RObject:
    forest = {
        "ndbigtree": [3],
        "nodestatus": r([1, -1, -1], dim=[3, 1]),
        "bestvar": r([2, 0, 0], dim=[3, 1]),
        "treemap": r([2, 0, 0, 3, 0, 0], dim=[3, 2, 1]),
        "nodepred": r([0, 1, 2], dim=[3, 1]),
        "xbestsplit": r([5, 0, 0], dim=[3, 1]),
        "ncat": r([1, 3], names=["age", "job"]),
        "xlevels": {"age": [0], "job": ["cook", "nurse", "pilot"]},
    }
    call = RObject("language", [RObject("symbol", "randomForest")])
    return r({"forest": {**forest, **changes}, "classes": ["no", "yes"], "y": [1, 2], "call": call})


def test_random_forest_packs_levels_into_bits() -> None:
    forest = read("randomForest", random_forest())
    assert edges(forest.trees[0]) == [(0, 1, [0, 2]), (0, 1, [1])]
    assert forest.trees[0].label.tolist() == [0, 0, 1]
    assert (forest.counts_are, forest.records_are, forest.n_records) == (
        "label-only", "bootstrap", 2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"treemap": r([2, 0, 0, 9, 0, 0], dim=[3, 2, 1])}, "out of range"),
        ({"treemap": r([2, 0, 0, 2, 0, 0], dim=[3, 2, 1])}, "two parents"),
        ({"bestvar": r([3, 0, 0], dim=[3, 1])}, "column that does not exist"),
        ({"nodepred": r([0, 1, 3], dim=[3, 1])}, "class that does not exist"),
        ({"ndbigtree": [4]}, "do not have the nodes"),
        ({"ncat": r([1, 4], names=["age", "job"])}, "levels of its factors"),
    ],
)
def test_damaged_forests_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ReadError, match=says):
        read("randomForest", random_forest(**changes))


def ranger(*, kind: str = "Classification", **changes: Any) -> RObject:
    forest = {
        "treetype": kind,
        "child.nodeIDs": [[r([1, 0, 0]), r([2, 0, 0])]],
        "split.varIDs": [r([1, 0, 0])],
        "split.values": [r([5, 2, 1])],
        "is.ordered": [1, 0],
        "class.values": [2, 1],
        "levels": ["no", "yes"],
        "independent.variable.names": ["age", "job"],
        "terminal.class.counts": [[r([]), r([0.25, 0.75]), r([1, 0])]],
    }
    return r({"forest": {**forest, **changes}, "num.samples": 9, "replace": 1})


def test_ranger_sends_the_levels_of_a_set_right() -> None:
    forest = read("ranger", ranger())
    assert edges(forest.trees[0]) == [(0, 1, [1, 3]), (0, 1, [0, 2])]
    assert forest.trees[0].label.tolist() == [0, 1, 0]
    shares = read("ranger", ranger(kind="Probability estimation"))
    assert shares.trees[0].counts.tolist() == [[0, 0], [0.75, 0.25], [0, 1]]
    assert (shares.counts_are, shares.n_records) == ("weighted", 9)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"child.nodeIDs": [[r([1, 1, 0]), r([2, 2, 0])]]}, "two parents"),
        ({"split.varIDs": [r([2, 0, 0])]}, "column that does not exist"),
        ({"split.values": [r([5, 3, 1])]}, "class that does not exist"),
        ({"split.values": [r([5, 2])]}, "differ in length"),
        ({"split.varIDs": [r([1, 0, 0])] * 2}, "differ in length"),
    ],
)
def test_damaged_ranger_forests_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ReadError, match=says):
        read("ranger", ranger(**changes))


def test_gbm_has_a_third_leaf_which_holds_nobody() -> None:
    vectors = [
        [0, -1, -1, -1], [7.5, 1, 2, 3], [1, -1, -1, -1], [2, -1, -1, -1], [3, -1, -1, -1],
        [0] * 4, [6, 4, 2, 6], [0, 1, 2, 3],
    ]  # fmt: skip
    model = {
        "var.names": ["age"], "var.type": [0], "var.levels": [r([1, 9])], "c.splits": r([[]]),
        "trees": [[r(one) for one in vectors]], "distribution": {"name": "bernoulli"},
        "nTrain": 12, "bag.fraction": 0.5, "initF": -1.0, "response.name": "ill",
    }  # fmt: skip
    forest = read("gbm", r(model))
    (tree,) = forest.trees
    assert edges(tree)[:2] == [(0, 0, [-INF, 7.5]), (0, 0, [7.5, INF])]
    assert tree.missing.tolist() == [False, False, False, True]
    assert tree.n_records.tolist() == [6, 4, 2, 0]
    assert (forest.schema.classes, forest.source.parameters["initF"]) == ((0, 1), -1.0)

    # Levels in an order are numbers from 0 on; caret calls the first class 1.
    vectors[1] = [1.5, 1, 2, 3]
    model |= {"var.levels": [["low", "mid", "high"]], "obsLevels": ["well", "ill"]}
    forest = read("gbm", r({**model, "trees": [[r(one) for one in vectors]]}))
    assert edges(forest.trees[0])[:2] == [(0, 0, [0, 1]), (0, 0, [2])]
    assert forest.schema.classes == ("ill", "well")


def test_c50_is_read_from_its_text() -> None:
    text = """id="See5/C5.0"
entries="1"
type="2" class="no" freq="5,3" att="age" forks="3" cut="40"
type="0" class="no"
type="3" class="no" freq="5,1" att="job" forks="2" elts="cook","pilot" elts="nurse"
type="0" class="no" freq="5,0"
type="0" class="yes" freq="0,1"
type="0" class="yes" freq="0,2"
"""
    model = {
        "tree": text, "predictors": ["age", "job"], "levels": ["no", "yes"], "caseWeights": 0,
        "xlevels": {"job": ["cook", "nurse", "pilot"]},
    }  # fmt: skip
    forest = read("C5.0", r(model))
    (tree,) = forest.trees
    assert tree.n_records.tolist() == [8, 0, 6, 5, 1, 2]
    assert edges(tree)[1:] == [
        (0, 0, [-INF, 40.0]), (2, 1, [0, 2]), (2, 1, [1]), (0, 0, [40.0, INF]),
    ]  # fmt: skip
    with pytest.raises(ReadError, match="a node is missing"):
        read("C5.0", r({**model, "tree": text[: text.rindex("type")]}))


def wrapped(tmp_path: Path, **parts: Any) -> ta.Forest:
    """The model in an object of caret, read from its file."""
    model = rpart()
    model.attributes["class"] = r("rpart")
    (tmp_path / "m.rds").write_bytes(encode(r({"finalModel": model, **parts})))
    return ta.load(tmp_path / "m.rds")


def test_a_table_before_the_steps_of_caret_is_refused(tmp_path: Path) -> None:
    forest = wrapped(tmp_path, preProcess={"mean": {"age": 41}})
    assert forest.warnings == (
        "the steps before the tree (preProcess) do not tell what its columns are",
    )
    with pytest.raises(ta.DataError, match=r"which preProcess made .* scan it without --train"):
        ta.scan(forest, train=pd.DataFrame({"age": [41], "job": "cook", "y": "no"}), target="y")


def test_columns_that_a_formula_made_of_factors_are_said(tmp_path: Path) -> None:
    forest = wrapped(tmp_path, xlevels={"jo": ["b", "c"]})
    assert [one.made_by for one in forest.schema.features] == ["", "model.matrix"]
    with pytest.raises(ta.DataError, match=r"'job', which model\.matrix made"):
        ta.scan(forest, train=pd.DataFrame({"age": [41], "jo": "b", "y": "no"}), target="y")
