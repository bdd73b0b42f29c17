"""On the edges of our own form stand codes and bounds that answers are made of, and no others."""

import json
from dataclasses import replace

import pytest

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.readers.leftovers.form_trees import untested_bounds
from treeaudit.trainers import PrivateTreeClassifier, RandomCountForestClassifier


def unexplained(tmp_path, change) -> str:
    """Return how the check of extra content ends of a private tree that is changed."""
    schema = replace(SCHEMA, features=SCHEMA.features[1:2])
    model = RandomCountForestClassifier(epsilon=1.0, schema=schema, n_estimators=1, max_depth=1)
    X, y = people(50)
    path = ta.save(model.fit(X[["sex"]], y).forest_, tmp_path / "m.json")
    data = json.loads(path.read_text())
    assert data["trees"][0]["categories"][1:] == [[0], [1], [2]]
    change(data["trees"][0])
    path.write_text(json.dumps(data))
    checks = ta.scan(path, policy="private").checks
    return {check.name: check.status for check in checks}["max-extra-bytes"]


def test_what_a_trainer_writes_is_explained(tmp_path) -> None:
    assert unexplained(tmp_path, lambda tree: None) == "pass"


def test_codes_that_stand_twice_on_an_edge(tmp_path) -> None:
    assert unexplained(tmp_path, lambda tree: tree["categories"][2].extend([1] * 33)) == "fail"


@pytest.mark.parametrize("node", [0, 3])
@pytest.mark.parametrize("side", ["low", "high"])
def test_bounds_where_no_number_is_compared(side, node, tmp_path) -> None:
    def told(tree) -> None:
        tree[side][node] = 33.5

    assert unexplained(tmp_path, told) == "fail"


def test_bounds_of_columns_that_a_private_model_does_not_test_are_weighed() -> None:
    forest = PrivateTreeClassifier(epsilon=1.0, schema=SCHEMA).fit(*people(50)).forest_
    more = [ta.Feature(name=f"x{i}", low=i / 7, high=1000.0) for i in range(1000)]
    wide = replace(forest, schema=replace(SCHEMA, features=(*SCHEMA.features, *more)))
    # Seventeen digits and a point for most, and 1000 once.
    assert 15_000 < untested_bounds(wide, {0, 1, 2}) < 20_000
    assert untested_bounds(replace(wide, privacy=None), {0, 1, 2}) == 0
    few = replace(wide, schema=replace(wide.schema, features=wide.schema.features[:64]))
    assert untested_bounds(few, {0, 1, 2}) == 0
