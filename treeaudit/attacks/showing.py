"""What the views of several attacks share."""

from collections.abc import Mapping
from typing import Any

from treeaudit.findings.findings import Finding, Skipped
from treeaudit.findings.numbers import Phrase, Prose, say
from treeaudit.findings.report import Report
from treeaudit.findings.view import Rung

__all__ = ["over_trees", "rung_not_run", "worst_tree"]


def worst_tree(finding: Finding, total: int, column: str) -> int:
    """Return a number of the worst tree: summed over trees a person counts once in each.

    Parameters
    ----------
    finding
        With a row per tree where there are several.
    total
        The number where there is one tree.
    column
        Its name in the rows.
    """
    rows: tuple[Mapping[str, Any], ...] | None = finding.per_tree
    return total if rows is None else max((int(row[column]) for row in rows), default=0)


def over_trees(report: Report) -> str:
    """Say over how many trees a number is summed; nothing for one tree."""
    return f", over {report.forest.n_trees:,} trees" if report.forest.n_trees > 1 else ""


def rung_not_run(knows: str, result: Skipped, said: str = "{}") -> Rung:
    """Return the rung of an attack that was not run."""
    reason: Phrase = say(said, Prose(result.reason))
    return Rung(knows=say(knows), number=None, follows=reason)
