"""The interpreter agrees with Python's own on plain data, and calls nothing."""

import copy
import io
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from treeaudit import ModelTooLargeError, ReadError
from treeaudit.readers.limits import LIMITS, Limits
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.pickle_vm import read_pickle

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
)
BYTES = st.binary(max_size=20)
KEYS = SCALARS | BYTES | st.tuples(SCALARS, st.tuples(SCALARS))
VALUES = st.recursive(
    SCALARS | BYTES | st.integers(-(2**3000), 2**3000) | st.just(b"x" * 5000),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=5).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=5)
        | st.sets(KEYS, max_size=5)
        | st.frozensets(KEYS, max_size=5)
    ),
    max_leaves=20,
)


def _plain(value: Any) -> Any:
    """Long byte strings stay views of the file; compare what they show."""
    match value:
        case memoryview():
            return bytes(value)
        case list():
            return [_plain(v) for v in value]
        case tuple():
            return tuple(_plain(v) for v in value)
        case dict():
            return {k: _plain(v) for k, v in value.items()}
        case _:
            return value


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    match a:
        case list() | tuple():
            return len(a) == len(b) and all(map(_same, a, b))
        case dict():
            return list(a) == list(b) and all(map(_same, a.values(), b.values()))
        case float():
            return math.copysign(1, a) == math.copysign(1, b) and a == b
        case _:
            return bool(a == b)


def _pure_python(value: object, protocol: int) -> bytes:
    sink = io.BytesIO()
    pickle._Pickler(sink, protocol).dump(value)
    return sink.getvalue()


@examples(300)
@given(VALUES, st.integers(0, 5), st.sampled_from([pickle.dumps, _pure_python]))
def test_plain_data_is_read_as_pickle_reads_it(
    value: object, protocol: int, dump: Callable[[object, int], bytes]
) -> None:
    data = dump(value, protocol)
    read = read_pickle(data)
    assert _same(_plain(read.root), pickle.loads(data))
    assert read.end == len(data)


@examples(50)
@given(VALUES, st.integers(0, 5))
def test_shared_references_stay_shared(value: object, protocol: int) -> None:
    shared = [value]
    root = read_pickle(pickle.dumps({"a": shared, "b": (shared, shared)}, protocol)).root
    assert isinstance(root, dict)
    assert root["a"] is root["b"][0] is root["b"][1]


@pytest.mark.parametrize("protocol", range(6))
def test_loops_are_read(protocol: int) -> None:
    loop: list[object] = []
    loop.append({"me": loop})
    root = read_pickle(pickle.dumps(loop, protocol)).root
    assert isinstance(root, list)
    assert root[0]["me"] is root


@pytest.mark.parametrize("value", [math.inf, -math.inf, -0.0, 5e-324, 1e308, 2**3000, -1])
@pytest.mark.parametrize("protocol", range(1, 6))
def test_numbers_at_the_edge(value: float, protocol: int) -> None:
    assert _same(read_pickle(pickle.dumps(value, protocol)).root, value)


@pytest.mark.parametrize("protocol", range(6))
def test_nan_and_lone_surrogates(protocol: int) -> None:
    root = read_pickle(pickle.dumps([math.nan, "a\udc80", "\ud800"], protocol)).root
    assert isinstance(root, list)
    assert math.isnan(root[0])
    assert root[1:] == ["a\udc80", "\ud800"]


@pytest.mark.parametrize("protocol", range(6))
def test_bytearrays_become_bytes(protocol: int) -> None:
    assert _plain(read_pickle(pickle.dumps(bytearray(b"ab\xff"), protocol)).root) == b"ab\xff"


def test_text_of_python_2_is_text_where_it_is_plain() -> None:
    data = b"(S'age'\nS'\\xff\\n'\nU\x02okU\x02\xff\x00t."
    assert read_pickle(data).root == ("age", b"\xff\n", "ok", b"\xff\x00")


def test_an_object_becomes_an_inert_record() -> None:
    root = read_pickle(pickle.dumps(np.random.RandomState(3))).root
    assert isinstance(root, Inert)
    assert root.cls.module == "numpy.random._pickle"
    assert root.kind == "__randomstate_ctor"


def test_two_dictionaries_of_state_are_one_set_of_attributes() -> None:
    class_ = b"c__main__\nThing\n)\x81"
    root = read_pickle(b"\x80\x02" + class_ + b"}(X\x01\0\0\0aK\x01X\x01\0\0\0bK\x02u"
                       b"}(X\x01\0\0\0bK\x03u\x86b.").root  # fmt: skip
    assert isinstance(root, Inert)
    assert root.attributes == {"a": 1, "b": 3}
    assert root.get("b") == 3
    assert root.get("c") is None


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(instructions=50), "more than 50 instructions"),
        (Limits(containers=100), "more objects than its size allows"),
    ],
)
def test_limits_are_kept(limits: Limits, message: str) -> None:
    data = pickle.dumps([[] for _ in range(1000)], 2)
    assert read_pickle(data, limits=LIMITS).root == [[]] * 1000
    with pytest.raises(ModelTooLargeError, match=message):
        read_pickle(data, limits=limits)


def test_every_prefix_is_damaged_or_a_smaller_pickle() -> None:
    data = pickle.dumps({"a": [1, 2.5, "x"], "b": np.arange(3)}, 4)
    for n in range(len(data)):
        with pytest.raises(ReadError):
            read_pickle(data[:n])


def test_reading_leaves_the_bytes_alone() -> None:
    data = bytearray(pickle.dumps([1, "a", b"x" * 5000]))
    before = copy.copy(data)
    read_pickle(bytes(data))
    assert data == before
