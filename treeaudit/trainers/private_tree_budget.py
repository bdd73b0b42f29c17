"""What a trainer that stops early has not asked still belongs to its claim."""

from fractions import Fraction

from treeaudit.dp.curator import Curator

__all__ = ["note_what_was_not_asked"]


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
