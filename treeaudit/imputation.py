"""The guess without the model: what anybody can say who never saw it.

An attack is only worth its name by what it adds to this. The guess is learnt on
people who were not in the training data, and tested on others of them.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["cross_guess"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int32]

_MOST_ROWS = 20_000
_FOLDS = 5


def cross_guess(
    values: Float, answer: Int, n_answers: int, *, others: Float | None = None, seed: int = 0
) -> tuple[Float, Float | None]:
    """Learn an answer from other columns, always on other people than it is asked about.

    Gradient boosting on histograms, in five folds: everybody's answer is guessed
    by a model that has not seen them. At most 20,000 people are learnt from.

    Parameters
    ----------
    values
        Shape ``(n, n_columns)``: what is known about each person; NaN is missing.
    answer
        Shape ``(n,)``: what is to be guessed, as codes from 0.
    n_answers
        How many codes there are.
    others
        Shape ``(m, n_columns)``: further people, guessed by the model of the
        first fold.
    seed
        Of the folds.

    Returns
    -------
    tuple of numpy.ndarray
        Shapes ``(n, n_answers)`` and ``(m, n_answers)``: probabilities. Codes
        that do not occur have probability 0.

    Examples
    --------
    >>> x = np.arange(200.0)[:, None]
    >>> guess, _ = cross_guess(x, (x[:, 0] > 99).astype(np.int32), 2)
    >>> guess.shape, bool(guess[0, 0] > 0.5)
    ((200, 2), True)
    """
    rng = np.random.default_rng([seed, 0x6E5])
    fold = rng.permutation(np.arange(len(values)) % _FOLDS)
    guess = np.empty((len(values), n_answers))
    further = None
    for i in range(min(_FOLDS, max(len(values), 1))):
        asked, known = fold == i, np.flatnonzero(fold != i)
        if len(known) > _MOST_ROWS:
            known = rng.choice(known, _MOST_ROWS, replace=False)
        guess[asked] = _learn(values[known], answer[known], values[asked], n_answers, seed)
        if i == 0 and others is not None:
            further = _learn(values[known], answer[known], others, n_answers, seed)
    return guess, further


def _learn(values: Float, answer: Int, asked: Float, n_answers: int, seed: int) -> Float:
    from sklearn.ensemble import HistGradientBoostingClassifier

    present = np.unique(answer)
    if len(present) < 2 or len(values) < 20:
        share = np.bincount(answer, minlength=n_answers) + 1 / n_answers
        return np.tile(share / share.sum(), (len(asked), 1))
    model = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=15, early_stopping=False, random_state=seed
    )
    # A column without any value at all has no bins to put anything in.
    filled = np.where(np.isnan(values).all(axis=0), 0.0, values)
    empty = np.isnan(values).all(axis=0)
    model.fit(filled, answer)
    result = np.zeros((len(asked), n_answers))
    result[:, present] = model.predict_proba(np.where(empty, 0.0, asked))
    return result
