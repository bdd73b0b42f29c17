"""Every number that Tables 5, 6 and 7 print, digit by digit.

References
----------
Wakabayashi et al. (2024), sections 3.2 and 4.2. Table 7 prints the unpruned
tree twice, once above each method, with numbers that differ in places.
"""

from dataclasses import dataclass

from benchmarks.paper.cells import DATA, DEPTHS, THRESHOLDS, Cell

__all__ = ["PRINTED", "Printed"]

_TABLE_5 = """
0  0    0
0  0    0.5
0  0    1.8
0  3.7  5.1
0  6    11
"""  # one line a depth; U of each data set

_TABLE_6 = """
1     3448  3.8   3653  0.3   0.7
1     3448  4.8   3303  2.4   210
3     5057  7.9   3729  7.3   830
11.2  6822  16.7  3746  19    1623
24    7863  27    3837  34.4  1918
"""  # one line a depth; N_l and N_u of each data set

_METHOD_1 = """
0  7863.9  24    0.9370  6  3837    27   0.9809  11  1918.9  34.4  0.8545
0  7863    24    0.9370  0  3803.5  11   0.9815  0   1881.5  14.7  0.8120
0  7863    24    0.9370  0  3784.5  8.5  0.9599  0   1854.3  11.4  0.8072
0  7863    24    0.9370  0  3752.3  6.1  0.9469  0   1811.5  8.6   0.7954
0  7861    23.9  0.9363  0  3743.7  5.8  0.9294  0   1750    6.1   0.7926
0  7777    21.7  0.9333  0  3711.8  4.9  0.9294  0   1735.9  5.7   0.7921
0  7696    19.8  0.9324  0  3684.5  4.3  0.9277  0   1693.7  4.8   0.7900
"""  # "original", then one line a threshold; U, N_u, N_l, ACC of each data set

_METHOD_2 = """
0  7863.9  24    0.9370  6.7  3838.3  27   0.9810  11  1918.9  34.4  0.8544
0  7863.9  24    0.9370  0    3763.9  7.8  0.9813  0   1269.1  10    0.8548
0  7860.2  23.9  0.9370  0    3648.2  5.5  0.9820  0   673.1   3.5   0.8542
0  7654    19.6  0.9373  0    3555.5  3.9  0.9809  0   673.1   3.5   0.8535
0  7601.5  18.5  0.9363  0    3169.5  3.1  0.9792  0   652     2.6   0.8535
0  7571.1  17.7  0.9355  0    3159.1  2.9  0.9791  0   676.1   2.2   0.8530
0  7528.5  17.3  0.9348  0    3108    2.7  0.9774  0   551.7   1.2   0.8527
"""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as the paper prints it.

    Attributes
    ----------
    table
        Where it stands.
    cell
        What it is.
    text
        Its digits.
    """

    table: str
    cell: Cell
    text: str


def _read(table: str, block: str, whats: tuple[str, ...], rule: str) -> list[Printed]:
    at = [(d, 0) for d in DEPTHS] if rule == "none" else [(7, s) for s in (0, *THRESHOLDS)]
    lines = block.strip().splitlines()
    names = [(data, what) for data in DATA for what in whats]
    return [
        Printed(table, Cell(data, rule if s else "none", depth, s, what), text)
        for (depth, s), line in zip(at, lines, strict=True)
        for (data, what), text in zip(names, line.split(), strict=True)
    ]


PRINTED: tuple[Printed, ...] = (
    *_read("Table 5", _TABLE_5, ("U",), "none"),
    *_read("Table 6", _TABLE_6, ("N_l", "N_u"), "none"),
    *_read("Table 7, Method 1", _METHOD_1, ("U", "N_u", "N_l", "ACC"), "Method 1"),
    *_read("Table 7, Method 2", _METHOD_2, ("U", "N_u", "N_l", "ACC"), "Method 2"),
)
