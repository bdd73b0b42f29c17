"""Tables as text: what is said where a file is none, read at once or part by part."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.input.sources import source_of
from treeaudit.people.records import read_records
from treeaudit.people.streaming import stream_records


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)).round(3), columns=["a", "b", "c"])
    return frame.assign(ill=np.where(frame["a"] > 0, "yes", "no"), note="x")


@pytest.fixture(scope="module")
def forest(table):
    return ta.load(DecisionTreeClassifier(max_depth=3).fit(table[["a", "b", "c"]], table["ill"]))


def held(path, forest):
    return read_records(path, forest, target="ill")


def streamed(path, forest):
    return stream_records(source_of(path), forest, target="ill")


BOTH = pytest.mark.parametrize("read", [held, streamed])


@BOTH
@pytest.mark.parametrize("row", ["no,1,5,2.0,3.0,x", "no,1.0,2.0,3.0,x,", "no,1,5,2.0,,"])
def test_a_row_of_too_many_fields_is_refused(table, forest, tmp_path, read, row) -> None:
    """A decimal behind a comma moves all that follows by one column."""
    lines = table[["ill", "a", "b", "c", "note"]].to_csv(index=False).splitlines()
    lines[100] = row
    (tmp_path / "people.csv").write_text("\n".join(lines))
    with pytest.raises(ta.DataError, match="Expected 5 fields in line 101, saw 6"):
        read(tmp_path / "people.csv", forest)


@BOTH
@pytest.mark.parametrize("name", ["a", '" a "', "note"])
def test_two_columns_of_one_name_are_refused(table, forest, tmp_path, read, name) -> None:
    lines = table.to_csv(index=False).splitlines()
    text = "\n".join([f"{name},{lines[0]}", *(f"5,{line}" for line in lines[1:])])
    (tmp_path / "people.csv").write_text(text)
    plain = name.strip('" ')
    with pytest.raises(ta.DataError, match=f"people.csv has two columns named '{plain}'"):
        read(tmp_path / "people.csv", forest)


@BOTH
@pytest.mark.parametrize("row", ["1.0,2.0", "1.0", '"1,0",2.0,3.0', "1.0,2.0,3.0,yes"])
def test_a_row_of_too_few_fields_is_refused(table, forest, tmp_path, read, row) -> None:
    lines = table.to_csv(index=False).splitlines()
    lines[100] = row
    (tmp_path / "people.csv").write_text("\n".join(lines))
    with pytest.raises(ta.DataError, match=r"people.csv, line 101 has \d of 5 fields; write the"):
        read(tmp_path / "people.csv", forest)


@BOTH
@pytest.mark.parametrize("empty", ["", " ", '""', '"x\n,"'])
def test_an_empty_last_cell_is_no_short_row(table, forest, tmp_path, read, empty) -> None:
    """Nor is an empty line, nor what an unnamed last column leaves out."""
    lines = table.drop(columns="note").to_csv(index=False).splitlines()
    text = "\n".join([f"{lines[0]},note", *(f"{line},{empty}" for line in lines[1:100])])
    text += "\n\n  \n" + "\n".join(f"{line}," for line in lines[100:])
    for change in (text, "\n".join([f"{lines[0]},", *lines[1:]])):
        (tmp_path / "people.csv").write_text(change)
        assert read(tmp_path / "people.csv", forest).n_people == 200
