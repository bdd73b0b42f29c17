"""The curator: noise at the stated rate, every question in the ledger, none above the budget."""

from fractions import Fraction

import numpy as np
import pytest

from treeaudit.dp import curator as module
from treeaudit.dp.curator import Curator
from treeaudit.dp.scores import GINI
from treeaudit.dp.subsampling import Seeded
from treeaudit.errors import PrivacyError


@pytest.fixture
def rates(monkeypatch):
    """The rates at which mechanisms are asked."""
    seen = []
    for name in ("discrete_laplace", "permute_and_flip", "exponential_mechanism"):
        asked = getattr(module, name)

        def spy(first, *rest, asked=asked, name=name):
            rate = first if name == "discrete_laplace" else rest[0]
            seen.append(rate)
            return asked(first, *rest)

        monkeypatch.setattr(module, name, spy)
    return seen


@pytest.mark.parametrize(("neighbours", "factor"), [("add-remove", 1), ("replace-one", 2)])
def test_rates(rates, neighbours, factor) -> None:
    curator = Curator(neighbours=neighbours, entropy=Seeded(0))
    curator.count("counts", [[3, 4]], Fraction(1, 2))
    curator.choose("label", [[3, 4]], Fraction(1, 2))
    sensitivity = GINI.sensitivity(10)
    curator.choose(
        "split",
        GINI.of([[[1, 2], [2, 0]]])[None, :],
        Fraction(1, 2),
        sensitivity=sensitivity,
        mechanism="exponential mechanism",
    )
    half = Fraction(1, 2) / factor
    assert rates == [half, half, half / sensitivity]
    assert [q.sensitivity for q in curator.queries] == [factor, factor, factor * sensitivity]
    assert curator.spent == Fraction(3, 2)


def test_nothing_is_answered_above_the_budget(rates) -> None:
    curator = Curator(ceiling=Fraction(1), entropy=Seeded(0))
    curator.choose("first", [[1, 2]], Fraction(2, 3))
    with pytest.raises(PrivacyError, match="above the budget of 1"):
        curator.choose("second", [[1, 2]], Fraction(2, 3))
    assert len(rates) == 1


def test_the_same_people_again_cost_again() -> None:
    curator = Curator(ceiling=Fraction(1))
    for _ in range(2):
        curator.count("again", [1], Fraction(1, 2), composition="sequential")
    assert curator.spent == 1
    with pytest.raises(PrivacyError):
        curator.count("again", [1], Fraction(1, 2), composition="sequential")


def test_disjoint_parts_cost_once_whenever_they_are_asked() -> None:
    curator = Curator(ceiling=Fraction(1))
    for _ in range(3):
        curator.count("level 1", np.zeros((4, 2)), Fraction(1))
    assert (curator.spent, curator.queries[0].asked) == (1, 12)


def test_one_name_is_one_question() -> None:
    curator = Curator()
    curator.count("counts", [1], Fraction(1))
    with pytest.raises(ValueError, match="in another way"):
        curator.count("counts", [1], Fraction(1, 2))
    with pytest.raises(ValueError, match="no weights"):
        curator.choose("label", [[1, 2]], Fraction(1), weights=[1, 2])


def test_counts_are_noisy_whole_numbers() -> None:
    noisy = Curator(entropy=Seeded(1)).count("counts", np.full((5000, 1), 10), Fraction(1))
    assert noisy.dtype == np.int64
    assert abs(noisy.mean() - 10) < 0.1
    assert 1.2 < noisy.std() < 1.5
