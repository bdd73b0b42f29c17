"""What TA202 to TA205 count."""

from dataclasses import dataclass

from treeaudit.findings.details import Details
from treeaudit.findings.numbers import People
from treeaudit.model.leftovers import Leftover

__all__ = ["CodeDetails", "DrawDetails", "LeftoverDetails", "TrainingDataDetails", "ValueDetails"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftoverDetails(Details):
    """What was found of the kinds of one attack; each names its numbers and what they count.

    Attributes
    ----------
    people
        Whom it tells of, as far as that is known.
    """

    people: People


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDataDetails(LeftoverDetails):
    """People with a label, a row or a target of their own, and where those are."""

    labels: People
    rows: People
    targets: People
    leftovers: tuple[Leftover, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawDetails(LeftoverDetails):
    """Seeds that repeat a draw, and where they are."""

    seeds: int
    leftovers: tuple[Leftover, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDetails(LeftoverDetails):
    """Values of columns, people whose labels are counted, and where those are."""

    exact_values: int
    first_round_counts: People
    leftovers: tuple[Leftover, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDetails(LeftoverDetails):
    """Names, code and flaws, and where they are."""

    calls: int
    code: int
    flaws: int
    leftovers: tuple[Leftover, ...]
