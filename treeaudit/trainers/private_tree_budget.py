"""What belongs to the claim of a trainer, and what it rests on."""

import math
from fractions import Fraction

from treeaudit.dp.claims import NOT_ASKED
from treeaudit.dp.curator import Curator
from treeaudit.errors import DataError, PrivacyError
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["check_bound", "check_is_bounded", "note_what_was_not_asked"]


def check_is_bounded(criterion: str, max_records: int | None) -> None:
    """Refuse a score whose sensitivity rests on a public bound where there is none."""
    if criterion == "information-gain" and max_records is None:
        raise PrivacyError(
            "information-gain needs a public bound on the number of records: set max_records, "
            "or another criterion"
        )


def check_bound(criterion: str, rows: TrainingRows, max_records: int | None) -> None:
    """Refuse records beyond the public bound that the sensitivity of a score rests on."""
    if criterion != "information-gain" or max_records is None:
        return
    if max_records * max(1.0, math.log2(max_records)) * rows.n_classes >= 1 << 31:
        raise PrivacyError(
            f"max_records is {max_records:,}: the logarithms of information-gain are not exact "
            "enough for so many; take another criterion"
        )
    if len(rows) > max_records:
        raise DataError(
            f"there are more records than max_records={max_records}, on which the noise rests. "
            "This is about private data, for the eyes of its curator only: raise the bound if "
            "that is public knowledge, or take another criterion"
        )


def note_what_was_not_asked(curator: Curator, epsilon: Fraction) -> None:
    """Write the rest of the budget into the ledger.

    Whether a trainer stops early depends on what the data answered. A claim
    that is smaller for some data than for others would not be one: the epsilon of
    a trainer is what it would have spent at worst.

    Examples
    --------
    >>> curator = Curator()
    >>> _ = curator.count("people", [3], Fraction(1, 4))
    >>> note_what_was_not_asked(curator, Fraction(1))
    >>> curator.queries[-1].name, curator.spent
    ('not asked: the trees stopped early', Fraction(1, 1))
    """
    left = epsilon - curator.spent
    if left > 0:
        curator.note(
            *(NOT_ASKED, "none", left, Fraction(0), 1),
            used=Fraction(0),
        )
