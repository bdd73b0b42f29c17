"""Whether a fit is part of a search, whose exact scores no ledger counts.

An estimator that is cloned and fitted again is told nothing of who does it. What a search of
scikit-learn does shows in the calls that lead to a fit, in its own processes too.
"""

import sys
import warnings
from dataclasses import replace
from fractions import Fraction
from types import FrameType

from treeaudit.dp.ledger import Ledger, Query
from treeaudit.errors import PrivacyWarning

__all__ = ["chosen", "warn_of_search"]

_CHOSEN = (
    "a search chose its parameters by exact scores on private people, which no ledger counts; "
    "treeaudit.trainers.PrivateSearch chooses privately"
)


def warn_of_search() -> bool:
    """Warn where a search or cross-validation of scikit-learn fits; tell whether of its winner."""
    callers: list[str] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        callers.append(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    folds = any(name == "sklearn.model_selection._validation" for name in callers)
    search = any(name.startswith("sklearn.model_selection._search") for name in callers)
    if folds or search:
        warnings.warn(
            "a search or cross-validation of scikit-learn fits a private model: every fit costs "
            "its epsilon again, and scores on private people are exact; "
            "treeaudit.trainers.PrivateSearch chooses for one epsilon",
            PrivacyWarning,
            stacklevel=3,
        )
    return search and not folds


def chosen(ledger: Ledger, before: Fraction) -> Ledger:
    """Return the ledger of a model that a search chose: not private, with all that was paid before.

    Examples
    --------
    >>> found = chosen(Ledger(queries=(), budget=Fraction(1)), Fraction(2))
    >>> found.epsilon, found.not_private
    (Fraction(2, 1), True)
    """
    earlier = Query(
        name="earlier fits of the same account",
        mechanism="as in their own ledgers",
        epsilon=before,
        sensitivity=Fraction(1),
        neighbours=ledger.neighbours,
    )
    return replace(
        ledger,
        queries=(*([earlier] if before else []), *ledger.queries),
        budget=ledger.budget + before,
        reasons=(*ledger.reasons, _CHOSEN),
    )
