"""TA101's risks: by hand, against simulated populations, laws."""

import numpy as np
import pytest

import treeaudit as ta
from treeaudit.attacks import Case
from treeaudit.attacks.singling_out.population import (
    alone_in_both,
    degrees_of_freedom,
    population,
    risks,
)
from treeaudit.findings.details import plain_data
from treeaudit.people.records import read_records


def case_of(forest, **options) -> Case:
    return Case(forest=forest, table=ta.reconstruct(forest).groups, **options)


def test_the_papers_tree_by_hand(figure_3) -> None:
    """Leaves of 3, 2, 1 and 3 people, nine in all."""
    found = risks(case_of(figure_3, k=3))
    assert plain_data(found.prosecutor) == pytest.approx(
        {"highest": 1.0, "average": 4 / 9, "above_threshold": 3 / 9}
    )
    assert found.journalist is None
    assert found.marketer == pytest.approx(4 / 9)
    assert not found.estimated
    assert population(case_of(figure_3)) is None


def test_a_sample_of_a_tenth(figure_3) -> None:
    case = case_of(figure_3, fraction=0.1)
    found, uniques = risks(case), population(case)
    assert found.journalist.highest == pytest.approx(0.25584, abs=5e-6)
    assert found.marketer < found.prosecutor.average
    assert uniques.people == 90
    assert uniques.alone_in_data == 1
    assert all(0 <= v <= 1 for v in plain_data(uniques.alone_in_both).values() if v is not None)
    assert uniques.others_per_unique_leaf is None


def test_degrees_of_freedom_by_hand(figure_3) -> None:
    """Nine people, three splits, four leaves of two classes: 9 - 6 - 4."""
    assert degrees_of_freedom(figure_3, ta.reconstruct(figure_3).groups) == -1


def test_others_are_counted_on_unseen_people() -> None:
    """In a simulated population the true number of others per leaf of one is inside."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(3)
    whole = rng.integers(0, 12, (20_000, 3)).astype(float)
    labels = (whole.sum(axis=1) + rng.normal(0, 6, 20_000) > 16).astype(int)
    train, test = slice(0, 2_000), slice(2_000, 8_000)
    tree = DecisionTreeClassifier(random_state=0).fit(whole[train], labels[train])
    forest = ta.load(tree)
    unseen = read_records((whole[test], labels[test]), forest)
    found = population(case_of(forest, fraction=0.1, test=unseen))
    sizes = np.bincount(tree.apply(whole), minlength=tree.tree_.node_count)
    alone = np.flatnonzero((tree.tree_.n_node_samples == 1) & (tree.tree_.children_left == -1))
    assert found.alone_in_data == len(alone)
    others = found.others_per_unique_leaf
    assert others.low < (sizes[alone] - 1).mean() < others.high
    assert others.n == 6_000


@pytest.mark.parametrize(("columns", "values"), [(3, 8), (4, 20), (4, 200), (2, 400)])
@pytest.mark.parametrize("n_unseen", [1_000, 4_000])
def test_who_is_alone_is_counted_on_unseen_people(columns, values, n_unseen) -> None:
    """The upper end is seldom below the truth and never above what was counted."""
    from sklearn.tree import DecisionTreeClassifier

    above, estimates, truths = 0, [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        whole = rng.integers(0, values, (20_000, columns)).astype(float)
        tree = DecisionTreeClassifier(random_state=0)
        tree.fit(whole[:2_000], rng.integers(0, 2, 2_000))
        leaf = tree.apply(whole)
        size, every = (np.bincount(one, minlength=tree.tree_.node_count)
                       for one in (leaf[:2_000], leaf))  # fmt: skip
        alone = np.flatnonzero(size == 1)
        fits = np.bincount(leaf[2_000 : 2_000 + n_unseen], minlength=len(size))[alone]
        found, truth = alone_in_both(fits, n_unseen, 18_000), int((every[alone] == 1).sum())
        assert found.low <= found.value <= found.high <= max(found.value, (fits == 0).sum())
        above += truth > found.high
        estimates.append(found.value)
        truths.append(truth)
    assert above <= 1
    assert np.mean(estimates) < 2.5 * np.mean(truths) + 3


def test_a_policy_takes_the_count_before_the_model() -> None:
    """Nobody is alone among 20,000 on a grid of 512, whatever Pitman's model says."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(3)
    whole = rng.integers(0, 8, (20_000, 3)).astype(float)
    label = rng.integers(0, 2, 20_000)
    tree = DecisionTreeClassifier(random_state=0).fit(whole[:2_000], label[:2_000])
    given = {"train": (whole[:2_000], label[:2_000]), "fraction": 0.1, "repeats": "people"}
    policy = ta.Policy(name="three", values={"max-population-uniques": 3})
    blind = ta.scan(tree, policy=policy, **given)
    seen = ta.scan(tree, policy=policy, test=(whole[2_000:6_000], label[2_000:6_000]), **given)
    assert blind["TA101"].details.population.alone_in_both.counted is None
    assert (blind.verdict, seen.verdict) == ("fail", "pass")
