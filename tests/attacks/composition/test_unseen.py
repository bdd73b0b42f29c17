"""TA106 beside unseen people: the same rule for them, and what it leaves of the excess."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import treeaudit as ta
from tests.attacks.composition.test_certain import said_of
from tests.strategies import examples
from treeaudit.attacks.composition.certain import Truth
from treeaudit.attacks.composition.joint import solve
from treeaudit.attacks.composition.unseen import Unseen

JOINT = ta.Policy(
    name="joint", values={"max-joint-label-excess": 0.05, "max-joint-one-label-excess": 0.25}
)


def test_what_is_left_of_an_excess_by_hand() -> None:
    # Of 8 people the model calls nobody 1; the attack calls the first 4 so, and 3 of these are.
    truth = Truth(real=np.array([1, 1, 1, 0, 1, 0, 0, 0]), own=np.zeros(8, dtype=np.intp))
    answer = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    unseen = Unseen(truth=truth, place=np.zeros((8, 1), dtype=np.int32), known=np.arange(8))
    found = unseen.excess(answer)
    # Three are right anew and one is wrong anew: (3 - 1) / 8.
    assert found.value == 0.25
    assert found.low < 0 < found.high
    # Of those unlike all training people the model's answer counts: two anew, none wrong anew.
    like = Unseen(truth=truth, place=unseen.place, known=np.array([0, 1, 4, 5]))
    assert like.excess(answer).value == 0.25
    # Of label 1: 3 - 1 of 4 more, its standard error 8 ** -0.5 * 0.6614, of a share of a half.
    many = Unseen(
        truth=Truth(real=np.tile(truth.real, 100), own=np.tile(truth.own, 100)),
        place=np.zeros((800, 1), dtype=np.int32),
        known=np.arange(800),
    )
    least = many.more_of_labels(np.tile(answer, 100), 2)
    assert least[1] == pytest.approx((0.25 - 1.96 * 0.6614 / 800**0.5) / 0.5, abs=1e-4)


@given(
    node=st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=12),
    seed=st.integers(0, 1000),
)
@examples(25)
def test_people_with_the_same_leaves_get_the_same_answer(node, seed) -> None:
    at = np.column_stack([np.unique(one, return_inverse=True)[1] for one in np.array(node).T])
    real = np.random.default_rng(seed).integers(0, 2, len(at)).astype(float)
    for kind in ("shares", "numbers"):
        said = said_of(at, real, kind)
        alone, beside = solve(said), solve(said, unseen=at[::-1])
        assert np.array_equal(alone.x, beside.x)
        assert np.array_equal(beside.unseen, beside.answer[::-1])


def grown_on(n, label, model):
    """Return audits of a model on n people, without and with as many unseen ones."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(2 * n, 4)), columns=list("abcd"))
    people = x.assign(y=label(x, rng))
    train, test = people[:n], people[n:]
    model.fit(train[list("abcd")], train["y"])
    scan = {"train": train, "target": "y", "policy": JOINT, "attacks": ["TA106"]}
    return ta.scan(model, **scan), ta.scan(model, test=test, **scan)


def test_a_fact_of_the_population_is_no_leak() -> None:
    # One in five has label 1, and nearly all of those above 0.8: the first steps call nobody so.
    model = GradientBoostingClassifier(n_estimators=2, max_depth=1, min_samples_leaf=50)
    alone, beside = grown_on(1500, lambda x, _: (x["a"] > 0.8) * 1, model)
    assert (alone.verdict, beside.verdict) == ("fail", "pass")
    details = beside["TA106"].details
    assert details.excess > 0.15
    assert details.unseen_excess.value == pytest.approx(details.excess, abs=0.03)
    assert details.memorised == pytest.approx(details.excess - details.unseen_excess.low)
    assert "less those of unseen people" in beside.checks[0].title
    assert "unseen people tell (--test)." in alone["TA106"].summary


def test_what_is_learnt_by_heart_stays_a_leak() -> None:
    model = RandomForestClassifier(
        30, min_samples_leaf=10, bootstrap=False, max_features=2, random_state=0
    )
    alone, beside = grown_on(400, lambda x, rng: rng.integers(0, 2, len(x)), model)
    assert (alone.verdict, beside.verdict) == ("fail", "fail")
    assert beside["TA106"].details.memorised == alone["TA106"].details.excess > 0.05
