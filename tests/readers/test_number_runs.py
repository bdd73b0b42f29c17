"""Numbers that are read at once are those that `float` and `int` read, to the bit."""

import re
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treeaudit.readers import number_runs
from treeaudit.readers.number_runs import read_reals, read_wholes

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NEAR = st.floats(-1e6, 1e6, allow_nan=False)


def spelled(value: float, form: str) -> str:
    text = repr(value) if form == "r" else form % value
    return "0" if text == "-0" else text.removesuffix(".0")


def alike(text: bytes) -> bool:
    """Tell whether all numbers are read, and hold them to `float`."""
    found = read_reals(text)
    if found is None:
        return False
    each = np.array([float(word) for word in text.split()])
    assert np.array_equal(found.value.view(np.int64), each.view(np.int64))
    behind = re.findall(rb"[^ \n]([ \n])", text)
    assert found.last.tolist() == [i for i, sign in enumerate(behind) if sign == b"\n"]
    return True


@given(st.lists(FLOATS | NEAR, min_size=1), st.sampled_from(["%.17g", "%g", "r", "%.12g"]))
def test_what_c_writes_is_read_as_float_reads_it(values, form) -> None:
    assert alike(" ".join(spelled(value, form) for value in values).encode() + b"\n")


@given(st.integers(1, 2**53 - 1), st.integers(0, 22), st.sampled_from([ROUND_DOWN, ROUND_UP]))
@example(9007199254740991, 16, ROUND_DOWN)
def test_numbers_half_way_between_two_floats(mantissa, places, way) -> None:
    value = mantissa / 10**places
    middle = (Decimal(value) + Decimal(float(np.nextafter(value, np.inf)))) / 2
    short = Context(prec=17, rounding=way).plus(middle)
    text = format(short, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    assert alike(f"{text} -{text}\n".encode()) or len(text) > 22


def test_a_worked_example_on_lines() -> None:
    text = b"0.27875757217407232 -0.5 1.0000000180025095e-35\n8.5000000000000018\n0 100\n"
    found = read_reals(text)
    assert found is not None
    assert found.value.tolist()[:3] == [0.27875757217407232, -0.5, 1.0000000180025095e-35]
    assert found.value.tolist()[3:] == [8.500000000000002, 0.0, 100.0]
    assert found.last.tolist() == [2, 3, 5]


@pytest.mark.parametrize(
    "word",
    [
        *"-0 0.10 007 +1 .5 5. - -- --5 1.2.3 1e5 1E5 5E-1 1e-005 1e+5 0x10 1_0 nan inf".split(),
        *"-inf 1e1.5 1-2 -e-05 e-05 1.5e-05.5 01e-05 0.50e-05 ٣".split(),
        *("", "1\t2", "1  2", "1\r", "1" * 26, "0." + "1" * 30, "1e-" + "1" * 30),
    ],
)
def test_what_libraries_do_not_write_is_left_to_others(word) -> None:
    for text in (f"{word}\n", f"1 {word}\n", f"{word} 2\n", f"1\n{word} 2\n3\n"):
        assert read_reals(text.encode()) is None
        assert read_wholes(text.encode()) is None


@given(st.text("0123456789.-+eE \n", max_size=60))
def test_whatever_is_read_is_what_float_reads(text) -> None:
    alike(text.encode())


@given(st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1))
def test_whole_numbers(values) -> None:
    found = read_wholes("\n".join(map(str, values)).encode() + b"\n")
    assert found is not None
    assert found.value.tolist() == values
    assert found.last.tolist() == list(range(len(values)))


@pytest.mark.parametrize("text", [b"", b"1", b"1 2", b"1.5\n", b"1e-05\n", b"1" * 19 + b"\n"])
def test_no_whole_numbers(text) -> None:
    assert read_wholes(text) is None


@given(st.lists(NEAR, min_size=1, max_size=40), st.integers(1, 64))
def test_pieces_are_cut_between_numbers(values, size) -> None:
    text = "\n".join(spelled(value, "%.17g") for value in values).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_runs, "_PIECE", size)
        if not alike(text):
            # A number that is longer than a piece ends the pieces.
            assert size < 26
