"""Differential privacy: exact mechanisms, scores with proofs, and what everything costs.

Everything is drawn on whole numbers from the operating system, so that the law
of an answer is the stated one and not close to it. Timing is out of scope.

`Curator` is the one door: it answers with noise and keeps the `Ledger`.
`Budget` is what many fits spend from.
"""

from treeaudit.dp.accounting import rational
from treeaudit.dp.budget import Budget
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import Ledger, Neighbours, Query, Variant
from treeaudit.dp.mechanisms import discrete_laplace, exponential_mechanism, permute_and_flip
from treeaudit.dp.scores import GINI, INFORMATION_GAIN, MAX, Score

__all__ = [
    "GINI",
    "INFORMATION_GAIN",
    "MAX",
    "Budget",
    "Curator",
    "Ledger",
    "Neighbours",
    "Query",
    "Score",
    "Variant",
    "discrete_laplace",
    "exponential_mechanism",
    "permute_and_flip",
    "rational",
]
