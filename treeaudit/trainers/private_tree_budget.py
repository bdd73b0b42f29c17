"""What belongs to the claim of a trainer, and what it rests on."""

from fractions import Fraction

from treeaudit.dp.curator import Curator
from treeaudit.errors import DataError

__all__ = ["check_bound", "note_what_was_not_asked"]


def check_bound(n_records: int, max_records: int | None) -> None:
    """Refuse records beyond the public bound that the sensitivity of a score rests on.

    Parameters
    ----------
    n_records
        How many there are.
    max_records
        The bound; None where nothing rests on it.

    Raises
    ------
    DataError
        If there are more.

    Examples
    --------
    >>> check_bound(3, 3)
    """
    if max_records is not None and n_records > max_records:
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

    Parameters
    ----------
    curator
        After its last answer.
    epsilon
        The budget.

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
        curator.note("not asked: the trees stopped early", "none", left, Fraction(0), 1)
