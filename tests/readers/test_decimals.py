"""Numbers that are read all at once are those of `float`, to the bit."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from treeaudit.readers.decimals import decimals, standing_apart

BEFORE = "numbers: "


def read(texts):
    signs = np.frombuffer((BEFORE + ",".join(texts)).encode(), np.uint8)
    return decimals(signs, *standing_apart(signs))


def as_float(texts):
    return np.array([float(text) for text in texts]).tobytes()


def test_numbers_at_once() -> None:
    texts = ["0", "-7", "0.1", "-2.4656887054443359", "1e-05", "-3.4028234663852886e+38", "12345"]
    found = read(texts)
    assert found.value.tobytes() == as_float(texts)
    assert found.whole.tolist() == [True, True, False, False, False, False, True]


SPELLED = re.compile(
    r"-?(0|[1-9]\d*)(\.\d*[1-9])?(e-0[5-9]|e-[1-9]\d{1,2}|e\+0[6-9]|e\+[1-9]\d{1,2})?"
)


@given(st.lists(st.from_regex(SPELLED, fullmatch=True), min_size=1, max_size=30))
@examples(200)
def test_of_any_digits(texts) -> None:
    texts = [t for t in texts if len(t) <= 25 and t.isascii() and t != "-0"]
    if texts:
        assert read(texts).value.tobytes() == as_float(texts)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
@examples(200)
def test_of_any_floats(values) -> None:
    # As C writes them: 17 digits, none that says nothing.
    texts = [t for t in (f"{value:.17g}" for value in values) if t != "-0" and len(t) <= 25]
    if texts:
        assert read(texts).value.tobytes() == as_float(texts)


def test_beside_the_middle_of_two_floats() -> None:
    # Between floats near 1e7 lie middles of 26 binary digits, which 18 decimal ones come close to.
    rng = np.random.default_rng(0)
    texts = []
    for value in rng.uniform(2**20, 2**23, 3000):
        middle = (int(value * 2**30) * 2 + 1) / 2**31
        for digits in (9, 10, 11):
            text = f"{middle:.{digits}f}".rstrip("0")
            texts += [text] if not text.endswith(".") else []
    for value in rng.normal(size=3000):
        exact = (value + math.ulp(value) / 2) if value else 1.0
        texts += [t for t in (f"{exact:.18g}", f"{value:.16g}", f"{value:.9g}") if "e" not in t]
    assert read(texts).value.tobytes() == as_float(texts)


@pytest.mark.parametrize(
    "odd",
    [
        *(
            "01 -01 1. .5 -.5 - -- --1 1-2 1.2.3 0.50 1.0 -0 -0.0 1e5 1e+5 1e+05 1e-5 1e-005"
        ).split(),
        *("+1 1+ 1e- 1.5e-05e-05 1e-05.5 123456789012345678901234567 00 1e-050").split(),
    ],
)
def test_what_no_library_writes_is_left_to_others(odd) -> None:
    assert read(["1", odd, "2"]) is None
    assert read([odd]) is None


@given(st.lists(st.from_regex(re.compile(r"[-+0-9.e]{1,9}"), fullmatch=True), max_size=4))
@examples(300)
def test_what_is_read_is_spelled_as_libraries_do(texts) -> None:
    text = (BEFORE + ",".join(texts)).encode()
    first, last, _ = standing_apart(np.frombuffer(text, np.uint8))
    # Whoever reads them has seen that a comma stands between any two.
    apart = [text[a:b].decode() for a, b in zip(first, last, strict=True)] == texts
    if texts and apart and (found := read(texts)) is not None:
        assert found.value.tobytes() == as_float(texts)


@pytest.mark.parametrize("n", [1, 2, 131_000, 131_072, 262_200])
def test_runs_across_pieces(n) -> None:
    text = b" " * n + b"12.5,-3 4"
    first, last, _ = standing_apart(np.frombuffer(text, np.uint8))
    assert [text[a:b] for a, b in zip(first, last, strict=True)] == [b"12.5", b"-3", b"4"]
    assert standing_apart(np.frombuffer(b"1" * n, np.uint8))[1].tolist() == [n]
