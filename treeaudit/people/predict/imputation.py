"""The guess without the model: what anybody can say who never saw it.

An attack is only worth its name by what it adds to this. The guess is learnt on
people who were not in the training data, and tested on others of them.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int

_MOST_ROWS = 20_000
_FOLDS = 5
_MOST_ROWS_ONCE = 5_000
_MOST_CELLS = 400_000
_ENOUGH = 50
"""Boosting answers anything at all about a class of a handful of people."""


class CrossGuess:
    """A guess of an answer from other columns, always by a model that has not seen the person.

    Gradient boosting on histograms, in five folds: learnt once, fold by fold, and made only of
    whom it is asked for. At most 20,000 people are learnt from. Codes that few people have are
    given their share, whatever is known.
    """

    def __init__(
        self,
        values: npt.NDArray[np.floating[Any]],
        answer: npt.NDArray[np.integer[Any]],
        n_answers: int,
        *,
        seed: int = 0,
    ) -> None:
        self._values, self._answer, self._n, self._seed = values, answer, n_answers, seed
        rng = np.random.default_rng([seed, 0x6E5])
        self._fold = rng.permutation(np.arange(len(values)) % _FOLDS)
        self._known = []
        for i in range(min(_FOLDS, max(len(values), 1))):
            known = np.flatnonzero(self._fold != i)
            if len(known) > _MOST_ROWS:
                known = rng.choice(known, _MOST_ROWS, replace=False)
            self._known.append(known)
        self.model = cache(self._model)

    def _model(self, fold: int) -> Callable[[Float], Float]:
        known = self._known[fold]
        values = self._values[known].astype(np.float64)
        return _learn(values, self._answer[known], self._n, self._seed)

    def __call__(self, asked: Flag) -> Float:
        """Return probabilities of shape ``(n_asked, n_answers)`` for some people, a flag each."""
        fold, values = self._fold[asked], self._values[asked]
        guess = np.empty((len(fold), self._n))
        for i in np.unique(fold).tolist():
            mine = fold == i
            guess[mine] = self.model(i)(values[mine].astype(np.float64))
        return guess


def guess(values: Float, answer: Int, n_answers: int, asked: Float, *, seed: int = 0) -> Float:
    """Learn an answer from other columns on some people, and guess that of others.

    They are probabilities, shape ``(m, n_answers)``. Every code keeps a small one: that nobody had
    a value does not mean that nobody has it.
    """
    from sklearn import config_context
    from sklearn.ensemble import ExtraTreesClassifier

    rng = np.random.default_rng([seed, 0x6E6])
    most = min(_MOST_ROWS_ONCE, max(500, _MOST_CELLS // max(values.shape[1], 1)))
    if len(values) > most:
        chosen = rng.choice(len(values), most, replace=False)
        values, answer = values[chosen], answer[chosen]
    present = np.unique(answer)
    if len(present) < 2 or not values.shape[1]:
        return _frequencies(answer, n_answers, len(asked))
    values, asked = filled(values, asked)
    # On the columns of nine public tables, from 100, 400 and 5,000 people, these found more than
    # three times as many trees of half the columns, and were surer of what is right.
    seed, least = int(rng.integers(2**31)), max(7, len(values) // 500)
    forest = ExtraTreesClassifier(10, min_samples_leaf=least, max_features=0.9, random_state=seed)
    with config_context(skip_parameter_validation=True), warnings.catch_warnings():
        # What a version says about a model that nobody keeps is for nobody.
        warnings.simplefilter("ignore")
        forest.fit(values, answer)
    found = np.zeros((len(asked), n_answers))
    found[:, present] = forest.predict_proba(asked)
    rest = 1 / (len(values) + 1)
    return (1 - rest) * found + rest / n_answers


def filled(values: Float, asked: Float) -> tuple[Float, Float]:
    """Replace missing values by one below all others; old forests take no NaN."""
    low = np.nanmin(np.concatenate([values, np.zeros((1, values.shape[1]))]), axis=0) - 1
    return np.where(np.isnan(values), low, values), np.where(np.isnan(asked), low, asked)


def _frequencies(answer: npt.NDArray[np.integer[Any]], n_answers: int, n: int) -> Float:
    share = np.bincount(answer, minlength=n_answers) + 1 / n_answers
    return np.tile(share / share.sum(), (n, 1))


def _learn(
    values: Float, answer: npt.NDArray[np.integer[Any]], n_answers: int, seed: int
) -> Callable[[Float], Float]:
    """Return what guesses the answers of others."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    shares = _frequencies(answer, n_answers, 1)
    people = np.bincount(answer, minlength=n_answers)
    enough = people >= min(_ENOUGH, len(values) // 10)
    present = np.flatnonzero(enough & (people > 0))
    if len(present) < 2 or len(values) < 20:
        return lambda asked: np.repeat(shares, len(asked), axis=0)
    model = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=15, early_stopping=False, random_state=seed
    )
    learnt = np.isin(answer, present)
    # A column without any value at all has no bins to put anything in.
    empty = np.isnan(values[learnt]).all(axis=0)
    # Threads that wait for each other on a busy machine cost fifty times the work itself.
    with threadpool_limits(limits=1, user_api="openmp"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(np.where(empty, 0.0, values[learnt]), answer[learnt])

    def guess(asked: Float) -> Float:
        result = np.repeat(shares, len(asked), axis=0)
        with threadpool_limits(limits=1, user_api="openmp"):
            answers = model.predict_proba(np.where(empty, 0.0, asked))
        result[:, present] = answers * result[:, present].sum(axis=1, keepdims=True)
        return result

    return guess
