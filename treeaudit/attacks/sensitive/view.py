"""What TA110 shows: for how many people each further column follows from the leaf."""

from treeaudit.attacks.sensitive.details import SensitiveDetails
from treeaudit.attacks.wording import where
from treeaudit.findings.findings import Finding, Skipped, details_of
from treeaudit.findings.numbers import People, say
from treeaudit.findings.report import Report
from treeaudit.findings.view import Figure, Line, Mark, Plot, View
from treeaudit.stats import fact

__all__ = ["view"]


def view(result: Finding | Skipped, report: Report) -> View:
    """Return a row per column.

    A safe copy leaves it out: values of groups would tell who is in them.
    """
    if isinstance(result, Skipped):
        return View()
    details = details_of(result, SensitiveDetails)
    lines = tuple(
        Line(
            name=say("{}", entry.column[:60]),
            marks=(Mark(kind="part", share=fact(entry.certain_share, 1)),),
            cells=(
                say("{}", entry.certain_share),
                say("{}", People.alone(entry.homogeneous_leaves)),
                say(f"{entry.t_closeness:.2f}"),
            ),
        )
        for entry in details.columns
    )
    said = "Leaves in which everybody has the same value; t is the largest distance of a leaf "
    said += "from everybody (t-closeness)."
    plot = Plot(
        title=say("People whose value follows from their leaf"),
        lines=lines,
        heads=("people", "leaves", "t"),
        told=True,
        sentences=(say(said),),
    )
    once = details.homogeneous_in_any_tree
    return View(
        figure=Figure(
            number=People(result.people),
            counts="whose value in a named column everybody in their leaf has"
            + where(report, once),
        ),
        plots=(plot,),
    )
