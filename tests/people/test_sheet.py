"""What is taken for a table in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.sheet import read_table


def test_a_dataset_of_pyarrow_is_held_where_it_is_small(tmp_path) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    table = pd.DataFrame({"a": np.arange(60), "ill": np.where(np.arange(60) > 30, "yes", "no")})
    table.to_parquet(tmp_path / "people.parquet", row_group_size=25)
    data = dataset.dataset(tmp_path / "people.parquet")
    pd.testing.assert_frame_equal(read_table(data).frame, table)
    model = DecisionTreeClassifier().fit(table[["a"]], table["ill"])
    by_frame, by_dataset = (ta.scan(model, train=one, target="ill") for one in (table, data))
    assert by_dataset.people["train"][1] == 60
    assert [one.id for one in by_dataset.findings] == [one.id for one in by_frame.findings]
