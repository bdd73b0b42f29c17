"""Choose among parameters without giving away what the choice was made on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from treeaudit.arrays import Flag, Float
from treeaudit.dp.accounting import rational
from treeaudit.dp.budget import Budget
from treeaudit.dp.claims import NOT_ASKED
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import Ledger
from treeaudit.dp.subsampling import below
from treeaudit.model.schema import Schema
from treeaudit.people.predict.predictions import predict_shares
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.columns import in_cells, names_of
from treeaudit.trainers.fit_checks import (
    FROM_DATA,
    Searched,
    check_share,
    check_unit,
    chosen,
    entropy_of,
    public_schema,
    reasons_not_private,
    refuse_extras,
    warn_of_search,
)
from treeaudit.trainers.training_rows import TrainingRows, persons_of, read_rows

_SHARED = (
    *("epsilon", "schema", "neighbours", "variant", "rows_per_person", "outside"),
    *("budget", "random_state"),
)
_COIN = 1 << 20


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateSearch(Searched, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Train candidates and release the one that seems best, all for one epsilon.

    `sklearn.model_selection.GridSearchCV` scores its candidates exactly on private people, and
    fits each once a fold: neither is in the ledger of the model that it returns.

    A coin per person, which nothing about the people decides, puts a part of them aside.
    Each of the k candidates is trained on the others, for an equal part of what the choice
    leaves of epsilon. Then permute-and-flip takes a candidate by how many of those put aside it
    is right about.

    **Proof.** Let the coins be given; they are independent of the data. (i) A fit with an epsilon
    of its own is private by its ledger, whatever was answered before. (ii) For models that are
    given, one record more raises the number of right answers of each by 0 or 1: the scores are
    monotone, two of them move at most 1 apart, and the choice is private with its epsilon
    (`treeaudit.dp.Curator.choose`). One replaced, or a person of at most K rows, is a record more
    or less that many times; each rate is divided by it. (iii) The answers come one after the
    other: they compose sequentially, and the epsilons add up to that of the search. As a
    record is in one of two disjoint parts it meets the fits or the choice and never both, so the
    true loss is less still; the ledger does not count on that. Which coins fell adds nothing: the
    loss is bounded for each outcome of them.

    Parameters
    ----------
    estimator
        A classifier of `treeaudit.trainers`, with what all candidates share: schema,
        neighbours, persons.
    candidates
        Parameters of each, such as ``[{"max_depth": 3}, {"max_depth": 5}]``. They must not be
        taken from the private data.
    epsilon
        What fits and choice cost together.
    choice
        The part of epsilon that the choice costs.
    held_out
        The share of the people that is put aside.
    budget
        An account that pays epsilon, once.

    Attributes
    ----------
    best_estimator_
        The winner. Its ledger holds every question of every candidate, and the choice; it
        is what is to be saved. No score and no other candidate is kept.
    best_index_, best_params_
        Which it is.
    privacy_, classes_, n_features_in_, feature_names_in_
        Those of the winner.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from treeaudit.model.schema import Feature
    >>> from treeaudit.trainers import PrivateTreeClassifier
    >>> schema = ta.Schema(features=(Feature(name="age", low=0, high=100),), classes=(0, 1))
    >>> tree = PrivateTreeClassifier(schema=schema)
    >>> search = PrivateSearch(estimator=tree, candidates=[{"max_depth": d} for d in (1, 2, 3)])
    >>> search = search.fit([[20], [80]] * 300, [0, 1] * 300)
    >>> search.privacy_.epsilon, search.best_estimator_.privacy_.queries[-1].name
    (Fraction(1, 1), 'the best of 3 candidates')
    """

    estimator: PrivateClassifier
    candidates: Sequence[Mapping[str, Any]]
    epsilon: float = 1.0
    choice: float = 0.1
    held_out: float = 0.2
    budget: Budget | None = None

    _required_parameters: ClassVar = ["estimator", "candidates"]

    best_estimator_: PrivateClassifier = field(init=False)
    best_index_: int = field(init=False)
    best_params_: dict[str, Any] = field(init=False)
    n_features_in_: int = field(init=False)

    def fit(self, X: Any, y: Any = None, *, person: Any = None, **refused: Any) -> Any:  # noqa: ANN401  # scikit-learn's contract
        """Train all candidates and choose one; arguments and errors as in `PrivateTrees.fit`."""
        refuse_extras(refused)
        won = warn_of_search(self)
        epsilon, for_choice, each = self._costs()
        trials = self._trials(each)
        for trial in trials:
            trial._checked()
        one = trials[0]
        check_unit(person, one.rows_per_person)
        X = in_cells(X)
        schema, most = public_schema(one.schema), one.rows_per_person
        rows = read_rows(X, y, schema, one.outside, type(one).__name__, person, most)
        reasons = reasons_not_private(schema, one.random_state)
        curators = [trial._curator(each) for trial in trials]
        for trial, curator in zip(trials, curators, strict=True):
            curator.rate(trial._least(rows, each))
        before = Fraction(0) if self.budget is None else self.budget.bill
        if self.budget is not None:
            clone(one).set_params(budget=self.budget)._spend(epsilon, reasons)
        aside = self._aside(rows, person)
        trained, held = rows.part(~aside), rows.part(aside)
        right = []
        for trial, curator in zip(trials, curators, strict=True):
            trial._trained(trained, names_of(X), curator, each, reasons)
            answers = predict_shares(trial.forest_, held.values).argmax(axis=1)
            right.append(int((answers == held.labels).sum()))
        chooser = one._curator(for_choice)
        best = chooser.choose(f"the best of {len(trials)} candidates", [right], for_choice)
        self.best_index_ = int(best[0])
        self.best_params_ = dict(self.candidates[self.best_index_])
        self.best_estimator_ = trials[self.best_index_]
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        bill = _whole([t.privacy_ for t in trials], chooser, epsilon)
        self.best_estimator_._bill(chosen(bill, before) if won else bill)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401  # scikit-learn's contract
        """Return what the winner predicts."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Any) -> Float:  # noqa: ANN401  # scikit-learn's contract
        """Return the shares of the winner."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """Those of the winner."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    @property
    def privacy_(self) -> Ledger:
        """The whole bill."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.privacy_

    def __getstate__(self) -> dict[str, Any]:
        """Return a state without seed and account once it is fitted, as of `PrivateTrees`."""
        state: dict[str, Any] = super().__getstate__()
        if "best_estimator_" not in state:
            return state
        bare = clone(state["estimator"]).set_params(random_state=None)
        if not isinstance(bare.schema, Schema) and bare.schema != FROM_DATA:
            # The file stands on the machine of the fit.
            bare.set_params(schema=None)
        budget = state["budget"]
        return {**state, "estimator": bare, "budget": None if budget is None else budget.epsilon}

    def __setstate__(self, state: dict[str, Any]) -> None:
        held = state.get("budget")
        if isinstance(held, float):
            state = {**state, "budget": Budget.elsewhere(held)}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  # a class of scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        one = self.estimator.__sklearn_tags__()
        tags.input_tags, tags.classifier_tags = one.input_tags, one.classifier_tags
        # A seed is a matter of the estimator.
        tags.non_deterministic = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Return the same for scikit-learn before 1.6."""
        kinds = ["2darray", "categorical", "string"]
        told = {"allow_nan": True, "poor_score": True, "non_deterministic": True}
        return {**told, "X_types": kinds}

    def _costs(self) -> tuple[Fraction, Fraction, Fraction]:
        """Return epsilon, that of the choice and that of each candidate."""
        for name in ("choice", "held_out"):
            check_share(name, getattr(self, name))
        epsilon = rational(self.epsilon)
        n = max(1, len(self.candidates))
        each = rational(epsilon * (1 - rational(self.choice)) / n)
        # What is rounded off the candidates is the choice's, so that the ledger sums to epsilon.
        return epsilon, epsilon - n * each, each

    def _trials(self, each: Fraction) -> list[PrivateClassifier]:
        if not isinstance(self.estimator, PrivateClassifier):
            raise TypeError("estimator must be a classifier of treeaudit.trainers")
        if not len(self.candidates):
            raise ValueError("candidates is empty: name the parameters of at least one")
        if self.estimator.budget is not None:
            raise ValueError("give the budget to the search: it pays for all candidates, once")
        for one in self.candidates:
            shared = [name for name in one if name in _SHARED]
            if shared:
                raise ValueError(f"{shared[0]!r} is what all candidates share: set it once")
        trials = [
            clone(self.estimator).set_params(**one, epsilon=each)._plain()
            for one in self.candidates
        ]
        if any(trial._conversion_delta() for trial in trials):
            raise ValueError("a search adds up epsilons alone, and a candidate has a delta")
        return trials

    def _aside(self, rows: TrainingRows, person: object) -> Flag:
        """Toss a coin for each person; tell whose rows are put aside."""
        used = np.ones(len(rows), np.bool_) if rows.used is None else rows.used
        whose = np.arange(len(used)) if person is None else persons_of(person, len(used))
        entropy = entropy_of(self.estimator.random_state)
        coin = below(entropy, _COIN, int(whose.max(initial=-1)) + 1)
        aside: Flag = (coin < math.floor(self.held_out * _COIN))[whose[used]]
        return aside


def _whole(ledgers: Sequence[Ledger], chooser: Curator, epsilon: Fraction) -> Ledger:
    """Return one ledger for all fits and the choice."""
    asked = [
        query if query.name == NOT_ASKED else replace(query, name=f"candidate {i}: {query.name}")
        for i, ledger in enumerate(ledgers, start=1)
        for query in ledger.queries
    ]
    return replace(
        ledgers[0],
        queries=(*asked, *chooser.queries),
        budget=epsilon,
        reasons=tuple(dict.fromkeys(why for ledger in ledgers for why in ledger.reasons)),
        public=(*dict.fromkeys(p for ledger in ledgers for p in ledger.public), "the candidates"),
    )
