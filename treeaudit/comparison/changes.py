"""What changed between two reports: last month's and this one's."""

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

from treeaudit.attacks import all_checks
from treeaudit.findings.baseline import no_worse
from treeaudit.findings.checks import Registered
from treeaudit.findings.findings import SEVERITIES
from treeaudit.findings.report_file import Terms, apart, in_words, terms_of_file
from treeaudit.rendered import Rendered

Differ = Mapping[str, tuple[str, ...]]
"""The terms in which the reports differ, by check."""


def _attacks_of(known: Mapping[str, Registered], differ: Differ) -> set[str]:
    """Return the ids of the attacks some of whose numbers rest on other things."""
    return {id_ for name, names in differ.items() if names for id_ in known[name].attacks}


def _failing(old: Mapping[str, Any], new: Mapping[str, Any], differ: Differ) -> Iterator[str]:
    """Yield the checks that fail in both reports by numbers that rest on other things."""
    for name, pair in _side_by_side(old["checks"], new["checks"], "name").items():
        if differ.get(name) and all(one is not None and one["status"] == "fail" for one in pair):
            yield name


def _not_compared(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    differ: Differ,
    terms: tuple[Terms, Terms],
) -> Iterator[str]:
    """Say which checks are not compared, a sentence for each reason."""
    known, said = all_checks(), dict[str, list[str]]()
    for name, pair in _side_by_side(old["checks"], new["checks"], "name").items():
        made = all(one is not None and one["status"] != "skipped" for one in pair)
        if made and differ.get(name):
            why = in_words(differ[name], *terms)
            said.setdefault(why, []).append(f"'{known[name].rule.title}'")
    for why, titles in said.items():
        yield f"Not compared: {' and '.join(titles)}, as {why}."


def _side_by_side(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], key: str
) -> dict[str, tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]]:
    """Return what is of one name side by side, in the order of the new report."""
    sides = [{str(row[key]): row for row in rows} for rows in (old, new)]
    return {name: (sides[0].get(name), sides[1].get(name)) for name in (*sides[1], *sides[0])}


