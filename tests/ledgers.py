"""A whole ledger of one question, as a private model states it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from treeaudit.dp.ledger import Ledger, Query
from treeaudit.model.forest import Forest

__all__ = ["ledger_of", "private_of"]


def ledger_of(epsilon: float, /, forest: Forest | None = None, **changes: Any) -> dict[str, Any]:
    """Return a ledger that bounds what a model gives away, but for the changes.

    It asks for the leaves of one tree, or, as of trees that are drawn at random, for those of
    each tree of a forest.
    """
    exact = Fraction(str(epsilon))
    leaves = [1] if forest is None else [len(tree.leaves) for tree in forest.trees]
    each = exact / len(leaves)
    rows = [
        Query(
            name="leaf counts" if forest is None else f"leaf counts of tree {i}",
            mechanism="discrete Laplace",
            epsilon=each,
            sensitivity=Fraction(1),
            asked=asked,
        )
        for i, asked in enumerate(leaves, start=1)
    ]
    return Ledger(queries=tuple(rows), budget=exact).to_plain() | changes


def private_of(forest: Forest, epsilon: float) -> Forest:
    """Return a forest that tells nobody's number and claims an epsilon."""
    trees = tuple(replace(tree, n_records=None) for tree in forest.trees)
    return replace(
        forest,
        trees=trees,
        n_records=None,
        counts_are="noisy",
        privacy=ledger_of(epsilon, forest),
    )
