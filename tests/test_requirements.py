"""The lower bounds that are declared are those that are tested."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
RUNS = {*PROJECT["dependencies"], *EXTRAS["lz4"], *EXTRAS["parquet"], *EXTRAS["plot"]}
TESTS = {*EXTRAS["test"], *EXTRAS["browser"], *EXTRAS["libraries"]}


def pins(name: str) -> dict[str, tuple[int, ...]]:
    """Return the exact versions of a file of requirements."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert not re.search(r"://|--hash|(?m:^-)", text)
    found = re.findall(r"(?m)^([\w.-]+)==([\w.]+)", text)
    return {name.lower().replace("_", "-"): version(number) for name, number in found}


def version(text: str) -> tuple[int, ...]:
    numbers = [int(part) for part in text.split(".") if part.isdigit()]
    return (*numbers, 0, 0, 0)[:3]


@pytest.mark.parametrize("requirement", sorted(RUNS | TESTS))
def test_a_lower_bound_is_tested(requirement) -> None:
    name, bound = requirement.split(">=")
    oldest, newest = pins("oldest.txt"), pins("development.txt")
    if requirement in RUNS:
        assert oldest[name] == version(bound)
    else:
        assert version(bound) in (oldest.get(name), (*newest[name][:2], 0), newest[name])
    assert newest[name] >= version(bound)
