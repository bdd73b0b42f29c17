"""Several levels in one step end where a walk from node to node does."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import treeaudit as ta
from treeaudit.dp.entropy import Seeded
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.walk import walk_of
from treeaudit.model.ways import ways_of
from treeaudit.trainers.random_trees import random_trees

NUMBER, KIND, MANY = (
    Feature(name="number", low=0.0, high=1.0),
    Feature(name="kind", categories=tuple("abc")),
    Feature(name="many", categories=tuple("abcdefghijklmnopqrstuvwxyz")),
)


def people(features, n, rng, *, missing) -> np.ndarray:
    columns = [rng.integers(0, len(f.categories or "ab"), n).astype(float) for f in features]
    table = np.column_stack(columns)
    numeric = [f.categories is None for f in features]
    table[:, numeric] = rng.normal(0.5, 0.4, (n, sum(numeric)))
    if missing:
        table[rng.random(table.shape) < 0.1] = np.nan
    return table


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("depth", [1, 3, 6, 9])
@pytest.mark.parametrize("features", [(NUMBER,), (NUMBER, KIND), (KIND, MANY, NUMBER), (MANY,)])
def test_ways_end_where_walks_do(features, depth, missing) -> None:
    rng = np.random.default_rng(depth)
    schema = Schema(features=tuple(features), named=False)
    trees = random_trees(schema, 70, depth, 300, Seeded(depth))
    walk = walk_of(trees, schema)
    table = people(features, 3000, rng, missing=missing)
    # Thresholds themselves, their neighbours, and the ends of all numbers.
    edge = walk.threshold[np.isfinite(walk.threshold)]
    number = next((i for i, f in enumerate(features) if f.categories is None), None)
    if number is not None:
        edge = edge[rng.permutation(len(edge))[:500]]
        table[: len(edge), number] = edge
        table[500 : 500 + len(edge), number] = np.nextafter(edge, np.inf)
        table[1000:1002, number] = [np.inf, -np.inf]
    ways = ways_of(walk, table)
    assert ways is not None or depth == 1
    if ways is not None:
        assert np.array_equal(ways.down(table), walk.down(table))


def test_forests_of_any_shape() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)).round(2).astype(np.float32).astype(float)
    model = RandomForestClassifier(40, min_samples_leaf=3, random_state=0)
    model.fit(X, rng.integers(0, 2, 3000))
    forest = ta.load(model)
    walk = walk_of(forest.trees, forest.schema)
    ways = ways_of(walk, X)
    assert ways is not None
    assert not ways.whole
    assert np.array_equal(ways.down(X), model.apply(X).T + walk.root[:-1, None])


def test_few_records_walk_and_many_features_too() -> None:
    schema = Schema(features=(NUMBER,) * 1, named=False)
    walk = walk_of(random_trees(schema, 70, 5, None, Seeded(0)), schema)
    assert ways_of(walk, np.zeros((10, 1))) is None
    assert ways_of(walk, np.zeros((3000, 1))) is not None
    wide = Schema(features=tuple(Feature(name=f"x{i}", low=0, high=1) for i in range(200)))
    walk = walk_of(random_trees(wide, 70, 5, None, Seeded(0)), wide)
    assert ways_of(walk, np.zeros((3000, 200))) is None


def test_nobody_is_stopped_on_the_way() -> None:
    """Where somebody may end at an inner node the plain walk tells where."""
    inf = np.inf
    half = ta.Tree(parent=[-1, 0, 1, 1], feature=[-1, 0, 0, 0], low=[-inf, -inf, -inf, 1.0],
                   high=[inf, 2.0, 1.0, inf])  # fmt: skip
    whole = ta.Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.0],
                    high=[inf, 1.0, inf])  # fmt: skip
    values = np.linspace(0, 3, 3000)[:, None]
    assert ways_of(walk_of([half] * 90, Schema.numeric(1)), values) is None
    walk = walk_of([whole] * 90, Schema.numeric(1))
    assert ways_of(walk, values) is not None
    values[5] = np.nan
    assert ways_of(walk, values) is None
