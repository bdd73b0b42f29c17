"""Files are written whole or not at all, and never over another by accident."""

import os
import stat

import pytest

import treeaudit as ta
from tests.systems import LINKS, POSIX
from treeaudit.output import write_file


def test_a_new_file(tmp_path) -> None:
    path = write_file(tmp_path / "a.txt", "ä")
    assert path.read_bytes() == "ä".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_that_exists_stays(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("mine")
    with pytest.raises(ta.DataError, match="exists already"):
        write_file(path, "yours")
    assert path.read_text() == "mine"
    write_file(path, "yours", force=True)
    assert path.read_text() == "yours"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@LINKS
@pytest.mark.parametrize("force", [True, False])
def test_a_link_is_not_followed(tmp_path, force) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("mine")
    link.symlink_to(target)
    if force:
        write_file(link, "yours", force=True)
        assert not link.is_symlink()
    else:
        with pytest.raises(ta.DataError):
            write_file(link, "yours")
    assert target.read_text() == "mine"


@POSIX
def test_permissions_are_those_of_any_new_file(tmp_path) -> None:
    old = os.umask(0o027)
    try:
        path = write_file(tmp_path / "a.txt", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@POSIX
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o600), (0o277, 0o400), (0o000, 0o600)])
@pytest.mark.parametrize("force", [True, False])
def test_what_is_for_the_owner_only(tmp_path, mask, mode, force) -> None:
    path = tmp_path / "a.txt"
    if force:
        path.write_text("open to all")
        path.chmod(0o666)
    old = os.umask(mask)
    try:
        write_file(path, "x", force=force, private=True)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@POSIX
def test_reports_are_for_their_owner_and_safe_copies_for_everybody(figure_3, tmp_path) -> None:
    from treeaudit.reports.table_files import save_table

    report, found = ta.scan(figure_3), ta.compare(figure_3)
    old = os.umask(0o022)
    try:
        private = [report.save(tmp_path / f"r.{form}") for form in ("html", "json", "txt")]
        private += [found.save(tmp_path / f"c.{form}") for form in ("html", "json", "txt")]
        private += [save_table(report.table, tmp_path / f"t.{form}") for form in ("csv", "json")]
        shared = [
            report.save(tmp_path / "s.html", release_safe=True),
            ta.save(figure_3, tmp_path / "m.json"),
        ]
    finally:
        os.umask(old)
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in shared} == {0o644}


def test_a_folder_that_is_not_there(tmp_path) -> None:
    with pytest.raises(ta.DataError, match="cannot be written"):
        write_file(tmp_path / "nowhere" / "a.txt", "x")


def test_a_folder_in_the_place_of_the_file(tmp_path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(ta.DataError):
        write_file(tmp_path / "a", "x", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
