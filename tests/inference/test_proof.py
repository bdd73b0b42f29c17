"""Proofs: accepted as they are, refused when anything in them is changed."""

import ast
import copy
import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.cli.run import run
from tests.inference.tables import trained
from tests.strategies import examples, one_in
from treeaudit.errors import DataError
from treeaudit.inference import checker
from treeaudit.inference.checker import assumed_by, check_proof
from treeaudit.inference.exact import infer_exact
from treeaudit.inference.proof import proof_of
from treeaudit.inference.scope import Budget


def sealed(proof: dict) -> dict:
    """Return a proof with the hash of what it holds."""
    content = {name: part for name, part in proof.items() if name != "sha256"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


def changed(proof: dict, rng: np.random.Generator) -> dict | None:
    """Return a proof with one thing changed so that it says more than it did, or something else."""
    other = copy.deepcopy(proof)
    people, steps = other["people"], other["steps"]
    kind = int(rng.integers(6))
    if kind == 0 and people:
        people[int(rng.integers(len(people)))]["people"][0] += 1
        other["certified"] += 1
    elif kind == 1 and people:
        people.append(people[int(rng.integers(len(people)))])
        other["certified"] += people[-1]["people"][0]
    elif kind == 2 and people:
        one = people[int(rng.integers(len(people)))]
        one["people"][1] -= 1
    elif kind == 3 and steps:
        step = steps[int(rng.integers(len(steps)))]
        side = "low" if "low" in step else "high"
        step[side] += 1 if side == "low" else -1
    elif kind == 4 and people:
        other["certified"] += 1
    elif kind == 5 and other["domain"]:
        values = other["domain"][0].get("values")
        if not values:
            return None
        values.pop()
    else:
        return None
    return other


def check(seed: int) -> None:
    forest, _, _ = trained(seed, most_people=25)
    answer = infer_exact(forest, budget=Budget(cells=2_000))
    proof = json.loads(json.dumps(proof_of(forest, answer)))
    assert check_proof(proof, forest) == answer.certified
    rng = np.random.default_rng(seed)
    for _ in range(3):
        other = changed(proof, rng)
        if other is not None:
            for one in (other, sealed(other)):
                with pytest.raises(DataError):
                    check_proof(one, forest)


@given(st.integers(0, 2**32 - 1))
@examples(3)
def test_every_proof_is_accepted_and_every_other_refused(seed) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("first", one_in(20, range(10_000, 11_000, 50)))
def test_a_thousand_proofs(first) -> None:
    for seed in one_in(3, range(first, first + 50)):
        check(seed)


def test_the_checker_shares_no_code_with_what_it_checks() -> None:
    tree = ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))
    ours = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    assert {name for name in ours if name.startswith("treeaudit")} == {
        "treeaudit.errors",
        "treeaudit.model.forest",
        "treeaudit.model.tree",
    }


@pytest.mark.parametrize("proof", [[], {}, {"treeaudit_proof": 1}, {"sha256": None}])
def test_what_is_no_proof_is_refused(figure_3, proof) -> None:
    with pytest.raises(DataError, match=r"no proof|does not hold"):
        check_proof(proof, figure_3)


@pytest.fixture
def forest_file(tmp_path):
    """A forest on three columns of 0 and 1, and its table."""
    import pickle

    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (60, 4)), columns=["old", "ill", "rich", "tall"])
    answer = np.where(table["old"] ^ table["ill"] & table["rich"], "yes", "no")
    forest = RandomForestClassifier(20, bootstrap=False, min_samples_leaf=2, random_state=0)
    path = tmp_path / "forest.pkl"
    path.write_bytes(pickle.dumps(forest.fit(table, answer)))
    return path, table.assign(label=answer)


def test_people_and_proof_from_the_command_line(forest_file, tmp_path) -> None:
    path, table = forest_file
    people, proof = tmp_path / "people.csv", tmp_path / "proof.json"
    done = run("reconstruct", path, "--people", "-o", people, "-o", proof)
    assert done.returncode == 0, done.stderr
    assert "60 of 60 people are certain, 60 with every value" in " ".join(done.stdout.split())
    written = pd.read_csv(people)
    assert set(written["certain"]) == {"certain"}
    assert set(written["multiplicity"]) == {1}
    rows = [Counter(map(tuple, one[list(table)].values.tolist())) for one in (written, table)]
    assert rows[0] == rows[1]
    held = run("verify", proof, path)
    assert held.returncode == 0
    assert held.stdout.startswith("HOLDS  60 people for certain")
    content = json.loads(proof.read_text())
    content["people"][0]["people"] = [0, 0]
    proof.write_text(json.dumps(sealed(content)))
    refused = run("verify", proof, path)
    assert refused.returncode == 1
    assert refused.stdout.startswith("REFUSED  the proof does not hold")


