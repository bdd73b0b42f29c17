"""Tables of every kind that pandas knows mean the same."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.columns import code_columns, columns_of, names_of
from treeaudit.trainers.training_rows import read_rows

SCHEMA = Schema(
    features=(
        Feature(name="a", low=0, high=9),
        Feature(name="b", categories=("u", "v")),
        Feature(name="c", categories=("True", "False")),
    ),
    classes=(False, True),
)
FRAME = pd.DataFrame({"a": [1, 4, 9], "b": ["u", "v", "u"], "c": [True, False, True]})
CODED = [[1, 0, 0], [4, 1, 1], [9, 0, 0]]


@pytest.mark.parametrize(
    "kinds",
    [
        {},
        {"a": "Int64", "c": "boolean"},
        {"b": "category", "c": "category"},
        {"b": "string"},
        {"a": "float32"},
        {"a": object, "b": object, "c": object},
    ],
    ids=str,
)
def test_frames(kinds) -> None:
    frame = FRAME.astype(kinds)
    frame.index = [7, 7, 3]
    for labels in ([False, True, True], pd.Series([0, 1, 1]), np.array([0.0, 1.0, 1.0])):
        rows = read_rows(frame, labels, SCHEMA, "raise", "T")
        assert rows.values.tolist() == CODED
        assert rows.labels.tolist() == [0, 1, 1]
    derived = read_rows(frame, [0, 1, 1], "from-data", "raise", "T").schema
    assert (derived.features[0].low, derived.features[0].high) == (1.0, 9.0)
    assert derived.features[1].categories == ("u", "v")


def test_missing_values() -> None:
    frame = FRAME.astype({"a": "Int64", "b": "category", "c": "boolean"})
    frame.loc[0, "a"], frame.loc[1, "b"], frame.loc[2, "c"] = pd.NA, np.nan, pd.NA
    rows = read_rows(frame, [0, 1, 1], SCHEMA, "raise", "T")
    assert np.isnan(rows.values).tolist() == np.eye(3, dtype=bool).tolist()


def test_what_is_only_asked_about_is_not_held_against_the_schema() -> None:
    asked = pd.DataFrame({"a": [100.0, -5.0], "b": ["w", "u"], "c": [None, "True"]})
    coded = code_columns(columns_of(asked, "T"), SCHEMA, [0, 1, 2], None)
    assert np.nan_to_num(coded, nan=-1).tolist() == [[100, -1, -1], [-5, 0, 0]]


def test_clipping() -> None:
    private = pd.DataFrame(
        {"a": [np.inf, -np.inf, "x"], "b": ["w", "u", None], "c": [True, True, False]}
    )
    rows = read_rows(private, [0, 1, 7], SCHEMA, "clip", "T")
    assert np.nan_to_num(rows.values, nan=-1).tolist() == [[9, -1, 0], [0, 0, 0]]
    assert rows.labels.tolist() == [0, 1]


def test_names() -> None:
    assert names_of(FRAME) == ["a", "b", "c"]
    assert names_of(FRAME.to_numpy()) is None
    assert names_of(FRAME.set_axis([0, 1, 2], axis=1)) is None
    with pytest.raises(TypeError, match="string names"):
        names_of(FRAME.set_axis(["a", 1, 2], axis=1))
    one = read_rows(FRAME[["c", "a", "b"]], [0, 1, 1], SCHEMA, "raise", "T")
    assert one.values.tolist() == CODED


def test_one_strange_cell_changes_no_long_number() -> None:
    feature = Feature(name="a", categories=(str(2**53), str(2**53 + 1)))
    schema = Schema(features=(feature,), classes=(0, 1))
    for column in ([2**53 + 1, 2**53], [2**53 + 1, 2**53, "x"]):
        rows = read_rows(pd.DataFrame({"a": column}), [0] * len(column), schema, "clip", "T")
        assert rows.values[:2, 0].tolist() == [1, 0]
    narrow = pd.DataFrame({"a": np.array([1, 2], dtype=np.int32), "b": np.float64([1, 2])})
    assert isinstance(columns_of(narrow, "T"), np.ndarray)


LONG = 2**53 + 1
CODES = Feature(name="code", categories=(str(LONG), str(LONG + 2)))
TENTHS = Feature(name="dose", categories=("0.1", "0.2"))


@pytest.mark.parametrize("last", [LONG, np.nan, None, 0.5, "x", b"x", True, 1j, pd.NA, 10**400])
@pytest.mark.parametrize("held", [list, tuple, lambda x: np.array(x, dtype=object)])
def test_one_cell_of_a_list_changes_no_other(held, last) -> None:
    codes = Schema(features=(CODES,), classes=(LONG, LONG + 2), named=False)
    cells = [LONG, LONG + 2, last]
    rows = read_rows(held([[cell] for cell in cells]), held([*cells[:2], LONG]), codes, "clip", "T")
    assert rows.values[:2, 0].tolist() == [0, 1]
    rows = read_rows(held([[cell] for cell in [*cells[:2], LONG]]), held(cells), codes, "clip", "T")
    assert rows.labels[:2].tolist() == [0, 1]
    assert len(rows) == 2 + (last == LONG if isinstance(last, int) else 0)


@pytest.mark.parametrize("kind", ["float32", "Float32", "float16", "float64", "Float64"])
def test_a_value_beside_them_changes_no_name_of_others(kind) -> None:
    schema = Schema(features=(TENTHS, Feature(name="id", low=0, high=2**61)), classes=(0, 1))
    for last in (7, 2**60):
        table = pd.DataFrame({"dose": pd.Series([0.1, 0.2], dtype=kind), "id": [1, last]})
        assert read_rows(table, [0, 1], schema, "clip", "T").values[:, 0].tolist() == [0, 1]
        alone = read_rows(table[["dose"]], [0, 1], SINGLE, "clip", "T")
        assert alone.values[:, 0].tolist() == [0, 1]
    array = table[["dose"]].to_numpy(dtype=kind.lower())
    assert read_rows(array, [0, 1], SINGLE, "clip", "T").values[:, 0].tolist() == [0, 1]


SINGLE = Schema(features=(TENTHS,), classes=(0, 1))


@pytest.mark.parametrize("kind", ["int64", "Int64", "uint64", "UInt64", object])
def test_a_missing_label_changes_no_other(kind) -> None:
    schema = Schema(features=(Feature(name="a", low=0, high=9),), classes=(LONG, LONG + 2))
    told = pd.Series([LONG, LONG + 2, LONG], dtype=kind)
    numbers = pd.DataFrame({"a": [1, 2, 3]})
    for labels in (told, told.to_frame()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataConversionWarning)
            assert read_rows(numbers, labels, schema, "clip", "T").labels.tolist() == [0, 1, 0]
    if kind in ("Int64", "UInt64", object):
        told[2] = pd.NA
        assert read_rows(numbers, told, schema, "clip", "T").labels.tolist() == [0, 1]
        assert read_rows(numbers, told.array, schema, "clip", "T").labels.tolist() == [0, 1]
