"""treeaudit reconstruct: the paper's table from a file, and every way to write it."""

import json

import pandas as pd
import pytest

import treeaudit as ta
from tests.cli.run import run
from tests.table.test_table import TABLE_4


@pytest.fixture
def figure_3_file(figure_3, tmp_path):
    return ta.save(figure_3, tmp_path / "figure3.json")


def test_table_4_of_the_paper_as_csv(figure_3_file, tmp_path) -> None:
    done = run("reconstruct", figure_3_file, "--expand", "-o", tmp_path / "table4.csv")
    assert done.returncode == 0
    frame = pd.read_csv(tmp_path / "table4.csv")
    assert frame.columns.tolist() == ["Height", "Weight", "Age", "Health"]
    assert list(frame.itertuples(index=False, name=None)) == TABLE_4


def test_every_format(cancer_file, tmp_path) -> None:
    files = [tmp_path / f"table.{form}" for form in ("csv", "parquet", "json")]
    options = [part for path in files for part in ("-o", path)]
    assert run("reconstruct", cancer_file, *options).returncode == 0
    csv, parquet = pd.read_csv(files[0]), pd.read_parquet(files[1])
    records = json.loads(files[2].read_text())
    assert csv.people.tolist() == parquet.people.tolist() == [r["people"] for r in records]
    assert csv.people.sum() == 569
    assert records[0]["rule"][0].keys() == {"feature", "low", "high"}


def test_the_tree_is_drawn(figure_3_file, golden) -> None:
    golden("figure3_tree.txt", run("reconstruct", figure_3_file, "--tree").stdout)


def test_the_table_is_printed(figure_3_file, golden) -> None:
    golden("figure3_table.txt", run("reconstruct", figure_3_file).stdout)


def test_the_people_are_printed(figure_3_file, golden) -> None:
    golden("figure3_people.txt", run("reconstruct", figure_3_file, "--expand").stdout)


@pytest.mark.parametrize(
    "options",
    [["-o", "table.xlsx"], ["-o", "t.json", "--expand"], ["--number", "4"], ["--leaf", "99999"]],
)
def test_what_cannot_be_done_is_said(cancer_file, tmp_path, options) -> None:
    done = run("reconstruct", cancer_file, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("t*.xlsx")) + list(tmp_path.glob("t.json"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tree", "-o", "t.csv"], "--tree is only printed, and -o t.csv writes the whole table"),
        (["--leaf", "6", "-o", "t.json"], "--leaf is only printed"),
        (["--leaf", "6", "--tree"], "--leaf and --tree show different things"),
        (["--people", "--tree"], "--people and --tree show different things"),
        (["--schema", "garbage.pkl"], "--schema says more of the people: add --people"),
        (["--known", "garbage.pkl"], "--known says more of the people: add --people"),
        (["--test", "garbage.pkl", "--tree"], "--test says more of the people: add --people"),
        (["--target", "Health"], "--target says more of the people: add --people"),
        (["--people", "--expand"], "--expand is about the table: leave it or --people away"),
        (["--tree", "--words"], "--words is about the table: leave it or --tree away"),
    ],
)
def test_what_would_be_left_out_of_account_is_refused(
    figure_3_file, tmp_path, options, said
) -> None:
    done = run("reconstruct", figure_3_file, *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"treeaudit: {said}")
    assert done.stderr.count("\n") == 1
    assert [one.name for one in tmp_path.iterdir()] == ["figure3.json"]


@pytest.mark.parametrize(
    ("options", "second"),
    [
        *((options, "once.csv") for options in ([], ["--people"], ["--expand"])),
        *((options, "no/once.csv") for options in ([], ["--people"])),
        (["--expand"], "once.json"),
    ],
)
def test_nothing_is_written_where_something_cannot_be(
    figure_3_file, tmp_path, options, second
) -> None:
    (tmp_path / "once.csv").write_text("old")
    outputs = ["-o", "first.csv", "-o", second]
    done = run("reconstruct", figure_3_file, *options, *outputs, cwd=tmp_path)
    assert done.returncode == 2
    assert second in done.stderr or "no folder no for once.csv" in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["figure3.json", "once.csv"]
