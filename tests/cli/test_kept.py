"""What a command reads is not written over, by whatever name and whatever --force says."""

import os
import pickle
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.run import run
from tests.cli.test_release import TREE
from treeaudit.cli.options import protect_inputs
from treeaudit.errors import DataError

FILES = ("known.csv", "acc.json", "p.toml", "schema.toml", "part/a.csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.pkl").write_bytes(pickle.dumps(TREE))
    Path("part").mkdir()
    for name in FILES:
        Path(name).write_text("kept")
    return tmp_path


LINES = [
    "reconstruct m.pkl --people --known known.csv --target y -o known.csv",
    "reconstruct m.pkl --people --test known.csv --target y -o known.csv",
    "reconstruct m.pkl --people --schema acc.json -o acc.json",
    "reconstruct m.pkl --people --test part --target y -o part/a.csv",
    "reconstruct m.pkl --people --test part/*.csv --target y -o part/a.csv",
    "scan m.pkl --baseline acc.json -o acc.json",
    "scan m.pkl --train acc.json -o acc.json",
    "scan m.pkl --test acc.json -o acc.json",
    "scan m.pkl --known acc.json -o acc.json",
    "scan m.pkl --prior acc.json -o acc.json",
    "scan m.pkl m.pkl --train acc.json -o acc.json",
    "release m.pkl --train acc.json -o acc.json",
    "defend m.pkl --train acc.json -o acc.json",
    "defend m.pkl --test acc.json -o acc.json",
    "defend m.pkl --sweep 2,5 --test acc.json -o acc.json",
    "compare m.pkl m.pkl --train acc.json -o acc.json",
    "compare m.pkl m.pkl --test acc.json -o acc.json",
    "compare m.pkl acc.json -o acc.json",
    "diff m.pkl m.pkl --schema acc.json -o acc.json",
    "train acc.json --epsilon 1 --schema p.toml -o acc.json",
    "train known.csv --epsilon 1 --schema acc.json -o acc.json",
    "train known.csv --epsilon 1 --schema p.toml --budget acc.json -o acc.json",
    "schema known.csv --target y -o known.csv",
]


@pytest.mark.parametrize("line", LINES)
def test_what_is_read_is_kept(folder, line) -> None:
    done = run(*line.split(), "--force")
    assert done.returncode == 2
    written = line.split()[-1]
    assert done.stderr.startswith(f"treeaudit: {written} is read, as "), done.stderr
    assert done.stderr.endswith("choose another name for the output\n")
    assert {Path(name).read_text() for name in FILES} == {"kept"}


@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("scan m.pkl --policy p.toml -o link.json", "p.toml"),
        ("scan m.pkl --policy link.toml -o p.json", "link.toml"),
        ("scan m.pkl --baseline acc.json -o link.json", "acc.json"),
        ("train known.csv --epsilon 1 --schema schema.toml -o link.json", "schema.toml"),
        ("scan m.pkl -o link.json", "m.pkl"),
        ("scan m.pkl known.csv -o link.json", "m.pkl"),
        ("release m.pkl -o link.pkl", "m.pkl"),
        ("defend m.pkl -o link.pkl", "m.pkl"),
        ("reconstruct m.pkl -o link.csv", "m.pkl"),
        ("diff m.pkl acc.json -o link.json", "m.pkl"),
    ],
)
def test_a_link_is_another_name_of_it(folder, line, read, link) -> None:
    written = Path(line.split()[-1])
    if read.startswith("link"):
        shutil.copy("p.toml", read)
        link(read, written)
    else:
        link(read, written)
    before = Path(read).read_bytes()
    done = run(*line.split(), "--force")
    assert done.returncode == 2
    said = "is read, as ", "is the model itself", "is one of the two files", "is one of the models"
    assert any(one in done.stderr for one in said), done.stderr
    assert Path(read).read_bytes() == before
    assert os.path.lexists(written)
    assert written.samefile(read)


def test_a_report_may_stand_beside_tables(folder) -> None:
    Path("report.json").write_text("old")
    protect_inputs([Path("report.json"), Path("new.csv")], {"--train": "."})
    with pytest.raises(DataError, match=r"a\.csv is read, as --train"):
        protect_inputs([Path("part/a.csv")], {"--train": "."})
