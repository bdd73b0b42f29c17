"""Copies among rows, beside what chance and real tables repeat."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from treeaudit.people.persons import repeats_in

DATA = os.environ.get("TREEAUDIT_DATA")


def hearts(n: int, seed: int) -> pd.DataFrame:
    """Thirteen measurements, as fine and as coarse as those of the heart tables."""
    rng, many = np.random.default_rng(seed), [41, 2, 4, 49, 150, 2, 3, 90, 2, 40, 3, 5, 4]
    return pd.DataFrame({f"m{i}": rng.integers(0, m, n) for i, m in enumerate(many)})


def test_copies_of_301_hearts() -> None:
    rows, rng = hearts(301, 0), np.random.default_rng(1)
    which = np.concatenate([np.arange(301), rng.integers(0, 301, 519)])
    found, group = repeats_in(rows.iloc[which])
    assert (found.records, found.distinct) == (820, 301)
    assert found.look_like_copies
    assert len(np.unique(group)) == 301
    numbered = rows.iloc[which].assign(row=np.arange(820))
    assert repeats_in(numbered)[0] == found


@pytest.mark.skipif(DATA is None, reason="TREEAUDIT_DATA names no folder of tables")
@pytest.mark.parametrize("name", ["adult", "magic", "nursery", "wall_following", "mushroom", "car"])
def test_public_tables_are_no_copies(name) -> None:
    rows = pd.read_csv(Path(DATA) / f"{name}.csv.gz")
    assert not repeats_in(rows, (rows.columns[-1],))[0].look_like_copies
