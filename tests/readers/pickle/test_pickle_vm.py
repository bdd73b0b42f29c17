"""The interpreter agrees with Python's own on plain data, and calls nothing."""

import copy
import io
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from tests.strategies import examples
from treeaudit import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import LIMITS, Limits
from treeaudit.readers.pickle.arrays import (
    DType,
    array_from,
    object_array,
    scalar_from,
    shape_from,
)
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.pickle_vm import read_pickle
from treeaudit.writers.pickle_bytes import type_alone

PLAIN = st.one_of(
    nps.boolean_dtypes(),
    nps.integer_dtypes(endianness="?"),
    nps.unsigned_integer_dtypes(endianness="?"),
    nps.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    nps.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    nps.byte_string_dtypes(max_len=5),
    nps.unicode_string_dtypes(max_len=5, endianness="?"),
)
RECORDS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from(["<i8", ">f8", "u1", "<f4", "S3"])),
    min_size=1,
    max_size=5,
    unique_by=lambda field: field[0],
).flatmap(lambda fields: st.booleans().map(lambda align: np.dtype(fields, align=align)))


@examples(150)
@given(
    nps.arrays(PLAIN | RECORDS, nps.array_shapes(min_dims=0, max_dims=3, min_side=0)),
    st.booleans(),
    st.integers(0, 5),
)
def test_arrays_come_back_as_numpy_reads_them(
    array: npt.NDArray[np.generic], by_column: bool, protocol: int
) -> None:
    array = np.asfortranarray(array) if by_column else array
    read = read_pickle(pickle.dumps(array, protocol)).root
    assert isinstance(read, np.ndarray)
    assert read.shape == array.shape
    # What lies between the fields of a record is anything.
    for name in array.dtype.names or [...]:
        assert read[name].dtype == array[name].dtype
        assert read[name].tobytes() == array[name].tobytes()
    assert read.dtype.itemsize == array.dtype.itemsize
    assert not read.flags.writeable


@given(PLAIN, st.data(), st.integers(0, 5))
def test_scalars_come_back_as_plain_values(
    dtype: np.dtype[np.generic], data: st.DataObject, protocol: int
) -> None:
    scalar = data.draw(nps.arrays(dtype, ()))[()]
    read = read_pickle(pickle.dumps(scalar, protocol)).root
    expected = scalar.item()
    assert type(read) is type(expected)
    assert read == expected or read != read


def test_an_array_shares_the_bytes_of_the_file() -> None:
    raw = np.arange(4, dtype="<i8").tobytes()
    array = array_from(raw, DType("i8", (3, "<", None, None, None, -1, -1, 0)), (2, 2), True)
    assert np.shares_memory(array, np.frombuffer(raw, dtype="u1"))
    assert array.tolist() == [[0, 2], [1, 3]]


@pytest.mark.parametrize("shape", [-1, (-1,), ("1",), (None,), "1", None, (1 << 40,), (1,) * 33])
def test_impossible_shapes_are_refused(shape: object) -> None:
    with pytest.raises(ReadError, match="shape"):
        shape_from(shape)


def test_a_zero_hides_no_endless_dimension() -> None:
    assert shape_from((0, 5)) == (0, 5)
    with pytest.raises(ReadError, match="impossible shape"):
        shape_from((0, 1 << 63))


@pytest.mark.parametrize("code", ["", "x", "Q8", "f", "i8,i8", "(2,)f8", "<" * 9, "f99", "U"])
def test_unknown_types_are_refused(code: str) -> None:
    with pytest.raises(ReadError, match="type"):
        DType(code).build()


def test_text_beyond_unicode_is_refused() -> None:
    for order in "<>":
        good = np.array(["\U0010ffff"], dtype=f"{order}U1").tobytes()
        kind = DType("U1", (3, order, None, None, None, 4, 4, 8))
        assert array_from(good, kind, (1,), False).tolist() == ["\U0010ffff"]
        with pytest.raises(ReadError, match="characters that do not exist"):
            array_from(b"\x11" * 4, kind, (1,), False)


def test_objects_cannot_be_forged_from_bytes() -> None:
    with pytest.raises(UnsafeModelError, match="forges"):
        array_from(bytes(8), DType("O8"), (1,), False)
    with pytest.raises(UnsafeModelError, match="forges"):
        scalar_from(DType("O8"), bytes(8))


def test_records_within_records_are_refused() -> None:
    inner = DType("V8", (3, "|", None, ("x",), {"x": (DType("f8"), 0)}, 8, 1, 0))
    outer = DType("V8", (3, "|", None, ("y",), {"y": (inner, 0)}, 8, 1, 0))
    assert inner.build().itemsize == 8
    with pytest.raises(UnsupportedModelError, match="records within records"):
        outer.build()


def test_a_type_described_again_is_made_again() -> None:
    kind = DType("i8")
    assert kind.build() == np.dtype("i8")
    kind.describe((3, ">", None, None, None, -1, -1, 0))
    assert kind.build() == np.dtype(">i8")


def test_object_arrays_hold_what_they_were_given() -> None:
    array = object_array(["a", None, [1], 2.5], (2, 2))
    assert array.tolist() == [["a", None], [[1], 2.5]]
    with pytest.raises(ReadError, match="objects is damaged"):
        object_array(["a"], (2,))


def test_a_type_of_objects_holds_nothing_beside() -> None:
    usual = (3, "|", None, None, None, -1, -1, 63)
    kind = DType("O8")
    kind.describe(usual)
    assert type_alone(kind) == np.dtype(object)
    with pytest.raises(UnsafeModelError, match="Python objects"):
        kind.build()
    people = (("Ada", "Bo"), {"Ada": (DType("f8"), 0), "Bo": (DType("f8"), 8)})
    for i, part in ((1, "<"), (2, (DType("f8"), (3,))), (2, "Ada"), (3, people[0])):
        odd = (*usual[:i], part, *usual[i + 1 :])
        with pytest.raises(ReadError, match="not described as numpy does"):
            kind.describe(odd)
    with pytest.raises(ReadError, match="not described as numpy does"):
        kind.describe((*usual[:3], *people, *usual[5:]))


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
