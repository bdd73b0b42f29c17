"""Files are read within limits, and written whole, never over another by accident."""

import os
import stat

import pytest

import treeaudit as ta
from tests.systems import LINKS, POSIX
from treeaudit.dp.budget import Budget
from treeaudit.files import parse_toml, read_bytes, write_file
from treeaudit.findings.policy import read_policy
from treeaudit.model.schema_file import read_schema
from treeaudit.people.input.table_input import read_table
from treeaudit.reports.acro import check_folder


def baseline(path):
    from treeaudit.findings.baseline import read_baseline

    return read_baseline(path, None)


def acro(path):
    path.rename(path.parent / "results.json")
    check_folder(None, path.parent, force=True)


READERS = {
    "policy.toml": lambda path: read_policy(str(path)),
    "schema.toml": read_schema,
    "accepted.json": baseline,
    "people.csv": read_table,
    "people.parquet": read_table,
    "x.budget": lambda path: Budget(1, path),
    "acro.json": acro,
}


@POSIX
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_not_waited_for(tmp_path, name) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(ta.TreeauditError) as told:
        READERS[name](tmp_path / name)
    assert "\n" not in str(told.value)


@POSIX
@pytest.mark.parametrize("name", READERS)
def test_a_device_is_no_file(tmp_path, name) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(ta.TreeauditError, match="no regular file"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", [name for name in READERS if name != "x.budget"])
def test_a_folder_is_no_file(tmp_path, name) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(ta.TreeauditError):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", [name for name in READERS if not name.startswith("people")])
def test_what_is_too_large_is_not_read(tmp_path, name) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(300 << 20)
    with pytest.raises(ta.TreeauditError, match="is larger than"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", [name for name in READERS if not name.startswith("people")])
@pytest.mark.parametrize("start", ["[", '{"a":', "a = [", "a = {a = "])
def test_what_is_nested_too_deeply(tmp_path, name, start) -> None:
    times = 100_000
    text = start + "[" * times if start.startswith("a = [") else start * times
    text = "a = " + "{a = " * times if start.startswith("a = {") else text
    (tmp_path / name).write_text(text + "\n")
    with pytest.raises(ta.TreeauditError) as told:
        READERS[name](tmp_path / name)
    assert "\n" not in str(told.value)


def test_a_file_that_grows_meanwhile_is_not_read_on(tmp_path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bytes(path, 5, ta.PolicyError) == b"12345"
    with pytest.raises(ta.PolicyError, match=r"the a .* is larger than the 4 bytes"):
        read_bytes(path, 4, ta.PolicyError, "the a")


@pytest.mark.parametrize("dot", [".", " . ", '."a".', ".'a.b' . "])
def test_names_of_very_many_parts(dot) -> None:
    with pytest.raises(ValueError, match="too many parts"):
        parse_toml(dot.join("a" * 100_000) + " = 1")
    assert parse_toml("a.b.c = '1.2.3.4.5.6.7.8'\nd = [" + "1.5, " * 100 + "]")["d"][99] == 1.5


@pytest.mark.parametrize("digits", [400, 5_000])
def test_numbers_of_very_many_digits(tmp_path, digits) -> None:
    policy, schema = tmp_path / "p.toml", tmp_path / "s.toml"
    number = "1" + "0" * digits
    policy.write_text(f"[policies.p]\nmin-leaf = {number}\n")
    with pytest.raises(ta.PolicyError):
        read_policy(str(policy))
    schema.write_text(
        f'confirmed = true\nclasses = [0, 1]\n[[columns]]\nname = "a"\nlow = 0\nhigh = {number}\n'
    )
    with pytest.raises(ta.DataError):
        read_schema(schema)


@pytest.mark.parametrize("epsilon", ["1e999999999", "0x1", "1/0", "1_0"])
def test_an_account_of_a_number_that_takes_all_memory(tmp_path, epsilon) -> None:
    path = tmp_path / "x.budget"
    path.write_text(f'{{"treeaudit-budget": 1, "epsilon": "{epsilon}"}}\n')
    with pytest.raises(ta.PrivacyError, match="no account of a budget"):
        Budget(1, path)


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
