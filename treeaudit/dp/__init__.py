"""Differential privacy: exact mechanisms, scores with proofs, and what everything costs.

Everything is drawn on whole numbers from the operating system, so that the law
of an answer is the stated one and not close to it. Timing is out of scope.

`Curator` is the one door: it answers with noise and keeps the `Ledger`.
`Budget` is what many fits spend from.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeaudit.dp.budget import Budget
    from treeaudit.dp.curator import Curator
    from treeaudit.dp.ledger import Ledger, Neighbours, Query, Variant
    from treeaudit.dp.mechanisms import discrete_laplace, exponential_mechanism, permute_and_flip
    from treeaudit.dp.rational import rational
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

_HOME = {
    "budget": "Budget",
    "curator": "Curator",
    "ledger": "Ledger Neighbours Query Variant",
    "mechanisms": "discrete_laplace exponential_mechanism permute_and_flip",
    "rational": "rational",
    "scores": "GINI INFORMATION_GAIN MAX Score",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # the module protocol wants Any
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
