"""What the sum of a leaf proves about each of its classes, against every way to share it out."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.attacks.background.bounds import tightened


@st.composite
def bounded_leaf(draw):
    """Bounds of up to four classes, and a size that people between them add up to."""
    pairs = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted)
    low, high = np.array(draw(st.lists(pairs, min_size=1, max_size=4))).T
    return low, high, draw(st.integers(int(low.sum()), int(high.sum())))


@given(bounded_leaf())
def test_both_bounds_are_the_best_that_the_size_allows(leaf) -> None:
    low, high, size = leaf
    ranges = [range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    possible = np.array([row for row in itertools.product(*ranges) if sum(row) == size])
    found = tightened(low[None], high[None], np.array([size]))
    assert found[0][0].tolist() == possible.min(axis=0).tolist()
    assert found[1][0].tolist() == possible.max(axis=0).tolist()


def test_who_can_be_nobody_else_is_counted() -> None:
    """Four people, at most one of each of two classes: two at least are of the third."""
    low, high = tightened(np.array([[0, 0, 0]]), np.array([[1, 1, 4]]), np.array([4]))
    assert (low.tolist(), high.tolist()) == ([[0, 0, 2]], [[1, 1, 4]])
