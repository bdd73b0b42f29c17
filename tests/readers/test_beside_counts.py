"""Numbers in our own form of a classifier that none of its answers is made of."""

import json

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta


def written(tmp_path, **columns):
    """Return a file of a plain tree of three nodes, with more columns for its nodes."""
    X = np.arange(40.0)[:, None]
    tree = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 0] > 19)
    path = tmp_path / "model.json"
    ta.save(ta.load(tree), path)
    stored = json.loads(path.read_text())
    stored["trees"][0] |= columns
    path.write_text(json.dumps(stored))
    return path


def unexplained(path) -> list[str]:
    return [one.where for one in ta.load(path).extras.found if one.kind == "extra"]


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({}, []),
        ({"value": [61.5, 44.25, 80.0]}, ["trees[0].value"]),
        ({"label": [1, 0, 1]}, []),
        ({"label": [0, 0, 1]}, []),
    ],
)
def test_values_of_classes_are_named(tmp_path, columns, named) -> None:
    assert unexplained(written(tmp_path, **columns)) == named
