"""What the training people tell of numbers (TA109): in other units, far from zero, as persons."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta
from treeaudit.attacks.known_numbers.exceptions import commonest_number

WARD = np.repeat(np.arange(12.0), 100)
ROWS = WARD[:, None]
POLICY = ta.Policy(
    name="numbers", values={"max-nearly-certain-share": 0.05, "max-known-number-share": 0.05}
)


def _checks(model, **options):
    report = ta.scan(model, policy=POLICY, attacks=["TA109"], **options)
    return [(one.status, one.measured) for one in report.checks]


def test_a_changed_target_is_measured_in_the_units_of_the_table() -> None:
    rng = np.random.default_rng(0)
    near, wide = rng.integers(-40, 40, 1200), 9000 * rng.normal(size=1200)
    numbers = 30000 + 3000 * WARD + np.where(WARD < 6, near, wide)
    numbers[:600:100] += 21000.37
    tree = DecisionTreeRegressor(min_samples_leaf=100, random_state=0)
    scaled = TransformedTargetRegressor(tree, transformer=StandardScaler()).fit(ROWS, numbers)
    plain = DecisionTreeRegressor(min_samples_leaf=100, random_state=0).fit(ROWS, numbers)
    for options in ({}, {"tolerance": 60.0}):
        for model in (plain, scaled):
            told = _checks(model, train=(ROWS, numbers), **options)
            assert told == [("fail", 0.5), ("pass", 0.0)]
    assert [status for status, _ in _checks(scaled, tolerance=60.0)] == ["skipped", "skipped"]


@given(
    records=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=40
    ),
    tolerance=st.sampled_from([0.0, 0.5, 1.0]),
)
@settings(max_examples=100)
def test_persons_are_counted_as_by_hand(records, tolerance) -> None:
    node, number, who = (np.array(one) for one in zip(*records, strict=True))
    told = commonest_number(number.astype(float), node, 3, tolerance=tolerance, persons=who)
    alone = commonest_number(number.astype(float), node, 3, tolerance=tolerance)
    for leaf in range(3):
        of = [number[(node == leaf) & (who == one)] for one in np.unique(who[node == leaf])]
        inside = number[node == leaf]
        windows = [(low, low + 2 * tolerance) for low in inside]
        only = [sum(one.min() >= a and one.max() <= b for one in of) for a, b in windows]
        same = [int(((inside >= a) & (inside <= b)).sum()) for a, b in windows]
        assert told.people[leaf] == len(of)
        assert told.others[leaf] == len(of) - max(only, default=0)
        assert alone.others[leaf] == len(inside) - max(same, default=0)
        assert told.others[leaf] <= alone.others[leaf]
        assert told.share[leaf] >= alone.share[leaf]


def test_of_draws_the_people_tell_what_may_be_nearly_certain() -> None:
    # Five or six of about eight are drawn into each leaf, of whom five have the same number.
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 8)
    numbers = np.where(np.arange(480) % 8 < 5, 7.0, rng.uniform(0, 99, 480)) + 100.0 * group
    rows = group[:, None] + rng.normal(size=(480, 2)) * 0.01
    model = RandomForestRegressor(8, min_samples_leaf=4, random_state=0).fit(rows, numbers)
    inside = {}
    for tree, seed in zip(model.estimators_, range(8), strict=True):
        draw = np.random.RandomState(tree.random_state).randint(0, 480, 480)
        drawn, leaf = np.unique(draw), tree.apply(rows)
        for one in np.unique(leaf[drawn]):
            held = numbers[drawn][leaf[drawn] == one]
            inside[seed, one] = len(held) - np.unique(held, return_counts=True)[1].max()
    assert sum(others <= 1 for others in inside.values()) > 100
    policy = ta.Policy(name="nearly", values={"max-nearly-certain-share": 0.5})
    options = {"train": (rows, numbers), "attacks": ["TA109"], "tolerance": 0.0}
    report = ta.scan(model, policy=policy, **options)
    assert report.checks[0].status == "skipped"
    assert report.checks[0].reason is not None
    assert report.checks[0].reason.endswith("or, of draws, train larger leaves")
