"""What TA202 to TA206 count; ``leftovers`` is where it is in the file."""

from dataclasses import dataclass

from treeaudit.findings.details import Details, People
from treeaudit.model.source import Extra


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualDetails(Details):
    """Extra content of the kinds of one attack, and the people that it tells of, if known."""

    # Those that the content tells of; not known for code and plain notes.
    people: People


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDataDetails(ResidualDetails):
    """People with a label, a row or a target of their own in the file."""

    # People with a stored label, row of columns, or target.
    labels: People
    rows: People
    targets: People
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawDetails(ResidualDetails):
    """Seeds that repeat the draws of trees."""

    # Stored seeds and states of generators.
    seeds: int
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDetails(ResidualDetails):
    """Exact values of single columns, and people whose labels the first round counts."""

    # Values of columns as people had them; people whose label the first round counts.
    exact_values: int
    first_round_counts: People
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDetails(ResidualDetails):
    """Names outside the usual libraries, pieces of code, and known flaws of what wrote the file."""

    # Names of other libraries; pieces of code; known flaws of the writing version.
    calls: int
    code: int
    flaws: int
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraDetails(ResidualDetails):
    """Bytes beyond the model and of plain notes, and parts or models that were not audited."""

    # Bytes beyond the model, of them plain notes; parts and models that were not read.
    extra_bytes: int
    note_bytes: int
    unread_parts: int
    leftovers: tuple[Extra, ...]
