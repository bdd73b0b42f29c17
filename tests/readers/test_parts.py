"""Columns of large tables lie beside one another in memory, whole."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from treeaudit.readers.columns import gathered, unfilled

NODES = DecisionTreeClassifier().fit([[0.0]], [0]).tree_.__getstate__()["nodes"].dtype


def test_large_columns_lie_beside_one_another() -> None:
    n = 200_001
    some = unfilled(n, (np.int64, np.bool_, (np.float64, 3), np.int32))
    for i, column in enumerate(some):
        column.fill(i)
    assert [column.shape for column in some] == [(n,), (n,), (n, 3), (n,)]
    assert [column.dtype for column in some] == [np.int64, np.bool_, np.float64, np.int32]
    assert all(column.flags.aligned and column.flags.c_contiguous for column in some)
    assert all(np.all(column == i) for i, column in enumerate(some))
    assert some[0].ctypes.data % (1 << 21) == 0


def test_large_tables_are_gathered_whole() -> None:
    table = np.zeros(150_000, NODES)
    for i, name in enumerate(NODES.names or ()):
        table[name] = np.arange(len(table)) * (i + 1)
    found = gathered(table, (*(NODES.names or ()), "no such column"))
    assert list(found) == list(NODES.names or ())
    assert all(np.array_equal(found[name], table[name]) for name in found)
