"""What follows from the file with more and more known beside it, one rung each."""

from collections.abc import Sequence
from dataclasses import dataclass

from treeaudit.findings import Finding
from treeaudit.report import Report
from treeaudit.reports.masking import Numbers
from treeaudit.reports.summary import finding_of, result_of

__all__ = ["Rung", "ladder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """What follows from one more thing that an attacker knows."""

    knows: str
    number: str
    follows: str


def ladder(report: Report, numbers: Numbers) -> list[Rung]:
    """Return the rungs, from the file alone to everything but one fact.

    Parameters
    ----------
    report
        The audit.
    numbers
        How numbers are written.
    """
    over = f", over {report.forest.n_trees:,} trees" if report.forest.n_trees > 1 else ""
    rungs = [_file(report, over), *_features(report, numbers, over)]
    rungs += _label(report, numbers, over)
    rungs += _others(report, numbers, over)
    rungs += _told(report, numbers)
    rungs += _all_but_one(report, numbers)
    rungs += _membership(report, numbers)
    return rungs


def _file(report: Report, over: str) -> Rung:
    total = report.groups.n_leaves if report.groups.size is None else len(report.groups.leaf)
    return Rung(
        knows="nothing but the file",
        number=f"{total:,}",
        follows=f"{'group' if total == 1 else 'groups'} rebuilt, with their rules{over}",
    )


def _features(report: Report, numbers: Numbers, over: str) -> list[Rung]:
    finding = finding_of(report, "TA101")
    if finding is None:
        return []
    few = numbers.count(finding.people)
    return [
        Rung(
            knows="a person's features on the path",
            number=few,
            follows=f"{'person' if few == '1' else 'people'} found in a group of fewer than "
            f"{numbers.k:,}{over}",
        )
    ]


def _label(report: Report, numbers: Numbers, over: str) -> list[Rung]:
    result = result_of(report, "TA102")
    knows = "the same, and asks for the label"
    if not isinstance(result, Finding):
        reason = "not run" if result is None else numbers.text(result.reason)
        return [Rung(knows=knows, number="–", follows=reason)]
    who = "person" if numbers.count(result.people) == "1" else "people"
    return [
        Rung(
            knows=knows,
            number=numbers.count(result.people),
            follows=f"{who} whose label is certain{over}",
        )
    ]


def _others(report: Report, numbers: Numbers, over: str) -> list[Rung]:
    result = result_of(report, "TA103")
    if not isinstance(result, Finding):
        if result is None or finding_of(report, "TA102") is None:
            return []
        reason = numbers.text(result.reason)
        return [Rung(knows="other people in the leaf", number="–", follows=reason)]
    curve: Sequence[int] = result.details.get("people_disclosed_by_known") or (0,)
    last = len(curve) - 1
    words = {1: "one other person in the leaf", 10: "ten others in the leaf"}
    return [
        Rung(
            knows=words.get(r, f"{r} others in the leaf"),
            number=numbers.count(curve[r] - curve[0]) if curve[r] > curve[0] else "nobody",
            follows=f"more {_who(numbers.count(curve[r] - curve[0]))}disclosed{over}",
        )
        for r in dict.fromkeys((1, last))
        if r <= last
    ]


def _told(report: Report, numbers: Numbers) -> list[Rung]:
    """Return what the people and the prior that were given disclose."""
    finding = finding_of(report, "TA103")
    details = {} if finding is None else finding.details
    rungs = []
    known, prior = details.get("known"), details.get("prior")
    if known and not known.get("reason"):
        falling = int(known.get("people_falling", 0))
        number = numbers.count(falling) if falling else "nobody"
        rungs.append(
            Rung(
                knows=f"the known people ({numbers.count(int(known.get('records', 0)))})",
                number=number,
                follows=f"more {_who(number)}disclosed",
            )
        )
    if prior:
        exact = prior.get("people_because_of_prior")
        people = prior.get("people_because_of_prior_at_most", 0) if exact is None else exact
        number = numbers.count(int(people))
        rungs.append(
            Rung(
                knows="a public prior",
                number=number if exact is not None else f"at most {number}",
                follows=f"more {_who(number)}nearly certain",
            )
        )
    return rungs


def _all_but_one(report: Report, numbers: Numbers) -> list[Rung]:
    result = result_of(report, "TA104")
    if result is None:
        return []
    knows = "all of a person but one value"
    if not isinstance(result, Finding):
        return [Rung(knows=knows, number="–", follows=f"not run: {numbers.text(result.reason)}")]
    number = numbers.count(result.people) if result.people else "nobody"
    who = "person" if number == "1" else "people"
    return [
        Rung(
            knows=knows,
            number=number,
            follows=f"{who + ' ' if result.people else ''}given away beyond a guess",
        )
    ]


def _membership(report: Report, numbers: Numbers) -> list[Rung]:
    result = result_of(report, "TA105")
    if result is None:
        return []
    knows = "everything about a person, and asks whether they were in"
    if not isinstance(result, Finding):
        return [Rung(knows=knows, number="–", follows=f"not run: {numbers.text(result.reason)}")]
    if "auc" not in result.details:
        return []
    auc = result.details["auc"]
    above = result.details.get("auc_low", auc) > 0.5
    return [
        Rung(
            knows=knows,
            number=f"{auc:.0%}",
            follows="of pairs of a member and somebody else are told apart"
            + ("" if above else "; a coin tells 50%"),
        )
    ]


def _who(number: str) -> str:
    return {"0": "", "nobody": "", "1": "person "}.get(number, "people ")
