"""Which files of a folder or a pattern are the table."""

import os
import shutil

import pandas as pd
import pytest

import treeaudit as ta
from treeaudit.people.input.sources import source_of
from treeaudit.people.input.table_input import read_table


@pytest.fixture
def folder(tmp_path):
    for i in range(2):
        pd.DataFrame({"a": [i, i + 10]}).to_csv(tmp_path / f"{i}.csv", index=False)
    return tmp_path


def values(data) -> list[int]:
    return sorted(read_table(data).frame["a"].astype(int))


HIDDEN = [".ipynb_checkpoints/0.csv", "_temporary/0/0.csv", ".0.csv", "_0.csv", "x/.y/0.csv"]
BESIDE = ["_SUCCESS", "_metadata", "README", "README.txt", "LICENSE", "0.csv.crc", "Thumbs.db"]


@pytest.mark.parametrize("name", [*HIDDEN, *BESIDE])
@pytest.mark.parametrize("pattern", ["", "*", "**/*"])
def test_what_lies_beside_a_table_is_no_part_of_it(folder, name, pattern) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "0.csv", folder / name)
    if pattern and (folder / name).parent != folder:
        pattern = "**/*.csv"
    assert values(folder / pattern) == [0, 1, 10, 11]


@pytest.mark.parametrize("name", ["2.dat", "2.csv.bak", "part-2", "2.xlsx", "model.pkl"])
def test_a_file_of_another_kind_is_named(folder, name) -> None:
    (folder / name).write_text("a\n2\n12\n")
    with pytest.raises(ta.DataError, match=rf"holds tables and '{name}', which is none of CSV"):
        source_of(folder)
    assert values(folder / "*.csv") == [0, 1, 10, 11]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_and_a_link_to_nothing_are_named(folder) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(ta.DataError, match="'pipe'"):
        source_of(folder)
    (folder / "pipe").unlink()
    (folder / "2.dat").symlink_to("gone")
    with pytest.raises(ta.DataError, match=r"'2.dat'"):
        source_of(folder)
    (folder / "2.dat").rename(folder / "2.csv")
    with pytest.raises(ta.DataError, match=r"there is no file .*2.csv"):
        source_of(folder)
