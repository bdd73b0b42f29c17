"""Typed details as plain data and as JSON Schema."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from inspect import cleandoc, getsource
from typing import Any, Literal, get_args, get_origin, get_type_hints

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from treeaudit.attacks import ATTACKS
from treeaudit.findings.details import (
    Details,
    People,
    Share,
    called,
    json_schema_of,
    only_if_given,
    plain_data,
)

TYPED = [attack.details for attack in ATTACKS if attack.details is not Details]


def instances(form: Any) -> st.SearchStrategy[Any]:
    """Return anything of a type."""
    if is_dataclass(form):
        hints = get_type_hints(form)
        return st.builds(form, **{one.name: instances(hints[one.name]) for one in fields(form)})
    origin, parts = get_origin(form), get_args(form)
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is tuple and parts[-1] is Ellipsis:
        return st.lists(instances(parts[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(instances, parts))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(st.text(max_size=3), instances(parts[1]), max_size=3)
    if origin is not None:
        return st.one_of(*map(instances, parts))
    if issubclass(form, People):
        return st.integers(0, 1 << 53).map(form)
    if issubclass(form, Share):
        return st.floats(0, 1).map(form)
    return {
        bool: st.booleans(),
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        str: st.text(max_size=5),
        type(None): st.none(),
    }[form]


def parts_of(form: Any) -> Iterator[type]:
    """Return a dataclass and those in it."""
    if is_dataclass(form):
        yield form
        for hint in get_type_hints(form).values():
            yield from parts_of(hint)
    for part in get_args(form):
        yield from parts_of(part)


@pytest.mark.parametrize("form", TYPED)
@examples(25)
@given(data=st.data())
def test_whatever_an_attack_measures_fits_the_schema_of_its_details(form, data) -> None:
    plain = plain_data(data.draw(instances(form)))
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    jsonschema.Draft202012Validator(json_schema_of(form)).validate(plain)


@pytest.mark.parametrize("form", TYPED)
def test_every_field_is_documented(form) -> None:
    for part in parts_of(form):
        docs = "\n".join(cleandoc(base.__doc__ or "") for base in part.__mro__)
        sections = re.findall(r"(?m)^(\w+(?:, \w+)*)$", docs)
        named = {*re.findall(r"``(\w+)``", docs), *", ".join(sections).split(", ")}
        # Elsewhere comments beside the fields say what they are.
        assert {one.name for one in fields(part)} <= named or "  # " in getsource(part), part


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf(Details):
    at: int = called("from")
    people: People
    share: Share | None
    label: Literal["no", "yes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Details):
    leaves: tuple[Leaf, ...]
    worst: tuple[int, float]
    names: Mapping[str, str]
    reason: str | None = only_if_given()


LEAF = Leaf(at=3, people=People(2), share=None, label="no")
FOUND = Found(leaves=(LEAF,), worst=(1, 0.5), names={"a": "b"})
PLAIN = {
    "leaves": [{"from": 3, "people": 2, "share": None, "label": "no"}],
    "worst": [1, 0.5],
    "names": {"a": "b"},
}


def test_plain_data_has_the_names_that_are_written_and_nothing_that_was_not_given() -> None:
    assert plain_data(FOUND) == PLAIN
    given_one = Found(leaves=(), worst=(1, 0.5), names={}, reason="few")
    assert plain_data(given_one)["reason"] == "few"


@pytest.mark.parametrize(
    "change",
    [
        {"leaves": [{"from": 3, "people": 2, "share": None}]},
        {"leaves": [{"from": 3, "people": 2.5, "share": None, "label": "no"}]},
        {"leaves": [{"from": 3, "people": -1, "share": None, "label": "no"}]},
        {"leaves": [{"from": 3, "people": 2, "share": None, "label": "maybe"}]},
        {"leaves": [{"at": 3, "people": 2, "share": None, "label": "no"}]},
        {"worst": [1]},
        {"worst": [1, 0.5, 2]},
        {"names": {"a": 1}},
        {"reason": 1},
        {"more": 1},
    ],
)
def test_what_is_not_of_a_type_does_not_fit(change) -> None:
    validator = jsonschema.Draft202012Validator(json_schema_of(Found))
    assert validator.is_valid(PLAIN)
    assert not validator.is_valid(PLAIN | change)
