"""The ID3 of SuLQ: its questions, its own noise, and what the sound variant asks instead."""

from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people
from treeaudit.dp.subsampling import OperatingSystem
from treeaudit.errors import PrivacyWarning
from treeaudit.trainers.sulq_id3 import (
    SulqID3Classifier,
    gaussian,
    information_gain,
    printed_variance,
)

X, Y = people(600)


def test_every_column_that_is_left_is_asked_about_once() -> None:
    ledger = SulqID3Classifier(schema=SCHEMA, epsilon=50.0).fit(X, Y).privacy_
    # Three columns, then two, then one, then the leaf: seven questions.
    assert {q.epsilon for q in ledger.queries if q.mechanism != "none"} == {Fraction(50, 7)}
    names = [q.name for q in ledger.queries]
    assert names[:5] == [
        *(f"values and classes of column {i} of level 1" for i in (1, 2, 3)),
        *(f"values and classes of column {i} of level 2" for i in (1, 2)),
    ]
    assert names[-1] in ("leaf counts", "not asked: the trees stopped early")
    assert ledger.epsilon == 50


def test_as_printed_it_asks_twice_and_promises_an_epsilon_and_a_delta() -> None:
    with pytest.warns(PrivacyWarning, match="but for a chance of delta"):
        model = SulqID3Classifier(schema=SCHEMA, variant="published", epsilon=1e5).fit(X, Y)
    ledger = model.privacy_
    # beta / (2 m d): d counts the leaves (section 3.2).
    assert ledger.queries[0].epsilon == Fraction(10**5, 2 * 3 * 4)
    assert [q.name.split(" of ")[0] for q in ledger.queries[:2]] == ["values and classes", "values"]
    assert {q.mechanism for q in ledger.queries} <= {"Gaussian noise", "none"}
    assert 0 < ledger.delta <= 1e-6
    assert ledger.not_private


def test_its_noise_has_the_printed_variance() -> None:
    assert printed_variance(1.0, 1e-6, 4) == pytest.approx(32 * np.log(4e6) ** 2)
    drawn = gaussian(30.0, 100_000, OperatingSystem())
    assert drawn.std() == pytest.approx(30, rel=0.02)
    assert abs(drawn.mean()) < 0.6


def test_the_gain_is_that_of_equation_4_and_skips_what_is_not_above_0() -> None:
    cells = np.array([[[6, 2], [-1, 5], [0, 0]]])
    values = np.array([[8, 5, -3]])
    expected = 6 * np.log2(6 / 8) + 2 * np.log2(2 / 8) + 5 * np.log2(5 / 5)
    assert information_gain(cells, values).tolist() == pytest.approx([expected])


def test_the_best_column_is_taken_and_people_are_told_apart() -> None:
    model = SulqID3Classifier(schema=SCHEMA, epsilon=100.0, random_state=0).fit(X, Y)
    tree = model.forest_.trees[0]
    assert SCHEMA.features[tree.feature[1]].name == "age"
    assert model.score(X, Y) > 0.9
