"""What to do next, in one sentence per failed check."""

import math

from treeaudit.attacks import all_checks
from treeaudit.findings.judging import judge, verdict_of
from treeaudit.findings.policy import BUILT_IN
from treeaudit.findings.report import Report, view_of
from treeaudit.reports.commands import is_search, release_command
from treeaudit.reports.plain_text import plain

__all__ = ["acceptance", "next_steps", "verdict_line"]

_SEARCH = (
    "a search for fewer trees and larger leaves that pass together takes minutes and was not "
    "tried here"
)


def acceptance(report: Report) -> str:
    """Return who accepts what fails, when, until when and why; nothing without a baseline."""
    if report.baseline is None:
        return ""
    by, on, until, why = (plain(report.baseline[k], 200) for k in ("by", "on", "until", "reason"))
    if report.baseline["holds"]:
        return f"accepted by {by} until {until} (on {on}: {why})"
    return f"the acceptance by {by} ended on {until} and counts no more"


def verdict_line(report: Report) -> str:
    """Return how many checks of which policy passed, failed or were skipped.

    The verdict itself is not repeated.
    """
    name = f"policy {plain(report.policy.title, 200)}"
    total = len(report.checks)
    if not total:
        return f"{name} makes no checks: this is no pass"
    count = {"fail": 0, "pass": 0, "skipped": 0, "accepted": 0, "untold": 0}
    for check in report.checks:
        count["accepted" if check.accepted else check.status] += 1
    checks = "check" if total == 1 else "checks"
    old = "" if report.baseline is None else plain(report.baseline["name"], 120)
    if count["untold"]:
        # How many of these failed would tell of too few people.
        failed = count["fail"] + count["accepted"]
        text = f"{failed or 'some'} of {total} {checks} of {name} failed"
        text += f", no worse than in {old}" if report.verdict == "accepted" else ""
        text += f", {count['skipped']} skipped" if count["skipped"] else ""
        return f"{text}; of {count['untold']} it is not told, they may be about too few people"
    if count["fail"]:
        text = f"{count['fail']} of {total} {checks} of {name} failed"
        text += f", {count['accepted']} accepted by {old}" if count["accepted"] else ""
        ended = report.baseline is not None and not report.baseline["holds"]
        text += f"; {acceptance(report)}" if ended else ""
        return text + (f", {count['skipped']} skipped" if count["skipped"] else "")
    if count["skipped"]:
        return f"{count['skipped']} of {total} {checks} of {name} could not be made"
    if count["accepted"]:
        return (
            f"{count['accepted']} of {total} {checks} of {name} failed, no worse than in {old}, "
            f"{acceptance(report)}; the others passed"
        )
    return f"{'the check' if total == 1 else f'all {total} checks'} of {name} passed"


def next_steps(report: Report) -> list[str]:
    """Return what the person who runs the audit can do now.

    Only steps that can be taken with what exists: nothing is promised.
    """
    passed = report.fix is not None and report.fix.passed
    failed = [c for c in report.checks if c.status == "fail" and not c.accepted]
    # What was not seen to work is told only where nothing was.
    steps = [] if passed else [f"not tried: {_step(c.step, report)}" for c in failed if c.step]
    if is_search(report):
        steps.insert(0, _SEARCH)
    against = set() if passed else {c.attack for c in failed if not c.step}
    for finding in report.findings:
        page = report.pages.get(finding.id)
        if page is not None and finding.id in against:
            steps.append(f"not tried, against {finding.title.lower()}: {page.words.remedy}")
        if finding.status == "found":
            steps.append(view_of(report, finding).step)
    steps = list(dict.fromkeys(step for step in steps if step))
    if report.baseline is not None and not report.baseline["holds"]:
        steps.append(
            "whoever still answers for it accepts the report again: treeaudit accept "
            "report.json --by NAME --until YYYY-MM-DD --reason WHY -o accepted.json"
        )
    if report.verdict == "review" and math.isfinite(report.epsilon):
        steps.append(_under_private(report))
    elif report.verdict == "review":
        open_ = [c.title.lower() for c in report.checks if c.status == "skipped"]
        if open_:
            decide = "or somebody" if passed else "somebody"
            told = ", ".join(open_[:3]) + (f" and {len(open_) - 3} more" if len(open_) > 3 else "")
            steps.append(f"{decide} has to decide what could not be checked: {told}")
    return steps


def _step(step: str, report: Report) -> str:
    """Return a step with the command that it names."""
    return step.replace("{release}", release_command(report))


def _under_private(report: Report) -> str:
    """Say what a policy for models of noise makes of this one: it was tried."""
    policy = BUILT_IN["private"]
    checks = judge(policy, report.results, report.forest, all_checks(), report.unit.most)
    claim = report.bound.replace("epsilon", "epsilon of")
    bound = f"by its own ledger its counts are noise, and its {claim} bounds what it tells"
    if verdict_of(checks) == "pass":
        return f"--policy private was tried and passes: {bound} of anybody, a claim of the file"
    open_ = ", ".join(c.title.lower() for c in checks if c.status != "pass")
    return f"--policy private was tried too and does not pass: {open_}"
