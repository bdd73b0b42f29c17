"""A report in a few lines, and as rows for pandas."""

from typing import TYPE_CHECKING, Any, Literal

from treeaudit.findings.report import Report
from treeaudit.reports.advice import verdict_line
from treeaudit.reports.plain_text import plain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["brief", "to_frame"]

_COLUMNS = {
    "findings": ("id", "title", "status", "severity", "leaves", "people", "summary", "reason"),
    "checks": ("name", "status", "threshold", "measured", "reason", "accepted"),
}


def brief(report: Report) -> str:
    """Return the verdict, and a line for each attack that found something."""
    word = report.verdict.upper() if report.checks else "OBSERVED"
    lines = [f"Report of a {plain(report.forest.source.estimator, 60)}: {word}",
             f"  {verdict_line(report)}"]  # fmt: skip
    lines += [
        f"  {one.id} {plain(one.title, 60)}: {one.severity}, {one.people:,} people"
        for one in report.findings
        if one.status == "found"
    ]
    return "\n".join(lines)


def to_frame(report: Report, of: Literal["findings", "checks"]) -> "pd.DataFrame":
    """Return a row per attack, or per check of the policy."""
    import pandas as pd

    names = _COLUMNS[of]
    rows: list[dict[str, Any]] = report.to_dict()[of]
    return pd.DataFrame([[row[name] for name in names] for row in rows], columns=list(names))
