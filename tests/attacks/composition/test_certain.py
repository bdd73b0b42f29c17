"""Whose label or number all leaves make certain: by hand, and beside brute force."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestRegressor,
)

import treeaudit as ta
from tests.strategies import examples
from treeaudit.attacks.composition.bounds import Sums, follow
from treeaudit.attacks.composition.certain import Certain, Truth, certain_of, counts_known
from treeaudit.attacks.composition.equations import Said

POLICY = ta.Policy(name="one", values={"max-joint-certain-people": 0})


def said_of(node, real, kind="numbers") -> Said:
    """Return what leaves say that hold everybody who ends in them: the mean."""
    node = np.array(node)
    each = [np.bincount(at, real) / np.bincount(at) for at in node.T]
    mean = np.concatenate(each)[:, None]
    return Said(
        kind=kind,
        start=np.cumsum([0, *map(len, each)]),
        node=node,
        mean=mean,
        informative=np.ones(len(mean), dtype=np.bool_),
    )


def found_in(node, real, kind="numbers", k=5, **given) -> Certain:
    real = np.array(real)
    truth = Truth(real=real, own=real, tolerance=0.01 * real.std() if kind == "numbers" else 0.0)
    return certain_of(said_of(node, real, kind), truth, k, **given)


P, LAST, Q = [100.0, 110, 120, 130, 140], [900.0], [200.0, 210, 220, 230, 240]


def test_one_number_is_the_difference_of_two_sums_by_hand() -> None:
    """Leaves of P and X (mean 250), Q (220) | P (120), X and Q: X is 6 * 250 - 5 * 120 = 900."""
    node = [[0, 0]] * 5 + [[0, 1]] + [[1, 1]] * 5
    said = said_of(node, np.array(P + LAST + Q))
    assert said.mean.ravel().tolist() == [250, 220, 120, pytest.approx(2000 / 6)]
    assert found_in(node, P + LAST + Q) == Certain(people=1, alone=1)
    # Of two people instead of one it is their mean, in a group below 5 and not below 2.
    two = [*node[:6], [0, 1], *node[6:]]
    assert found_in(two, P + LAST * 2 + Q) == Certain(people=2, alone=0)
    assert found_in(two, P + LAST * 2 + Q, k=2) == Certain()
    # Two visits of one person are that person alone.
    who = np.array([0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10])
    assert found_in(two, [*P, 880.0, 920.0, *Q], persons=who) == Certain(people=1, alone=1)


def test_one_label_is_the_difference_of_two_counts_by_hand() -> None:
    """Three of six have the label, and two of the five without X: X has it."""
    node = [[0, 0]] * 5 + [[0, 1]] + [[1, 1]] * 5
    labels = [1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0]
    assert found_in(node, labels, "shares") == Certain(people=1, alone=1)


def test_bounds_of_counts_tell_where_sums_do_not() -> None:
    """A B | C D and A C | B D hold 2 0 and 1 1 of a label: A and B have it, though no sum is one's.

    With a third tree, A D | B C of 1 1, nothing more is told.
    """
    node = [[0, 0], [0, 1], [1, 0], [1, 1]]
    leaf = Sums.of(np.array([0, 2, 4]), np.array(node), np.ones(4, dtype=bool))[0]
    assert follow(leaf).known.tolist() == [False] * 4
    known, _ = counts_known(
        leaf,
        np.array([[2.0], [0], [1], [1]]),
        np.array([[1.0], [1], [0], [0]]),
        np.ones(4),
        np.zeros((4, 1)),
    )
    assert known.tolist() == [True] * 4


def test_rounded_numbers_and_noise_make_nothing_certain() -> None:
    node = [[0, 0]] * 5 + [[0, 1]] + [[1, 1]] * 5
    real = np.array(P + LAST + Q)
    said = said_of(node, real)
    truth = Truth(real=real, own=real, tolerance=0.01 * real.std())

    def off_by(much) -> Certain:
        moved = said.mean + much * np.array([[1.0], [-1], [-1], [1]])
        other = Said(
            kind="numbers",
            start=said.start,
            node=said.node,
            mean=moved,
            informative=said.informative,
        )
        return certain_of(other, truth, 5)

    # 6 * 0.1 + 5 * 0.1 is 1.1 off, and 1 % of the standard deviation is 2.1.
    assert off_by(0.1) == Certain(people=1, alone=1)
    assert off_by(0.5) == Certain()
    assert off_by(20.0) == Certain(exact=False)


def drawn(seed, people, trees, leaves=3) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    ends = [
        np.unique(rng.integers(0, leaves, people), return_inverse=True)[1] for _ in range(trees)
    ]
    node = np.column_stack(ends)
    return np.cumsum([0, *(node.max(axis=0) + 1)]), node, rng


def table_of(sums: Sums) -> np.ndarray:
    table = np.zeros((sums.n_leaves, sums.leaf.shape[1]), dtype=int)
    for at in sums.places():
        table[at, np.arange(len(at))] = 1
    return table * sums.counts[:, None]


@examples(60)
@given(seed=st.integers(0, 100_000), people=st.integers(2, 11), trees=st.integers(2, 4))
def test_certain_labels_are_certain_by_enumeration(seed, people, trees) -> None:
    """Of all labels that fit, and no fewer than a linear programme per group tells."""
    start, node, rng = drawn(seed, people, trees)
    labels = (rng.random(people) < rng.choice([0.15, 0.5])).astype(float)
    sums, group = Sums.of(start, node, np.ones(start[-1], dtype=bool))
    table, size = table_of(sums), np.bincount(group).astype(float)
    holds = np.bincount(group, labels)
    total = table @ holds
    known, left = counts_known(
        sums, total[:, None], holds[:, None], size, np.zeros((len(total), 1))
    )
    fits = np.array(list(product(*(range(int(n) + 1) for n in size))))
    fits = fits[(fits @ table.T == total).all(axis=1)]
    certain = (fits == holds).all(axis=0)
    assert not (known & ~certain).any()
    bounds = [(0, n) for n in size]
    for g in np.flatnonzero(~known):
        aim = np.eye(len(size))[g]
        low, high = (
            s * linprog(s * aim, A_eq=table, b_eq=total, bounds=bounds).fun for s in (1, -1)
        )
        assert high - low > 1e-6
    assert left == 0


def frame_of(x, y) -> pd.DataFrame:
    return pd.DataFrame(x, columns=[f"x{i}" for i in range(x.shape[1])]).assign(y=y)


def without_seeds(model):
    model.random_state = None
    for one in model.estimators_:
        one.random_state = None
    return model


def numbers_of(seed=2694) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 100, size=(300, 3)).astype(float)
    return x, np.round(rng.lognormal(7, 0.5, 300), 2)


def test_single_numbers_of_large_leaves_are_no_pass() -> None:
    """Six trees of leaves of ten people: pinv of the leaves gives three numbers exactly."""
    x, y = numbers_of()
    model = without_seeds(
        ExtraTreesRegressor(
            6, min_samples_leaf=10, max_leaf_nodes=12, max_features=1, random_state=2694
        ).fit(x, y)
    )
    report = ta.scan(model, train=frame_of(x, y), target="y")
    details = report["TA106"].details
    node, told = model.apply(x), []
    table = np.vstack([node[:, i] == at for i in range(6) for at in np.unique(node[:, i])])
    sums = table @ y
    alone = [i for i in range(300) if (node == node[i]).all(axis=1).sum() == 1]
    solved = np.linalg.pinv(table.astype(float), rcond=1e-10)
    for i in alone:
        if np.allclose((solved @ table)[i], np.eye(300)[i], atol=1e-8):
            told.append(i)
            assert solved[i] @ sums == pytest.approx(y[i])
    assert len(told) == details.certain_alone == 3
    check = {one.name: one for one in report.checks}["max-joint-certain-people"]
    assert (check.status, check.measured, report.verdict) == ("fail", 3, "fail")
    assert report["TA106"].severity == "low"
    assert "They make numbers of 3 of them certain" in report["TA106"].summary
    # The same trees on draws tell of nobody who is in them.
    drawn_ = without_seeds(
        RandomForestRegressor(6, min_samples_leaf=10, max_leaf_nodes=12, random_state=0).fit(x, y)
    )
    assert ta.scan(drawn_, policy=POLICY, train=frame_of(x, y), target="y").verdict == "pass"


@pytest.mark.parametrize("weight", [None, "balanced"])
def test_labels_that_the_model_answers_wrongly_are_no_pass(weight) -> None:
    rng = np.random.default_rng(60)
    x = rng.integers(0, 30, size=(200, 3)).astype(float)
    y = (rng.random(200) < 0.35).astype(int)
    model = without_seeds(
        ExtraTreesClassifier(
            6,
            min_samples_leaf=10,
            max_leaf_nodes=10,
            max_features=1,
            random_state=60,
            class_weight=weight,
        ).fit(x, y)
    )
    report = ta.scan(model, policy=POLICY, train=frame_of(x, y), target="y")
    assert report.verdict == "fail"
    if weight is None:
        assert report["TA106"].details.certain == 11


def test_who_defends_is_told_of_nobody_in_what_it_writes(tmp_path) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 60, size=(200, 3)).astype(float)
    y = np.round(x[:, 0] + rng.lognormal(4, 0.5, 200), 2)
    model = without_seeds(
        ExtraTreesRegressor(8, min_samples_leaf=2, max_features=1, random_state=3).fit(x, y)
    )
    safer = ta.defend(ta.load(model), train=frame_of(x, y), target="y")
    ta.save(safer, tmp_path / "safe.pkl")
    report = ta.scan(tmp_path / "safe.pkl", train=frame_of(x, y), target="y")
    assert report.verdict == "pass"
    if safer.n_trees > 1:
        assert report["TA106"].details.certain == 0
