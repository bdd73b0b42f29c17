"""Numbers of two reports that rest on different things, and are not compared."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treeaudit.attacks import all_checks
from treeaudit.findings.checks import Registered
from treeaudit.findings.report_file import Terms, in_words

__all__ = ["failing", "not_compared", "of_attacks", "pairs"]

Differ = Mapping[str, tuple[str, ...]]
"""The terms in which the reports differ, by check."""


def of_attacks(known: Mapping[str, Registered], differ: Differ) -> set[str]:
    """Return the ids of the attacks some of whose numbers rest on other things."""
    return {id_ for name, names in differ.items() if names for id_ in known[name].attacks}


def failing(old: Mapping[str, Any], new: Mapping[str, Any], differ: Differ) -> Iterator[str]:
    """Yield the checks that fail in both reports by numbers that rest on other things."""
    for name, pair in pairs(old["checks"], new["checks"], "name").items():
        if differ.get(name) and all(one is not None and one["status"] == "fail" for one in pair):
            yield name


def not_compared(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    differ: Differ,
    terms: tuple[Terms, Terms],
) -> Iterator[str]:
    """Say which checks are not compared, a sentence for each reason."""
    known, said = all_checks(), dict[str, list[str]]()
    for name, pair in pairs(old["checks"], new["checks"], "name").items():
        made = all(one is not None and one["status"] != "skipped" for one in pair)
        if made and differ.get(name):
            why = in_words(differ[name], *terms)
            said.setdefault(why, []).append(f"'{known[name].rule.title}'")
    for why, titles in said.items():
        yield f"Not compared: {' and '.join(titles)}, as {why}."


def pairs(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], key: str
) -> dict[str, tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]]:
    """Return what is of one name side by side, in the order of the new report."""
    sides = [{str(row[key]): row for row in rows} for rows in (old, new)]
    return {name: (sides[0].get(name), sides[1].get(name)) for name in (*sides[1], *sides[0])}
