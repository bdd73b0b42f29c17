"""What an audit found, in people: the sentences at the top of a report."""

from markupsafe import Markup

from treeaudit.findings import Finding, Skipped
from treeaudit.report import Report
from treeaudit.reports.controls import reading
from treeaudit.reports.masking import Numbers, percent
from treeaudit.reports.plain_text import plain
from treeaudit.reports.private import bounded_by
from treeaudit.tree import Forest

__all__ = [
    "certain_share",
    "finding_of",
    "headline",
    "is_accepted",
    "pill",
    "reasons",
    "release",
    "result_of",
    "total_people",
    "worst",
]

_MARK = {"fail": "✕", "pass": "✓", "review": "–"}
_TONE = {"fail": "bad", "pass": "ok", "review": "warn"}
_SEVERITIES = ("none", "low", "medium", "high")


def pill(report: Report) -> tuple[str, str]:
    """Return the verdict in two words, and its tone."""
    if not report.checks:
        return "OBSERVED · no checks", "skip"
    highest = max((f.severity for f in report.findings), key=_SEVERITIES.index, default="none")
    risk = "no finding" if highest == "none" else f"{highest.upper()} RISK"
    word = f"{_MARK[report.verdict]} {report.verdict.upper()}"
    accepted = report.verdict == "pass" and is_accepted(report)
    return f"{word} · {risk}", "warn" if accepted else _TONE[report.verdict]


def is_accepted(report: Report) -> bool:
    """Tell whether a check failed that an accepted report excuses."""
    return any(check.accepted for check in report.checks)


def release(report: Report) -> str:
    """Answer whether the file may go out."""
    if not report.checks:
        return "Nothing was decided: this policy makes no checks."
    if report.verdict == "pass" and is_accepted(report):
        return "No worse than what was accepted before; the policy alone would fail it."
    return {
        "fail": "This file should not go out as it is.",
        "pass": "This file may go out under this policy.",
        "review": "Nothing failed, but not everything could be checked: somebody has to decide.",
    }[report.verdict]


def total_people(forest: Forest, report: Report) -> int | None:
    """Return the people the model was trained on, where the file tells."""
    if forest.n_records is not None or report.groups.size is None:
        return forest.n_records
    return int(report.groups.size.sum()) if forest.n_trees == 1 else None


def worst(report: Report, attack: str, key: str) -> int:
    """Return a number of a finding; of the worst tree where there are several.

    Summed over trees a person would count once in every tree. 0 where the
    attack did not run.
    """
    finding = finding_of(report, attack)
    if finding is None:
        return 0
    if finding.per_tree is None:
        return int(finding.details.get(key, 0))
    # Tree by tree, people who are alone are as many as the leaves they are in.
    key = {"unique_people": "unique_leaves"}.get(key, key)
    return max((int(row[key]) for row in finding.per_tree), default=0)


def headline(report: Report, numbers: Numbers) -> Markup:
    """Return the verdict as one sentence in people, the numbers in bold."""
    alone = worst(report, "TA101", "unique_people")
    below = worst(report, "TA101", "below_k_people")
    certain = worst(report, "TA102", "homogeneous_people")
    can: list[Markup] = []
    if alone:
        can.append(Markup("can single out <b>{}</b>").format(numbers.people(alone)))
    elif below:
        can.append(
            Markup("can narrow <b>{}</b> down to groups of fewer than {}").format(
                numbers.people(below), numbers.k
            )
        )
    if certain:
        can.append(
            Markup("knows the {} of <b>{}</b> for certain{}").format(
                plain(report.forest.schema.target, 60),
                numbers.people(certain),
                _memory(report, numbers),
            )
        )
    if not can:
        return _nothing(report, numbers)
    start = "In one tree alone, anyone" if report.forest.n_trees > 1 else "Anyone"
    return Markup("{} who can read this file {}.").format(start, Markup(", and ").join(can))


def _memory(report: Report, numbers: Numbers) -> str:
    """Return how many of the certain labels are memory, where unseen people tell.

    Of a forest nothing is said: the people of its leaves are counted in every tree.
    """
    finding = finding_of(report, "TA102")
    if finding is None or "test" not in report.people or report.forest.n_trees > 1:
        return ""
    people = {"memory": 0, "fact": 0, "open": 0}
    for control in finding.controls:
        people[reading(control)] += control.claim.n
    words = {
        "memory": "memory for {}",
        "fact": "mostly a fact of the population for {}",
        "open": "not decided for {}",
    }
    told = [words[kind].format(numbers.count(n)) for kind, n in people.items() if n]
    return f" ({', '.join(told)})" if told else ""