STUMP = {
    "parent": [-1, 0, 0], "feature": [-1, 0, 0], "low": [-np.inf, -np.inf, 49.25],
    "high": [np.inf, 49.25, np.inf], "n_records": [40, 17, 23],
}  # fmt: skip


def stump(tmp_path, **more) -> ta.Forest:
    """Return a stump that is read from a file: 17 people up to 49.25 of one label, 23 above."""
    given = STUMP | {"counts": [[17, 23], [17, 0], [0, 23]]} | more
    tree = ta.Tree(**{name: np.array(one) for name, one in given.items()})
    schema = ta.Schema.numeric(["age", "income"], ["no", "yes"])
    model = ta.Forest(trees=(tree, tree), schema=schema)
    return ta.load(ta.save(model, tmp_path / "model.json", force=True))


def forged(forest: ta.Forest, domain: list, cell: list, people: int, **more) -> dict:
    """Return a sealed proof that so many people of the first label are in a cell."""
    step = {"label": 0, "cell": 0, "low": people, "equations": [[0, 1, 1]]}
    return sealed({
        "treeaudit_proof": 1, "model": {"sha256": forest.source.sha256, "trees": 1},
        "public_schema": False, "domain": domain, "assumptions": [], "certified": people,
        "cells": [cell], "steps": [step],
        "people": [{"label": 0, "cell": 0, "people": [people, people], "says": "the king"}],
    } | more)  # fmt: skip


AGE = {"name": "age", "columns": [0], "kind": "number", "cuts": [49.25]}


@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        (AGE | {"columns": [0, 1]}, "a variable has one column"),
        (AGE | {"low": 30.35}, "other bounds"),
        (AGE | {"columns": [-1]}, "no such column"),
        (AGE | {"kind": "whatever"}, "no such kind"),
        (AGE | {"kind": "one-hot", "values": ["1", "0"]}, "no such kind"),
        ({"name": "age", "columns": [0], "kind": "one-hot", "values": ["1", "0"]}, "not 0 or 1"),
        (
            {"name": "both", "columns": [0, 1], "kind": "one-hot", "values": ["a", "b", "none"]},
            "not 0 or 1",
        ),
    ],
)
def test_a_domain_that_is_not_that_of_the_file_is_refused(domain, reason, tmp_path) -> None:
    forest = stump(tmp_path)
    assert check_proof(forged(forest, [AGE], [[0]], 17), forest) == 17
    with pytest.raises(DataError, match=reason):
        check_proof(forged(forest, [domain], [[0]], 17), forest)
    with pytest.raises(DataError, match="there twice"):
        check_proof(forged(forest, [AGE, AGE], [[0], [0]], 17), forest)


def test_what_is_assumed_is_told_by_the_domain_and_not_by_the_proof(tmp_path) -> None:
    forest = stump(tmp_path)
    public = forged(forest, [AGE | {"low": 30.35, "high": 60}], [[0]], 17, public_schema=True)
    assert check_proof(public, forest) == 17
    assert assumed_by(public, forest) == [
        "column 'age' is at least 30.35", "column 'age' is at most 60",
    ]  # fmt: skip
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(sealed(public | {"assumptions": 5})))
    done = run("verify", path, tmp_path / "model.json")
    assert done.returncode == 0
    assert "column 'age' is at least 30.35" in done.stdout
    flag = {"name": "age", "columns": [0], "kind": "one-hot", "values": ["1", "0"]}
    assert assumed_by({"domain": [flag]}, forest) == ["column 'age' holds 0 or 1"]
    both = flag | {"columns": [0, 1], "values": ["a", "b", "none"]}
    assert assumed_by({"domain": [both]}, forest) == [
        "at most one of the columns 'age', 'income' is 1, and the others are 0"
    ]
