"""Certainty from known people and negations: worked examples, and every assignment tried."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.strategies import examples, forests
from treeaudit.attacks.background.certainty import (
    certainty_by_known,
    certainty_by_skyline,
    distinct_vectors,
    share_certain_by_random,
    vectors_of,
)
from treeaudit.table.labels import people_per_class

counts_of_a_leaf = st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(any)
small = counts_of_a_leaf.filter(lambda counts: sum(counts) <= 6)


def worlds(counts) -> list[tuple[int, ...]]:
    """Every way to give the people of a leaf their labels."""
    people = [label for label, n in enumerate(counts) for _ in range(n)]
    return sorted(set(itertools.permutations(people)))


def certainty(left: list[tuple[int, ...]], person: int) -> float:
    """How often the most frequent label of a person occurs in the worlds that are left."""
    labels = np.bincount([world[person] for world in left])
    return labels.max() / len(left)


def test_the_leaf_of_the_paper() -> None:
    """Wakabayashi et al. (2024), Table 4: height ≥ 170 and age ≥ 15, one yes and two no."""
    leaf = [[1, 2]]
    assert certainty_by_known(leaf, 0)[0] == 2 / 3
    assert certainty_by_known(leaf, 1)[0] == 1
    assert share_certain_by_random(leaf, 1)[0] == pytest.approx(1 / 3)


@given(small, st.integers(0, 6))
def test_known_people_against_every_choice(counts, known) -> None:
    people = [label for label, n in enumerate(counts) for _ in range(n)]
    best = 0.0
    for taken in itertools.combinations(range(len(people)), min(known, len(people) - 1)):
        left = [label for i, label in enumerate(people) if i not in taken]
        best = max(best, np.bincount(left).max() / len(left))
    # Knowing fewer than allowed is allowed too.
    expected = max(best, max(counts) / sum(counts))
    assert certainty_by_known([counts], known)[0] >= expected - 1e-12
    needed = sum(counts) - max(counts)
    assert (certainty_by_known([counts], known)[0] == 1) == (
        needed <= known or sum(counts) - known <= 1
    )
    if known < min(n for n in np.subtract(sum(counts), counts)[np.array(counts) > 0]):
        assert certainty_by_known([counts], known)[0] == pytest.approx(expected)


@examples(60)
@given(small, st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
def test_the_skyline_against_every_piece_of_knowledge(counts, negated, known, implied) -> None:
    """The target is the first person; the others are known or stand in the implications."""
    n, classes = sum(counts), range(len(counts))
    everything = worlds(counts)
    best = 0.0
    for target in (label for label in classes if counts[label]):
        others = [label for label in classes if label != target]
        for out in itertools.combinations(others, min(negated, len(others))):
            free = n - counts[target] - sum(counts[label] for label in out)
            for labels in itertools.product(classes, repeat=min(known, free)):
                use = min(implied, n - 1 - len(labels))
                left = [
                    world
                    for world in everything
                    if world[0] not in out
                    and world[1 : 1 + len(labels)] == labels
                    and all(
                        world[1 + len(labels) + i] != target or world[0] == target
                        for i in range(use)
                    )
                ]
                right = sum(world[0] == target for world in left)
                best = max(best, right / len(left) if left else 0)
    assert certainty_by_skyline([counts], negated, known, implied)[0] == pytest.approx(best)


@given(forests())
def test_vectors_come_from_every_leaf_whose_counts_are_people(forest) -> None:
    table = ta.reconstruct(forest).groups
    rows = []
    for tree in forest.trees:
        held = tree.leaves[tree.n_records[tree.leaves] > 0]
        people = people_per_class(tree.counts[held], tree.n_records[held], forest.counts_are)
        rows += people[~np.isnan(people).any(axis=1)].tolist()
    found, expected = vectors_of(table), distinct_vectors(rows)
    width = found.counts.shape[1]
    assert found.leaves.tolist() == expected.leaves.tolist()
    assert np.array_equal(found.counts, expected.counts[:, :width])
    assert not expected.counts[:, width:].any()


@given(small, st.integers(0, 6))
def test_random_people_against_every_choice(counts, known) -> None:
    people = [label for label, n in enumerate(counts) for _ in range(n)]
    certain, tried = 0, 0
    for target in range(len(people)):
        others = [i for i in range(len(people)) if i != target]
        for taken in itertools.combinations(others, min(known, len(others))):
            left = {people[i] for i in range(len(people)) if i not in taken}
            # The best choice of others discloses people of the most frequent label only.
            certain += len(left) == 1 and people[target] == counts.index(max(counts))
            tried += 1
    assert share_certain_by_random([counts], known)[0] == pytest.approx(certain / tried)
