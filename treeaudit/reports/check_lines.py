"""The checks of a policy, as a page shows them."""

from dataclasses import dataclass

from treeaudit.findings.findings import Check
from treeaudit.findings.numbers import Share
from treeaudit.findings.report import Report
from treeaudit.reports.wording import percent

__all__ = ["CheckLine", "check_lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """One check.

    Attributes
    ----------
    attack
        The id of the result that it was measured on; empty where there is none.
    reason
        Why it was not made, or passed unmeasured; empty where the line before says the same.
    """

    status: str
    title: str
    bound: str
    reason: str
    measured: str
    note: str
    attack: str


def check_lines(report: Report) -> list[CheckLine]:
    """Return the checks, those that failed first, a reason once."""
    order = {"fail": 0, "skipped": 1, "accepted": 2, "pass": 3}
    ids = {result.id for result in report.results}
    lines, said = [], ""
    for check in sorted(report.checks, key=lambda one: order[_status(one)]):
        reason = check.reason or ""
        lines.append(
            CheckLine(
                status=_status(check),
                title=check.title,
                bound=check.bound,
                reason="" if reason == said else reason,
                measured=_measured(check),
                note=_note(check, report),
                attack=check.attack if check.attack in ids and check.attack else "",
            )
        )
        said = reason
    return lines


def _status(check: Check) -> str:
    return "accepted" if check.accepted else check.status


def _note(check: Check, report: Report) -> str:
    if check.accepted:
        return f"accepted{f', was {check.was}' if check.was else ''}"
    people = report.table.n_people
    if check.measured is None or not check.among or people is None:
        return ""
    return f"of {people:,}"


def _measured(check: Check) -> str:
    if check.measured is None:
        return "not checked" if check.status == "skipped" else check.shown or "unbounded"
    if isinstance(check.measured, Share):
        return percent(check.measured, check.threshold)
    return check.shown or f"{check.measured:g}"
