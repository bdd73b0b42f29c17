"""Claims of noisy counts: how likely they are, by formula and by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.trainers.people import CLASSIFIERS
from treeaudit.comparison.measures import claims_of, true_counts
from treeaudit.dp import curator
from treeaudit.dp.mechanisms import discrete_laplace
from treeaudit.model.forest import Noise
from treeaudit.model.tree import Tree


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


def noisy_stump(noise: Noise | None) -> ta.Forest:
    tree = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 0],
                high=[np.inf, 0, np.inf], counts=[[1, 8], [1, 0], [0, 8]])  # fmt: skip
    schema = ta.Schema.numeric(1, ["no", "yes"])
    return ta.Forest(trees=(tree,), schema=schema, counts_are="noisy", noise=noise)


def test_claims_by_enumeration() -> None:
    claims = claims_of(ta.reconstruct(noisy_stump(Noise(rate=0.5, counts="leaves"))))
    many = np.arange(400)
    weight = {c: np.exp(-0.5 * np.abs(c - many)) for c in (0, 1, 8)}
    p = {c: w / w.sum() for c, w in weight.items()}
    assert (claims.alone, claims.certain) == (1, 9)
    assert claims.alone_expected == pytest.approx(p[1][1] * p[0][0] + p[1][0] * p[0][1])
    assert claims.certain_expected == pytest.approx(1 * p[0][0] + 8 * p[0][0])


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("variant", ["sound", "published"])
@pytest.mark.parametrize("trainer", CLASSIFIERS, ids=lambda t: t.algorithm)
@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
def test_every_trainer_states_the_noise_that_it_drew(
    trainer, variant, neighbours, monkeypatch
) -> None:
    """The rates of all draws of noise are seen on the way to the mechanism."""
    drawn = set()

    def watched(rate, n, entropy):
        drawn.add(float(rate))
        return discrete_laplace(rate, n, entropy)

    monkeypatch.setattr(curator, "discrete_laplace", watched)
    x = np.random.default_rng(0).uniform(0, 1, (500, 2))
    features = tuple(ta.Feature(name=name, low=0, high=1) for name in "ab")
    schema = ta.Schema(features=features, classes=(0, 1))
    stated = {"epsilon": 1.0, "schema": schema, "variant": variant, "neighbours": neighbours}
    forest = trainer(**stated).fit(x, (x[:, 0] > 0.5).astype(int)).forest_
    # Stumps and tree differ in their noise, and one law cannot tell both; some have another law.
    assert (forest.noise is None) == (
        forest.counts_are == "label-only"
        or forest.answers == "product"
        or any(law in forest.counts_reason for law in ("Gaussian", "sample", "public records"))
    )
    if forest.noise is not None:
        assert forest.noise.rate in drawn
        assert float(forest.noise.rate) == max(drawn)


@given(
    noisy=st.floats(-1e15, 1e15),
    rate=st.floats(2.0**-60, 2.0**20),
    n=st.integers(0, 1),
)
def test_chances_are_chances_however_far_the_count_is_off(noisy, rate, n) -> None:
    with np.errstate(all="raise", under="ignore"):
        (chance,) = true_counts(np.array([noisy]), rate, n)
    assert 0 <= chance <= 1
