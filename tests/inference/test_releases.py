"""Nobody is named falsely by the difference of two releases: truth, and all pairs of tables."""

from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from tests.inference.tables import stump
from tests.strategies import examples, one_in
from treeaudit.errors import DataError
from treeaudit.inference.releases import MovedPeople, ReleaseDifference, infer_difference
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.readers import load

PUBLIC = Schema(
    features=tuple(Feature(name=name, categories=("no", "yes")) for name in ("smokes", "old")),
    classes=("well", "ill"),
    target="health",
)


def forest(*trees) -> Forest:
    return Forest(trees=trees, schema=PUBLIC)


def names(moved: MovedPeople) -> list[tuple[list[int], int, int]]:
    """Return the leaves of each cell, its label, and how many are in it."""
    leaves = moved.cells.leaf[:, moved.cell].T.tolist()
    return sorted(zip(leaves, moved.label.tolist(), moved.people.tolist(), strict=True))


def test_the_erased_person_by_hand() -> None:
    """Ten people by smoking and by age; one of the four well smokers, a young one, is erased.

    The leaves of each release alone tell of nobody both habits for certain (see
    `test_two_questions_by_hand`): 3 or 4 well smokers were young, 2 or 3 are. But one fewer well
    person smokes and one fewer is young, so whoever left was young and smoked.
    """
    before = forest(stump(0, [6, 0], [4, 1]), stump(1, [9, 1], [1, 0]))
    after = forest(stump(0, [6, 0], [3, 1]), stump(1, [8, 1], [1, 0]))
    found = infer_difference(before, after)
    assert found.fewer == (1, 0)
    assert found.left.n_people == found.came.n_people == 0
    assert found.together is not None
    [(_, label, people)] = names(found.together.left)
    assert (label, people) == (0, 1)
    assert found.together.left.exact == found.together.left.named == 1
    assert found.together.came.n_people == 0
    again = infer_difference(after, before)
    assert again.fewer == (-1, 0)
    assert again.together is not None
    assert (again.together.left.n_people, again.together.came.n_people) == (0, 1)


def test_labels_and_columns_of_both() -> None:
    """The last ill person is erased: the new model knows one label, and one column fewer."""
    schema = replace(PUBLIC, features=PUBLIC.features[1:], classes=("well",))
    after = Forest(trees=(stump(0, [9], [1]),), schema=schema)
    found = infer_difference(forest(stump(0, [6, 0], [4, 1]), stump(1, [9, 1], [1, 0])), after)
    assert found.schema.names == ["smokes", "old"]
    assert found.fewer == (0, 1)
    assert [label for _, label, _ in names(found.left)] == [1]
    other = Forest(trees=after.trees, schema=Schema.numeric(1, classes=["well"]))
    with pytest.raises(DataError, match="no names to match them by"):
        infer_difference(forest(stump(0, [6, 0], [4, 1])), other)


