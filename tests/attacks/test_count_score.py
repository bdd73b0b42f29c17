"""The count score: by hand, and against the Poisson law written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

import treeaudit as ta
from tests.strategies import forests, rows
from treeaudit.attacks.membership_inference.scores import (
    Reference,
    leaf_scores,
    people_ratio,
)

COUNTS = st.integers(0, 30)
EXPECTED = st.floats(0.01, 40)


@given(COUNTS, EXPECTED)
def test_people_are_one_more_than_poisson(count, expected) -> None:
    """Without bootstrap: 1 + Poisson against Poisson."""
    with_them = poisson.pmf(count - 1, expected)
    found = people_ratio(np.array(float(count)), np.array(expected))
    if not count:
        assert found == -np.inf
    else:
        assert found == pytest.approx(math.log(with_them / poisson.pmf(count, expected)))


def test_a_tree_by_hand(figure_3) -> None:
    """Leaf 6 (height ≥ 170, age ≥ 15) holds {yes: 1, no: 2} of 9; nobody of 9 references."""
    reference = Reference(
        node=np.full((9, 1), 3, dtype=np.int32),
        labels=np.zeros(9, dtype=np.int32),
        n_members=9,
    )
    found = leaf_scores(figure_3, 0, figure_3.trees[0], reference)
    assert found[6].tolist() == pytest.approx([math.log(1 / 0.5), math.log(2 / 0.5)])
    assert found[3].tolist() == pytest.approx([math.log(2 / 9.5), math.log(1 / 0.5)])
    assert found[5, 1] == -np.inf
    assert found[0].tolist() == [0, 0]


def explicit(forest, tree, node, labels, leaf, label, n_members) -> float:
    """The same in plain loops."""
    seen = sum(1 for n, y in zip(node, labels, strict=True) if n == leaf and y == label)
    total = sum(tree.counts[i].sum() for i in tree.leaves)
    expected = (seen + 0.5) * total / len(node)
    count = tree.counts[leaf, label]
    if forest.records_are == "bootstrap":
        mean = total / n_members
        return poisson.logpmf(count, expected + mean) - poisson.logpmf(count, expected)
    share = min(1, total / n_members)
    mixed = share * poisson.pmf(count - 1, expected) + (1 - share) * poisson.pmf(count, expected)
    return math.log(mixed / poisson.pmf(count, expected)) if mixed else -math.inf


@given(forests(), st.sampled_from(["all", "bootstrap", "unknown"]), st.integers(0, 99))
def test_random_forests_against_loops(forest, drawn, seed) -> None:
    forest = ta.Forest(trees=forest.trees, schema=forest.schema, records_are=drawn)
    values = rows(seed, 40)
    labels = np.random.default_rng(seed).integers(0, len(forest.schema.classes), 40)
    n = max(int(t.counts[t.leaves].sum()) for t in forest.trees)
    reference = Reference(node=forest.apply(values), labels=labels.astype(np.int32), n_members=n)
    for i, tree in enumerate(forest.trees):
        found = leaf_scores(forest, i, tree, reference)
        for leaf in tree.leaves.tolist():
            for label in range(len(forest.schema.classes)):
                assert found[leaf, label] == pytest.approx(
                    explicit(forest, tree, reference.node[:, i], labels, leaf, label, n), abs=1e-9
                )


def test_without_labels_the_people_count(figure_3) -> None:
    reference = Reference(node=np.full((9, 1), 3, dtype=np.int32), labels=None, n_members=9)
    found = leaf_scores(figure_3, 0, figure_3.trees[0], reference)
    assert found.shape == (7, 1)
    assert found[6, 0] == pytest.approx(math.log(3 / 0.5))


def test_weights_tell_only_who_is_not_there(figure_3) -> None:
    weighted = ta.Forest(trees=figure_3.trees, schema=figure_3.schema, counts_are="weighted")
    reference = Reference(
        node=np.full((9, 1), 3, dtype=np.int32), labels=np.zeros(9, dtype=np.int32), n_members=9
    )
    found = leaf_scores(weighted, 0, weighted.trees[0], reference)
    assert found[6].tolist() == pytest.approx([math.log(3 / 0.5)] * 2)
    assert found[5].tolist() == [math.log(1 / 0.5), -math.inf]
