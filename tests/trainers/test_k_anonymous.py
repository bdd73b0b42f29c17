"""Top-down specialization to groups of k people."""

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.trainers.top_down_specialization import k_anonymous

X, Y = people(600)


@pytest.mark.parametrize("k", [1, 5, 50, 600])
def test_every_group_holds_k_people_or_nobody(k, tmp_path) -> None:
    X_lost = X.copy()
    X_lost.loc[::9, "age"] = np.nan
    model = k_anonymous(X_lost, Y, SCHEMA, k)
    frame = ta.reconstruct(model).to_frame(words=True)
    people_in = frame[["ill=no", "ill=yes"]].sum(axis=1)
    assert ((people_in >= k) | (people_in == 0)).all()
    assert people_in.sum() == 600
    assert (len(frame) == 1) == (k == 600)
    again = ta.load(ta.save(model, tmp_path / "table.json"))
    assert ta.reconstruct(again).to_frame(words=True).equals(frame)


def test_groups_are_told_apart_until_none_can_be() -> None:
    coarse, fine = (
        ta.reconstruct(k_anonymous(X, Y, SCHEMA, k)).to_frame(words=True) for k in (100, 10)
    )
    assert len(coarse) < len(fine)
    # What tells the ill from the others comes first.
    assert coarse["age"].nunique() > coarse["dose"].nunique()
