"""The list of attributes, read a line at a time."""

import pytest

from treeaudit.readers.residual.allow_list import _TEXT, attributes_of, is_name


def test_a_class_has_what_its_line_says() -> None:
    options, *lines = (line.split() for line in _TEXT.splitlines())
    told = {
        kind: dict(one.split(":") if ":" in one else (one, "") for one in rest)
        for kind, *rest in lines
    }
    assert len(told) == len(lines) > 300
    for kind, names in told.items():
        assert attributes_of(kind) == names
        assert all(map(is_name, names))
    assert all(is_name(word.replace("␣", " ")) for word in options[1:])


@pytest.mark.parametrize(
    "kind", ["words", "", "Nobody", "Nobody\nDecisionTreeClassifier", "Birch "]
)
def test_what_is_no_class_has_no_attributes(kind) -> None:
    assert attributes_of(kind) is None
