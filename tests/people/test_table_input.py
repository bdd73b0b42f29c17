"""What is taken for a table in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.input.table_input import read_table


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


class Polars:
    """A table of another library: it hands over its columns as Arrow does, and no more."""

    def __init__(self, frame) -> None:
        self._held = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._held.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("held", [pa.Table.from_pandas, Polars])
def test_tables_that_arrow_hands_over_keep_the_names_of_their_columns(held) -> None:
    people = pd.DataFrame({"age": [33, 54, 71], "job": ["a", "b", None], "ill": [0, 1, 1]})
    read = read_table(held(people[1:]))
    assert read.frame.columns.tolist() == ["age", "job", "ill"]
    assert read.frame.age.tolist() == [54, 71]
    assert read.frame.index.tolist() == [0, 1]
    paired = read_table((held(people[["job", "age"]]), people.ill))
    assert paired.frame.columns.tolist() == ["job", "age", "ill"]
    assert paired.paired


def test_a_tuple_is_asked_for() -> None:
    with pytest.raises(ta.DataError, match="or a tuple of features and labels"):
        read_table([pd.DataFrame({"age": [1, 2]}), [0, 1]])
