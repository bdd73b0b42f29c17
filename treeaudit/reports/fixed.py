"""The repair that was tried, in a sentence."""

from treeaudit.findings.report import Report
from treeaudit.reports.masking import Numbers

__all__ = ["fix_outcome", "fix_sentence"]


def fix_sentence(report: Report, numbers: Numbers) -> str:
    """Return what was done, whether it passes and what it costs; nothing where none was tried."""
    fix = report.fix
    if fix is None:
        return ""
    done = " and ".join(fix.steps)
    if fix.passed:
        text = f"tried: {done}. This passes every check"
    else:
        missed = "" if numbers.safe else f" ({'; '.join(fix.misses)})"
        text = f"tried, and not enough: {done}{missed}"
    return f"{text}{_price(report, numbers)}"


def fix_outcome(report: Report, numbers: Numbers) -> str:
    """Return whether what was tried passes and what it costs; nothing where none was tried."""
    fix = report.fix
    if fix is None:
        return ""
    done = "Writing the file anew" if fix.by == "release" else "A repair"
    if fix.passed:
        return f"{done} was tried and passes every check{_price(report, numbers)}"
    missed = len(fix.misses)
    left = "one check" if missed == 1 else f"{missed} checks"
    return f"{done} was tried and still misses {left}{_price(report, numbers)}"


def _price(report: Report, numbers: Numbers) -> str:
    fix = report.fix
    if fix is None or fix.by == "release":
        return "; no leaf changes."
    costs = [f"{fix.leaves[0]:,} → {fix.leaves[1]:,} leaves"]
    if fix.unseen is not None:
        before, after = (_share(one.value, numbers) for one in fix.unseen)
        costs.append(
            f"right for {before} → {after} of {numbers.count(fix.unseen[0].n)} unseen people"
        )
    elif fix.right[0] is not None and fix.right[1] is not None:
        before, after = (_share(one, numbers) for one in fix.right if one is not None)
        costs.append(f"right for {before} → {after} of the training people, by its own counts")
    return f": {'; '.join(costs)}."


def _share(share: float, numbers: Numbers) -> str:
    return f"about {share:.0%}" if numbers.safe else f"{share:.2%}"
