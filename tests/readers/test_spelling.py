"""What the spelling of a JSON text is held against."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from treeaudit.readers.leftovers.json_spelling import blanks_beside, length_of, outside_of

TEXTS = st.sampled_from(["age", 'a "b"', "true", "-0", "1e5", "a\\b", "é", "\n", "\x7f", "a/b"])
NUMBERS = st.sampled_from([0, -1, 10**20, 0.5, 1e30, float("inf")])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXTS, part, max_size=3),
    max_leaves=12,
)
SPELLED = {
    ", ": ",  ",
    "/": "\\/",
    "-1": "-1e0",
    "a": "\\u0061",
    "\\n": "\\u000a",
    "0": "-0",
    "]": " ]",
    "}": "\n}",
}


@given(
    VALUES, st.sampled_from([None, 1, 2]), st.booleans(), st.lists(st.sampled_from([*SPELLED]))
)
@examples(200)
def test_a_text_is_as_long_as_its_value_or_is_not(
    value: Any, indent: int | None, escaped: bool, others: list[str]
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    for one in others:
        text = text.replace(one, SPELLED[one], 1)
    try:
        value = json.loads(text)
    except ValueError:
        return
    written = text.encode()
    assert blanks_beside(value, written, outside_of(written)) == abs(
        length_of(value) - len(written)
    )
