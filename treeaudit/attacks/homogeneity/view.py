"""What TA102 shows: whose label is certain, and for how many that is memory."""

from collections.abc import Sequence

from treeaudit.attacks.control import memory
from treeaudit.attacks.homogeneity.details import HomogeneityDetails
from treeaudit.attacks.wording import headline_tree, in_any, of_tree, rung_not_run, where
from treeaudit.findings.findings import Control, Finding, Skipped, details_of
from treeaudit.findings.numbers import People, Phrase, Share, say
from treeaudit.findings.report import Report
from treeaudit.findings.view import Figure, Rung, View
from treeaudit.stats import together

__all__ = ["view"]

_KNOWS = "the same, and asks for the label"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what there is to show of the labels in the groups."""
    if isinstance(result, Skipped):
        return View(reason=say("Labels: {}.", result.reason), rungs=(rung_not_run(_KNOWS, result),))
    details = details_of(result, HomogeneityDetails)
    target, share = report.forest.schema.target[:60], details.certain_share
    many = report.forest.n_trees > 1
    once = details.homogeneous_in_any_tree
    # The headline speaks of one tree, which may not be the worst one here.
    people = of_tree(result, headline_tree(report), "homogeneous_people", once.worst)
    first = len(report.table.first_round) == 1
    worst = " in the worst tree" if many and not first else ""
    of = "the first" if first else "one"
    brief = say(f"{{}} certain of the people in {of} tree", share) if many else say(
        "{} ({}) certain", People(result.people), share)  # fmt: skip
    return View(
        brief=brief,
        figure=Figure(
            number=once.worst, counts=f"whose label is certain{where(report, once, labels=True)}"
        ),
        headline=_headline(result, report, people) if people else None,
        too=say(f", and in none of {_whose(report)} has everybody the same {{}}", target),
        reason=_reason(result, report, share, worst),
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=People(result.people),
                follows=say("whose label is certain{}", in_any(report, once, labels=True)),
            ),
        ),
        facts=(
            (
                "Diversity",
                say(
                    f"the least mixed group has {details.distinct_l} "
                    f"{'label' if details.distinct_l == 1 else 'labels'}, as mixed as "
                    f"{details.entropy_l:.2f} equally frequent ones (entropy l-diversity); the "
                    f"labels of a group are up to {details.t_closeness:.2f} from everybody's "
                    "(t-closeness)",
                ),
            ),
        ),
        held=result.controls,
        asks_control=result.status == "found",
    )


def _whose(report: Report) -> str:
    """Say which groups labels are told of: later trees of a boosting hold steps."""
    told = len(report.table.first_round)
    return "those of the first " + ("tree" if told == 1 else "round") if told else "them"


def _headline(finding: Finding, report: Report, people: int) -> Phrase:
    # Of a forest nothing is said: the people of its leaves are counted in every tree.
    known = "test" in report.people and report.forest.n_trees == 1
    return say(
        "knows the {} of {} for certain{}",
        report.forest.schema.target[:60],
        People(people),
        _memory(finding.controls) if known else "",
    )


def _memory(controls: Sequence[Control]) -> Phrase | str:
    """Say how many of the certain labels are beyond what unseen people would show."""
    known = [control.memorised for control in controls if control.memorised is not None]
    open_ = sum(control.claim.n for control in controls if control.excess is None)
    told = [memory(together(known))] if known else []
    if open_:
        told.append(say("no unseen person like {} of them", People.alone(open_)))
    return say(f" ({', '.join('{}' for _ in told)})", *told) if told else ""


def _reason(finding: Finding, report: Report, share: Share, worst: str) -> Phrase:
    if not finding.leaves:
        whose = " of the first tree" if len(report.table.first_round) == 1 else ""
        return say(f"Every group{whose} holds people with different labels.")
    every = "all " if finding.leaves == len(report.table.leaf) > 1 else ""
    return say(
        "In {}{} everybody has the same label: {} of the people{}.",
        every, People(finding.leaves, "group", "groups"), share, worst,
    )  # fmt: skip
