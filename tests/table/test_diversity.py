"""Diversity measures against an independent brute force over people."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from tests.strategies import count_tables
from treeaudit.table.diversity import counted


def people(row) -> list[int]:
    return [label for label, n in enumerate(row) for _ in range(int(n))]


def brute_entropy(labels) -> float:
    n = len(labels)
    return math.exp(sum(k / n * math.log(n / k) for k in Counter(labels).values()))


def brute_closeness(labels, everybody) -> Fraction:
    mine, all_of = Counter(labels), Counter(everybody)
    return (
        sum(
            (
                abs(Fraction(mine[c], len(labels)) - Fraction(all_of[c], len(everybody)))
                for c in set(everybody)
            ),
            Fraction(0),
        )
        / 2
    )


def brute_recursive(labels) -> float:
    sizes = sorted(Counter(labels).values(), reverse=True)
    rest = sum(sizes[1:])
    return sizes[0] / rest if rest else math.inf


@given(count_tables())
def test_agreement_with_people_counted_one_by_one(counts) -> None:
    groups = [people(row) for row in counts]
    everybody = [label for group in groups for label in group]
    assert counted(counts).distinct.tolist() == [len(set(group)) for group in groups]
    assert counted(counts).entropy_l == pytest.approx([brute_entropy(g) for g in groups])
    assert counted(counts).dominance == pytest.approx(
        [max(Counter(g).values()) / len(g) for g in groups]
    )
    assert counted(counts, counts.sum(axis=0)).closeness == pytest.approx(
        [float(brute_closeness(g, everybody)) for g in groups]
    )
    assert counted(counts).recursive_c.tolist() == [brute_recursive(g) for g in groups]


@pytest.mark.parametrize("classes", range(1, 40))
def test_equal_classes_give_their_number_exactly(classes) -> None:
    assert counted(np.full((1, classes), 7.0)).entropy_l.tolist() == [float(classes)]


def test_a_dominated_leaf_is_seen() -> None:
    assert counted(np.array([[989.0, 11.0]])).dominance.tolist() == [0.989]


def test_one_label_has_no_bound_for_c() -> None:
    assert counted(np.array([[5.0, 0.0]])).recursive_c.tolist() == [math.inf]


# pyCANON 1.3.6 on the people of these three groups, where it is right.
TABLE = np.array([[4.0, 2.0, 2.0], [1.0, 3.0, 1.0], [3.0, 3.0, 3.0]])


def test_as_pycanon_measures_it() -> None:
    overall = TABLE.sum(axis=0)
    assert TABLE.sum(axis=1).min() == 5
    assert counted(TABLE).dominance.max() == 0.6
    assert counted(TABLE).distinct.min() == 3
    assert math.floor(counted(TABLE).entropy_l.min()) == 2
    assert counted(TABLE, overall).closeness.max() == pytest.approx(0.23636363636363633)
    assert counted(TABLE, overall).ordered_closeness.max() == pytest.approx(0.11818181818181817)
    assert counted(TABLE, overall).beta_likeness.max() == pytest.approx(0.65)
    assert counted(TABLE, overall).delta_disclosure.max() == pytest.approx(0.5978370007556204)


def test_where_pycanon_is_wrong() -> None:
    """A group of one class has no bounded delta; four equal classes have entropy 4."""
    one = np.array([[5.0, 0.0], [3.0, 2.0]])
    assert counted(one, one.sum(axis=0)).delta_disclosure[0] == math.inf
    assert counted(np.full((1, 4), 3.0)).entropy_l[0] == 4


@given(count_tables())
def test_ordered_labels_are_never_further_apart_than_nominal_ones(counts) -> None:
    overall = counts.sum(axis=0)
    ordered = counted(counts, overall).ordered_closeness
    assert (ordered <= counted(counts, overall).closeness + 1e-12).all()
