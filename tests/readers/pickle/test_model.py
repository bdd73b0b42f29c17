"""Bytes between the columns of a table are memory of whoever wrote it, and are counted."""

import pickle
import pickletools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from treeaudit.readers.pickle.model import between_columns, gaps
from treeaudit.readers.pickle.pickle_vm import read_pickle

RECORDS = [
    np.dtype({"names": ["a"], "formats": ["u1"], "offsets": [at], "itemsize": size})
    for at, size in ((0, 8), (3, 8), (9, 16), (1, 3))
]


@pytest.mark.parametrize("record", [*RECORDS, np.dtype([("a", "i8")])], ids=str)
@given(part=st.lists(st.sampled_from([0, 0, 0, 7]), max_size=40))
def test_bytes_between_the_columns_are_counted(record: np.dtype[Any], part: list[int]) -> None:
    raw = bytes(part[: len(part) // record.itemsize * record.itemsize])
    table = np.frombuffer(raw, record)
    places = (record.fields or {}).values()
    taken = {at + i for column, at, *_ in places for i in range(column.itemsize)}
    n = sum(byte != 0 for i, byte in enumerate(raw) if i % record.itemsize not in taken)
    assert gaps(table) == n
    assert [*between_columns([(100, table)])] == ([(100 - n, n)] if n else [])


def test_tables_of_no_rows_and_of_wide_records() -> None:
    wide = np.dtype({"names": ["a"], "formats": ["u1"], "offsets": [0], "itemsize": 1 << 16})
    none, some = np.zeros(0, wide), np.full(3 << 16, 7, "u1").view(wide)
    assert [gaps(none), gaps(some)] == [0, 3 * ((1 << 16) - 1)]
    assert not [*between_columns([(9, none), (9, np.zeros(0, "u1"))] * 50)]


def test_bytes_between_the_columns_are_noted_where_they_stand() -> None:
    model = RandomForestClassifier(9, max_depth=2, random_state=0).fit(*load_iris(return_X_y=True))
    data = bytearray(pickle.dumps(model, protocol=5))
    blobs = [at for op, _, at in pickletools.genops(bytes(data)) if op.name == "BYTEARRAY8"]
    tables = [at for at in blobs if int.from_bytes(data[at + 1 : at + 9], "little") > 170]
    for at in tables[1::3]:
        data[at + 9 + 60] = 7
    found = [*between_columns(read_pickle(bytes(data)).tables)]
    assert [n for _, n in found] == [1] * 3
    for (place, n), at in zip(found, tables[1::3], strict=True):
        # Behind its bytes stand the type, which the first one spelled out, and the sizes.
        assert 0 < place + n - (at + 9 + int.from_bytes(data[at + 1 : at + 9], "little")) < 60
