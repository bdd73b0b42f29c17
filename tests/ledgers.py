"""A whole ledger of one question, as a private model states it."""

from fractions import Fraction
from typing import Any

from treeaudit.dp.ledger import Ledger, Query

__all__ = ["ledger_of"]


def ledger_of(epsilon: float, /, **changes: Any) -> dict[str, Any]:
    """Return a ledger that bounds what a model gives away, but for the changes."""
    exact = Fraction(str(epsilon))
    row = Query(
        name="leaf counts", mechanism="discrete Laplace", epsilon=exact, sensitivity=Fraction(1)
    )
    return Ledger(queries=(row,), budget=exact).to_plain() | changes
