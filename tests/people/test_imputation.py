"""The guess without the model: as good as it can be, and never about the people it learnt on."""

import numpy as np
import pytest

from treeaudit.people.imputation import CrossGuess, guess


def cross_guess(x, answer, n) -> np.ndarray:
    """Return the guess of everybody."""
    return CrossGuess(x, answer, n)(np.ones(len(x), dtype=bool))


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(600, 3)), rng.integers(0, 2, 600).astype(np.int32)


def test_what_follows_is_found() -> None:
    x = np.random.default_rng(1).integers(0, 8, (400, 2)).astype(float)
    answer = (x[:, 0] % 4).astype(np.int32)
    learnt = CrossGuess(x[:300], answer[:300], 4)
    found, further = learnt(np.ones(300, dtype=bool)), learnt.model(0)(x[300:])
    assert (found.argmax(axis=1) == answer[:300]).mean() > 0.99
    assert (further.argmax(axis=1) == answer[300:]).mean() > 0.99
    once = guess(x[:300], answer[:300], 4, x[300:])
    assert (once.argmax(axis=1) == answer[300:]).mean() > 0.99


def test_nobody_is_guessed_by_a_model_that_saw_them(noise) -> None:
    """Of noise nothing can be known; whoever saw the answer would be right."""
    found = cross_guess(*noise, 2)
    assert 0.4 < (found.argmax(axis=1) == noise[1]).mean() < 0.6


def test_probabilities_add_up(noise) -> None:
    x, answer = noise
    for found in (cross_guess(x, answer, 3), guess(x[:300], answer[:300], 3, x[300:])):
        assert found.sum(axis=1) == pytest.approx(np.ones(len(found)))
        assert (found > 0).all()


def test_the_seed_decides(noise) -> None:
    x, answer = noise
    one, two = (guess(x[:300], answer[:300], 2, x[300:], seed=3) for _ in range(2))
    assert np.array_equal(one, two)


def test_answers_of_a_handful_of_people_do_not_spoil_the_rest() -> None:
    """Boosting alone falls below the most frequent answer here."""
    rng = np.random.default_rng(2)
    answer = np.where(rng.random(2_000) < 0.9, 0, rng.integers(1, 41, 2_000)).astype(np.int32)
    x = rng.normal(size=(2_000, 3))
    found = cross_guess(x, answer, 41)
    assert (found.argmax(axis=1) == answer).mean() >= 0.85
    assert (guess(x[:1000], answer[:1000], 41, x[1000:]).argmax(axis=1) == 0).mean() > 0.95


@pytest.mark.parametrize("n", [2, 30])
def test_few_people_and_one_answer(n) -> None:
    x = np.arange(float(n))[:, None]
    found = cross_guess(x, np.zeros(n, dtype=np.int32), 2)
    assert (found[:, 0] > 0.5).all()
    assert guess(x, np.zeros(n, dtype=np.int32), 2, x)[0, 0] > 0.5


def test_missing_values_and_empty_columns() -> None:
    x = np.column_stack([np.arange(200.0), np.full(200, np.nan)])
    answer = (x[:, 0] > 99).astype(np.int32)
    x[::10, 0] = np.nan
    found = cross_guess(x, answer, 2)
    assert np.isfinite(found).all()
    assert np.isfinite(guess(x, answer, 2, np.array([[np.nan, np.nan], [5.0, 1.0]]))).all()


def test_without_any_other_column_the_shares_remain() -> None:
    nothing = np.empty((10, 0))
    found = guess(nothing, np.array([0] * 9 + [1], dtype=np.int32), 2, nothing[:1])
    assert found[0].tolist() == pytest.approx([9.5 / 11, 1.5 / 11])