Way = Literal["worse", "new", "unknown", "better", "gone", "changed", "same"]
"""``new`` was not there, or was not looked for; ``unknown`` is not looked at any more."""
_VERDICTS = ("pass", "accepted", "review", "fail")
_COUNTS = {
    "n_records": "people",
    "n_trees": "trees",
    "n_leaves": "leaves",
    "n_features": "columns",
    "bytes": "bytes",
    "estimator": "estimator",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that both reports may tell."""

    # ``verdict``, ``check``, ``finding`` or ``model``
    of: Literal["verdict", "check", "finding", "model"]
    # id, title: what it is called
    id: str
    title: str
    # old, new: what the reports say, in words
    old: str
    new: str
    way: Way  # Which way it went


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Changes(Rendered):
    """What changed between two reports."""

    # old, new: what they are about: ``name``, ``sha256`` and ``policy`` of each
    old: Mapping[str, str]
    new: Mapping[str, str]
    rows: tuple[Change, ...]  # The verdict, the checks, the findings and the counts, in this order
    notes: tuple[str, ...] = ()  # Why some of it may not be compared, one sentence each
    # Names of the checks that fail in both, by numbers that rest on different things
    unlike: tuple[str, ...] = ()

    def of(self, *ways: Way) -> tuple[Change, ...]:
        """Return what went one of these ways."""
        return tuple(row for row in self.rows if row.way in ways)

    @property
    def exit_code(self) -> int:
        """1 where something is worse or new, 3 where nobody can tell, else 0.

        That is where something is not looked at any more, or fails as it did by another number.
        A verdict that became a pass decides: what is worse lies within the policy.
        """
        if any((row.of, row.way, row.new) == ("verdict", "better", "PASS") for row in self.rows):
            return 0
        return 1 if self.of("worse", "new") else 3 if self.of("unknown") or self.unlike else 0


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Changes:
    """Return what changed between two JSON reports.

    Raises KeyError, TypeError, AttributeError, ValueError if one of them is not whole.
    """
    known = all_checks()
    terms = terms_of_file(old), terms_of_file(new)
    differ = {name: apart(one, *terms) for name, one in known.items()}
    checks = tuple(_checks(old, new, known, differ))
    worse = {id_ for row in checks if row.way == "worse" for id_ in _attacks(known.get(row.id))}
    rows = (
        _verdict(old["verdict"], new["verdict"]),
        *checks,
        *_findings(old, new, worse, _attacks_of(known, differ)),
        *_counts(old["model"], new["model"]),
    )
    unlike = tuple(_failing(old, new, differ))
    return Changes(
        old=_about(old),
        new=_about(new),
        rows=rows,
        notes=(*_notes(old, new), *_not_compared(old, new, differ, terms)),
        unlike=unlike,
    )


def _about(report: Mapping[str, Any]) -> dict[str, str]:
    model = report["model"]
    return {
        "name": str(model.get("name") or model["path"] or model["estimator"]),
        "sha256": str(model["sha256"] or ""),
        "policy": str(report["policy"]["name"]),
    }


def _notes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    was, now = old["model"], new["model"]
    names = [model.get("name") for model in (was, now)]
    other = names[0] != names[1] if all(names) else was.get("line") != now.get("line")
    if was["sha256"] is not None and was["sha256"] == now["sha256"]:
        yield "Both reports are of the same file."
    elif other:
        yield "The models are not of one line: their columns, labels or names differ."
    if old["policy"]["sha256"] != new["policy"]["sha256"]:
        yield "The policies differ: a check may be new, or its threshold another."
    roles = [sorted(report["people"]) for report in (old, new)]
    if roles[0] != roles[1]:
        given = [" and ".join(f"--{role}" for role in one) or "no people" for one in roles]
        yield f"The old report was made with {given[0]}, the new one with {given[1]}."


def _verdict(old: str, new: str) -> Change:
    step = _VERDICTS.index(new) - _VERDICTS.index(old)
    way: Way = "worse" if step > 0 else "better" if step < 0 else "same"
    return Change(of="verdict", id="verdict", title="Verdict", old=old.upper(), new=new.upper(),
                  way=way)  # fmt: skip


def _checks(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    known: Mapping[str, Registered],
    differ: Mapping[str, tuple[str, ...]],
) -> Iterator[Change]:
    for name, (was, now) in _side_by_side(old["checks"], new["checks"], "name").items():
        registered = known.get(name)
        yield Change(
            of="check",
            id=name,
            title=name if registered is None else registered.rule.title,
            old=_shown(was, registered, now),
            new=_shown(now, registered, was),
            way=_way_of_check(was, now, registered, alike=not differ.get(name)),
        )


def _way_of_check(
    was: Mapping[str, Any] | None,
    now: Mapping[str, Any] | None,
    known: Registered | None,
    *,
    alike: bool,
) -> Way:
    if now is None or now["status"] == "skipped":
        return "unknown" if was is not None and was["status"] != "skipped" else "same"
    if was is None or was["status"] == "skipped":
        return "new" if now["status"] == "fail" else "changed"
    if not alike:
        return "new" if now["status"] == "fail" and was["status"] != "fail" else "changed"
    before, after = _number(was), _number(now)
    if known is None:
        if was["status"] == now["status"]:
            return "same" if before == after else "changed"
        return "worse" if now["status"] == "fail" else "better"
    ways = no_worse(known.rule, after, before), no_worse(known.rule, before, after)
    return "same" if all(ways) else "better" if ways[0] else "worse"


def _number(check: Mapping[str, Any]) -> float:
    return math.inf if check["measured"] is None else float(check["measured"])


def _shown(
    check: Mapping[str, Any] | None, known: Registered | None, other: Mapping[str, Any] | None
) -> str:
    if check is None:
        return "not asked for"
    if check["status"] == "skipped":
        return "not made"
    value = _number(check)
    told = f"{value:g}" if known is None else known.rule.show(value, *_references(check, other))
    return f"{told} ({check['status']})"


def _references(check: Mapping[str, Any], other: Mapping[str, Any] | None) -> Iterator[float]:
    """Yield what a number is read beside: its threshold, and the number of the other report."""
    yield float(check["threshold"])
    if other is not None and other["status"] != "skipped" and other["measured"] is not None:
        yield _number(other)


def _attacks(known: Registered | None) -> tuple[str, ...]:
    return () if known is None else known.attacks


def _findings(
    old: Mapping[str, Any], new: Mapping[str, Any], worse: Set[str], unlike: Set[str]
) -> Iterator[Change]:
    for name, (was, now) in _side_by_side(old["findings"], new["findings"], "id").items():
        way = _way_of_finding(was, now)
        # Of a forest a finding counts one tree: fewer than of a single tree is no less.
        other = name in unlike and _outcome(was) != "clear" and way in ("better", "gone", "same")
        if (way == "better" and name in worse) or (other and _ran(was) and _ran(now)):
            way = "changed"
        yield Change(
            of="finding",
            id=name,
            title=str((now or was or {})["title"]),
            old=_outcome(was),
            new=_outcome(now),
            way=way,
        )


def _way_of_finding(was: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> Way:
    ran = [_ran(one) for one in (was, now)]
    if was is None or now is None or not all(ran):
        if ran[0]:
            return "unknown"
        return "new" if ran[1] and now is not None and now["status"] == "found" else "same"
    if "clear" in (was["status"], now["status"]):
        if was["status"] == now["status"]:
            return "same"
        return "new" if was["status"] == "clear" else "gone"
    before, after = (
        (SEVERITIES.index(one["severity"]), int(one["people"]), int(one["leaves"]))
        for one in (was, now)
    )
    return "same" if before == after else "worse" if after > before else "better"


def _ran(finding: Mapping[str, Any] | None) -> bool:
    return finding is not None and finding["status"] != "skipped"


def _outcome(finding: Mapping[str, Any] | None) -> str:
    if finding is None:
        return "not run"
    if finding["status"] != "found":
        return "not run" if finding["status"] == "skipped" else "clear"
    people = f", {int(finding['people']):,} people" if finding["people"] else ""
    return f"{finding['severity']}{people}"


def _counts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key, title in _COUNTS.items():
        was, now = ("not told" if one[key] is None else _grouped(one[key]) for one in (old, new))
        way: Way = "same" if was == now else "changed"
        yield Change(of="model", id=key, title=title, old=was, new=now, way=way)


def _grouped(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
