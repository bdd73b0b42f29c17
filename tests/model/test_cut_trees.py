"""Trees that are cut out of a row are those that `Tree` makes of the same numbers."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples, grow
from treeaudit.errors import DataError
from treeaudit.model.tree import ARRAYS, Tree
from treeaudit.model.tree_row import cut

STUMP = Tree(
    parent=[-1, 0, 0], feature=[-1, 7, 7], low=[-np.inf] * 3, high=[np.inf] * 3,
    n_records=[3, 1, 2], counts=[[1, 2], [1, 0], [0, 2]],
)  # fmt: skip
OF_NODES = ("parent", "feature", "low", "high", "n_records", "counts")


def row(trees):
    """The arrays of some trees behind one another, and where each begins."""
    arrays = {name: np.concatenate([getattr(one, name) for one in trees]) for name in OF_NODES}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays, [0, *np.cumsum([one.n_nodes for one in trees]).tolist()]


def same(one, other):
    assert one.spread_is == other.spread_is
    for name in (field.name for field in fields(Tree) if field.name != "spread_is"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()
            assert not a.flags.writeable


@given(seeds=st.lists(st.integers(0, 99), min_size=1, max_size=5))
@examples(30)
def test_cut_out_of_a_row(seeds) -> None:
    trees = [one for seed in seeds if (one := grow(seed, 2)).categories is None] or [STUMP]
    for one, other in zip(cut(*row(trees)), trees, strict=True):
        same(one, other)


@pytest.mark.parametrize(
    ("name", "at", "value", "says"),
    [
        ("parent", 1, 1, "one parent that comes before it"),
        ("parent", 1, -1, "one parent that comes before it"),
        ("parent", 3, 0, "node 0 must be the root"),
        ("feature", 3, 5, "node 0 must be the root"),
        ("feature", 4, -1, "an edge names no feature"),
        ("low", 2, np.nan, "a threshold is not a number"),
    ],
)
def test_what_is_no_tree_is_refused_as_ever(name, at, value, says) -> None:
    stump = {
        "parent": np.array([-1, 0, 0] * 2, np.int32),
        "feature": np.array([-1, 7, 7] * 2, np.int32),
        "low": np.full(6, -np.inf),
        "high": np.full(6, np.inf),
    }
    stump[name][at] = value
    for array in stump.values():
        array.flags.writeable = False
    with pytest.raises(DataError, match=says):
        cut(stump, [0, 3, 6])


def test_arrays_of_another_kind_are_made_those_of_a_tree() -> None:
    arrays = {
        "parent": np.array([-1, 0, 0]),
        "feature": np.array([-1, 1, 1]),
        "value": np.arange(3),
    }
    bounds = {name: np.zeros(3, np.float32) for name in ("low", "high")}
    (one,) = cut({**arrays, **bounds, "counts": None}, [0, 3])
    same(one, Tree(**arrays, **bounds))
    assert {getattr(one, n).dtype for n in ("parent", "value")} == {
        np.dtype(ARRAYS[n]) for n in ("parent", "value")
    }
