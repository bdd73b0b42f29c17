"""UBJSON: values, views of the file, and damage."""

import struct
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.xgboost.ubjson import parse


def length(n: int) -> bytes:
    return b"L" + struct.pack(">q", n)


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return length(len(raw)) + raw


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"Z", None),
        (b"T", True),
        (b"F", False),
        (b"i\xff", -1),
        (b"U\xff", 255),
        (b"I\x01\x00", 256),
        (b"l\x80\x00\x00\x00", -(1 << 31)),
        (b"L\x7f" + b"\xff" * 7, (1 << 63) - 1),
        (b"d\x3f\x80\x00\x00", 1.0),
        (b"D" + struct.pack(">d", 0.1), 0.1),
        (b"Cx", "x"),
        (b"S" + text("größe <script>"), "größe <script>"),
        (b"S" + text(b"\xff\xfe"), "\\xff\\xfe"),
        (b"[]", []),
        (b"[i\x01Z[]]", [1, None, []]),
        (b"[#i\x02i\x01T", [1, True]),
        (b"[$S#i\x02i\x01ai\x01b", ["a", "b"]),
        (b"{}", {}),
        (b"{#i\x01i\x01aT", {"a": True}),
        (b"{$i#i\x01i\x01a\x05", {"a": 5}),
        (b"{" + text("a") + b"{" + text("b") + b"[Z]}}", {"a": {"b": [None]}}),
    ],
)
def test_values(data: bytes, value: object) -> None:
    assert parse(data) == value
    for kind in (bytearray, memoryview):
        assert parse(kind(data)) == value


@pytest.mark.parametrize(
    ("code", "dtype"),
    [
        ("i", ">i1"),
        ("U", ">u1"),
        ("I", ">i2"),
        ("l", ">i4"),
        ("L", ">i8"),
        ("d", ">f4"),
        ("D", ">f8"),
    ],
)
def test_typed_arrays_are_views(code: str, dtype: str) -> None:
    column = np.arange(5, dtype=dtype)
    found = parse(b"[$" + code.encode() + b"#" + length(5) + column.tobytes())
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [0, 1, 2, 3, 4]
    assert not found.flags.owndata
    assert not found.flags.writeable


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"N",
        b"N" * 9999,
        b"x",
        b"L\x00",
        b"S" + length(10) + b"short",
        b"S" + length(-1),
        b"S" + length((1 << 63) - 1),
        b"Sd\x3f\x80\x00\x00",
        b"[$d#" + length(1 << 62),
        b"[$D#" + length((1 << 63) - 1) + b"\x00" * 8,
        b"[$T#" + length(1 << 40),
        b"[$Z#" + length(5),
        b"[#" + length(1 << 40) + b"i\x01",
        b"{#" + length(1 << 40),
        b"[#" + length(-5),
        b"[$i\x01",
        b"[$x#" + length(1) + b"a",
        b"[i\x01",
        b"{i\x01a",
        b"{i\x01a}",
        b"{Z}",
        b"Ti",
        b"[" * 5000,
        b"{i\x01a" * 5000,
        b"[[$[#i\x01" * 300,
    ],
)
def test_damage_is_one_sentence(data: bytes) -> None:
    with pytest.raises(ReadError) as error:
        parse(data)
    assert "\n" not in str(error.value)
    assert "UBJSON" in str(error.value)


def test_a_flood_of_containers_is_bounded() -> None:
    small = replace(LIMITS, containers=1 << 20)
    with pytest.raises(ModelTooLargeError, match="unpacks to too much"):
        parse(b"[" + b"[]" * 100_000 + b"]", small)
    with pytest.raises(ModelTooLargeError, match="text of"):
        parse(b"S" + length(1 << 40))


@pytest.mark.slow
def test_memory_stays_within_the_announced_bound() -> None:
    small = replace(LIMITS, containers=8 << 20)
    for data in (
        b"[" + b"Z" * 400_000,
        b"[" + b"i\x7f" * 100_000,
        b"[" + b"D" * 300_000,
        b"[" + b"{}" * 20_000,
    ):
        tracemalloc.start()
        with pytest.raises(ReadError):
            parse(data, small)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * len(data) + (8 << 20) + (1 << 20)
