"""The repair that was tried, in a sentence."""

from treeaudit.findings.report import Report
from treeaudit.model.words import in_percent

__all__ = ["fix_outcome", "fix_sentence"]


def fix_sentence(report: Report) -> str:
    """Return what was done, whether it passes and what it costs; nothing where none was tried."""
    fix = report.fix
    if fix is None:
        return ""
    done = " and ".join(fix.steps)
    if fix.passed:
        text = f"tried: {done}. This passes every check"
    else:
        text = f"tried, and not enough: {done} ({'; '.join(fix.misses)})"
    return f"{text}{_price(report)}"


def fix_outcome(report: Report) -> str:
    """Return whether what was tried passes and what it costs; nothing where none was tried."""
    fix = report.fix
    if fix is None:
        return ""
    done = "Writing the file anew" if fix.by == "release" else "A repair"
    if fix.passed:
        return f"{done} was tried and passes every check{_price(report)}"
    missed = len(fix.misses)
    left = "one check" if missed == 1 else f"{missed} checks"
    return f"{done} was tried and still misses {left}{_price(report)}"


def _price(report: Report) -> str:
    fix = report.fix
    if fix is None or fix.by == "release":
        return "; no leaf changes."
    costs = [f"{fix.leaves[0]:,} → {fix.leaves[1]:,} leaves"]
    if fix.unseen is not None:
        before, after = (in_percent(one.value, 2) for one in fix.unseen)
        costs.append(f"right for {before} → {after} of {fix.unseen[0].n:,} unseen people")
    elif fix.right[0] is not None and fix.right[1] is not None:
        before, after = (in_percent(one, 2) for one in fix.right if one is not None)
        costs.append(_right(report, f"{before} → {after}"))
    return f": {'; '.join(costs)}."


def _right(report: Report, shares: str) -> str:
    """Say for whom what is right: what counts of one tree tell is not what all trees answer."""
    if report.fix is not None and report.fix.answered:
        return f"right for {shares} of the training people"
    forest = report.forest
    whom = "training weight" if forest.counts_are == "weighted" else "training people"
    if forest.records_are == "bootstrap":
        whom = "draws"
    if forest.n_trees > 1:
        return f"each tree alone is right for {shares} of its {whom} on average, by its own counts"
    return f"right for {shares} of the {whom}, by its own counts"
