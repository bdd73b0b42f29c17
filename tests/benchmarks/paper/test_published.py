from collections import Counter

from benchmarks.paper.cells import Cell
from benchmarks.paper.published import PRINTED


def test_every_printed_cell_is_there_once() -> None:
    assert Counter(p.table for p in PRINTED) == {
        "Table 5": 15,
        "Table 6": 30,
        "Table 7, Method 1": 84,
        "Table 7, Method 2": 84,
    }
    assert len({(p.table, p.cell) for p in PRINTED}) == len(PRINTED) == 213


def test_cells_stand_where_the_paper_prints_them() -> None:
    texts = {(p.table, p.cell): p.text for p in PRINTED}
    assert texts["Table 6", Cell("adult", "none", 4, 0, "N_u")] == "210"
    assert texts["Table 7, Method 1", Cell("loan", "none", 7, 0, "N_u")] == "3837"
    assert texts["Table 7, Method 1", Cell("nursery", "Method 1", 7, 40, "N_l")] == "21.7"
    assert texts["Table 7, Method 2", Cell("adult", "Method 2", 7, 40, "N_u")] == "676.1"
    assert texts["Table 7, Method 2", Cell("loan", "Method 2", 7, 10, "ACC")] == "0.9820"
