"""No bound is ever wrong: held against the truth, and against all tables that fit."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inference.tables import every_table, small, stump, trained
from tests.strategies import examples, one_in
from treeaudit.inference.exact import Solution, infer_exact
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema

INF = np.inf


def holds(answer: Solution, forest: Forest, values: np.ndarray, labels: np.ndarray) -> int:
    """Hold an answer against the people; return how many are certified."""
    codes, leaf = answer.domain.codes(values), forest.apply(values)[:, : answer.n_trees]
    n_certified = 0
    for label, one in enumerate(answer.labels):
        cells = answer.cells.part(one.cell)
        place = {tuple(ends): i for i, ends in enumerate(cells.leaf.T.tolist())}
        true = np.zeros(len(cells))
        for ends, code in zip(leaf[labels == label].tolist(), codes[labels == label], strict=True):
            at = place[tuple(ends)]
            true[at] += 1
            for variable, row, x in zip(
                answer.domain.variables, cells.layout.row.tolist(), code.tolist(), strict=False
            ):
                if variable.cuts is None:
                    assert int(cells.sets[row, at, x // 64]) >> (x % 64) & 1
                else:
                    assert cells.low[row, at] <= x < cells.high[row, at]
        assert (one.bounds.low <= true).all()
        assert (true <= one.bounds.high).all()
        n_certified += int(one.bounds.low.sum())
    return n_certified


@given(st.integers(0, 2**32 - 1))
@examples(10)
def test_the_people_are_within_the_bounds(seed) -> None:
    forest, values, labels = trained(seed)
    answer = infer_exact(forest)
    assert holds(answer, forest, values, labels) == answer.certified <= len(values)


@given(st.integers(0, 2**32 - 1))
@examples(30)
def test_the_bounds_hold_all_tables_that_fit(seed) -> None:
    forest, values, labels, grid = small(seed)
    check_all_tables(forest, values, labels, grid)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("first", one_in(30, range(0, 3_000, 100)))
def test_three_thousand_small_tables(first) -> None:
    for seed in one_in(3, range(first, first + 100)):
        forest, values, labels = trained(seed, most_people=25)
        holds(infer_exact(forest), forest, values, labels)
        check_all_tables(*small(seed))


def check_all_tables(
    forest: Forest, values: np.ndarray, labels: np.ndarray, grid: np.ndarray
) -> None:
    answer = infer_exact(forest)
    ends = forest.apply(values).tolist()
    for label, one in enumerate(answer.labels):
        tables = every_table(forest, grid, label)
        truth = Counter(tuple(e) for e, mine in zip(ends, labels == label, strict=True) if mine)
        assert truth in tables
        cells = [tuple(ends) for ends in answer.cells.leaf[:, one.cell].T.tolist()]
        assert len(cells) == len(set(cells))
        for table in tables:
            assert set(table) <= set(cells)
            counts = np.array([table[cell] for cell in cells])
            assert (one.bounds.low <= counts).all()
            assert (counts <= one.bounds.high).all()


def test_two_questions_by_hand() -> None:
    """Ten people by smoking (6 do not, 4 do) and by age (9 are young, 1 is old), of one label.

    Of the young at least 9 - 4 = 5 do not smoke, and at most 6; of the smokers at least
    4 - 1 = 3 are young. Nobody needs to be old and not smoke. The only ill person is young
    and smokes: no other leaf of either tree has anybody ill.
    """
    smokes = stump(0, [6, 0], [4, 1])
    old = stump(1, [9, 1], [1, 0])
    schema = Schema.numeric(["smokes", "old"], classes=["well", "ill"])
    answer = infer_exact(Forest(trees=(smokes, old), schema=schema))
    well, ill = answer.labels
    leaves = [tuple(one) for one in answer.cells.leaf[:, well.cell].T.tolist()]
    bounds = dict(zip(leaves, zip(well.bounds.low, well.bounds.high, strict=True), strict=True))
    assert bounds == {(1, 1): (5, 6), (1, 2): (0, 1), (2, 1): (3, 4), (2, 2): (0, 1)}
    assert answer.cells.leaf[:, ill.cell].tolist() == [[2], [1]]
    assert ill.bounds.low.tolist() == ill.bounds.high.tolist() == [1]
    assert answer.certified == 9
