"""The checks of a policy, as a page shows them."""

from dataclasses import dataclass

from treeaudit.findings.findings import Check
from treeaudit.findings.numbers import Share
from treeaudit.findings.report import Report
from treeaudit.reports.masking import Numbers

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


def check_lines(report: Report, numbers: Numbers) -> list[CheckLine]:
    """Return the checks, those that failed first, a reason once."""
    order = {"fail": 0, "skipped": 1, "pass": 2}
    ids = {result.id for result in report.results}
    lines, said = [], ""
    for check in sorted(report.checks, key=lambda one: order[one.status]):
        reason = numbers.text(check.reason or "")
        lines.append(
            CheckLine(
                status=check.status,
                title=check.title,
                bound=check.bound,
                reason="" if reason == said else reason,
                measured=_measured(check, numbers),
                note=_note(check, report, numbers),
                attack=check.attack if check.attack in ids and check.attack else "",
            )
        )
        said = reason
    return lines


def _note(check: Check, report: Report, numbers: Numbers) -> str:
    # What was measured then is as exact as what a safe copy rounds now.
    if check.accepted:
        return f"accepted{f', was {check.was}' if check.was and not numbers.safe else ''}"
    people = report.table.n_people
    if check.measured is None or not check.among or people is None:
        return ""
    return f"of {numbers.count(people)}"


def _measured(check: Check, numbers: Numbers) -> str:
    """Return the measured number; a safe copy rounds shares and masks counts."""
    if check.measured is None:
        return "not checked" if check.status == "skipped" else check.shown or "unbounded"
    if isinstance(check.measured, Share):
        return numbers.part(check.measured)
    if not numbers.safe or check.attack is None:
        return check.shown or f"{check.measured:g}"
    return f"about {check.measured:.0%}" if check.share else numbers.count(round(check.measured))
