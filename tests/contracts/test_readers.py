"""What every reader keeps to, whatever its format."""

import inspect

import pytest

from treeaudit.readers import FORMATS, READERS, Format, Reader
from treeaudit.readers.open import unpack
from treeaudit.reports.to_json import json_schema

NAMED = [pytest.param(one, id=one.title) for one in READERS]


@pytest.mark.parametrize("one", NAMED)
def test_a_reader_has_the_functions_of_the_protocol(one: Format) -> None:
    for name in ("matches", "read"):
        _, *wanted = inspect.signature(getattr(Reader, name)).parameters.values()
        assert list(inspect.signature(getattr(one.reader, name)).parameters.values()) == wanted


@pytest.mark.parametrize("one", NAMED)
@pytest.mark.parametrize("data", [b"x", b"age,income\n30,2\n", b"{}", b"\0" * 64, b"<html></html>"])
def test_no_reader_takes_what_is_nothing(one: Format, data: bytes) -> None:
    assert not one.reader.matches(unpack(data))


def test_the_formats_are_those_of_the_json_report() -> None:
    assert len(set(FORMATS)) == len(FORMATS)
    stated = json_schema()["properties"]["model"]["properties"]["format"]["enum"]
    assert sorted(stated) == sorted(FORMATS)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("one", NAMED)
@pytest.mark.parametrize(
    "head",
    [
        b'\n {"format": "treeaudit-model"',
        b"PK\x03\x04 damaged",
        b' { "learner" : {',
        b'{"version":[1 , 7,',
        b'{"Config":{',
        b'{"Model":{',
        b"{L\0\0\0\0\0\0\0\x07learner{",
        b"{i\x07version[",
        b"{i\x06Config{",
        b"{i\x05Model{",
        b"tree\nversion=v4\n",
        b"tree\r\n\nnum_class=1\n",
        b'{ "name" : "tree" ,',
        b'{"average_output":',
        b'{"oblivious_trees":',
        b"CBM1",
        b"<PMML>",
    ],
)
def test_marks_stand_in_whatever_a_reader_takes(one: Format, head: bytes) -> None:
    content = unpack(head + b" " * 5000)
    assert one.matches(content) == one.reader.matches(content)
