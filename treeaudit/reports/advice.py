"""What to do next, in one sentence per failed check."""

from treeaudit.findings import Report

__all__ = ["next_steps", "verdict_line"]


def verdict_line(report: Report) -> str:
    """Return how many checks of which policy passed, failed or were skipped.

    The verdict itself is not repeated.
    """
    name = f"policy {report.policy.name}"
    total = len(report.checks)
    if not total:
        return f"{name} makes no checks: this is no pass"
    count = {"fail": 0, "pass": 0, "skipped": 0}
    for check in report.checks:
        count[check.status] += 1
    checks = "check" if total == 1 else "checks"
    if count["fail"]:
        text = f"{count['fail']} of {total} {checks} of {name} failed"
        return text + (f", {count['skipped']} skipped" if count["skipped"] else "")
    if count["skipped"]:
        return f"{count['skipped']} of {total} {checks} of {name} could not be made"
    return f"{'the check' if total == 1 else f'all {total} checks'} of {name} passed"


def next_steps(report: Report) -> list[str]:
    """Return what the person who runs the audit can do now.

    Only steps that can be taken with what exists: nothing is promised.
    """
    failed = {check.name for check in report.checks if check.status == "fail"}
    steps = []
    k = report.policy.k
    if failed & {"min-leaf", "max-unique-people", "max-small-leaf-people"}:
        steps.append(f"train again with min_samples_leaf={k} or more, so that nobody stands alone")
    if "max-certain-share" in failed:
        steps.append(
            "make leaves larger (max_leaf_nodes, a higher min_samples_leaf) until each holds more "
            "than one label, or show with unseen people that the rule is a fact of the population"
        )
    if "max-epsilon" in failed:
        steps.append("train with differential privacy, or ask for a policy without max-epsilon")
    if any(f.id == "TA201" and f.status == "found" for f in report.findings):
        steps.append("leave out identifying features, or round them to a public grid")
    if report.verdict == "review":
        reasons = {c.reason for c in report.checks if c.status == "skipped" and c.reason}
        steps.append(
            f"somebody has to decide what could not be checked ({'; '.join(sorted(reasons))})"
        )
    return steps
