"""Records in few bits end where the records themselves do."""

from dataclasses import replace

import numpy as np
import pytest

from treeaudit.dp.entropy import Seeded
from treeaudit.model.coarse import Coarse
from treeaudit.model.lower import lower_of
from treeaudit.model.routing import walk_of
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.random_trees import random_trees

LARGE = 1.7e308
BOUNDS = {
    "of one": (0.0, 1.0),
    "below zero": (-3.0, 5e-7),
    "beyond all numbers": (-LARGE, LARGE),
    "hardly any": (0.0, 5e-324),
    "far away": (1e16, 1e16 + 8),
}


@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("depth", [1, 6, 14])
def test_records_end_where_they_do_without(bounds, depth) -> None:
    low, high = bounds
    features = tuple(Feature(name=name, low=low, high=high) for name in "abc")
    schema = Schema(features=features, named=False)
    (tree,) = random_trees(schema, 1, depth, None, Seeded(depth))
    walk = walk_of([tree], schema)
    cuts = tree.high[np.isfinite(tree.high)]
    # Many are at a threshold, or next to it, where only the numbers themselves tell.
    rng = np.random.default_rng(0)
    share = rng.random((3000, 3))
    values = low * (1 - share) + high * share
    at = rng.choice(cuts, (3000, 3))
    values[::3], values[1::3] = at[::3], np.nextafter(at, np.inf)[1::3]
    values[-2], values[-1] = low, high
    values = np.clip(values, low, high)
    coarse = Coarse.of(values, [low] * 3, [high] * 3)
    lower = lower_of(walk, np.zeros(1, dtype=np.int64), depth + 2)
    found = coarse.down(coarse.questions(lower), slice(0, 3000))
    if not lower.whole:
        found = walk.descend(values, found)
    assert np.array_equal(found, walk.descend(values, np.zeros(3000, dtype=np.int64)))


def test_a_zero_below_zero_is_not_below_it() -> None:
    zero = np.array([[0.0], [-0.0]])
    (tree,) = random_trees(
        Schema(features=(Feature(name="a", low=-1.0, high=1.0),)), 1, 1, None, Seeded(0)
    )
    at_zero = {"low": np.array([-np.inf, -np.inf, -0.0]), "high": np.array([np.inf, -0.0, np.inf])}
    walk = walk_of([replace(tree, **at_zero)], Schema.numeric(1))
    lower = lower_of(walk, np.zeros(1, dtype=np.int64))
    end = np.zeros((1, 2), dtype=np.int64)
    lower.down(zero, np.zeros((1, 2), dtype=np.int64), out=end)
    coarse = Coarse.of(zero, [-1.0], [1.0])
    assert end.tolist() == [coarse.down(coarse.questions(lower), slice(0, 2)).tolist()]
    assert end[0].tolist() == walk.descend(zero, np.zeros(2, dtype=np.int64)).tolist()
