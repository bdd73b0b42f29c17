"""What stands in for slow calls of numpy answers as they do."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.arrays import groups_of

NUMBERS = st.one_of(st.integers(0, 9), st.integers(0, 2**30), st.integers(0, 2**63 - 1))


@given(st.lists(NUMBERS))
def test_groups_are_those_of_unique(numbers) -> None:
    key = np.array(numbers, dtype=np.int64)
    kept = key.copy()
    expected = np.unique(key, return_inverse=True, return_counts=True)
    for own, other in zip(groups_of(key), expected, strict=True):
        assert own.tolist() == other.tolist()
    assert np.array_equal(key, kept)
