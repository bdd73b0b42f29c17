"""Objects of UBJSON that are read like one before them are those that are parsed one by one."""

import random
import struct
from dataclasses import replace

import numpy as np
import pytest

from tests.libraries import library
from treeaudit.errors import ReadError
from treeaudit.readers.boosters import ubjson
from treeaudit.readers.boosters.ubjson import parse
from treeaudit.readers.limits import LIMITS


def length(n):
    return b"L" + struct.pack(">q", n)


def text(value):
    return length(len(value)) + value


def tree(i, numbers, name=b"12", codes=b""):
    """An object of arrays, a number, and an object of texts."""
    array = np.array(numbers, ">f4").tobytes()
    number = (b"i" + struct.pack("b", i)) if i < 128 else b"I" + struct.pack(">h", i)
    return (
        b"{" + text(b"codes") + b"[$U#" + length(len(codes)) + codes
        + text(b"id") + number
        + text(b"param") + b"{" + text(b"n") + b"S" + text(name) + text(b"w") + b"S" + text(b"1")
        + b"}" + text(b"weights") + b"[$d#" + length(len(numbers)) + array + b"}"
    )  # fmt: skip


def array(*entries):
    return b"[#" + length(len(entries)) + b"".join(entries)


@pytest.fixture
def slowly(monkeypatch):
    def slow(data, limits=LIMITS):
        with monkeypatch.context() as patch:
            patch.setattr(ubjson, "form_of", lambda *_: None)
            return result(data, limits)

    return slow


def plain(value):
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes(), value.flags.writeable
    if isinstance(value, dict):
        return [(name, plain(part)) for name, part in value.items()]
    return [plain(part) for part in value] if isinstance(value, list) else (type(value), value)


def result(data, limits=LIMITS):
    try:
        return plain(parse(data, limits))
    except ReadError as error:
        return type(error), str(error)


TREES = [tree(i, range(2 * i + 1), str(2 * i + 1).encode()) for i in range(6)]


def test_trees_of_other_sizes(slowly) -> None:
    data = array(*TREES)
    found = parse(data)
    assert [one["id"] for one in found] == [*range(6)]
    assert [one["weights"].tolist() for one in found] == [[*range(2 * i + 1)] for i in range(6)]
    assert found[4]["param"] == {"n": "9", "w": "1"}
    assert result(data) == slowly(data)


@pytest.mark.parametrize(
    "entries",
    [
        [*TREES[:3], tree(3, [1.0], codes=b"\x01\x02"), *TREES[:2]],
        [tree(0, []), tree(0, []), tree(0, [])],
        [tree(i, [0.5]) for i in (126, 127, 128, 129)],
        [tree(i, [0.5]) for i in (1, 200, 2)],
        [*TREES[:2], b"{}", *TREES[:2]],
        [*TREES[:2], b"Z", TREES[2]],
        [*TREES[:2], TREES[2].replace(b"weights", b"weighty")],
        [*TREES[:2], TREES[2].replace(length(1) + b"n", length(1) + b"w")],
        [*TREES[:2], TREES[2].replace(b"}", b"")],
        [*TREES[:2], TREES[2][:-3]],
        [*TREES[:2], TREES[2].replace(b"[$d#L\0", b"[$d#L\xff")],
        [*TREES[:2], TREES[2].replace(b"[$d#L\0", b"[$d#L\x7f")],
        [*TREES[:2], TREES[2].replace(length(1) + b"1", length(1) + b"\xff")],
        [tree(0, [0.0] * 70_000), *TREES[1:3], tree(4, [0.0] * 70_000), *TREES[:2]],
    ],
)
def test_what_departs_is_parsed_as_ever(entries, slowly) -> None:
    assert result(array(*entries)) == slowly(array(*entries))


def test_a_changed_byte(slowly) -> None:
    rng, data = random.Random(0), array(*TREES)
    for _ in range(600):
        other = bytearray(data)
        at = rng.randrange(len(other))
        other[at : at + rng.randrange(3)] = rng.choice(
            [b"", b"L", b"\0", b"}", b"\xff", b"i", b"N"]
        )
        assert result(bytes(other)) == slowly(bytes(other))


def test_the_same_allowance(slowly) -> None:
    data = array(*TREES)
    for beyond in range(0, 16_000, 400):
        limits = replace(LIMITS, containers=beyond)
        assert result(data, limits) == slowly(data, limits)


@pytest.mark.libraries
def test_models(slowly) -> None:
    xgboost = library("xgboost")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    model = xgboost.XGBClassifier(n_estimators=30, max_depth=4).fit(x, y)
    data = bytes(model.get_booster().save_raw("ubj"))
    assert result(data) == slowly(data)
    trees = parse(data)["learner"]["gradient_booster"]["model"]["trees"]
    assert [one["id"] for one in trees] == [*range(90)]
