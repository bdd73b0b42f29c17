"""The guess without the model (`treeaudit.people.predict.imputation`)."""

import numpy as np
import pytest

from treeaudit.people.predict.imputation import CrossGuess


@pytest.mark.parametrize(("n", "off"), [(400, 0.08), (25_000, 0.012)])
def test_nobody_is_guessed_by_a_model_that_has_seen_them(n, off) -> None:
    """Of coins that each person throws for themselves nothing is known: half are guessed."""
    rng = np.random.default_rng(0)
    values, coin = np.arange(float(n))[:, None], rng.integers(0, 2, n).astype(np.int32)
    asked = np.ones(n, dtype=bool)
    guess = CrossGuess(values, coin, 2, seed=1)(asked)
    assert guess.shape == (n, 2)
    assert np.allclose(guess.sum(axis=1), 1.0)
    assert abs((guess.argmax(axis=1) == coin).mean() - 0.5) < off
