"""The worst k implications: Martin's worked example, and every set of implications tried."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attacks.background.test_curves import worlds
from tests.strategies import examples
from treeaudit.attacks.background.certainty import (
    all_false,
    certainty_by_implications,
    distinct_vectors,
)

MEN, WOMEN = [2, 2, 1, 0, 0, 0], [2, 0, 0, 1, 1, 1]


def world_of(leaves) -> list[tuple[int, ...]]:
    """Every assignment of all leaves together; people stand leaf by leaf."""
    return [sum(each, ()) for each in itertools.product(*map(worlds, leaves))]


def brute(leaves, k: int) -> float:
    """Try every set of k sentences "if atom then atom"; an atom is a person with a label."""
    everything = np.array(world_of(leaves))
    atoms = [
        everything[:, i] == s for i in range(everything.shape[1]) for s in range(len(leaves[0]))
    ]
    sentences = [~a | b for a, b in itertools.permutations(atoms, 2)]
    unlike = np.unique(np.array(sentences), axis=0)
    best = max(a.mean() for a in atoms)
    for chosen in itertools.combinations(unlike, k):
        left = np.logical_and.reduce(chosen)
        if left.any():
            best = max(best, max(a[left].mean() for a in atoms))
    return best


def test_the_tables_of_martin() -> None:
    vectors = distinct_vectors([MEN, WOMEN])
    assert certainty_by_implications(vectors, 3) == pytest.approx([2 / 5, 2 / 3, 1, 1])


def test_hannah_and_charlie() -> None:
    """ "If Hannah has flu, then Charlie has flu": 10/19."""
    left = [w for w in world_of([MEN[:3], [2, 1, 1, 1]]) if not (w[5] == 0 and w[0] != 0)]
    assert Fraction(sum(w[0] == 0 for w in left), len(left)) == Fraction(10, 19)
    # The formula for these two statements: 1 / (1 + P(neither) / P(Charlie has flu)).
    neither = all_false([MEN], 1)[0, 1] * all_false([WOMEN], 1)[0, 1]
    assert 1 / (1 + neither / (2 / 5)) == pytest.approx(10 / 19)


@examples(25)
@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=2),
    st.integers(0, 2),
)
def test_two_labels_against_every_set_of_implications(leaves, k) -> None:
    leaves = [leaf for leaf in leaves if any(leaf)] or [(1, 1)]
    assert certainty_by_implications(distinct_vectors(leaves), k)[k] == pytest.approx(
        brute(leaves, k)
    )
