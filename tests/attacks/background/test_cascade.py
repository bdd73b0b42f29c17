"""Known people taken out of every tree: soundness and completeness against every world."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.strategies import examples
from treeaudit.attacks.background.bounds import bounds_of, cascade, one_left, sees_everybody

INF = np.inf


def tree_of(home, labels, n_classes, weights=None) -> ta.Tree:
    """A root with as many leaves as there are homes, and the people's counts in them."""
    n_leaves = int(max(home)) + 1
    counts = np.zeros((n_leaves + 1, n_classes))
    np.add.at(counts, np.asarray(home) + 1, np.eye(n_classes)[labels])
    counts[0] = counts[1:].sum(axis=0)
    people = counts.sum(axis=1)
    bounds = np.arange(n_leaves - 1, dtype=float)
    return ta.Tree(
        parent=[-1] + [0] * n_leaves,
        feature=[-1] + [0] * n_leaves,
        low=[-INF, -INF, *bounds],
        high=[INF, *bounds, INF],
        n_records=people,
        counts=counts if weights is None else counts * weights,
    )


@st.composite
def people_in_trees(draw, most_trees=3):
    """People with labels, their leaf in each tree, and which of them are known."""
    n, classes = draw(st.integers(1, 6)), draw(st.integers(2, 3))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    trees = draw(st.integers(1, most_trees))
    homes = [draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for _ in range(trees)]
    known = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return np.array(labels), np.array(homes).T, np.array(known), classes


def worlds(labels, homes, known, classes, told) -> np.ndarray:
    """Every assignment of labels that fits what all leaves say and who is known."""
    wanted = [told(homes[:, t], labels) for t in range(homes.shape[1])]
    return np.array(
        [
            world
            for world in itertools.product(range(classes), repeat=len(labels))
            if all(world[i] == labels[i] for i in np.flatnonzero(known))
            and all(told(homes[:, t], np.array(world)) == wanted[t] for t in range(homes.shape[1]))
        ]
    )


def run(labels, homes, known, classes, counts_are="exact", weights=None):
    trees = [
        bounds_of(tree_of(homes[:, t], labels, classes, weights), counts_are)
        for t in range(homes.shape[1])
    ]
    given_labels = np.where(known, labels, -1)
    return cascade(trees, homes.astype(np.int32) + 1, given_labels)


@examples(150)
@given(people_in_trees())
def test_whoever_falls_has_that_label_in_every_world(people) -> None:
    labels, homes, known, classes = people
    found = run(*people)

    def told(home, world):
        return sorted(zip(home.tolist(), world.tolist(), strict=True))

    possible = worlds(labels, homes, known, classes, told)
    for person in np.flatnonzero(found.label >= 0):
        assert set(possible[:, person]) == {found.label[person]} == {labels[person]}
    assert (found.round[known] == 0).all()
    if homes.shape[1] == 1:
        certain = [len(set(possible[:, person])) == 1 for person in range(len(labels))]
        assert (found.label >= 0).tolist() == certain


@examples(80)
@given(people_in_trees(most_trees=2))
def test_weights_prove_who_is_there_and_no_more(people) -> None:
    labels, homes, known, classes = people
    weights = np.array([0.7, 2.0, 1.3])[:classes]
    found = run(*people, "weighted", weights)

    def told(home, world):
        return [(int((home == h).sum()), sorted({*world[home == h].tolist()})) for h in range(3)]

    possible = worlds(labels, homes, known, classes, told)
    for person in np.flatnonzero(found.label >= 0):
        assert set(possible[:, person]) == {labels[person]}
    if homes.shape[1] == 1:
        certain = [len(set(possible[:, person])) == 1 for person in range(len(labels))]
        assert (found.label >= 0).tolist() == certain


def test_one_tree_tips_the_other() -> None:
    """Tree 0 pairs {A, B}, {C, D}; tree 1 pairs {B, C}, {A, D}: A known, all fall in turn."""
    labels = np.array([0, 1, 0, 1])
    homes = np.array([[0, 1], [0, 0], [1, 0], [1, 1]])
    found = run(labels, homes, np.array([True, False, False, False]), 2)
    assert found.label.tolist() == [0, 1, 0, 1]
    assert found.round.tolist() == [0, 1, 2, 1]
    assert found.tree.tolist() == [-1, 0, 0, 1]
    assert found.n_rounds == 2


def test_noise_and_leaves_that_do_not_hold_everybody_prove_nothing() -> None:
    tree = tree_of([0, 0], [0, 1], 2)
    assert bounds_of(tree, "noisy") is None
    bounds = bounds_of(tree, "exact", np.zeros(2, bool))
    found = cascade([bounds, None], np.ones((2, 2), np.int32), np.array([0, -1]))
    assert found.label.tolist() == [0, -1]
    assert (one_left(bounds) == -1).all()


def test_a_bootstrap_tree_sees_everybody_only_where_the_numbers_say_so() -> None:
    tree = tree_of([0, 0], [0, 1], 2)
    schema = ta.Schema.numeric(1, ["no", "yes"])
    for n, sees in ((2, True), (3, False), (None, False)):
        forest = ta.Forest(trees=(tree,), schema=schema, records_are="bootstrap", n_records=n)
        assert sees_everybody(forest, tree) is sees
