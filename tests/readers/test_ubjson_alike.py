"""Objects of UBJSON that are read like one before them are those that are parsed one by one."""

import random
import struct
from dataclasses import replace

import numpy as np
import pytest

from tests.libraries import library
from treeaudit.errors import ReadError
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.xgboost import ubjson
from treeaudit.readers.xgboost.ubjson import parse
from treeaudit.readers.xgboost.ubjson_alike import FEW, alike


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


N = 2 * FEW + 1
TREES = [tree(i, range(2 * i + 1), str(2 * i + 1).encode()) for i in range(N)]


def test_trees_of_other_sizes(slowly) -> None:
    data = array(*TREES)
    found = parse(data)
    assert [one["id"] for one in found] == [*range(N)]
    assert [one["weights"].tolist() for one in found] == [[*range(2 * i + 1)] for i in range(N)]
    assert found[4]["param"] == {"n": "9", "w": "1"}
    assert result(data) == slowly(data)


def test_they_are_read_together(monkeypatch) -> None:
    told = []

    def seen(*args):
        told.append(alike(*args))
        return told[-1]

    monkeypatch.setattr(ubjson, "alike", seen)
    parse(array(*TREES))
    assert [one.n for one in told] == [N - 1]
    told.clear()
    parse(array(*TREES * 40))
    assert sum(one.n for one in told) == 40 * N - 1
    assert len(told) < 5
    told.clear()
    # The one that differs is read alone, and those behind it.
    parse(array(*TREES[:-1], b"{}", *TREES))
    assert [one.n for one in told[:1]] == [N - 2]


def test_a_name_within_numbers(slowly) -> None:
    """The bytes with which an object begins stand in an array of one."""
    held = array(*(tree(i, [1.0], codes=b"{" + text(b"codes") + b"[$U#L") for i in range(N)))
    assert result(held) == slowly(held)


def test_what_looks_like_the_beginning_of_one_ends_the_search(monkeypatch, slowly) -> None:
    looked = []

    def seen(*args):
        looked.append(alike(*args))
        return looked[-1]

    monkeypatch.setattr(ubjson, "alike", seen)
    decoy = b"{" + text(b"codes") + b"[$U#L"
    held = array(*(tree(i % 9, [1.0], codes=decoy) for i in range(40 * N)))
    parse(held)
    assert len(looked) == 1
    assert result(held) == slowly(held)


def test_names_of_any_length(slowly) -> None:
    for n in (0, 1, 50, 51, 52, 60, 5_000):
        one = b"{" + text(b"n" * n) + b"i\x01" + text(b"m" * n + b"m") + b"i\x02}"
        other = one.replace(b"nn", b"nm", 1)
        held = array(*[one] * N, other, *[one] * N)
        assert result(held) == slowly(held)


def test_an_object_within_another(slowly) -> None:
    inner = array(*TREES)
    held = array(*(b"{" + text(b"trees") + inner + b"}" for _ in range(N)))
    empty = array(*(b"{" + text(b"none") + b"{}" + b"}" for _ in range(N)))
    for data in (held, empty, array(*[b"{}"] * N)):
        assert result(data) == slowly(data)


@pytest.mark.parametrize(
    "entries",
    [
        [*TREES[:3], tree(3, [1.0], codes=b"\x01\x02"), *TREES],
        [*TREES, *TREES[:3], tree(3, [1.0], codes=b"\x01\x02"), *TREES],
        [tree(0, [])] * N,
        [tree(i, [0.5]) for i in range(126 - N, 127)],
        [tree(i, [0.5]) for i in range(126 - N, 130)],
        [tree(i, [0.5]) for i in (1, 200, 2)] * FEW,
        [tree(i % 100, [0.5], str(i).encode() * i) for i in range(3 * N)],
        [*TREES, b"{}", *TREES],
        [*TREES, b"Z", TREES[2]],
        [*TREES, TREES[2].replace(b"weights", b"weighty")],
        [*TREES, TREES[2].replace(length(1) + b"n", length(1) + b"w")],
        [*TREES, TREES[2].replace(b"}", b"")],
        [*TREES, TREES[2][:-3]],
        [*TREES, TREES[2].replace(b"[$d#L\0", b"[$d#L\xff")],
        [*TREES, TREES[2].replace(b"[$d#L\0", b"[$d#L\x7f")],
        [*TREES, TREES[2].replace(length(1) + b"1", length(1) + b"\xff")],
        [tree(0, [0.0] * 70_000), *TREES, tree(4, [0.0] * 70_000), *TREES],
        [*TREES, tree(4, [0.0] * 70_000), *TREES],
    ],
)
def test_what_departs_is_parsed_as_ever(entries, slowly) -> None:
    assert result(array(*entries)) == slowly(array(*entries))


def test_a_changed_byte(slowly) -> None:
    rng, data = random.Random(0), array(*TREES)
    for _ in range(1500):
        other = bytearray(data)
        at = rng.randrange(len(other))
        other[at : at + rng.randrange(3)] = rng.choice(
            [b"", b"L", b"\0", b"}", b"\xff", b"i", b"N"]
        )
        assert result(bytes(other)) == slowly(bytes(other))


def test_the_same_allowance(slowly) -> None:
    data = array(*TREES)
    for beyond in range(0, 120_000, 2_000):
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
