"""Leaves that are alike are measured once: the same is said of each as when all are measured."""

from dataclasses import fields
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import count_tables
from treeaudit.table import labels as module
from treeaudit.table.kinds import kinds_of
from treeaudit.table.labels import ByKind, Labels, joined, labels_of

N = 3_000


def same(one: Labels, other: Labels) -> None:
    for field in fields(Labels):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "trees":
            assert a == b
        else:
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype


def both(counts: np.ndarray, size: np.ndarray, counts_are: str) -> tuple[Labels, Labels]:
    """Return the labels by kinds, and those of every leaf by itself."""
    fast = labels_of(counts, size, counts_are)
    assert isinstance(fast, ByKind)
    with patch.object(module, "kinds_of", lambda *_: None):
        slow = labels_of(counts, size, counts_are)
    assert isinstance(slow, Labels)
    return joined([fast], [len(size)]), slow


def test_by_hand() -> None:
    counts = np.tile([[2.0, 0.0], [1.0, 3.0], [0.0, 5_000.0]], (N // 3, 1))
    first, kind = kinds_of(counts, counts.sum(axis=1).astype(np.int64))
    # Leaves of many people are each a kind of their own.
    assert len(first) == 2 + N // 3
    assert kind[:5].tolist() == [kind[0], kind[1], 2, kind[0], kind[1]]
    found = joined([labels_of(counts, counts.sum(axis=1).astype(np.int64), "exact")], [N])
    assert found.distinct[:3].tolist() == [1, 2, 1]
    assert found.absent[:3].tolist() == [1, 0, 1]
    assert found.share[:3].tolist() == [1.0, 0.75, 1.0]
    assert found.majority[:3].tolist() == [2.0, 3.0, 5_000.0]
    assert found.others[:3].tolist() == [0.0, 1.0, 0.0]
    assert found.top[:3].tolist() == [0, 1, 1]


@given(
    count_tables(most=100),
    st.sampled_from(["exact", "likely", "weighted"]),
    st.integers(0, 3),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_every_leaf_says_what_it_says_by_itself(table, counts_are, drawn, blank, seed) -> None:
    rng = np.random.default_rng(seed)
    counts = table[rng.integers(0, len(table), N)]
    size = np.maximum(counts.sum(axis=1).astype(np.int64) - rng.integers(0, drawn + 1, N), 1)
    if blank:
        size[rng.random(N) < 0.2] = 0
        counts[rng.random(N) < 0.2] = 0.0
    if kinds_of(counts, np.maximum(size, 1)) is None:
        return  # more classes than numbers have room for
    same(*both(counts, size, counts_are))


@pytest.mark.parametrize("wrong", [0.5, -1.0, np.nan, np.inf, 2.0**53])
def test_other_numbers_are_measured_leaf_by_leaf(wrong) -> None:
    """Their sums hang on the order in which they are added, or they are no numbers of people."""
    counts, size = np.tile([[2.0, 1.0]], (N, 1)), np.full(N, 3)
    assert kinds_of(counts, size) is not None
    counts[N // 2, 1] = wrong
    assert kinds_of(counts, size) is None


def test_few_leaves_and_many_classes_are_measured_leaf_by_leaf() -> None:
    assert kinds_of(np.ones((500, 2)), np.full(500, 2)) is None
    assert kinds_of(np.ones((N, 6)), np.full(N, 6)) is None


def test_trees_of_both_ways_stand_in_a_row() -> None:
    counts = np.tile([[2.0, 1.0], [0.0, 4.0]], (N, 1))
    size = counts.sum(axis=1).astype(np.int64)
    parts = [labels_of(counts[:n], size[:n], "exact") for n in (10, 2 * N, 7)]
    assert [type(part) for part in parts] == [Labels, ByKind, Labels]
    found = joined([*parts, None], [10, 2 * N, 7, 3])
    own = labels_of(counts[:2], size[:2], "exact")
    told = [0, 1] * 5 + [0, 1] * N + [0, 1, 0, 1, 0, 1, 0]
    assert found.majority[:-3].tolist() == own.majority[told].tolist()
    assert np.isnan(found.majority[-3:]).all()
    assert found.distinct[-3:].tolist() == [0, 0, 0]
    # Half of the leaves are of each kind.
    assert found.trees[0] == found.trees[1]
    assert found.trees[3] is None
