"""What TA202 to TA206 count; ``leftovers`` is where it is in the file."""

from dataclasses import dataclass

from treeaudit.findings.details import Details, People
from treeaudit.model.extras import Extra


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualDetails(Details):
    """Extra content of the kinds of one attack, and the people that it tells of, if known."""

    people: People


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDataDetails(ResidualDetails):
    """People with a label, a row or a target of their own in the file."""

    labels: People
    rows: People
    targets: People
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawDetails(ResidualDetails):
    """Seeds that repeat the draws of trees."""

    seeds: int
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDetails(ResidualDetails):
    """Exact values of single columns, and people whose labels the first round counts."""

    exact_values: int
    first_round_counts: People
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDetails(ResidualDetails):
    """Names outside the usual libraries, pieces of code, and known flaws of what wrote the file."""

    calls: int
    code: int
    flaws: int
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraDetails(ResidualDetails):
    """Bytes beyond the model and of plain notes, and parts or models that were not audited."""

    extra_bytes: int
    note_bytes: int
    unread_parts: int
    leftovers: tuple[Extra, ...]
