"""What every attack is helped with: the leaves that are shown as evidence."""

import math

import pytest

import treeaudit as ta
from treeaudit.attacks.case import Case, leaf_evidence


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
