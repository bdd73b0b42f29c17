"""One line per attack: what was found, what unseen people say, what the policy says."""

from collections.abc import Sequence
from dataclasses import dataclass

from treeaudit.findings.findings import Finding, Skipped
from treeaudit.findings.report import Report, view_of
from treeaudit.model.words import in_percent
from treeaudit.reports.wording import in_words

__all__ = ["AttackLine", "attack_lines", "has_control"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackLine:
    """An attack in a line.

    Attributes
    ----------
    found
        What it found: short where the other columns are shown, a sentence
        otherwise.
    unseen
        What people who were not in the training data say of it.
    policy
        Whether its checks passed.
    """

    level: str
    title: str
    id: str = ""
    found: str = ""
    unseen: str = ""
    policy: str = ""

    @property
    def has_columns(self) -> bool:
        """Whether it is a row of the table of attacks, or told beside it."""
        return bool(self.id) and self.level != "skipped"


def has_control(report: Report) -> bool:
    """Tell whether any claim was held against unseen people."""
    return any(c.control is not None for finding in report.findings for c in finding.controls)


def attack_lines(report: Report, *, short: bool) -> list[AttackLine]:
    """Return a line per attack; those on the file itself that found nothing share one.

    ``short`` asks for a few words rather than a sentence in ``found``.
    """
    lines = [
        _line(report, result, short)
        for result in report.results
        if not (_is_quiet(report, result) or _asks_for(result) or _of_another_kind(result))
    ]
    other = [result.title.lower() for result in report.results if _of_another_kind(result)]
    if other:
        lines.append(AttackLine(level="skipped", title="Not applicable", found=", ".join(other)))
    lines += _unasked(report.results)
    quiet = [result.title.lower() for result in report.results if _is_quiet(report, result)]
    if quiet:
        lines.append(AttackLine(level="none", title="Nothing found", found=", ".join(quiet)))
    return lines


def _line(report: Report, result: Finding | Skipped, short: bool) -> AttackLine:
    policy = _policy(report, result.id)
    if isinstance(result, Skipped):
        return AttackLine(
            level="skipped", title=result.title, id=result.id, found=result.reason, policy=policy
        )
    view = view_of(report, result)
    brief = in_words(view.brief) if short and view.brief is not None else ""
    return AttackLine(
        level=result.severity,
        title=result.title,
        id=result.id,
        found=brief or result.summary,
        unseen=_unseen(result) if view.unseen is None else in_words(view.unseen),
        policy=policy,
    )


def _is_quiet(report: Report, result: Finding | Skipped) -> bool:
    """Whether one line for all such results is enough."""
    page = report.pages.get(result.id)
    clear = isinstance(result, Finding) and result.status == "clear"
    return clear and page is not None and page.about == "file"


def _of_another_kind(result: Finding | Skipped) -> bool:
    """Whether it asks for what no model of this kind holds: not worth a line of its own."""
    return isinstance(result, Skipped) and result.reason.startswith("not applicable")


def _asks_for(result: Finding | Skipped) -> tuple[str, ...]:
    """Return the options that a skipped attack asks for."""
    return result.asks if isinstance(result, Skipped) else ()


def _unasked(results: Sequence[Finding | Skipped]) -> list[AttackLine]:
    """Return one line for all attacks that were skipped for want of people."""
    asked: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        if options := _asks_for(result):
            asked.setdefault(options, []).append(result.title.lower())
    if not asked:
        return []
    parts = [f"{', '.join(titles)} ({', '.join(options)})" for options, titles in asked.items()]
    return [AttackLine(level="skipped", title="Not asked for", found="; ".join(parts), policy="–")]


def _policy(report: Report, attack: str) -> str:
    states = [check.status for check in report.checks if check.attack == attack]
    if not states:
        return "–"
    worst = next(s for s in ("fail", "skipped", "pass") if s in states)
    return {"fail": "failed", "skipped": "not made", "pass": "passed"}[worst]


def _unseen(finding: Finding) -> str:
    shares = [c.control.value for c in finding.controls if c.control is not None]
    if not shares:
        return "nobody fits" if finding.controls else "–"
    return " and ".join(in_percent(share, 0) for share in shares[:2]) + " fit"
