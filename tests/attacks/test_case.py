"""What every attack is helped with: the leaves that are shown as evidence."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from treeaudit.attacks.case import Case, leaf_evidence, smallest


@given(st.lists(st.integers(1, 6), max_size=30), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_the_smallest_are_those_of_a_stable_sort(values, most, seed) -> None:
    for numbers in (np.array(values, dtype=np.int64), np.array(values, dtype=np.float64)):
        chosen = np.random.default_rng(seed).random(len(values)) < 0.7
        among = np.flatnonzero(chosen)
        expected = among[np.argsort(numbers[among], kind="stable")][:most].tolist()
        assert smallest(numbers, chosen, most).tolist() == expected


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ((0, 1), "1 × 0, 2 × 1"),
        (("<=50K", ">50K"), "1 × <=50K, 2 × >50K"),
        (("no", "yes"), "1 no, 2 yes"),
    ],
)
def test_a_number_of_people_is_told_from_a_label_that_is_one(labels, says) -> None:
    one = ta.Tree(
        parent=[-1], feature=[-1], low=[-math.inf], high=[math.inf], n_records=[3], counts=[[1, 2]]
    )
    forest = ta.Forest(trees=(one,), schema=ta.Schema.numeric(1, labels), counts_are="exact")
    assert leaf_evidence(Case(forest=forest, table=ta.reconstruct(forest)), 0).says == says
