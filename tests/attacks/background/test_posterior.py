"""Public priors: Umeko, and Bayes' rule over every assignment of labels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from treeaudit.attacks.background.prior_strata import (
    among_others,
    omega_estimate,
    posterior,
)


def test_umeko() -> None:
    """Heart 2, flu 2; the Japanese prior of heart disease is .05, that of the others .5."""
    share = np.array([[0.05, 0.95], [0.5, 0.5]])
    found, exact, _ = posterior([[2, 2]], [[1, 3]], share)
    assert found[0, 0, 1] == pytest.approx(0.95, abs=1e-12)
    assert exact.all()
    estimate, _ = omega_estimate(np.array([[2, 2]]), np.array([[1, 3]]), share)
    assert estimate[0, 0, 1] == pytest.approx(0.923, abs=5e-4)
    assert among_others([[2, 2]], share[:1], share[1])[0, 0, 1] == pytest.approx(0.95)


def brute(counts, priors) -> np.ndarray | None:
    """Bayes' rule over every assignment of the labels to the people; None where none fits."""
    people = [label for label, n in enumerate(counts) for _ in range(n)]
    total = np.zeros((len(priors), len(counts)))
    for world in set(itertools.permutations(people)):
        weight = math.prod(priors[i][label] for i, label in enumerate(world))
        for i, label in enumerate(world):
            total[i, label] += weight
    return total / total[0].sum() if total[0].sum() > 0 else None


chance = st.sampled_from([0.0, 0.01, 0.2, 0.5, 0.75, 0.999, 1.0])


@st.composite
def leaf_of_two_labels(draw):
    """People of up to three kinds in a leaf with two of three labels."""
    kinds = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3).filter(any))
    ones = draw(st.integers(0, sum(kinds)))
    shares = [draw(st.tuples(chance, chance)) for _ in kinds]
    rows = np.array([[a * b, (1 - a) * b, 1 - b] for a, b in shares])
    return [ones, sum(kinds) - ones, 0], kinds, rows


@examples(150)
@given(leaf_of_two_labels())
def test_two_labels_are_exact(leaf) -> None:
    counts, kinds, share = leaf
    found, exact, possible = posterior([counts], [kinds], share)
    priors = np.repeat(share, kinds, axis=0)
    expected = brute(counts, priors)
    assert exact.all()
    assert bool(possible[0]) == (expected is not None)
    if expected is None:
        assert not found.any()
        return
    person = 0
    for kind, n in enumerate(kinds):
        if n:
            assert found[0, kind] == pytest.approx(expected[person], abs=1e-9)
        else:
            assert not found[0, kind].any()
        person += n


@given(
    st.lists(st.integers(0, 2), min_size=3, max_size=3).filter(any),
    st.tuples(*[st.floats(0.05, 1)] * 3),
    st.tuples(*[st.floats(0.05, 1)] * 3),
)
def test_one_among_others_is_exact_for_any_number_of_labels(counts, one, others) -> None:
    one, others = np.array(one) / sum(one), np.array(others) / sum(others)
    expected = brute(counts, [one] + [others] * (sum(counts) - 1))
    assert among_others([counts], [one], others)[0, 0] == pytest.approx(expected[0])


def test_a_zero_prior_discloses() -> None:
    """Whoever cannot have it leaves it to the others: nobody has to know a count."""
    found, _, _ = posterior([[1, 2]], [[1, 2]], [[0.5, 0.5], [0.0, 1.0]])
    assert found[0].tolist() == [[1, 0], [0, 1]]
    _, _, possible = posterior([[2, 1]], [[1, 2]], [[0.5, 0.5], [0.0, 1.0]])
    assert not possible.any()
