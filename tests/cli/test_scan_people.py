"""``treeaudit scan --train --test``: what is said when the people do not fit."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tests.cli.run import run


def people(n, seed) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.uniform(18, 90, n).round(1), "job": rng.choice(["Sales", "Tech", "Farm"], n)}
    )
    rich = frame["age"] / 40 + (frame["job"] == "Tech") + rng.normal(0, 0.3, n) > 1.8
    return frame.assign(income=np.where(rich, "high", "low"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    train, test = people(400, 0), people(200, 1)
    coded = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(coded, DecisionTreeClassifier(random_state=0))
    model.fit(train.drop(columns="income"), train["income"])
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    tables = {
        "train": train,
        "test": test,
        "other": people(400, 2),
        "twice": pd.concat([train, train]),
        "column": test.drop(columns="age"),
        "category": test.assign(job="Clown"),
        "text": test.assign(age="old"),
        "label": test.assign(income="medium"),
        "nothing": test[:0],
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "empty.csv").touch()
    return folder


def test_train_and_test(folder) -> None:
    data = ("--train", "train.csv", "--test", "test.csv")
    only = ("--attack", "TA101", "--attack", "TA102")
    done = run("scan", "model.pkl", *data, *only, "--format", "json", cwd=folder)
    assert done.returncode in (1, 3), done.stderr
    report = json.loads(done.stdout)
    assert report["people"] == {
        "train": {"name": "train.csv", "records": 400},
        "test": {"name": "test.csv", "records": 200},
    }
    (control,) = report["findings"][0]["controls"]
    assert control["verified"]["value"] >= control["control"]["value"]
    assert set(control["baselines"]) == {"most frequent label", "guess without the model"}
    assert "unseen people" in control["sentence"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--train", "other.csv"], "other.csv is not the training data of the model: leaf"),
        (["--train", "twice.csv"], "every row seems to be there 2 times"),
        (["--train", "test.csv"], "it has 200 rows, the model was trained on 400"),
        (["--test", "column.csv"], "column.csv has no column 'age'"),
        (["--test", "category.csv"], "row 1: the model does not know 'Clown' in 'job'"),
        (["--test", "text.csv"], "row 1: 'old' is not a number"),
        (["--test", "label.csv"], "the model has no label 'medium'"),
        (["--train", "train.csv", "--test", "train.csv"], "400 of the 400 people of train.csv"),
        (["--train", "train.csv", "-o", "a.html", "-o", "a.html"], "a.html is named twice"),
        (["--test", "nothing.csv"], "nothing.csv holds no rows"),
        (["--test", "empty.csv"], "empty.csv is empty"),
        (["--test", "none.csv"], "there is no file none.csv"),
        (["--test", "model.pkl"], "model.pkl is no CSV or Parquet file"),
        (["--test", "test.csv", "--target", "incme"], "did you mean 'income'"),
    ],
)
def test_one_sentence(folder, arguments, says) -> None:
    done = run("scan", "model.pkl", *arguments, cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
