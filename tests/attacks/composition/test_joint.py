"""The joint label attack: by hand, by laws, and by other routes to the same optimum."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import treeaudit as ta
from tests.attacks.people import records_of
from treeaudit.attacks import Case, run_attack
from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.composition.equations import said_by
from treeaudit.attacks.composition.joint import solve

INF = np.inf


def multiway(feature: int, counts: list[list[int]]) -> ta.Tree:
    """Return a tree of one question: the value 0, 1, 2, … leads to the first, second, … leaf."""
    n = len(counts)
    table = np.array(counts, dtype=float)
    return ta.Tree(
        parent=[-1] + [0] * n,
        feature=[-1] + [feature] * n,
        low=[-INF, -INF, *(i + 0.5 for i in range(n - 1))],
        high=[INF, *(i + 0.5 for i in range(n - 1)), INF],
        n_records=[int(table.sum()), *table.sum(axis=1).astype(int)],
        counts=[table.sum(axis=0), *table],
    )


def case_of(trees, leaves, labels, **stated) -> Case:
    schema = ta.Schema.numeric(len(trees), [f"c{i}" for i in range(max(labels) + 1)])
    forest = ta.Forest(trees=tuple(trees), schema=schema, **stated)
    people = records_of(forest, leaves, labels)
    return Case(forest=forest, table=ta.reconstruct(forest).groups, train=people)


def six_people(**stated) -> Case:
    """Return A to F, labels 1 0 1 0 1 0, in pairs AB CD EF, FA BC DE, and threes ABC DEF.

    A pair of share 1/2 holds two different labels: A and C and E are alike, and so are the others.
    Of A, B and C two have the label: A and C.
    """
    trees = [
        multiway(0, [[1, 1], [1, 1], [1, 1]]),
        multiway(1, [[1, 1], [1, 1], [1, 1]]),
        multiway(2, [[1, 2], [2, 1]]),
    ]
    leaves = [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 1], [2, 2, 1], [2, 0, 1]]
    return case_of(trees, leaves, [1, 0, 1, 0, 1, 0], **stated)


def test_three_trees_determine_six_labels_by_hand() -> None:
    found = run_attack(Composition(), six_people())
    details = found.details
    # The model answers (1/2 + 1/2 + 2/3) / 3 for A, B and C: wrong for B, and so for E.
    assert (details.own, details.own.part) == (4 / 6, 4)
    assert (details.joint, details.joint.part) == (1, 6)
    assert details.excess == pytest.approx(1 / 3)
    # Three are called 1 by the attack, all rightly; by the model A, B and C, one wrongly: 3 - 1.
    assert details.excess_of_one_label == pytest.approx(2 / 3)
    assert (details.majority, details.rarest_people) == (0.5, 3)
    assert (details.rarest_joint, details.rarest_own) == (1, 2 / 3)
    assert [(at.trees, at.groups, at.alone, at.smallest) for at in details.curve] == [
        (1, 3, 0, 2),
        (2, 6, 6, 1),
        (3, 6, 6, 1),
    ]
    assert (details.by, details.draws_known, details.settled) == ("shares", True, True)
    assert details.equations == 8
    assert (found.severity, found.people) == ("high", 2)
    assert found.summary == (
        "3 trees together give back the label of 100.0% of 6 people; the model's own answers are "
        "right for 66.7%. They make labels of 6 of them certain, one by one or as a group of fewer "
        "than 5. What of it is a fact of the population, unseen people tell (--test)."
    )
    assert (details.certain, details.certain_alone) == (6, 6)


def random_forest(seed: int, classes: int, *, bootstrap: bool):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (40, 5)).astype(float), rng.integers(0, classes, 40)
    y[:classes] = range(classes)
    model = (RandomForestClassifier if bootstrap else ExtraTreesClassifier)(
        7, min_samples_leaf=3, max_features=1, random_state=seed
    )
    return ta.load(model.fit(x, y)), x, y


def rows_of(said) -> list:
    """Return leaves x people, divided by the root of how many they are, leaf by leaf."""
    rows, node = [], said.node
    for t in range(node.shape[1]):
        for leaf in np.unique(node[:, t]):
            member = (node[:, t] == leaf).astype(float)
            rows.append((member / np.sqrt(member.sum()), said.start[t] + leaf, member.sum()))
    return rows


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("doubt", [0.0, 0.3])
def test_the_optimum_is_that_of_bounded_least_squares(seed, doubt) -> None:
    forest, x, _ = random_forest(seed, 2, bootstrap=bool(seed % 2))
    said = said_by(forest, forest.apply(x))
    node, rows = said.node, rows_of(said)
    a = np.array([row for row, _, _ in rows])
    b = np.array([said.mean[at, 0] * np.sqrt(size) for _, at, size in rows])
    own = np.mean([said.mean[said.start[t] + node[:, t], 0] for t in range(7)], axis=0)
    full = np.vstack([a, np.sqrt(doubt) * np.eye(len(x))])
    wanted = lsq_linear(full, np.r_[b, np.sqrt(doubt) * own], bounds=(0, 1), tol=1e-12).x
    # No two steps are the same within less than nothing: it goes on to the end.
    ours = solve(said, doubt=doubt, tolerance=-1.0, most=5_000).x[:, 0]
    np.testing.assert_allclose(a @ ours, a @ wanted, atol=1e-4)
    if doubt:
        np.testing.assert_allclose(ours, wanted, atol=1e-4)
    numbers = solve(replace(said, kind="numbers"), doubt=doubt, tolerance=-1.0, most=5_000)
    free = np.linalg.lstsq(full, np.r_[b, np.sqrt(doubt) * own], rcond=None)[0]
    np.testing.assert_allclose(a @ numbers.x[:, 0], a @ free, atol=1e-4)
