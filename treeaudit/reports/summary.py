"""What an audit found, in people: the sentences at the top of a report."""

from markupsafe import Markup

from treeaudit.findings.findings import SEVERITIES, Finding
from treeaudit.findings.report import Report, view_of
from treeaudit.reports.looks import VERDICT
from treeaudit.reports.wording import in_bold, in_words

__all__ = ["headline", "is_accepted", "pill", "reasons", "release"]


def pill(report: Report) -> tuple[str, str]:
    """Return the verdict in two words, and its tone."""
    if not report.checks:
        return "OBSERVED · no checks", "skip"
    highest = max((f.severity for f in report.findings), key=SEVERITIES.index, default="none")
    risk = "no finding" if highest == "none" else f"{highest.upper()} RISK"
    look = VERDICT[report.verdict]
    return f"{look.word} {report.verdict.upper()} · {risk}", look.tone


def is_accepted(report: Report) -> bool:
    """Tell whether a check failed that an accepted report excuses."""
    return any(check.accepted for check in report.checks)


def release(report: Report) -> str:
    """Answer whether the file may go out."""
    if not report.checks:
        return "Nothing was decided: this policy makes no checks."
    if report.verdict == "review" and is_accepted(report):
        return "What fails was accepted before, but not everything could be checked."
    return {
        "accepted": "No worse than what was accepted before; the policy alone would fail it.",
        "fail": "This file should not go out as it is.",
        "pass": "This file may go out under this policy.",
        "review": "Nothing failed, but not everything could be checked: somebody has to decide.",
    }[report.verdict]


def headline(report: Report) -> Markup:
    """Return the verdict as one sentence in people, the numbers in bold."""
    views = [view_of(report, result) for result in report.results]
    can = [in_bold(view.headline) for view in views if view.headline is not None]
    both = [in_bold(view.together) for view in views if view.together is not None]
    told = []
    if both:
        told.append(_sentence("Anyone who can read this file", both))
    if can:
        who = "anyone" if both else "anyone who can read this file"
        one = f"In one tree alone, {who}" if report.forest.n_trees > 1 else who.capitalize()
        told.append(_sentence(one, can))
    if told:
        return Markup(" ").join(told)
    harmless = [view for view in views if view.harmless is not None]
    if not harmless:
        return Markup("The sizes of the groups were <b>not attacked</b>.")
    told = [in_bold(view.harmless) for view in harmless if view.harmless is not None]
    if all(isinstance(result, Finding) for result in report.results[:1]):
        told += [in_bold(view.too) for view in views if view.too is not None]
    return Markup("{}.").format(Markup("").join(told))


def _sentence(who: str, can: list[Markup]) -> Markup:
    return Markup("{} {}.").format(who, Markup(", and ").join(can))


def reasons(report: Report) -> list[str]:
    """Return three short lines that say why."""
    views = [view_of(report, result) for result in report.results]
    lines = [in_words(view.reason) for view in views if view.reason is not None]
    if any(finding.status == "found" for finding in report.findings):
        lines.append("Reading the file is enough: no training data and no queries are needed.")
    else:
        whose = "these attacks on the file and the people" if report.people else "the file alone"
        said = "say" if report.people else "says"
        lines.append(f"This is what {whose} {said}, not a proof: see what a pass does not mean.")
    return [line[:1].upper() + line[1:] for line in lines if line]
