"""One line per attack: what was found, what unseen people say, what the policy says."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treeaudit.findings import Finding, Skipped
from treeaudit.policy import CHECKS
from treeaudit.report import Report

__all__ = ["AttackLine", "attack_lines", "has_control"]

_OPTION = re.compile(r"--[a-z][a-z-]*")
WORDS = {
    "high": "HIGH",
    "medium": "MEDIUM",
    "low": "LOW",
    "none": "CLEAR",
    "skipped": "SKIP",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackLine:
    """An attack in a line.

    Attributes
    ----------
    level, word, title
        The severity, the same as a word, and the attack.
    found
        What it found: short where the other columns are shown, a sentence
        otherwise.
    unseen
        What people who were not in the training data say of it.
    policy
        Whether its checks passed.
    """

    level: str
    word: str
    title: str
    found: str
    unseen: str = ""
    policy: str = ""


def has_control(report: Report) -> bool:
    """Tell whether any claim was held against unseen people."""
    return any(c.control is not None for finding in report.findings for c in finding.controls)


def attack_lines(report: Report, *, short: bool) -> list[AttackLine]:
    """Return a line per attack; those on the file itself that found nothing share one.

    Parameters
    ----------
    report
        The audit.
    short
        Whether ``found`` is to be a few words rather than a sentence.
    """
    lines = [
        _line(report, result, short)
        for result in report.results
        if not _is_quiet(result) and not _asks_for(result)
    ]
    lines += _unasked(report.results)
    quiet = [result.title.lower() for result in report.results if _is_quiet(result)]
    if quiet:
        lines.append(
            AttackLine(
                level="none",
                word=WORDS["none"],
                title="What else is inside",
                found="nothing found" if short else f"{', '.join(quiet)}: nothing found",
            )
        )
    return lines


def _line(report: Report, result: Finding | Skipped, short: bool) -> AttackLine:
    policy = _policy(report, result.id)
    if isinstance(result, Skipped):
        return AttackLine(
            level="skipped",
            word=WORDS["skipped"],
            title=result.title,
            found=result.reason,
            policy=policy,
        )
    tell = _SHORT.get(result.id)
    brief = tell(result, report.forest.n_trees > 1) if short and tell is not None else ""
    return AttackLine(
        level=result.severity,
        word=WORDS[result.severity],
        title=result.title,
        found=brief or result.summary,
        unseen=_unseen(result),
        policy=policy,
    )


def _is_quiet(result: Finding | Skipped) -> bool:
    """Whether one line for all such results is enough."""
    clear = isinstance(result, Finding) and result.status == "clear"
    return clear and result.id.startswith("TA2")


def _asks_for(result: Finding | Skipped) -> tuple[str, ...]:
    """Return the options that a skipped attack asks for, in their order."""
    if isinstance(result, Finding):
        return ()
    return tuple(dict.fromkeys(_OPTION.findall(result.reason)))


def _unasked(results: Sequence[Finding | Skipped]) -> list[AttackLine]:
    """Return one line for all attacks that were skipped for want of people."""
    asked: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        if options := _asks_for(result):
            asked.setdefault(options, []).append(result.title.lower())
    if not asked:
        return []
    parts = [f"{', '.join(titles)} ({', '.join(options)})" for options, titles in asked.items()]
    return [
        AttackLine(
            level="skipped",
            word=WORDS["skipped"],
            title="Not asked for",
            found="; ".join(parts),
            policy="–",
        )
    ]


def _policy(report: Report, attack: str) -> str:
    states = [
        check.status
        for check in report.checks
        if check.name in CHECKS and CHECKS[check.name].attack == attack
    ]
    if not states:
        return "–"
    worst = next(s for s in ("fail", "skipped", "pass") if s in states)
    return {"fail": "failed", "skipped": "not made", "pass": "passed"}[worst]


def _unseen(finding: Finding) -> str:
    if finding.id == "TA105":
        return "a coin: AUC 0.50"
    if finding.id == "TA104":
        return _beside(finding)
    shares = [c.control.value for c in finding.controls if c.control is not None]
    if not shares:
        return "nobody fits" if finding.controls else "–"
    fit = " fit" if finding.id in ("TA101", "TA102", "TA103", "TA110") else ""
    return " and ".join(f"{share:.0%}" for share in shares[:2]) + fit


def _beside(finding: Finding) -> str:
    """Return how often the column that is given away most is found for unseen people."""
    given = finding.details.get("given_away") or ()
    named = [c for c in finding.controls if c.of in given and c.control is not None]
    if not named:
        return "as well"
    worst = max(named, key=lambda c: 0.0 if c.excess is None else c.excess.value)
    unseen = 0.0 if worst.control is None else worst.control.value
    return f"{unseen:.0%}, not {worst.claim.value:.0%}"


def _alone(finding: Finding, many: bool) -> str:
    details = finding.details
    what = " leaves" if many else ""
    small = details["below_k_leaves"] if many else details["below_k_people"]
    return f"{details['unique_people']:,}{what} alone, {small:,} below {details['k']}"


def _certain(finding: Finding, many: bool) -> str:
    share = float(finding.details["certain_share"])
    if many:
        return f"{share:.1%} certain in one tree"
    return f"{_people(finding.people)} ({share:.1%}) certain"


def _known(finding: Finding, many: bool) -> str:
    curve = finding.details.get("people_disclosed_by_known")
    if not curve or len(curve) < 2:
        return ""
    return f"{_people(curve[1] - curve[0])} by knowing one"


def _hidden(finding: Finding, many: bool) -> str:
    given = finding.details.get("given_away")
    if given is None:
        return ""
    n = len(finding.details.get("columns", ()))
    return f"{len(given)} of {n} {'column' if n == 1 else 'columns'} given away"


def _member(finding: Finding, many: bool) -> str:
    details: Mapping[str, Any] = finding.details
    if "auc" not in details:
        return ""
    return f"AUC {details['auc']:.2f} ({details['auc_low']:.2f}–{details['auc_high']:.2f})"


def _people(n: int) -> str:
    return "1 person" if n == 1 else f"{n:,} people"


_SHORT: Mapping[str, Callable[[Finding, bool], str]] = {
    "TA101": _alone,
    "TA102": _certain,
    "TA103": _known,
    "TA104": _hidden,
    "TA105": _member,
}
"""What was found in a few words; a sentence where an attack has none."""
