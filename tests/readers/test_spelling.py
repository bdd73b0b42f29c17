"""A JSON text is just what Python writes, or its spelling is looked at."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from treeaudit.readers.leftovers.json_spelling import is_indented

TEXTS = st.sampled_from(["age", 'a "b"', "true", "-0", "1e5", "a\\b", "\\", ', {"', "", "a/b"])
NUMBERS = st.sampled_from([0, -1, 10**20])
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXTS, part, max_size=3),
    max_leaves=12,
)
SPELLED = {
    ", ": ",  ",
    "/": "\\/",
    "-1": "-1e0",
    "a": "\\u0061",
    "0": "-0",
    "]": " ]",
    "}": "\n}",
    "\n ": " \n",
    "  ": " \t",
    "\n": "",
    ":": "",
    ",\n": "\n,",
}


@given(PLAIN)
@examples(200)
def test_what_python_writes_is_known(value: Any) -> None:
    assert is_indented(json.dumps(value, indent=2).encode())


@given(
    PLAIN | st.sampled_from([0.5, "é", "\n", "\x7f", 10**40]),
    st.sampled_from([None, 1, 2, 2]),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from([*SPELLED]), st.integers(0, 4))),
)
@examples(400)
def test_what_is_known_is_what_python_writes(
    value: Any, indent: int | None, escaped: bool, others: list[tuple[str, int]]
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    for one, place in others:
        parts = text.split(one)
        if place < len(parts) - 1:
            begin, end = one.join(parts[: place + 1]), one.join(parts[place + 1 :])
            text = begin + SPELLED[one] + end
    try:
        read = json.loads(text)
    except ValueError:
        return
    assert not is_indented(text.encode()) or text == json.dumps(read, indent=2)


@pytest.mark.parametrize("text", ["", " ", "[0.5]", "1e5", "-0", "[1, 2]", "[]\n", "9" * 26])
def test_what_may_hide_something_is_not_known(text: str) -> None:
    assert not is_indented(text.encode())
