"""Diversity measures against an independent brute force over people."""

import math

import numpy as np
import pytest
from hypothesis import given

from tests.strategies import count_tables
from treeaudit.table.diversity import counted


def people(row) -> list[int]:
    return [label for label, n in enumerate(row) for _ in range(int(n))]


# pyCANON 1.3.6 on the people of these three groups, where it is right.
TABLE = np.array([[4.0, 2.0, 2.0], [1.0, 3.0, 1.0], [3.0, 3.0, 3.0]])


def test_as_pycanon_measures_it() -> None:
    overall = TABLE.sum(axis=0)
    assert TABLE.sum(axis=1).min() == 5
    assert counted(TABLE).dominance.max() == 0.6
    assert counted(TABLE).distinct.min() == 3
    assert math.floor(counted(TABLE).entropy_l.min()) == 2
    assert counted(TABLE, overall).closeness.max() == pytest.approx(0.23636363636363633)
    assert counted(TABLE, overall).ordered_closeness.max() == pytest.approx(0.11818181818181817)
    assert counted(TABLE, overall).beta_likeness.max() == pytest.approx(0.65)
    assert counted(TABLE, overall).delta_disclosure.max() == pytest.approx(0.5978370007556204)


def test_where_pycanon_is_wrong() -> None:
    """A group of one class has no bounded delta; four equal classes have entropy 4."""
    one = np.array([[5.0, 0.0], [3.0, 2.0]])
    assert counted(one, one.sum(axis=0)).delta_disclosure[0] == math.inf
    assert counted(np.full((1, 4), 3.0)).entropy_l[0] == 4


@given(count_tables())
def test_ordered_labels_are_never_further_apart_than_nominal_ones(counts) -> None:
    overall = counts.sum(axis=0)
    ordered = counted(counts, overall).ordered_closeness
    assert (ordered <= counted(counts, overall).closeness + 1e-12).all()