def _nothing(report: Report, numbers: Numbers) -> Markup:
    sizes, labels = finding_of(report, "TA101"), finding_of(report, "TA102")
    if sizes is None:
        ran = any(result.id == "TA101" for result in report.results)
        if not ran:
            return Markup("The sizes of the groups were <b>not attacked</b>.")
        if bound := bounded_by(report.forest):
            return Markup(
                "What this file can give away about any one person is bounded by "
                "<b>epsilon {}</b>, by its own ledger. It does not tell the sizes of its groups."
            ).format(bound)
        return Markup(
            "This file does not tell how many people are in a group: <b>nothing was measured</b>."
        )
    end = Markup(", and in none of them has everybody the same {}").format(
        plain(report.forest.schema.target, 60)
    )
    return Markup(
        "Nobody stands alone in this file: every group holds at least <b>{}</b>{}."
    ).format(numbers.people(int(sizes.details["min_leaf"])), "" if labels is None else end)


def reasons(report: Report, numbers: Numbers) -> list[str]:
    """Return three short lines that say why."""
    lines = [_sizes(report, numbers), _labels(report, numbers)]
    if any(finding.status == "found" for finding in report.findings):
        lines.append("Reading the file is enough: no training data and no queries are needed.")
    else:
        lines.append(
            "This is what the file alone says, not a proof: see what a pass does not mean."
        )
    return [line[:1].upper() + line[1:] for line in lines if line]


def _sizes(report: Report, numbers: Numbers) -> str:
    finding = result_of(report, "TA101")
    if not isinstance(finding, Finding):
        return "" if finding is None else f"Group sizes: {numbers.text(finding.reason)}."
    leaves = f"{len(report.groups.leaf):,}"
    k = numbers.k
    if not finding.leaves:
        groups = "The one group holds" if leaves == "1" else f"All {leaves} groups hold"
        return f"{groups} at least {k:,} {'person' if k == 1 else 'people'}."
    smallest = numbers.people(int(finding.details["min_leaf"]))
    if leaves == "1":
        return f"The one group holds {smallest}, fewer than {k:,}."
    few = numbers.count(finding.leaves)
    hold = "holds" if few == "1" else "hold"
    smallest = numbers.people(int(finding.details["min_leaf"]))
    return (
        f"{few} of {leaves} groups {hold} fewer than {k:,} people; the smallest holds {smallest}."
    )


def _labels(report: Report, numbers: Numbers) -> str:
    finding = result_of(report, "TA102")
    if not isinstance(finding, Finding):
        return "" if finding is None else f"Labels: {numbers.text(finding.reason)}."
    if not finding.leaves:
        return "Every group holds people with different labels."
    groups = numbers.noun(finding.leaves, "group", "groups")
    if finding.leaves == len(report.groups.leaf) > 1 and not numbers.safe:
        groups = f"all {groups}"
    where = " in the worst tree" if report.forest.n_trees > 1 else ""
    return (
        f"In {groups} everybody has the same label: "
        f"{certain_share(report, numbers)} of the people{where}."
    )


def certain_share(report: Report, numbers: Numbers) -> str:
    """Return the share of people whose label is certain, in the worst tree."""
    finding = finding_of(report, "TA102")
    share = 0.0 if finding is None else float(finding.details["certain_share"])
    size = report.groups.size
    if report.forest.n_trees == 1 and size is not None and finding is not None:
        return numbers.share(finding.people, int(size.sum()))
    return f"about {share:.0%}" if numbers.safe else percent(share)


def result_of(report: Report, attack: str) -> Finding | Skipped | None:
    """Return what an attack found or why it was skipped; None where it was not asked for."""
    return next((result for result in report.results if result.id == attack), None)


def finding_of(report: Report, attack: str) -> Finding | None:
    """Return what an attack found; None where it did not run."""
    result = result_of(report, attack)
    return result if isinstance(result, Finding) else None
