"""The wire format: what the protobuf library writes is what is read, within bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.onnx.protobuf import (
    FIXED32,
    FIXED64,
    VARINT,
    Message,
    varints,
)

INT64 = st.integers(-(2**63), 2**63 - 1)


def message(data, budget=10**6):
    return Message(memoryview(data), 0, len(data), [budget])


def length(number):
    out = bytearray()
    number %= 1 << 64
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


@given(st.lists(INT64, max_size=50))
def test_packed_numbers(numbers):
    assert varints(b"".join(map(length, numbers))).tolist() == numbers


def test_long_runs_cross_chunks():
    rng = np.random.default_rng(0)
    numbers = [int(n) for n in rng.integers(-9, 2**40, 20_000)] + list(range(20_000))
    data = b"".join(b"\x40" + length(n) for n in numbers)
    whole = message(data)
    parts, at = [], 0
    while at < len(data):
        part, at = whole.integers(whole.field(at))
        parts.append(part)
    assert np.concatenate(parts).tolist() == numbers
    assert len(parts) < 5


@pytest.mark.parametrize(("wire", "dtype"), [(FIXED32, "<f4"), (FIXED64, "<f8")])
def test_floats_packed_or_not(wire, dtype):
    numbers = np.random.default_rng(1).normal(size=5000).astype(dtype)
    packed = b"\x3a" + length(numbers.nbytes) + numbers.tobytes()
    tag = bytes([7 << 3 | wire])
    loose = b"".join(tag + numbers[i : i + 1].tobytes() for i in range(len(numbers)))
    for data in (packed, loose, loose + b"\x08\x01"):
        whole = message(data)
        found, end = whole.floats(whole.field(0), wire)
        assert found.tobytes() == numbers.tobytes()
        assert end in (len(data), len(data) - 2)


def test_wrong_types_and_cut_numbers():
    number, text = message(b"\x08\x01"), message(b"\x0a\x03abc")
    for read in (number.text, number.message, number.bytes_of):
        with pytest.raises(ReadError, match="wrong type"):
            read(number.field(0))
    with pytest.raises(ReadError, match="wrong type"):
        text.integer(text.field(0))
    with pytest.raises(ReadError, match="cut off"):
        text.floats(text.field(0), FIXED32)
    fixed = message(b"\x0d\x00\x00\x00\x00")
    with pytest.raises(ReadError, match="wrong type"):
        fixed.integers(fixed.field(0))
    with pytest.raises(ReadError, match="does not end"):
        varints(b"\xff" * 40)


def take_all(whole):
    at = 0
    while at < whole.end:
        field = whole.field(at)
        at = (whole.integers(field) if field.wire == VARINT else whole.floats(field, FIXED32))[1]


def test_fields_are_counted():
    with pytest.raises(ModelTooLargeError, match=r"^byte 20"):
        list(message(b"\x08\x01" * 50, budget=10).fields())
    runs = message((b"\x40\x01" + b"\x3d\0\0\0\0") * 50, budget=1000)
    with pytest.raises(ModelTooLargeError):
        take_all(runs)
