"""Columns whose names LightGBM changed are found in the table that they come from."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from tests.cli.run import run


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "Family Size": rng.integers(1, 7, 300),
        " pay": rng.integers(10, 99, 300),
        "Job Type": rng.choice(["Tech support", "Farm", "Sales"], 300),
    })  # fmt: skip
    return frame.assign(ill=((frame[" pay"] > 50) | (frame["Job Type"] == "Farm")).astype(int))


def trained(X, y):
    return lgb.LGBMClassifier(n_estimators=3, num_leaves=4, verbose=-1, min_child_samples=5).fit(
        X, y
    )


@pytest.fixture(scope="module")
def model(people):
    X = pd.get_dummies(people.drop(columns="ill"), columns=["Job Type"])
    return trained(X, people.ill), X


def test_library_writes_underscores_for_blanks_alone(model) -> None:
    names = ["Family_Size", "_pay", "Job_Type_Farm", "Job_Type_Sales", "Job_Type_Tech_support"]
    assert ta.load(model[0]).schema.names == names
    frame = model[1][["Family Size"]].set_axis(["a\tb\xa0c.d"], axis=1)
    assert trained(frame, frame.iloc[:, 0] > 3).booster_.feature_name() == ["a\tb\xa0c.d"]


@pytest.mark.parametrize("name", ["model.txt", "model.json", "model.pkl"])
def test_a_scan_takes_the_table_it_was_trained_on(name, model, people, tmp_path) -> None:
    booster = model[0].booster_
    content = {
        "model.txt": booster.model_to_string, "model.pkl": lambda: pickle.dumps(model[0]),
        "model.json": lambda: __import__("json").dumps(booster.dump_model()),
    }[name]()  # fmt: skip
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    people.to_csv(tmp_path / "people.csv", index=False)
    done = run("scan", path, "--train", tmp_path / "people.csv", "--sensitive", "Family Size")
    assert not done.stderr
    assert done.returncode == 1
    assert "is not the training data" not in done.stdout
