"""A whole ledger of one question, as a private model states it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from treeaudit.dp.ledger import Ledger, Query
from treeaudit.model.forest import Forest

__all__ = ["ledger_of", "private_of"]


def ledger_of(epsilon: float, /, **changes: Any) -> dict[str, Any]:
    """Return a ledger that bounds what a model gives away, but for the changes."""
    exact = Fraction(str(epsilon))
    row = Query(
        name="leaf counts", mechanism="discrete Laplace", epsilon=exact, sensitivity=Fraction(1)
    )
    return Ledger(queries=(row,), budget=exact).to_plain() | changes


def private_of(forest: Forest, epsilon: float) -> Forest:
    """Return a forest that tells nobody's number and claims an epsilon."""
    trees = tuple(replace(tree, n_records=None) for tree in forest.trees)
    return replace(
        forest, trees=trees, n_records=None, counts_are="noisy", privacy=ledger_of(epsilon)
    )
