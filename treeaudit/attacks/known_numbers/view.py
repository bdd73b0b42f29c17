"""What TA109 measures and shows: whose number is known."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.distinct_people import (
    InAnyTree,
    in_any,
    in_worst_tree,
    number_of_tree,
    skipped_rung,
)
from treeaudit.findings.details import Details, People, Share, say
from treeaudit.findings.findings import Finding, Skipped, details_of
from treeaudit.findings.report import Report
from treeaudit.findings.view import Figure, Rung, View


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNumbersDetails(Details):
    """How narrow the leaves say the numbers of their people are.

    * ``tolerance``, ``deviation``: how far a number may be off to be known, and the standard
      deviation of everybody's numbers; None where it is not told and nothing was said: then only
      numbers that are told exactly count. Where trees were grown by absolute errors or Poisson
      deviances, and no training people are given, what the root keeps in the place of the
      deviation. The largest where trees predict different numbers, each of which has its own.
    * ``spread_of``: where the spread inside a leaf is from: the ``file``, the training ``people``
      where the file does not tell all, or ``none``, so that only sizes tell.
    * ``exact_people``: alone in a leaf, or with others of the same number; of the tree with the
      most.
    * ``known_leaves``, ``known_people``: leaves whose numbers are off their mean by no more than
      the tolerance, as a root of the mean square, or off their median on average, of draws where
      the file counts these; over all trees, and of the tree with the most people in them.
    * ``certain_people``: of those, whom the mean, the spread and the size of the leaf bound within
      the tolerance, every one; of the tree with the most.
    * ``dominating_people``: those whose amount, whatever its sign, is at least nine tenths of the
      total of those of their leaf; of the tree with the most. They are among the known.
    * ``dominating_at_most``: with those of whom that is not told.
    * ``known_share``, ``known_in_any_tree``: of people, in the worst tree, and different people
      over all.
    * ``nearly_certain_leaves``, ``nearly_certain_people``: known, or in a leaf in which all but one
      have one number within the tolerance, or 95 % or more with fewer than k exceptions.
    * ``nearly_certain_share``, ``nearly_certain_in_any_tree``: of the people in a tree, in the
      worst, and different people over all.
    * ``nearly_certain_at_most``: of the people, with those in leaves where the file tells a grid of
      numbers, or zeros, and as few exceptions fit what it keeps as more do.
    * ``narrowest``: the smallest spread of a leaf of two or more people; None where none is told.
    """

    tolerance: float | None
    deviation: float | None
    spread_of: Literal["file", "people", "none"]
    exact_people: People
    known_leaves: People
    known_people: People
    certain_people: People
    dominating_people: People
    dominating_at_most: People
    known_share: Share
    known_in_any_tree: InAnyTree
    nearly_certain_leaves: People
    nearly_certain_people: People
    nearly_certain_share: Share
    nearly_certain_in_any_tree: InAnyTree
    nearly_certain_at_most: Share
    narrowest: float | None


_KNOWS = "the same, and asks for the number"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what there is to show of the numbers in the groups; nothing of labels."""
    if isinstance(result, Skipped):
        labels = result.reason.startswith("not applicable")
        return View() if labels else View(rungs=(skipped_rung(_KNOWS, result),))
    details = details_of(result, KnownNumbersDetails)
    distinct, people = details.known_in_any_tree, People(result.people)
    within = "exactly" if details.tolerance is None else f"within {details.tolerance:.4g}"
    return View(
        brief=say("{} known ({})", People(result.people), details.known_share),
        figure=Figure(
            number=distinct.worst,
            counts=f"whose number is known {within}{in_worst_tree(report, distinct)}",
        ),
        headline=say(
            "knows the number of {} {}",
            People(number_of_tree(result, None, "", people)), within,
        ) if people and report.forest.n_trees == 1 else None,
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=people,
                follows=say("whose number is known {}{}", within, in_any(report, distinct)),
            ),
        ),
        facts=(
            (
                "How narrow",
                say(
                    "{} exactly, {} bounded within the tolerance for certain, {} with nine tenths "
                    "of the total of a leaf or more, if no number is below zero",
                    details.exact_people, details.certain_people, details.dominating_people,
                ),
            ),
        ),
    )  # fmt: skip
