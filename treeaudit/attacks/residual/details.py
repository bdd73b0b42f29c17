"""What TA202 to TA206 count."""

from dataclasses import dataclass

from treeaudit.findings.details import Details, People
from treeaudit.model.extras import Extra


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualDetails(Details):
    """What was found of the kinds of one attack; each names its numbers and what they count.

    Attributes
    ----------
    people
        Whom it tells of, as far as that is known.
    """

    people: People


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDataDetails(ResidualDetails):
    """What holds rows of the training data.

    Attributes
    ----------
    labels, rows, targets
        People with a label, a row or a target of their own in the file.
    leftovers
        Where those are.
    """

    labels: People
    rows: People
    targets: People
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawDetails(ResidualDetails):
    """What repeats the draws.

    Attributes
    ----------
    seeds
        How many.
    leftovers
        Where they are.
    """

    seeds: int
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDetails(ResidualDetails):
    """What is stored more exactly than a prediction needs.

    Attributes
    ----------
    exact_values
        Values of single columns.
    first_round_counts
        People whose labels the first round of boosting counts.
    leftovers
        Where those are.
    """

    exact_values: int
    first_round_counts: People
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDetails(ResidualDetails):
    """What loading the file would run.

    Attributes
    ----------
    calls, code, flaws
        Names outside the usual libraries, pieces of code, and known flaws of
        what wrote the file.
    leftovers
        Where they are.
    """

    calls: int
    code: int
    flaws: int
    leftovers: tuple[Extra, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraDetails(ResidualDetails):
    """What lies beyond the audited models.

    Attributes
    ----------
    extra_bytes, note_bytes
        Bytes of content beyond the model, and of plain notes.
    unread_parts
        Parts that could not be read, and models that were not audited.
    leftovers
        Where those are.
    """

    extra_bytes: int
    note_bytes: int
    unread_parts: int
    leftovers: tuple[Extra, ...]
