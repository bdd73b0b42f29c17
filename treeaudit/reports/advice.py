"""What to do next, in one sentence per failed check."""

import math
from collections.abc import Set as AbstractSet

from treeaudit.measures import epsilon
from treeaudit.policy import CHECKS
from treeaudit.report import Report

__all__ = ["next_steps", "verdict_line"]

_OWN_STEP = {
    "min-leaf",
    "max-unique-people",
    "max-small-leaf-people",
    "max-certain-share",
    "max-epsilon",
}


def verdict_line(report: Report) -> str:
    """Return how many checks of which policy passed, failed or were skipped.

    The verdict itself is not repeated.
    """
    name = f"policy {report.policy.name}"
    total = len(report.checks)
    if not total:
        return f"{name} makes no checks: this is no pass"
    count = {"fail": 0, "pass": 0, "skipped": 0, "accepted": 0}
    for check in report.checks:
        count["accepted" if check.accepted else check.status] += 1
    checks = "check" if total == 1 else "checks"
    old = "" if report.baseline is None else report.baseline["name"]
    if count["fail"]:
        text = f"{count['fail']} of {total} {checks} of {name} failed"
        text += f", {count['accepted']} accepted by {old}" if count["accepted"] else ""
        return text + (f", {count['skipped']} skipped" if count["skipped"] else "")
    if count["skipped"]:
        return f"{count['skipped']} of {total} {checks} of {name} could not be made"
    if count["accepted"]:
        return (
            f"{count['accepted']} of {total} {checks} of {name} failed, no worse than in {old}; "
            "the others passed"
        )
    return f"{'the check' if total == 1 else f'all {total} checks'} of {name} passed"


def next_steps(report: Report) -> list[str]:
    """Return what the person who runs the audit can do now.

    Only steps that can be taken with what exists: nothing is promised.
    """
    failed = {c.name for c in report.checks if c.status == "fail" and not c.accepted}
    steps = []
    k = report.policy.k
    passed = report.fix is not None and report.fix.passed
    if failed & {"min-leaf", "max-unique-people", "max-small-leaf-people"}:
        again = f"train again with min_samples_leaf={k} or more, so that nobody stands alone"
        steps.append(f"or {again}" if passed else again)
    if "max-certain-share" in failed and not passed:
        steps.append(
            "make leaves larger (max_leaf_nodes, a higher min_samples_leaf) until each holds more "
            "than one label, or show with unseen people that the rule is a fact of the population"
        )
    if "max-epsilon" in failed:
        steps.append("train with differential privacy, or ask for a policy without max-epsilon")
    steps += _other_remedies(report, failed)
    if any(f.id == "TA201" and f.status == "found" for f in report.findings):
        steps.append("leave out identifying features, or round them to a public grid")
    bounded = epsilon([], report.forest)
    if report.verdict == "review" and math.isfinite(bounded):
        steps.append(
            "hold it against --policy private: its counts are noise, and what it can give away "
            f"about anybody is bounded by its epsilon of {bounded:g}"
        )
    elif report.verdict == "review":
        reasons = {c.reason for c in report.checks if c.status == "skipped" and c.reason}
        steps.append(
            f"somebody has to decide what could not be checked ({'; '.join(sorted(reasons))})"
        )
    return steps


def _other_remedies(report: Report, failed: AbstractSet[str]) -> list[str]:
    """Return what the attacks behind the other failed checks say against themselves."""
    attacks = {CHECKS[name].attack for name in failed - _OWN_STEP if name in CHECKS}
    return [
        f"against {finding.title.lower()}: {report.words[finding.id].remedy}"
        for finding in report.findings
        if finding.id in attacks and finding.id in report.words
    ]
