"""Random trees: from the public schema alone, complete, and as deep as the paper says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.dp.subsampling import OperatingSystem, Seeded
from treeaudit.errors import DataError
from treeaudit.model.routing import walk_of
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.random_trees import random_trees
from treeaudit.trainers.smooth_sensitivity_forest import table_depth, theorem_depth

# Fletcher & Islam (2017), table 4: data, numeric and categorical features, printed depth.
TABLE_4 = [
    ("SynthA", 5, 0, 5),
    ("SynthB", 10, 0, 8),
    ("SynthC", 15, 0, 12),
    ("SynthD", 15, 0, 12),
    ("SynthE", 15, 0, 12),
    ("SynthF", 10, 0, 8),
    ("SynthG", 20, 0, 15),
    ("WallSensor", 4, 0, 4),
    ("PenWritten", 16, 0, 12),
    ("GammaTele", 10, 0, 8),
    ("Adult", 6, 8, 9),
    ("Mushroom", 0, 22, 11),
    ("Claves", 0, 16, 8),
    ("Nursery", 0, 8, 4),
]


@pytest.mark.parametrize(("name", "numeric", "categorical", "printed"), TABLE_4)
def test_table_4_is_one_more_than_theorem_2(name, numeric, categorical, printed) -> None:
    assert table_depth(numeric, categorical) == printed
    assert theorem_depth(numeric, categorical) == printed - (numeric > 0)


def test_theorem_2() -> None:
    for s in range(1, 60):
        d = theorem_depth(s, 0)
        assert s * ((s - 1) / s) ** d < s / 2 <= s * ((s - 1) / s) ** (d - 1)
    assert theorem_depth(0, 1) == 1


columns = st.lists(
    st.one_of(
        st.just(("number", 0)),
        st.just(("constant", 0)),
        st.integers(1, 4).map(lambda n: ("category", n)),
    ),
    min_size=1,
    max_size=5,
)


def schema_of(kinds) -> Schema:
    features = []
    for i, (kind, n) in enumerate(kinds):
        if kind == "category":
            names = tuple(f"c{k}" for k in range(n))
            features.append(Feature(name=f"x{i}", categories=names))
        else:
            features.append(Feature(name=f"x{i}", low=-2.0, high=3.0 if kind == "number" else -2.0))
    return Schema(features=tuple(features), classes=(0, 1))


@given(columns, st.integers(1, 5), st.sampled_from([None, 1, 3, 10]), st.integers(0, 10**6))
def test_every_record_of_the_schema_reaches_one_leaf(kinds, depth, most, seed) -> None:
    schema = schema_of(kinds)
    trees = random_trees(schema, 3, depth, most, Seeded(seed))
    rng = np.random.default_rng(seed)
    values = np.column_stack(
        [rng.uniform(-2, 3, 50) if k != "category" else rng.integers(0, n, 50) for k, n in kinds]
    ).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    walk = walk_of(trees, schema)
    for number, tree in enumerate(trees):
        end = tree.apply(values)
        assert tree.is_leaf[end].all()
        start = np.full(50, walk.root[number])
        assert np.array_equal(walk.descend(values, start) - walk.root[number], end)
        assert tree.depths.max() <= depth
        assert most is None or len(tree.leaves) <= most
        _check_paths(tree, schema)


def _check_paths(tree, schema) -> None:
    """Categories are asked about once on a path; splits lie inside what is left of the range."""
    for leaf in tree.leaves:
        asked, low, high, node = [], {}, {}, int(leaf)
        while tree.parent[node] >= 0:
            feature = int(tree.feature[node])
            if schema.features[feature].categories is not None:
                asked.append(feature)
            low[feature] = max(low.get(feature, -2.0), tree.low[node])
            high[feature] = min(high.get(feature, 3.0), tree.high[node])
            node = int(tree.parent[node])
        assert len(asked) == len(set(asked))
        assert all(low[f] <= high[f] for f in low)


def test_a_bound_on_leaves_is_used_up_and_cuts_anywhere() -> None:
    schema = schema_of([("number", 0)])
    trees = random_trees(schema, 200, 6, 40, Seeded(1))
    assert {len(tree.leaves) for tree in trees} == {40}
    early = [tree.leaves[tree.depths[tree.leaves] == 5] for tree in trees]
    # Which of the nodes of the last level stay leaves is random.
    assert len({tuple(leaves.tolist()) for leaves in early}) > 150


def test_a_forest_that_cannot_be_held_is_refused() -> None:
    wide = Schema(
        features=tuple(
            Feature(name=f"x{i}", categories=tuple(f"c{k}" for k in range(40))) for i in range(8)
        ),
        classes=(0, 1),
    )
    with pytest.raises(DataError, match="set max_leaves"):
        random_trees(wide, 10, 8, None, OperatingSystem())
    with pytest.raises(DataError, match="depth of 65"):
        random_trees(wide, 10, 65, 10, OperatingSystem())
