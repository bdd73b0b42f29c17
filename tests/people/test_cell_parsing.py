"""A cell is read by itself; a table is refused before more than its header is read."""

import gzip
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from treeaudit.errors import DataError
from treeaudit.model.schema import Feature, Schema
from treeaudit.people.input.cell_parsing import code_of
from treeaudit.people.input.table_input import read_table
from treeaudit.trainers.train import cells_of
from treeaudit.trainers.training_rows import read_rows

STRANGE = ["01", "1.0", "TRUE", "1e0", "x", "", "1_0", "nan", "inf", " 2", "1+2j", "0x1", "9" * 50]

SCHEMA = Schema(
    features=(
        Feature(name="age", low=0, high=120),
        Feature(name="sex", categories=("1", "2")),
        Feature(name="flag", categories=("False", "True")),
    ),
    classes=(0, 1),
    target="ill",
)


def coded(path) -> tuple[np.ndarray, np.ndarray]:
    frame = read_table(path, texts=cells_of(SCHEMA, None, None)).frame
    rows = read_rows(frame[SCHEMA.names], frame["ill"], SCHEMA, "clip", "T")
    values = np.full((len(frame), 3), -9.0)
    values[rows.used] = rows.values
    return values, rows.used


@pytest.mark.sampled(2)
@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("column", ["age", "sex", "flag", "ill"])
@pytest.mark.parametrize(
    "row",
    [
        {"age": "30", "sex": "1", "flag": "True", "ill": "0"},
        {"age": "30.5", "sex": "2.0", "flag": "TRUE", "ill": "1.0"},
        {"age": "TRUE", "sex": "01", "flag": "false", "ill": "01"},
    ],
)
def test_one_record_changes_no_other(strange, column, row, tmp_path) -> None:
    path = tmp_path / "people.csv"
    plain = pd.DataFrame([row] * 4)
    found = []
    for table in (plain, pd.concat([plain, pd.DataFrame([{**row, column: strange}])])):
        table.to_csv(path, index=False)
        values, used = coded(path)
        found.append((values[:4], used[:4]))
    assert np.array_equal(found[0][0], found[1][0], equal_nan=True)
    assert found[0][1].tolist() == found[1][1].tolist() == [True] * 4


@pytest.mark.parametrize(
    ("known", "value", "found"),
    [
        (["1.0", "2.0"], "1", 0),
        (["1.0", "2.0"], 2.0, 1),
        (["01", "02"], "2", 1),
        (["1", "1.0"], "1.0", 1),
        (["1", "1.0"], 1.0, 0),
        (["01", "1.0"], "1", None),
        (["1.5", "1.50"], "1.500", 0),
        (["1000000000000000"], 1e15, 0),
        (["9007199254740993"], "9007199254740992.0", None),
    ],
)
def test_two_spellings_of_a_number_are_one_name_unless_the_model_knows_both(
    known, value, found
) -> None:
    assert code_of({name: code for code, name in enumerate(known)})(value) == found


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory off /proc")
def test_a_missing_column_is_said_from_the_header_alone(tmp_path) -> None:
    """A bomb: 300 MB of rows that nobody needs to see."""
    path = tmp_path / "people.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"agee,ill\n")
        for _ in range(300):
            file.write(b"1,0\n" * (1 << 18))
    model = ta.save(_model(), tmp_path / "model.json")
    code = (
        "import sys, treeaudit as ta\n"
        "try: ta.scan(sys.argv[1], test=sys.argv[2], target='ill')\n"
        "except ta.DataError as error: print(error)\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, model, path], capture_output=True, text=True, check=True
    )
    said, peak = done.stdout.splitlines()
    assert said == "people.csv.gz has no column 'age'; did you mean 'agee'?"
    assert int(peak) < 200_000


def _model() -> ta.Forest:
    from sklearn.tree import DecisionTreeClassifier

    frame = pd.DataFrame({"age": np.arange(40)})
    return ta.load(DecisionTreeClassifier(max_depth=2).fit(frame, frame["age"] > 20))


def test_what_unpacks_to_too_much(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("treeaudit.people.input.text_table._BEYOND", 1 << 20)
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * (1 << 20)))
    with pytest.raises(DataError, match="unpacks to more than it may"):
        read_table(path)
    path.write_bytes(gzip.compress(b"a" * (1 << 22)))
    with pytest.raises(DataError, match="its first line is longer than"):
        read_table(path)
