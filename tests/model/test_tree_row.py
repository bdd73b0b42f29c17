"""Trees cut out of a row are those that `Tree` makes of the same arrays; it takes no others."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.errors import DataError
from treeaudit.model.tree import ARRAYS, Tree
from treeaudit.model.tree_row import TreeRow


def _arrays(sizes: list[int], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the arrays of random trees behind one another."""
    n = sum(sizes)
    parent = np.concatenate([[-1, *(rng.integers(0, i) for i in range(1, size))] for size in sizes])
    return {
        "parent": parent.astype(np.int32),
        "feature": np.where(parent < 0, -1, rng.integers(0, 5, n)).astype(np.int32),
        "low": np.full(n, -np.inf),
        "high": rng.normal(size=n),
        "missing": rng.random(n) < 0.5,
        "n_records": rng.integers(0, 9, n),
        "counts": rng.random((n, 3)),
        "value": rng.random(n),
    }


def _same(one: Tree, other: Tree) -> bool:
    names = [part.name for part in fields(Tree) if part.name != "spread_is"]
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return one.spread_is == other.spread_is and all(
        a is b is None
        or (
            a.dtype == b.dtype
            and np.array_equal(a, b)
            and not a.flags.writeable
            and a.flags.c_contiguous == b.flags.c_contiguous
        )
        for a, b in pairs
    )


def _alone(arrays: dict[str, np.ndarray], ends: list[int]) -> list[Tree] | None:
    try:
        return [
            Tree(**{name: array[begin:end] for name, array in arrays.items()})
            for begin, end in pairwise(ends)
        ]
    except DataError:
        return None


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 99), st.data())
def test_trees_in_a_row_are_those_made_alone_or_none_are(sizes, seed, data) -> None:
    rng = np.random.default_rng(seed)
    arrays, ends = _arrays(sizes, rng), [0, *np.cumsum(sizes).tolist()]
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(["parent", "feature", "low", "high"]))
        at = data.draw(st.integers(0, ends[-1] - 1))
        arrays[name][at] = data.draw(st.sampled_from([-2, -1, 0, 1, 5]))
        if name in ("low", "high") and data.draw(st.booleans()):
            arrays[name][at] = np.nan
    alone = _alone(arrays, ends)
    if alone is None:
        with pytest.raises(DataError):
            TreeRow(arrays, ends)
        return
    row = TreeRow(arrays, ends)
    assert len(row) == len(alone)
    assert all(_same(row.tree(i), tree) for i, tree in enumerate(alone))


@pytest.mark.parametrize("ends", [[0], [0, 3, 3], [0, 5, 3], [1, 3], [0, 2]])
def test_ends_that_are_none_are_refused(ends) -> None:
    arrays = _arrays([3], np.random.default_rng(0))
    with pytest.raises(DataError):
        TreeRow(arrays, ends)


def test_an_array_of_another_length_is_refused() -> None:
    arrays = _arrays([3, 1], np.random.default_rng(0))
    with pytest.raises(DataError, match="as long"):
        TreeRow(arrays | {"value": np.zeros(3)}, [0, 3, 4])


def test_a_row_has_the_arrays_of_a_tree() -> None:
    assert {*ARRAYS, "categories", "spread_is"} == {part.name for part in fields(Tree)}