def pair(seed: int, *, small: bool) -> tuple[Forest, Forest, np.ndarray, np.ndarray, np.ndarray]:
    """Return two forests without bootstrap, the people of both, and who is in which."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 3 if small else 6))
    levels = rng.integers(2, 4 if small else 6, width)
    n, moved = (int(rng.integers(2, 5)), 2) if small else (int(rng.integers(6, 60)), 8)
    left, came = (int(rng.integers(0, min(moved, n))) for _ in range(2))
    came *= int(rng.random() < 0.5)
    values = np.column_stack([rng.integers(0, high, n + came) for high in levels]).astype(float)
    labels = rng.integers(0, 2, len(values))
    where = np.zeros((2, len(values)), dtype=bool)
    where[0, :n] = where[1, left:] = True
    trained = []
    for i, mine in enumerate(where):
        grown = (RandomForestClassifier, ExtraTreesClassifier)[int(rng.random() < 0.3)](
            int(rng.integers(1, 4 if small else 12)), bootstrap=False,
            min_samples_leaf=int(rng.integers(1, 4)),
            random_state=seed + i * int(rng.integers(0, 2)),
        ).fit(values[mine], labels[mine])  # fmt: skip
        trained.append(load(grown))
    return *trained, values, labels, where


def inside(found: ReleaseDifference, moved: MovedPeople, k: int, values: np.ndarray) -> np.ndarray:
    """Tell which records are in a box."""
    codes, cells, at = found.domain.codes(values), moved.cells, int(moved.cell[k])
    held = np.ones(len(values), dtype=bool)
    for i, (variable, row) in enumerate(
        zip(found.domain.variables, cells.layout.row.tolist(), strict=False)
    ):
        if variable.cuts is None:
            bits = np.unpackbits(cells.sets[row, at].view(np.uint8), bitorder="little")
            held &= bits[codes[:, i]] > 0
        else:
            held &= (cells.low[row, at] <= codes[:, i]) & (codes[:, i] < cells.high[row, at])
    return held


def label_of(found: ReleaseDifference, moved: MovedPeople, k: int) -> int:
    return found.schema.classes[moved.label[k]]


def check_truth(seed: int) -> None:
    old, new, values, labels, (before, after) = pair(seed, small=False)
    found = infer_difference(old, new)
    sizes = [
        sum((labels == label) & before) - sum((labels == label) & after)
        for label in found.schema.classes
    ]
    assert list(found.fewer) == sizes
    for moved, sign in ((found.left, 1), (found.came, -1)):
        for k, people in enumerate(moved.people.tolist()):
            mine = inside(found, moved, k, values) & (labels == label_of(found, moved, k))
            assert sign * (sum(mine & before) - sum(mine & after)) >= people
    gone, fresh = before & ~after, after & ~before
    mixed = {*labels[gone].tolist()} & {*labels[fresh].tolist()}
    assert mixed or found.together is not None
    if not mixed:
        for moved, who in ((found.together.left, gone), (found.together.came, fresh)):
            for k, people in enumerate(moved.people.tolist()):
                mine = inside(found, moved, k, values) & (labels == label_of(found, moved, k))
                assert sum(mine & who) >= people


@given(st.integers(0, 2**32 - 1))
@examples(60)
def test_nobody_is_named_falsely(seed) -> None:
    check_truth(seed)


def tables(model: Forest, ends: list, label: object) -> list[Counter]:
    """Return every table of one label that fits a forest, as counts of what both tell apart."""
    label = model.schema.classes.index(label) if label in model.schema.classes else None
    told = [tree.counts[:, label] if label is not None else None for tree in model.trees]
    n = 0 if label is None else round(told[0][0])
    found = []
    for some in combinations_with_replacement(range(len(ends)), n):
        fits = label is None or all(
            said[leaf] == sum(ends[at][tree] == leaf for at in some)
            for tree, said in enumerate(told)
            for leaf in model.trees[tree].leaves.tolist()
        )
        found += [Counter(some)] if fits else []
    return found


def check_all_pairs(seed: int) -> None:
    old, new, values, _, _ = pair(seed, small=True)
    found = infer_difference(old, new)
    levels = values.max(axis=0).astype(int) + 1
    grid = np.array([*product(*map(range, levels))], dtype=float)
    ends = (one.apply(grid).tolist() for one in (old, new))
    joint = [tuple(map(tuple, one)) for one in zip(*ends, strict=True)]
    kinds = sorted(set(joint))
    grid = grid[[joint.index(kind) for kind in kinds]]
    for number, label in enumerate(found.schema.classes):
        pairs = [
            (first, second)
            for first in tables(old, [kind[0] for kind in kinds], label)
            for second in tables(new, [kind[1] for kind in kinds], label)
        ]
        assert pairs
        one_way = [(a, b) for a, b in pairs if not (a - b) or not (b - a)]
        checks = [(found.left, 1, pairs), (found.came, -1, pairs)]
        if found.together is not None:
            checks += [(found.together.left, 1, one_way), (found.together.came, -1, one_way)]
        else:
            some = found.schema.classes
            assert len(some) > 1 or not one_way
        for moved, sign, possible in checks:
            for k in np.flatnonzero(moved.label == number).tolist():
                kinds_in = np.flatnonzero(inside(found, moved, k, grid)).tolist()
                for first, second in possible:
                    net = sum(first[one] - second[one] for one in kinds_in)
                    assert sign * net >= moved.people[k]


@given(st.integers(0, 2**32 - 1))
@examples(30)
def test_all_pairs_of_tables_agree(seed) -> None:
    check_all_pairs(seed)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("first", one_in(20, range(0, 500, 25)))
def test_five_hundred_pairs(first) -> None:
    for seed in one_in(3, range(first, first + 25)):
        check_truth(seed)
        check_all_pairs(seed)
