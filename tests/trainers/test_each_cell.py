"""Where values are clipped, one record more decides no error, no warning, and no other cell."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.trainers.people import OF_NUMBERS, SCHEMA
from treeaudit.people.input.cell_parsing import in_array
from treeaudit.trainers import train
from treeaudit.trainers.training_rows import CLASSES, NUMBERS, persons_of, read_rows


def nested(depth: int) -> list:
    found: list = []
    for _ in range(depth):
        found = [found]
    return found


class Nameless:
    def __str__(self) -> str:
        raise LookupError("no name")

    __repr__ = __str__


CELLS = {
    "digits": 10**5000,
    "negative": -(10**5000),
    "fraction": Fraction(10**5000, 3),
    "signal": Decimal("sNaN"),
    "large": Decimal("1e999999"),
    "deep": nested(3000),
    "nameless": Nameless(),
    "long double": np.longdouble("1e4000"),
    "lone surrogate": "\ud800",
    "list": [1, 2],
    "array": np.zeros(3),
    "complex": 1 + 2j,
    "bytes": b"\xff",
    "date": datetime.date(2020, 1, 1),
    "missing": pd.NA,
    "text": "text",
}
COLUMNS = {"age": [1, 2.5, "7"], "sex": ["f", "m", None], "dose": [0.5, -1, "0.25"]}
TEXTS = {"age": ["1", "2", "3"], "sex": ["f", "m", "x"], "dose": ["0", "1", "0.5"]}
ILL, VISITS = ["no", "yes", "no"], [1, 8.5, 2]


def frame(columns: dict) -> pd.DataFrame:
    return pd.DataFrame({n: pd.Series(in_array(c), dtype=object) for n, c in columns.items()})


def array(columns: dict) -> np.ndarray:
    return np.column_stack([in_array(cells) for cells in columns.values()])


def rows(columns: dict) -> list:
    return [list(row) for row in zip(*columns.values(), strict=True)]


def check_same(x, y, x_more, y_more, numbers: bool = False) -> None:
    """Hold what is read of three records against what is read of them beside a fourth."""
    told = (OF_NUMBERS if numbers else SCHEMA, "clip", "T", None, None)
    targets = NUMBERS if numbers else CLASSES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few, more = (read_rows(*one, *told, targets) for one in ((x, y), (x_more, y_more)))
    first = more.used[:3]
    assert few.used.tolist() == first.tolist() == [True] * 3
    np.testing.assert_array_equal(more.values[:3], few.values)
    assert more.labels[:3].tolist() == few.labels.tolist()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("columns", [COLUMNS, TEXTS], ids=["mixed", "texts"])
@pytest.mark.parametrize("made", [frame, array, rows])
@pytest.mark.parametrize("where", [*COLUMNS, "y", "numbers"])
@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_one_object_more_changes_no_other(cell, where, made, columns) -> None:
    numbers = where == "numbers"
    targets = VISITS if numbers else ILL
    more = {n: [*cells, cell if n == where else cells[0]] for n, cells in columns.items()}
    last = cell if where in ("y", "numbers") else targets[0]
    check_same(made(columns), in_array(targets), made(more), in_array([*targets, last]), numbers)


FAR = 2**62
TYPES = {
    "time": ([1000, 2000, 3000], 4001, pa.time64("ns")),
    "zone": ([0, 1, 2], FAR, pa.timestamp("us", "Europe/Berlin")),
    "zone in seconds": ([0, 1, 2], 10**15, pa.timestamp("s", "UTC")),
    "timestamp": ([0, 1, 2], 10**15, pa.timestamp("s")),
    "day": ([0, 1, 2], 2**31 - 1, pa.date32()),
    "duration": ([0, 1, 2], FAR, pa.duration("s")),
    "list of days": ([[0], [1], []], [2**31 - 1], pa.list_(pa.date32())),
    "day inside": ([{"a": 0}] * 3, {"a": 2**31 - 1}, pa.struct([("a", pa.date32())])),
    "list of times": ([[1000], [], [0]], [1001], pa.list_(pa.time64("ns"))),
}


def named(cells: list, *, twice: bool = False) -> pa.Array:
    if twice:
        return pa.DictionaryArray.from_arrays(pa.array(cells), pa.array(["f", "m", "f"]))
    return pa.array(cells, pa.string()).dictionary_encode("encode")


def pairs() -> list:
    typed = [(name, pa.array(c, t), pa.array([*c, odd], t)) for name, (c, odd, t) in TYPES.items()]
    null = named(["f", "m", "f"]), named(["f", "m", "f", None])
    twice = named([0, 1, 0], twice=True), named([0, 1, 0, 2], twice=True)
    chunked = [pa.chunked_array([one[:2], one[2:]]) for one in null]
    return [*typed, ("null name", *null), ("name twice", *twice), ("chunks", *chunked)]


def arrow(where: str, column: object) -> pa.Table:
    n = len(column)
    plain = {"age": pa.array([1.5] * n), "sex": pa.array(["f"] * n), "dose": pa.array([0.1] * n)}
    return pa.table({**plain, where: column})


@pytest.mark.parametrize("made", [lambda t: t, lambda t: t.to_pandas(types_mapper=pd.ArrowDtype)])
@pytest.mark.parametrize("where", ["age", "sex"])
@pytest.mark.parametrize(("few", "more"), [p[1:] for p in pairs()], ids=[p[0] for p in pairs()])
def test_one_cell_of_arrow_changes_no_other(few, more, where, made) -> None:
    check_same(made(arrow(where, few)), ILL, made(arrow(where, more)), [*ILL, "no"])


@pytest.mark.parametrize(
    "made", [lambda a: a, lambda a: pd.Series(pd.array(a, pd.ArrowDtype(a.type)))]
)
@pytest.mark.parametrize(("few", "more"), [p[1:] for p in pairs()], ids=[p[0] for p in pairs()])
def test_one_label_of_arrow_ends_no_fit(few, more, made) -> None:
    for labels in (few, more):
        x = arrow("age", pa.array([1.5] * len(labels)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read = read_rows(x, made(labels), SCHEMA, "clip", "T")
        assert len(read) == 0


def test_labels_of_a_dictionary_are_read_by_name() -> None:
    x = arrow("age", pa.array([1.5] * 4))
    labels = pa.array(["no", "yes", "no", None]).dictionary_encode("encode")
    assert read_rows(x, labels, SCHEMA, "clip", "T").labels.tolist() == [0, 1, 0]


# Parquet holds no dictionary with a missing name.
IN_FILES = [pair for pair in pairs() if pair[0] not in ("null name", "chunks")]


@pytest.mark.parametrize("where", ["sex", "other"])
@pytest.mark.parametrize("more", [p[2] for p in IN_FILES], ids=[p[0] for p in IN_FILES])
def test_one_cell_of_a_file_ends_no_fit(more, where, tmp_path) -> None:
    table = arrow(where, more).append_column("ill", pa.array([*ILL, "no"]))
    parquet.write_table(table, tmp_path / "people.parquet")
    train(str(tmp_path / "people.parquet"), epsilon=1, schema=SCHEMA, outside="clip", max_depth=1)


def test_long_doubles_beyond_a_float_are_clipped() -> None:
    ages = np.array([1, 2, 3, np.longdouble("1e4000")], dtype=np.longdouble)
    few, more = (
        pd.DataFrame({"age": ages[:n], "sex": ["f"] * n, "dose": [0.5] * n}) for n in (3, 4)
    )
    check_same(few, ILL, more, [*ILL, "no"])
    assert read_rows(more, [*ILL, "no"], SCHEMA, "clip", "T").values[3, 0] == 100


def test_a_type_that_pandas_cannot_hold_is_refused() -> None:
    places = pa.array([0, 1, 0], pa.int8())
    union = pa.UnionArray.from_sparse(places, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])])
    with pytest.raises(NotImplementedError, match="No known equivalent"):
        read_rows(arrow("age", union), ILL, SCHEMA, "clip", "T")


def test_persons_without_a_plain_name_are_persons() -> None:
    told = in_array([10**5000, Fraction(10**5000, 3), 10**5000, Fraction(10**5000, 7), "\ud800"])
    assert persons_of(told, 5).tolist() == [0, 1, 0, 2, 3]
    assert persons_of(["a", "\ud800", "a"], 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize("more", [[4, "x", 0.5], [[4], ["f"], [0.5]], [np.zeros(2)] * 3])
def test_lists_in_all_cells_are_cells(more) -> None:
    listed = [[[1], ["f"], [0.5]], [[2], ["m"], [-1]], [[3], ["x"], [0]]]
    check_same(listed, ILL, [*listed, more], [*ILL, "no"])
    few, odd = ([[np.zeros((1, n))] * 3] * 3 for n in (2, 3))
    check_same(few, ILL, [*few, odd[0]], [*ILL, "no"])


@pytest.mark.parametrize("last", ["no", ["no"], ("no", "yes"), np.zeros((1, 1)), None])
def test_a_label_in_a_list_of_its_own_is_that_label(last) -> None:
    for labels in ([["no"], ["yes"], ["no"]], (np.array(["no"]), ("yes",), "no")):
        check_same(rows(COLUMNS), labels, [*rows(COLUMNS), rows(COLUMNS)[0]], [*labels, last])
