"""A dictionary around a model: its list of columns names them, and the rest is listed."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta

X = pd.DataFrame(np.arange(60.0).reshape(20, 3), columns=["age", "height/weight", "über"])
SCALER = StandardScaler().fit(X)
TREE = DecisionTreeClassifier().fit(SCALER.transform(X), np.arange(20) % 2)


@pytest.mark.parametrize(
    "beside",
    [{"features": X.columns}, {"columns": list(X)}, {"scaler": SCALER, "features": tuple(X)}],
    ids=["index", "list", "scaler"],
)
def test_one_list_of_columns_names_them(tmp_path, beside) -> None:
    path = tmp_path / "bundle.pkl"
    path.write_bytes(pickle.dumps({"model": TREE, **beside}))
    forest = ta.load(path)
    assert forest.schema.names == list(X)
    assert [one.partition(":")[0] for one in forest.source.beside] == [f"'{key}'" for key in beside]


@pytest.mark.parametrize(
    "beside",
    [
        {"features": list("abc"), "columns": list("abd")},
        {"features": list("aab")},
        {"features": list("ab")},
        {"classes": list("abc")},
    ],
)
def test_what_may_be_something_else_names_nothing(tmp_path, beside) -> None:
    path = tmp_path / "bundle.pkl"
    path.write_bytes(pickle.dumps({"model": TREE, **beside}))
    assert ta.load(path).schema.names == ["x0", "x1", "x2"]
