"""Keys in a stable order, small or large."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.inference.questions import stable_order

WIDE = st.integers(-(2**40), 2**40) | st.sampled_from([-(2**15) - 1, -(2**15), 2**15 - 1, 2**15])


@given(st.lists(st.integers(-3, 3) | WIDE))
def test_it_is_the_order_of_sorted(keys: list[int]) -> None:
    expected = sorted(range(len(keys)), key=keys.__getitem__)
    assert stable_order(np.array(keys, dtype=np.int64)).tolist() == expected
