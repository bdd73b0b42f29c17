"""Claims of noisy counts: how likely they are, by formula and by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from treeaudit.claims import claims_of, noise_rate, true_counts
from treeaudit.tree import Tree


@given(st.integers(-6, 12), st.sampled_from([0.1, 0.5, 1.0, 3.0]), st.integers(0, 15))
def test_posterior_by_enumeration(noisy, rate, n) -> None:
    likely = np.exp(-rate * np.abs(noisy - np.arange(3000)))
    found = true_counts(np.array([float(noisy)]), rate, n)[0]
    assert found == pytest.approx(likely[n] / likely.sum())


def test_one_by_hand() -> None:
    """Rate log 2: 1 is seen; 0, 1, 2, 3, … weigh 1/2, 1, 1/2, 1/4, … and 2.5 in all."""
    rate = float(np.log(2))
    found = [true_counts(np.array([1.0]), rate, n)[0] for n in range(3)]
    assert found == pytest.approx([0.2, 0.4, 0.2])


def noisy_stump(neighbours="add-remove") -> ta.Forest:
    tree = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 0],
                high=[np.inf, 0, np.inf], counts=[[1, 8], [1, 0], [0, 8]])  # fmt: skip
    query = {"name": "leaf counts", "mechanism": "discrete Laplace", "epsilon": "1/2"}
    privacy = {"epsilon": 1.0, "neighbours": neighbours,
               "queries": [{"name": "people", "mechanism": "discrete Laplace", "epsilon": "1/2",
                            "sensitivity": "1"}, {**query, "sensitivity": "1"}]}  # fmt: skip
    schema = ta.Schema.numeric(1, ["no", "yes"])
    return ta.Forest(trees=(tree,), schema=schema, counts_are="noisy", privacy=privacy)


def test_claims_by_enumeration() -> None:
    claims = claims_of(ta.reconstruct(noisy_stump()))
    many = np.arange(400)
    weight = {c: np.exp(-0.5 * np.abs(c - many)) for c in (0, 1, 8)}
    p = {c: w / w.sum() for c, w in weight.items()}
    assert (claims.alone, claims.certain) == (1, 9)
    assert claims.alone_expected == pytest.approx(p[1][1] * p[0][0] + p[1][0] * p[0][1])
    assert claims.certain_expected == pytest.approx(1 * p[0][0] + 8 * p[0][0])


def test_the_rate_is_that_of_the_leaves() -> None:
    assert noise_rate(noisy_stump()) == 0.5
    assert noise_rate(noisy_stump("replace-one")) == 0.25
    plain = ta.Forest(trees=noisy_stump().trees, schema=noisy_stump().schema)
    assert noise_rate(plain) is None
    assert claims_of(ta.reconstruct(plain)).alone_expected is None
