"""What lies beside a model is read within bounds, whoever wrote it."""

import os

import pytest

import treeaudit as ta
from tests.systems import POSIX
from treeaudit.dp.budget import Budget
from treeaudit.findings.policy import read_policy
from treeaudit.input import parse_toml, read_bytes
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
