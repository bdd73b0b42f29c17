"""The header of .npy files, taken apart without Python's own parser."""

import contextlib
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from treeaudit import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.skops.nodes import read_npy


def saved(array: Any, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version=version)
    return file.getvalue()


def with_header(text: str | bytes, data: bytes = bytes(64)) -> bytes:
    raw = text.encode("latin1") if isinstance(text, str) else text
    return b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw + data


RECORD = np.dtype(
    {"names": ["a", "b"], "formats": ["<i8", "u1"], "offsets": [0, 12], "itemsize": 16}
)
ARRAYS = {
    "numbers": np.arange(6.0).reshape(2, 3),
    "by-column": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "big-endian": np.arange(4, dtype=">i4"),
    "no-dimension": np.array(7),
    "empty": np.zeros((0, 3)),
    "text": np.array(["a", "bcd", "é"]),
    "bytes": np.array([b"a", b"bcd"]),
    "flags": np.array([True, False]),
    "aligned": np.array([(1, 2), (3, 4)], dtype=np.dtype([("x", "i8"), ("y", "u1")], align=True)),
    "gaps": np.array([(1, 2)], dtype=RECORD),
    "half": np.arange(3, dtype="f2"),
}


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back(name: str, version: tuple[int, int]) -> None:
    array = ARRAYS[name]
    back = read_npy(saved(array, version))
    assert back.shape == array.shape
    assert back.tolist() == array.tolist()
    assert not back.flags.writeable


def test_times_come_back_as_numbers() -> None:
    assert read_npy(saved(np.array(["1970-01-02"], dtype="M8[D]"))).tolist() == [1]


@given(
    hnp.arrays(
        hnp.integer_dtypes() | hnp.floating_dtypes() | hnp.boolean_dtypes(),
        hnp.array_shapes(max_dims=3, max_side=4),
    )
)
def test_any_array_comes_back(array: Any) -> None:
    back = read_npy(saved(array))
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("blank", ["\t", "  ", "\u00a0", "\n"])
def test_blanks_that_numpy_does_not_write_are_damage_in_the_usual_header(blank: str) -> None:
    field = f"('a{blank}b', '<i4')"
    usual = f"{{'descr': [{field}], 'fortran_order': False, 'shape': (1,), }}"
    with pytest.raises(ReadError, match=r"the header of an array file \(.npy\) is damaged"):
        read_npy(with_header(usual.encode("latin1"), bytes(4)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "{'descr':'<f8','fortran_order':False,'shape':(2,)}",
        "{'shape': (2,), 'descr': '<f8', 'fortran_order': False, }",
        "[]",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } + 1",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 2, }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2.5,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 'x'), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999, 99999999999999), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,,), }",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (2,), }",
        "{'descr': None, 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<q77', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f99999999', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '\\x3cf8', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': [], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': [('a', '<i4'), ('a', '<i4')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': [(5, '<i4')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': __import__('os').system('id'), 'fortran_order': False, 'shape': (2,), }",
        "(((((((((((1,),),),),),),),),),),)",
        "(" * 60_000,
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, " * 40 + "), }",
    ],
    ids=lambda text: text[:60],
)
def test_damaged_headers(text: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_npy(with_header(text, bytes(16)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("descr", ["[('a', '<i4', (2,))]", "[('a', [('b', '<i4')])]"])
def test_records_within_records_are_named(descr: str) -> None:
    with pytest.raises(UnsupportedModelError):
        read_npy(with_header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}"))


def test_a_pickle_in_an_array_file_is_unsafe() -> None:
    with pytest.raises(UnsafeModelError, match="holds a pickle"):
        read_npy(saved(np.array([None, "a"], dtype=object)))


@pytest.mark.parametrize("descr", ["[('a', '|O')]", "[('a', 'O8')]"])
def test_objects_in_records_are_unsafe(descr: str) -> None:
    with pytest.raises(UnsafeModelError):
        read_npy(with_header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}"))


@pytest.mark.parametrize("n", range(0, 140, 3))
def test_files_that_end_too_early(n: int) -> None:
    with pytest.raises(ReadError):
        read_npy(saved(np.arange(6.0))[:n])


@given(st.binary(max_size=80))
def test_any_header_ends_in_one_error(text: bytes) -> None:
    with contextlib.suppress(ReadError):
        read_npy(with_header(text))
