"""What is imported or compiled later is what it would be at once."""

import pkgutil
import re
from importlib import import_module

import pytest

import treeaudit
from treeaudit import later


def patterns() -> dict[str, later._Pattern]:
    names = [one.name for one in pkgutil.walk_packages(treeaudit.__path__, "treeaudit.")]
    return {
        f"{name}.{called}": value
        for name in names
        if not name.endswith("__main__")
        for called, value in vars(import_module(name)).items()
        if isinstance(value, later._Pattern)
    }


PATTERNS = patterns()


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_can_be_compiled(name) -> None:
    found = PATTERNS[name]
    made = re.compile(found._text, found._flags)
    assert (found.pattern, found.flags) == (made.pattern, made.flags)


def test_a_pattern_does_what_it_does_at_once() -> None:
    late, made = later.pattern("(A)|b+", re.IGNORECASE), re.compile("(A)|b+", re.IGNORECASE)
    for text in ("abBxa", "", "ccc"):
        assert late.findall(text) == made.findall(text) == late.findall(text)
        assert late.sub("-", text) == made.sub("-", text)
        for method in ("match", "search", "fullmatch"):
            assert bool(getattr(late, method)(text)) == bool(getattr(made, method)(text))
    with pytest.raises(AttributeError):
        _ = late.nothing


def test_a_function_is_imported_when_it_is_called() -> None:
    assert later.later("math", "gcd")(12, 18) == 6
