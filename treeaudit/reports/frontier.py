"""What was tried of a forest: trees, smallest leaf, accuracy, and what they give back together."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.findings.report import Tried
from treeaudit.model.words import in_percent, number_of
from treeaudit.reports.scatter import Point, scatter
from treeaudit.reports.wording import percent

__all__ = ["HEAD", "Shown", "picture", "rest", "shown"]

HEAD = ("no.", "trees", "smallest leaf", "right", "given back beyond", "verdict")
_MOST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A row, numbered as in the picture."""

    number: int
    tried: Tried
    verdict: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The row in words, as in `HEAD`."""
        one = self.tried
        return (
            f"{self.number}",
            f"{one.trees:,}",
            "not told" if one.smallest is None else f"{one.smallest:,}",
            "not told" if one.accuracy is None else in_percent(one.accuracy),
            "–" if one.excess is None else f"{one.excess:+.1%}",
            self.verdict,
        )


def shown(frontier: Sequence[Tried]) -> list[Shown]:
    """Return the model as it is and the repairs that were judged, those that pass before others.

    Of each number of trees and smallest leaf the most accurate, at most a dozen in all.
    """
    if not frontier:
        return []
    before, *others = frontier
    best: dict[tuple[object, ...], Tried] = {}
    for one in sorted(others, key=lambda one: (one.passed, one.accuracy or 0.0), reverse=True):
        # What was taken out beside the trees is no other forest.
        bare = not one.passed and (one.trees, one.smallest) == (before.trees, before.smallest)
        if one.judged and not bare:
            best.setdefault((one.trees, one.smallest, one.passed), one)
    rows = [before, *list(best.values())[: _MOST - 1]]
    return [Shown(number=i, tried=one, verdict=_verdict(one)) for i, one in enumerate(rows, 1)]


def _verdict(one: Tried) -> str:
    if not one.passed:
        return f"does not pass: {one.miss}"
    return "PASS, chosen" if one.chosen else "PASS"


def rest(frontier: Sequence[Tried]) -> str:
    """Say on whom accuracy was measured, and what was not judged."""
    whom = "unseen people" if frontier[0].unseen else "the training people: give --test"
    fewer = sum(not one.judged for one in frontier)
    text = f"right: measured on {whom}"
    if not fewer:
        return text
    more = number_of(fewer, "repair was", "repairs were")
    return f"{text}; {more} less accurate than one that passes, and not judged"


def picture(rows: Sequence[Shown]) -> Markup:
    """Draw accuracy against the number of trees; nothing of a single point."""
    points = [
        Point(
            number=row.number,
            name="; ".join(row.tried.steps) or "the model as it is",
            smallest=row.tried.trees,
            value=row.tried.accuracy,
            low=row.tried.accuracy,
            high=row.tried.accuracy,
            passes=row.tried.passed,
            says=f"{row.cells[1]} trees, smallest leaf {row.cells[2]}, {_beyond(row.tried)}",
        )
        for row in rows
        if row.tried.accuracy is not None
    ]
    if len(points) < 2:
        return Markup("")
    return scatter(points, name="Accuracy against the number of trees", axis="trees")


def _beyond(one: Tried) -> str:
    """Say what all trees give back, in a few words."""
    if one.excess is None:
        return one.miss or "not put together"
    return f"{percent(max(0.0, one.excess))} of labels beyond its answers"
