"""Privacy by enumeration: all neighbouring inputs up to a size, on the exact laws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.dp.laws import (
    discrete_laplace_law,
    exponential_mechanism_law,
    permute_and_flip_law,
    privacy_loss,
    smooth_label_law,
)
from treeaudit.dp.ledger import factor
from treeaudit.trainers.smooth_sensitivity_forest import smooth_sensitivity

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(3)]
TOLERANCE = 1e-9


def histograms(n_classes: int, most: int) -> list[tuple[int, ...]]:
    return [h for h in itertools.product(range(most + 1), repeat=n_classes) if sum(h) <= most]


def neighbours_of(counts: tuple[int, ...], relation: str) -> list[tuple[int, ...]]:
    one = np.eye(len(counts), dtype=int)
    if relation == "add-remove":
        return [tuple(np.add(counts, row).tolist()) for row in one]
    pairs = itertools.permutations(range(len(counts)), 2)
    moved = [np.add(counts, one[a] - one[b]) for a, b in pairs]
    return [tuple(m.tolist()) for m in moved if m.min() >= 0]


def worst(law, n_classes: int, most: int, relation: str) -> float:
    known = {}

    def of(counts):
        if counts not in known:
            known[counts] = law(list(counts))
        return known[counts]

    return max(
        privacy_loss(of(h), of(other))
        for h in histograms(n_classes, most)
        for other in neighbours_of(h, relation)
    )


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("n_classes", "most"), [(2, 12), (3, 8), (4, 6)])
@pytest.mark.parametrize("law", [permute_and_flip_law, exponential_mechanism_law])
def test_a_leaf_label_loses_at_most_epsilon(law, n_classes, most, epsilon, relation) -> None:
    rate = epsilon / factor(relation)
    loss = worst(lambda h: law(h, rate), n_classes, most, relation)
    assert loss <= float(epsilon) + TOLERANCE


def test_the_bound_is_met_and_the_factor_is_needed() -> None:
    one = Fraction(1)
    assert worst(lambda h: permute_and_flip_law(h, one), 2, 8, "add-remove") == pytest.approx(1)
    assert worst(lambda h: permute_and_flip_law(h, one), 2, 8, "replace-one") == pytest.approx(2)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_noisy_count_loses_epsilon(epsilon) -> None:
    values = np.arange(-200, 201)
    law = discrete_laplace_law(values, epsilon)
    assert privacy_loss(law[1:], law[:-1]) == pytest.approx(float(epsilon))


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("n_trees", "most"), [(2, 5), (3, 4)])
def test_records_sent_to_trees_at_random_cost_epsilon_once(n_trees, most, relation) -> None:
    """All labels of all trees together, over all assignments of records to trees."""
    epsilon = Fraction(1)
    leaf = {
        h: np.exp(permute_and_flip_law(h, epsilon / factor(relation))) for h in histograms(2, most)
    }

    def law(labels: tuple[int, ...]) -> np.ndarray:
        total = np.zeros([2] * n_trees)
        for part in itertools.product(range(n_trees), repeat=len(labels)):
            counts = np.zeros((n_trees, 2), dtype=int)
            np.add.at(counts, (list(part), list(labels)), 1)
            joint = np.ones(())
            for row in counts:
                joint = np.multiply.outer(joint, leaf[tuple(row.tolist())])
            total += joint
        return np.log(total / n_trees ** len(labels))

    losses = []
    for n in range(most):
        for data in itertools.product(range(2), repeat=n):
            if relation == "add-remove":
                losses += [privacy_loss(law(data), law((*data, x))) for x in range(2)]
            elif data:
                losses.append(privacy_loss(law(data), law((1 - data[0], *data[1:]))))
    assert max(losses) <= float(epsilon) + TOLERANCE
    if relation == "add-remove":
        assert max(losses) > 0.5


def test_equal_blocks_in_data_order_cost_more() -> None:
    """Removing the first record moves all others: blocks are no disjoint parts."""

    def law(labels: list[int]) -> np.ndarray:
        size = len(labels) // 2
        parts = [labels[:size], labels[size : 2 * size]]
        rows = [permute_and_flip_law([p.count(0), p.count(1)], Fraction(1)) for p in parts]
        return np.add.outer(*rows)

    data = [0, 0, 1, 1, 0, 0]
    losses = [privacy_loss(law(data), law(data[:i] + data[i + 1 :])) for i in range(6)]
    assert max(losses) > 1.5


def test_the_published_leaf_rule_is_not_private() -> None:
    """One person in a leaf against two, at a claim of 1: 2.131 (Fletcher & Islam 2017)."""
    one, two = smooth_label_law([1, 0], 1.0), smooth_label_law([2, 0], 1.0)
    assert np.exp(one[1]) == pytest.approx(0.20438, abs=5e-6)
    assert np.exp(two[1]) == pytest.approx(0.02426, abs=5e-6)
    assert privacy_loss(one, two) == pytest.approx(2.131, abs=5e-4)
    margins = {1: 2.13, 2: 6.32, 3: 17.3, 5: 128, 10: 18_924}
    for j, expected in margins.items():
        loss = privacy_loss(smooth_label_law([j, 0], 1.0), smooth_label_law([j + 1, 0], 1.0))
        assert loss == pytest.approx(expected, rel=5e-3)


def test_the_published_leaf_rule_fails_at_small_epsilon_too() -> None:
    first = next(
        j
        for j in itertools.count()
        if privacy_loss(smooth_label_law([j, 0], 0.1), smooth_label_law([j + 1, 0], 0.1)) > 0.1
    )
    assert first == 32


def test_smooth_sensitivities_of_table_2() -> None:
    table = {
        0: (1.0, 1.0, 1.0),
        1: (0.99004, 0.90483, 0.36788),
        5: (0.95122, 0.60653, 0.00674),
        10: (0.90483, 0.36788, 0.00005),
        50: (0.60653, 0.00674, 1.93e-22),
        100: (0.36788, 0.00005, 3.72e-44),
        500: (0.00674, 1.93e-22, 7.12e-218),
    }
    for j, row in table.items():
        for epsilon, printed in zip((0.01, 0.1, 1.0), row, strict=True):
            value = float(smooth_sensitivity(j, epsilon))
            # The table gives 0.99004 where e^-0.01 is 0.99005.
            assert value == pytest.approx(printed, abs=1.1e-5 if printed > 1e-6 else 1e-20)
            if printed < 1e-6:
                assert value == pytest.approx(printed, rel=3e-3)


def test_permute_and_flip_is_as_good_as_can_be() -> None:
    """Two classes: no private label errs less than exp(-epsilon * margin) / 2."""
    for j in range(6):
        error = math.exp(permute_and_flip_law([j, 0], Fraction(1))[1])
        assert error == pytest.approx(math.exp(-j) / 2)
        assert error <= math.exp(exponential_mechanism_law([j, 0], Fraction(1))[1]) + 1e-12
