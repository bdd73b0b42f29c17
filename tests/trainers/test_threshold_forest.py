"""The forest without noise: what it tells, what its delta is, and where the trap is."""

from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people, proved
from treeaudit.dp import Budget
from treeaudit.dp.claims import bounded, unbounded_because
from treeaudit.dp.curator import Curator
from treeaudit.dp.subsampling import loose_threshold_delta, threshold_delta
from treeaudit.errors import PrivacyError
from treeaudit.trainers.threshold_forest import ThresholdForestClassifier

X, Y = people(5000)


def forest(**parameters) -> ThresholdForestClassifier:
    return ThresholdForestClassifier(schema=SCHEMA, **parameters)


def test_one_record_more_is_in_one_cell_of_each_tree(monkeypatch) -> None:
    """So that what one cell of each tree costs, which is exact, is all that it costs."""
    asked: list[np.ndarray] = []
    sample = Curator.sample

    def seen(self, name, counts, *rest, **more):
        asked.append(np.asarray(counts))
        return sample(self, name, counts, *rest, **more)

    monkeypatch.setattr(Curator, "sample", seen)
    for n in (300, 301):
        forest(random_state=0, n_records=300, max_depth=3).fit(X[:n], Y[:n])
    for one, other in zip(asked[:4], asked[4:], strict=True):
        assert sorted((other - one).ravel())[-2:] == [0, 1]
        assert np.abs(other - one).sum() == 1


@pytest.mark.parametrize("variant", ["sound", "published"])
@pytest.mark.parametrize("options", [{}, {"delta": 1e-9}, {"n_estimators": 1, "epsilon": 0.5}])
def test_no_count_below_the_threshold_is_told_and_it_keeps_delta(variant, options) -> None:
    model = forest(variant=variant, **options).fit(X, Y)
    ledger = model.privacy_
    assert ledger.epsilon == model.epsilon
    assert float(ledger.delta) == pytest.approx(model.delta)
    reason = model.forest_.counts_reason.split()
    rate, k = float(reason[8].rstrip(",")), int(reason[11])
    query = ledger.queries[-1]
    law = threshold_delta if variant == "sound" else loose_threshold_delta
    assert law(k, rate, float(query.epsilon)) <= float(query.delta)
    assert law(k - 1, rate, float(query.epsilon)) > float(query.delta) or k == 1
    leaves = np.concatenate([tree.counts[tree.is_leaf].ravel() for tree in model.forest_.trees])
    assert ((leaves == 0) | (leaves >= k)).all()


def test_as_printed_the_threshold_is_larger() -> None:
    exact, loose = (
        int(forest(variant=v, n_records=5000).fit(X, Y).forest_.counts_reason.split()[11])
        for v in ("sound", "published")
    )
    assert exact < loose


def test_a_claim_with_a_delta_bounds_nothing_for_those_who_ask_for_epsilon() -> None:
    model = forest().fit(X, Y)
    assert not bounded(model.forest_)
    assert unbounded_because(model.forest_) == (
        "the ledger states a delta above 0: its epsilon may be broken"
    )
    assert proved(model)
    with pytest.raises(PrivacyError, match="by epsilon alone, and this one has a delta"):
        forest(budget=Budget(5)).fit(X, Y)


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_a_rate_that_epsilon_does_not_cover(rate) -> None:
    with pytest.raises(PrivacyError, match="sampling_rate is"):
        forest(sampling_rate=rate, epsilon=1.0).fit(X, Y)
    forest(sampling_rate=0.2, epsilon=1.0, n_estimators=1).fit(X, Y)


def test_people_are_told_apart_without_noise() -> None:
    model = forest(epsilon=20.0, n_estimators=8, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.8
    assert model.forest_.noise is None
    assert {q.mechanism for q in model.privacy_.queries} == {"sampling and threshold"}
    assert sum(q.epsilon for q in model.privacy_.queries) == Fraction(20)
