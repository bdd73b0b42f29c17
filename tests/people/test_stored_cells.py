"""A cell of Parquet or Arrow is read by itself, whatever is missing in its column."""

import datetime
from decimal import Decimal

import numpy as np
import pytest

import treeaudit as ta
from treeaudit.model.schema import Feature, Schema
from treeaudit.people.input.table_input import read_table
from treeaudit.trainers.train import cells_of
from treeaudit.trainers.training_rows import read_rows

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

LONG = 9007199254740993
WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DAY = datetime.date(2020, 1, 2)
KINDS = {
    **{kind: (kind, [1, 100], ("1", "100")) for kind in WHOLE},
    "long int64": ("int64", [LONG, LONG + 2], (str(LONG), str(LONG + 2))),
    "long uint64": ("uint64", [LONG, 2**64 - 1], (str(LONG), str(2**64 - 1))),
    "float16": (pa.float16(), [np.float16(1), np.float16(2.5)], ("1", "2.5")),
    "float32": ("float32", [0.1, 2.5], ("0.1", "2.5")),
    "float64": ("float64", [0.1, 1e16], ("0.1", "10000000000000000")),
    "bool": ("bool", [False, True], ("False", "True")),
    "decimal": (pa.decimal128(20, 2), [Decimal("1.50"), Decimal(LONG)], ("1.5", f"{LONG}.00")),
    "string": ("string", ["01", "b"], ("01", "b")),
    "large_string": ("large_string", ["1.0", "b"], ("1.0", "b")),
    "names": (pa.dictionary("int8", "string"), ["a", "b"], ("a", "b")),
    "long names": (pa.dictionary("int8", "int64"), [LONG, LONG + 2], (str(LONG), str(LONG + 2))),
    "date": (pa.date32(), [DAY, DAY.replace(year=2021)], ("2020-01-02", "2021-01-02")),
}


def one_file(table, folder):
    parquet.write_table(table, folder / "people.parquet")
    return folder / "people.parquet"


def some_groups(table, folder):
    parquet.write_table(table, folder / "people.parquet", row_group_size=2)
    return folder


def one_for_each(table, folder):
    for i in range(len(table)):
        parquet.write_table(table.slice(i, 1), folder / f"{i}.parquet")
    return folder


def arrow(table, folder):
    feather.write_feather(table, str(folder / "people.feather"), compression="uncompressed")
    return folder / "people.feather"


def several_arrow(table, folder):
    for i in range(len(table)):
        feather.write_feather(table.slice(i, 1), str(folder / f"{i}.feather"))
    return folder


FORMS = [one_file, some_groups, one_for_each, arrow, several_arrow]


def read(path, schema):
    frame = read_table(path, texts=cells_of(schema, None, None)).frame
    return read_rows(frame[schema.names], frame["y"], schema, "clip", "T")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_cell_changes_no_other(form, kind, tmp_path) -> None:
    if form in (arrow, several_arrow) and kind == "float16":
        pytest.importorskip("pyarrow", minversion="15")
    stored, values, names = KINDS[kind]
    feature = Feature(name="code", categories=names)
    schema = Schema(features=(feature,), classes=("no", "yes"), target="y")
    for last in (values[0], None):
        table = pa.table({
            "code": pa.array([*values, last], type=stored), "y": ["no", "yes", "no"],
        })  # fmt: skip
        folder = tmp_path / str(last is None)
        folder.mkdir()
        rows = read(form(table, folder), schema)
        expected = [0.0, 1.0, np.nan if last is None else 0.0]
        assert np.array_equal(rows.values[:, 0], expected, equal_nan=True)
        assert rows.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("outside", ["raise", "clip"])
def test_a_missing_code_neither_fails_a_fit_nor_changes_it(outside, tmp_path) -> None:
    feature = Feature(name="code", categories=(str(LONG), str(LONG + 2)))
    schema = Schema(features=(feature,), classes=("no", "yes"), target="y")
    for last in (LONG, None):
        table = pa.table(
            {"code": [LONG, LONG + 2] * 300 + [last], "y": ["no", "yes"] * 300 + ["no"]}
        )
        parquet.write_table(table, tmp_path / "people.parquet")
        model = ta.train(
            tmp_path / "people.parquet", epsilon=20, schema=schema, outside=outside, max_depth=1
        )
        probe = table.slice(0, 2).to_pandas()[["code"]]
        assert model.predict(probe).tolist() == ["no", "yes"]
