"""What follows from the file with more and more known beside it, one rung each."""

from dataclasses import dataclass

from treeaudit.findings.numbers import Phrase
from treeaudit.findings.report import Report, view_of
from treeaudit.findings.view import Rung
from treeaudit.reports.wording import in_words

__all__ = ["Step", "ladder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A rung as the page shows it."""

    knows: str
    number: str
    follows: str


def ladder(report: Report) -> list[Step]:
    """Return the rungs, from the file alone to everything but one fact."""
    steps = [_file(report)]
    for result in report.results:
        steps += [_step(rung) for rung in view_of(report, result).rungs]
    return steps


def _file(report: Report) -> Step:
    trees = report.forest.n_trees
    table = report.table
    total = len(table) if table.tells_people else table.n_leaves
    return Step(
        knows="nothing but the file",
        number=f"{total:,}",
        follows=f"{'group' if total == 1 else 'groups'} rebuilt, with their rules"
        + (f", over {trees:,} trees" if trees > 1 else ""),
    )


def _step(rung: Rung) -> Step:
    knows, follows = in_words(rung.knows), in_words(rung.follows)
    if rung.number is None:
        return Step(knows=knows, number="–", follows=follows)
    if isinstance(rung.number, Phrase):
        return Step(knows=knows, number=in_words(rung.number), follows=follows)
    if rung.nobody and not rung.number:
        return Step(knows=knows, number="nobody", follows=rung.nobody)
    bound = "at most " if rung.at_most else ""
    return Step(
        knows=knows,
        number=f"{bound}{rung.number:,}",
        follows=f"{rung.number.noun} {follows}",
    )
