"""What TA109 shows: whose number is known."""

from treeaudit.attacks.distinct_people import in_any, number_of_tree, rung_not_run, where
from treeaudit.attacks.known_numbers.details import KnownNumbersDetails
from treeaudit.findings.findings import Finding, Skipped, details_of
from treeaudit.findings.numbers import People, say
from treeaudit.findings.report import Report
from treeaudit.findings.view import Figure, Rung, View

_KNOWS = "the same, and asks for the number"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what there is to show of the numbers in the groups; nothing of labels."""
    if isinstance(result, Skipped):
        labels = result.reason.startswith("not applicable")
        return View() if labels else View(rungs=(rung_not_run(_KNOWS, result),))
    details = details_of(result, KnownNumbersDetails)
    once, people = details.known_in_any_tree, People(result.people)
    within = "exactly" if details.tolerance is None else f"within {details.tolerance:.4g}"
    return View(
        brief=say("{} known ({})", People(result.people), details.known_share),
        figure=Figure(
            number=once.worst, counts=f"whose number is known {within}{where(report, once)}"
        ),
        headline=say(
            "knows the number of {} {}",
            People(number_of_tree(result, None, "", people)), within,
        ) if people and report.forest.n_trees == 1 else None,
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=people,
                follows=say("whose number is known {}{}", within, in_any(report, once)),
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
