"""The bootstrapped forest of Patil and Singh, and what drawing a record again costs."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from tests.trainers.neighbours import SMALL
from tests.trainers.people import SCHEMA, people
from tests.trainers.transcripts import fitted_alike
from treeaudit.dp.claims import bounded
from treeaudit.errors import PrivacyWarning
from treeaudit.trainers.bootstrap_forest import BootstrapForestClassifier

X, Y = people(600)
TABLE = pd.DataFrame({"sex": ["f", "m", "m"], "old": [0.0, 1.0, 1.0]})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("label", [0, 1])
def test_the_mean_over_all_draws_of_a_record_keeps_the_claim(epsilon, label) -> None:
    """Exactly, for the answers of whole fits: P(answers | one more) by P(answers | without)."""
    law = [math.exp(-1) / math.factorial(k) for k in range(11)]
    model = BootstrapForestClassifier(
        schema=SMALL, epsilon=epsilon, n_estimators=1, max_depth=2, n_bins=2
    )
    without = {"X": TABLE[:2], "y": np.array([0, 1])}
    within = {"X": TABLE, "y": np.array([0, 1, label])}
    for seed in range(10):
        ratio = 0.0
        for k, chance in enumerate(law):
            drawn = lambda n, k=k: np.array([1, 1, k])[:n]  # noqa: E731
            loss = fitted_alike(model, without, within, seed, wild=True, times=drawn)
            ratio += chance * math.exp(-float(loss))
        assert abs(math.log(ratio)) <= epsilon * (1 + 1e-9)


def test_a_record_that_is_drawn_often_costs_more_than_the_claim_by_itself() -> None:
    """So the draws are needed in the proof: with K known, the loss is K times what one costs."""
    model = BootstrapForestClassifier(
        schema=SMALL, epsilon=1.0, n_estimators=1, max_depth=1, n_bins=2
    )
    without, within = ({"X": TABLE[:n], "y": np.array([0, 1, 1])[:n]} for n in (2, 3))
    found = [
        abs(fitted_alike(model, without, within, seed, wild=True,
                         times=lambda n: np.array([1, 1, 9])[:n]))
        for seed in range(20)
    ]  # fmt: skip
    assert max(found) > 1


def test_the_ledger_states_what_the_draws_cost() -> None:
    model = BootstrapForestClassifier(schema=SCHEMA, n_estimators=2, max_depth=3).fit(X, Y)
    ledger = model.privacy_
    last = ledger.queries[-1]
    assert (last.name, last.mechanism) == ("records drawn again", "Poisson bootstrap")
    assert float(last.cost) == pytest.approx(1 - 2 * math.log(1.5), rel=1e-9)
    assert float(ledger.queries[0].epsilon) == pytest.approx(math.log(1.5) / 5, rel=1e-9)
    assert ledger.epsilon == 1
    assert bounded(model.forest_)
    assert model.forest_.records_are == "bootstrap"


def test_as_printed_it_costs_more_than_it_says() -> None:
    with pytest.warns(PrivacyWarning, match="several times pays for one"):
        model = BootstrapForestClassifier(schema=SCHEMA, variant="published").fit(X, Y)
    # beta / (tau (2 d - 1)), table I.
    assert model.privacy_.queries[0].epsilon == Fraction(1, 20 * 9)
    assert model.privacy_.epsilon == 1
