"""Models that R saved, against what R itself says of them."""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import treeaudit as ta
from treeaudit.people.predict.predictions import answered_numbers, answered_shares

FOLDER = Path(os.environ.get("TREEAUDIT_MODELS", "")) / "r"
MANIFEST = FOLDER / "manifest.json"
STATED = (
    json.loads(MANIFEST.read_text(encoding="utf-8"))["files"]
    if os.environ.get("TREEAUDIT_MODELS") and MANIFEST.is_file()
    else []
)
FILES = {one["file"]: one for one in STATED if not one["file"].startswith("xgb_save")}
WITHOUT = {
    "rpart_butchered_hand.rds": "a level that nobody in a node had follows a surrogate split",
    "ranger_quantreg.rds": "quantiles are answered by rows, not by leaves",
    "c50_boost_missing.rds": "C5.0 weighs the votes of the trees of a boosting",
    "ranger_survival.rds": "survival is answered by curves, not by numbers",
    "workflow_recipe_ranger.rds": "the recipe changes the columns first",
    **dict.fromkeys(
        ("ranger_class5.rds", "ranger_latin1.rds", "ranger_prob_inbag.rds"),
        "the file keeps no levels of factors",
    ),
    "ranger_unordered_partition.rds": "the file keeps no levels of factors",
}
"""Why what R predicts cannot be told from the file alone."""


def models(*expected, only=lambda _: True):
    return [
        pytest.param(name, i, id=name + model["path"])
        for name, one in FILES.items()
        if one["expected"] in expected
        for i, model in enumerate(one.get("models") or [])
        if only(one)
    ]


@cache
def forest_of(name, i):
    stated = FILES[name]["models"]
    return ta.load(FOLDER / name, select=stated[i]["path"] if len(stated) > 1 else None)


def leaves_of(tree, *, draws, by_class):
    """What a tree says of each leaf, in no order: people (or draws), and people per class."""
    leaves = tree.leaves
    people = tree.counts.sum(axis=1) if draws else tree.n_records
    columns = [people[leaves], *(tree.counts[leaves].T if by_class else ())]
    return sorted(zip(*(np.round(column, 6).tolist() for column in columns), strict=True))


@pytest.mark.parametrize(("name", "i"), models("read"))
def test_trees_have_the_nodes_that_r_counts(name, i):
    forest, said = forest_of(name, i), FILES[name]["models"][i]
    assert forest.n_trees == said["n_trees"]
    told = [(tree.n_nodes, len(tree.leaves)) for tree in forest.trees]
    assert told == [(tree["nodes"], tree["leaves"]) for tree in said["trees"]]
    if said["classes"] and forest.schema.classes:
        assert sorted(map(str, forest.schema.classes)) == sorted(said["classes"])


@pytest.mark.parametrize(("name", "i"), models("read"))
def test_leaves_hold_the_people_that_r_counts(name, i):
    forest, said = forest_of(name, i), FILES[name]["models"][i]
    if forest.source.library == "XGBoost":
        return  # Its own reader works out the people of the first round
    if not said["leaf_people_in_file"]:
        assert all(tree.n_records is None for tree in forest.trees)
        return
    draws = forest.records_are == "bootstrap"
    alone = 0
    for tree, one in zip(forest.trees, said["trees"], strict=True):
        people, per_class = one["leaf_people"], one.get("leaf_class_counts")
        if draws and tree.counts is None:
            continue
        draws = draws or tree.n_records is None
        told = leaves_of(tree, draws=draws, by_class=per_class is not None)
        if forest.source.library == "gbm":
            # R repeats the people of a node in the leaf for its missing values, who are nobody.
            told = [leaf for leaf in told if leaf[0]]
            people = [n for n in people if n in {leaf[0] for leaf in told}]
        assert told == sorted(zip(people, *zip(*per_class or (), strict=True), strict=True))
        alone += sum(leaf[0] == 1 for leaf in told)
    assert draws or alone == said["one_person_leaves"]


def shares_in(stated, classes):
    """The probabilities that R answers, in the order of the classes."""
    if "rows" not in stated:
        each = {key.removeprefix(".pred_"): column for key, column in stated.items()}
        return np.column_stack([each[name] for name in classes])
    columns = [str(name).rpartition(".")[2] for name in stated["columns"] or classes]
    return np.array(stated["rows"])[:, [columns.index(name) for name in classes]]


def coded(forest, rows):
    """The rows as a table of numbers and codes of categories, as the model knows them."""
    table = np.full((len(rows), len(forest.schema.features)), np.nan)
    for j, feature in enumerate(forest.schema.features):
        for i, row in enumerate(rows):
            value = row[feature.name]
            if value is not None:
                known = feature.categories
                table[i, j] = value if known is None else known.index(str(value))
    return table


@pytest.mark.parametrize(("name", "i"), models("read", only=lambda one: one.get("predict")))
def test_probes_are_answered_as_r_answers(name, i):
    if name in WITHOUT:
        pytest.skip(WITHOUT[name])
    if i:
        return  # R was asked for the answers of the first model
    forest, said = forest_of(name, i), FILES[name]["predict"]
    if not {*forest.schema.names} <= {*FILES[name]["probe"][0]}:
        pytest.skip("the model was given other columns than the probes have")
    values = coded(forest, FILES[name]["probe"])
    if name == "partykit_ctree_reg_missing.rds":
        known = ~np.isnan(values).any(axis=1)  # Missing values follow surrogate splits
        values, said = values[known], np.array(said)[known]
    ends = forest.apply(values)
    if forest.schema.classes is None:
        stated = np.ravel(said["rows"] if isinstance(said, dict) else said)
        assert answered_numbers(forest, ends) == pytest.approx(stated)
        return
    if forest.source.library == "C50":
        counts = forest.trees[0].counts
        shares = counts[ends[:, 0]] + counts[0] / counts[0].sum()
        shares /= shares.sum(axis=1, keepdims=True)
    else:
        shares, _ = answered_shares(forest, ends)
    if forest.answers == "sum":
        assert (shares[:, 1] if np.ndim(said) == 1 else shares) == pytest.approx(np.array(said))
        return
    if isinstance(said, dict):
        assert shares == pytest.approx(shares_in(said, list(forest.schema.classes)))
        return
    classes = np.array(list(map(str, forest.schema.classes)), dtype=object)
    best = [set(classes[row >= max(row) - 1e-9]) for row in shares]
    assert all(one in many for one, many in zip(said, best, strict=True))


@pytest.mark.parametrize("name", [n for n, one in FILES.items() if one["expected"] == "refuse"])
def test_what_is_damaged_is_refused_in_one_sentence(name):
    with pytest.raises(ta.TreeauditError) as refused:
        ta.load(FOLDER / name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "name", [n for n, one in FILES.items() if one["expected"] in ("read_no_trees", "no_tree_model")]
)
def test_what_holds_no_trees_is_said_so(name):
    with pytest.raises(ta.UnsupportedModelError, match="no tree"):
        ta.load(FOLDER / name)
