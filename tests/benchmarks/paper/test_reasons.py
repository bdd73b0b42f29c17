import numpy as np

from benchmarks.paper.cells import Cell
from benchmarks.paper.published import PRINTED, Printed
from benchmarks.paper.reasons import reason


def measured(**values: float) -> dict[Cell, np.ndarray]:
    cells = {
        "depth_5": Cell("loan", "none", 5, 0, "N_l"),
        "depth_6_pruned": Cell("loan", "Method 1", 6, 5, "N_l"),
        "adult_10": Cell("adult", "Method 2", 7, 10, "N_l"),
        "adult_20": Cell("adult", "Method 2", 7, 20, "N_l"),
        "adult_4": Cell("adult", "none", 4, 0, "N_u"),
        "adult_4_pruned": Cell("adult", "Method 1", 4, 5, "N_u"),
        "adult_6": Cell("adult", "none", 6, 0, "N_l"),
    }
    return {cells[name]: np.full((10, 1), value) for name, value in values.items()}


def printed(table: str, cell: Cell) -> Printed:
    return next(p for p in PRINTED if (p.table, p.cell) == (table, cell))


def test_another_tree_is_a_reason_only_if_its_number_is_the_printed_one() -> None:
    cell = printed("Table 6", Cell("loan", "none", 5, 0, "N_l"))
    assert "it is the number of the depth-6 tree after Method 1, s = 5" in reason(
        cell, measured(depth_5=10.9, depth_6_pruned=7.9)
    )
    assert "not explained; nearest" in reason(cell, measured(depth_5=10.9, depth_6_pruned=8.4))


def test_adult_was_mixed_up_at_depth_4_as_loan_was() -> None:
    cell = printed("Table 6", Cell("adult", "none", 4, 0, "N_u"))
    said = reason(cell, measured(adult_4=215.2, adult_4_pruned=210.4))
    assert "it is the number of the depth-4 tree after Method 1, s = 5 (210.4" in said


def test_a_copied_row_is_a_reason_only_if_that_row_comes_out() -> None:
    cell = printed("Table 7, Method 2", Cell("adult", "Method 2", 7, 10, "N_l"))
    assert "a copy of it" in reason(cell, measured(adult_10=6.1, adult_20=3.5))
    assert "not explained" in reason(cell, measured(adult_10=6.1, adult_20=4.0))


def test_what_is_not_explained_says_by_how_much_it_is_off() -> None:
    cell = printed("Table 6", Cell("adult", "none", 6, 0, "N_l"))
    assert reason(cell, measured(adult_6=18.3)) == (
        "19 printed, 18.3 ± 0.0 reproduced; not explained: 7 leaves more in 10 trees."
    )
