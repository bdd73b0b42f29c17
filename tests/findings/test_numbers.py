"""Numbers that can disclose somebody stay numbers wherever they go."""

import copy
import json
import pickle

import pytest

from treeaudit.findings.details import Agreeing, Count, People, Share, say

NUMBERS = {
    "people": People(3),
    "people with a noun": People(3, "more person", "more people"),
    "alone": People.alone(3),
    "leaves": People.leaves(3),
    "agreeing": Agreeing(3, "is", "are"),
    "count": Count(3, "feature", "features"),
    "share": Share(0.75),
    "share of people": Share.of(3, 4),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "again",
    [
        copy.copy,
        copy.deepcopy,
        *(
            lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol))
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
        ),
    ],
)
def test_they_pickle_and_copy_with_what_they_know(name, again) -> None:
    value = NUMBERS[name]
    found = again(value)
    assert type(found) is type(value)
    assert (found, vars(found)) == (value, vars(value))


@pytest.mark.parametrize("name", NUMBERS)
def test_in_json_they_are_numbers_like_any_other(name) -> None:
    value = NUMBERS[name]
    plain = float(value) if isinstance(value, Share) else int(value)
    assert json.dumps([value]) == json.dumps([plain])
    assert f"{value:,}" == f"{plain:,}"


def test_what_is_computed_from_them_has_to_be_named_again() -> None:
    """A difference of people is no number of people until somebody says so."""
    assert [type(n) for n in (People(3) - 1, People(3) + People(4), 2 * Share(0.5))] == [
        int,
        int,
        float,
    ]


def test_a_share_of_nobody_is_nothing() -> None:
    assert (Share.of(0, 0), Share.of(0, 0).whole) == (0.0, 0)


def test_a_part_may_hold_braces() -> None:
    phrase = say("{} of {}", 3, "{these}")
    assert phrase.template.format(*phrase.parts) == "3 of {these}"
