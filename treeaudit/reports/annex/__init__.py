"""The annex: the evidence of a report in the words of those who have to decide on it.

It holds no number that the report does not. What was not run is never evidence.
"""

from dataclasses import dataclass

from treeaudit.findings.details import only_if_given
from treeaudit.findings.report import Report
from treeaudit.reports.annex.attacks import Anonymity, anonymity
from treeaudit.reports.annex.private import Private, private
from treeaudit.reports.annex.release import Entry, release_record

__all__ = ["Annex", "Anonymity", "Entry", "Private", "annex_of"]

NOTE = (
    "This annex repeats the evidence of this report in the words of other texts, as far as the run "
    "showed it. It paraphrases them and decides nothing: whether a model is anonymous, and whether "
    "it goes out, is decided by people who have read those texts."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annex:
    """What was asked for of it; the JSON report holds it as it stands."""

    note: str
    edpb: Anonymity | None = only_if_given()
    satre: tuple[Entry, ...] | None = only_if_given()
    dp: Private | None = only_if_given()


def annex_of(report: Report) -> Annex | None:
    """Return the annex that was asked for; None where none was."""
    asked = report.request.annex
    if not asked:
        return None
    return Annex(
        note=NOTE,
        edpb=anonymity(report) if "edpb" in asked else None,
        satre=release_record(report) if "satre" in asked else None,
        dp=private(report) if "dp" in asked else None,
    )
