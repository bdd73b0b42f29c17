"""What the views of several attacks share."""

from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.findings.findings import Finding, Skipped
from treeaudit.findings.numbers import People, Phrase, say
from treeaudit.findings.report import Report
from treeaudit.findings.view import Rung

__all__ = ["headline_tree", "in_any", "of_tree", "rung_not_run", "where"]


def headline_tree(report: Report) -> int | None:
    """Return the tree of which the headline speaks, so that it joins no numbers of two trees.

    The first finding about the table that names people of a tree names it; None
    where there is one tree.
    """
    if report.forest.n_trees == 1:
        return None
    for finding in report.findings:
        for name in ("unique_in_any_tree", "below_k_in_any_tree", "homogeneous_in_any_tree"):
            once = getattr(finding.details, name, None)
            if isinstance(once, InAnyTree) and once.worst:
                return once.tree
    return None


def of_tree(finding: Finding, tree: int | None, column: str, total: int) -> int:
    """Return a number of one tree; that of the model where it has one tree."""
    if tree is None or finding.per_tree is None:
        return total
    return next((int(row[column]) for row in finding.per_tree if row["tree"] == tree), 0)


def where(report: Report, once: InAnyTree, *, labels: bool = False) -> str:
    """Say in which tree a number of people was counted; nothing for one tree.

    Of a boosting only the first round tells labels.
    """
    if labels and len(report.table.first_round) == 1:
        return ", in the first tree"
    return f", in the worst tree (tree {once.tree})" if report.forest.n_trees > 1 else ""


def in_any(report: Report, once: InAnyTree, *, labels: bool = False) -> Phrase:
    """Say how many different people it is over all trees; nothing for one tree."""
    if report.forest.n_trees == 1:
        return say("")
    if labels and len(report.table.first_round) == 1:
        return say(" in the first tree")
    if once.low == once.high:
        return say(" in one tree; {} in any tree", once.high)
    return say(
        " in one tree; at least {} and at most {} in any tree",
        People.alone(once.low), once.high,
    )  # fmt: skip


def rung_not_run(knows: str, result: Skipped, said: str = "{}") -> Rung:
    """Return the rung of an attack that was not run."""
    return Rung(knows=say(knows), number=None, follows=say(said, result.reason))
