"""Numbers that can disclose somebody stay numbers wherever they go."""

import copy
import json
import pickle

import pytest

from treeaudit.findings.details import Agreeing, Count, People, Share

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
