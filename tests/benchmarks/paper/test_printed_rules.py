"""A tree of eleven nodes, in the order in which scikit-learn numbers them.

0 (100) ── 1 (40) ── 2 (38, alike), 3 (2, alike)
        └─ 4 (60) ── 5 (4) ── 6 (1, alike), 7 (3, mixed)
                  └─ 8 (56) ── 9 (30, alike), 10 (26, mixed)
"""

import numpy as np
import pytest

from benchmarks.paper.printed_rules import Nodes, cut, left_by_merging, stopped


@pytest.fixture
def tree() -> Nodes:
    return Nodes(
        left=np.array([1, 2, -1, -1, 5, 6, -1, -1, 9, -1, -1]),
        right=np.array([4, 3, -1, -1, 8, 7, -1, -1, 10, -1, -1]),
        parent=np.array([-1, 0, 1, 1, 0, 4, 5, 5, 4, 8, 8]),
        feature=np.zeros(11, dtype=int),
        people=np.array([100, 40, 38, 2, 60, 4, 1, 3, 56, 30, 26]),
        pure=np.isin(np.arange(11), [2, 3, 6, 9]),
        majority=np.zeros(11, dtype=int),
    )


def test_a_node_with_a_small_child_is_cut_also_if_the_child_is_no_leaf(tree) -> None:
    assert np.flatnonzero(cut(tree, 5)).tolist() == [1, 4, 5]


def test_everybody_below_a_cut_node_stops_there(tree) -> None:
    assert stopped(tree, cut(tree, 5)).tolist() == [0, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4]


def test_leaves_that_can_no_longer_be_reached_are_counted(tree) -> None:
    # Node 4 is cut, so node 9 is out of reach; its own parent is not cut.
    assert np.flatnonzero(left_by_merging(tree, 5, by_position=False)).tolist() == [9]


def test_by_position_the_second_node_behind_a_cut_one_goes_too(tree) -> None:
    # At s = 2 the nodes 1 and 5 are cut; 3 and 7 stand two places behind them.
    assert np.flatnonzero(cut(tree, 2)).tolist() == [1, 5]
    assert np.flatnonzero(left_by_merging(tree, 2, by_position=True)).tolist() == [9]
    # At s = 26 node 8 is cut as well, and with it goes node 10.
    assert np.flatnonzero(left_by_merging(tree, 26, by_position=True)).tolist() == []
