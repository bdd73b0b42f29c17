"""Whether a fit is part of a search, whose exact scores no ledger counts.

An estimator that is cloned and fitted again is told nothing of who does it. What a search of
scikit-learn does shows in the calls that lead to a fit, in its own processes too.
"""

import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from types import FrameType
from typing import Any

from treeaudit.dp.ledger import Ledger, Query
from treeaudit.errors import PrivacyWarning

__all__ = ["Searched", "chosen", "warn_of_search"]

_SEARCH = "sklearn.model_selection._search"
_ELIMINATION = "sklearn.feature_selection._rfe"
_FIT_OFTEN = (
    *("sklearn.model_selection._validation", _SEARCH),
    *("sklearn.calibration", "sklearn.feature_selection._sequential", _ELIMINATION),
)
_MADE_FOR = "_made_for_search"
_FOLDS = ("_fit_and_score_over_thresholds",)
_TRIALS = ("_run_search", "evaluate_candidates")

_CHOSEN = (
    "a search chose its parameters by exact scores on private people, which no ledger counts; "
    "treeaudit.trainers.PrivateSearch chooses privately"
)


class Searched:
    """A part of every estimator that asks private people: its clones know what they are made for.

    What a search chose may be fitted inside another estimator, in processes of its own, where the
    calls that lead to the fit no longer tell of the search. It was cloned by it, though.
    """

    def __sklearn_clone__(self) -> Any:  # noqa: ANN401  # one of its own class
        made = super().__sklearn_clone__()  # type: ignore[misc]
        if _of_winner(_callers()) or _MADE_FOR in vars(self):
            vars(made)[_MADE_FOR] = True
        return made


def warn_of_search(estimator: Searched) -> bool:
    """Warn where a search or cross-validation of scikit-learn fits; tell whether of its winner."""
    callers = _callers()
    made_for = vars(estimator).pop(_MADE_FOR, False)
    if any(module.startswith(_FIT_OFTEN) or function in _FOLDS for module, function in callers):
        warnings.warn(
            "a search or cross-validation of scikit-learn fits a private model: every fit costs "
            "its epsilon again, and scores on private people are exact; "
            "treeaudit.trainers.PrivateSearch chooses for one epsilon",
            PrivacyWarning,
            stacklevel=3,
        )
    return _of_winner(callers) or bool(made_for)


def _callers() -> list[tuple[str, str]]:
    """Return the modules and functions that led here, the innermost first."""
    callers: list[tuple[str, str]] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        callers.append((str(frame.f_globals.get("__name__")), frame.f_code.co_name))
        frame = frame.f_back
    return callers


def _of_winner(callers: Iterable[tuple[str, str]]) -> bool:
    """Tell whether a fit is of what was chosen, by the modules and functions around it.

    A search that is itself fitted in folds, or in another search, hands its winner out all the
    same: every search in which the fit is not one of its trials has chosen.

    Examples
    --------
    >>> search, fold = "sklearn.model_selection._search", "sklearn.model_selection._validation"
    >>> trial = [(fold, "_fit_and_score"), (search, "evaluate_candidates"), (search, "fit")]
    >>> _of_winner(trial), _of_winner([(search, "fit"), *trial])
    (False, True)
    """
    trial = False
    for module, function in callers:
        if module == _ELIMINATION:
            return True
        if module == _SEARCH and function in _TRIALS:
            trial = True
        elif module == _SEARCH and function == "fit":
            if not trial:
                return True
            trial = False
    return False


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
