"""What every attack is helped with: the leaves that are shown as evidence."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.attacks import case as module
from treeaudit.attacks.case import smallest


@given(st.lists(st.integers(1, 6), max_size=30), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_the_smallest_are_those_of_a_stable_sort(values, most, seed) -> None:
    for numbers in (np.array(values, dtype=np.int64), np.array(values, dtype=np.float64)):
        chosen = np.random.default_rng(seed).random(len(values)) < 0.7
        among = np.flatnonzero(chosen)
        expected = among[np.argsort(numbers[among], kind="stable")][:most].tolist()
        assert smallest(numbers, chosen, most).tolist() == expected
        with patch.object(module, "_BLOCK", 4):
            assert smallest(numbers, chosen, most).tolist() == expected
