"""Forests from which leaves were taken out: what is left is still true of the people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import treeaudit as ta
from tests.inference.test_bounds import holds
from tests.strategies import examples, one_in
from treeaudit.defenses.prune_leaves import PruneLeaves
from treeaudit.errors import DataError
from treeaudit.inference.exact import infer_exact


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
@examples(10)
def test_the_people_are_within_the_bounds(seed, k) -> None:
    check(seed, k)


@pytest.mark.slow
@pytest.mark.sampled
def test_three_hundred_forests() -> None:
    assert sum(check(seed, 2 + seed % 5) for seed in one_in(6, range(300))) > 0


def check(seed: int, k: int) -> int:
    """Prune a forest, hold the bounds against its people, and return how many are certain."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 5, int(rng.integers(1, 5)))
    values = np.column_stack([rng.integers(0, n, 40) for n in levels]).astype(float)
    labels = rng.integers(0, 2, 40)
    grown = RandomForestClassifier(int(rng.integers(2, 15)), bootstrap=False, random_state=seed)
    forest = ta.load(grown.fit(values, labels))
    try:
        pruned = PruneLeaves(min_leaf=k).apply(forest)
        answer = infer_exact(pruned)
    except DataError as error:
        assert "nothing would be left" in str(error)  # noqa: PT017  # no leaf is large enough
        return 0
    assert all(one.n_people <= sum(labels == i) for i, one in enumerate(answer.labels))
    assert answer.gaps == any((tree.n_records[tree.leaves] == 0).any() for tree in pruned.trees)
    return holds(answer, pruned, values, labels)


def test_method_1_does_not_protect_a_forest(tmp_path) -> None:
    """Nobody stands in a group below ten, and still people are certain, from the file alone."""
    rng = np.random.default_rng(0)
    values = (rng.random((600, 8)) < 0.2).astype(int)
    labels = rng.integers(0, 2, 600)
    grown = RandomForestClassifier(30, bootstrap=False, max_depth=6, random_state=0)
    grown.fit(values, labels)
    model = ta.save(ta.defend(grown, method="prune-leaves", min_leaf=10), tmp_path / "pruned.pkl")
    found = ta.scan(model, train=(values, labels), attacks=["TA108"])["TA108"]
    assert found.people > 0
    assert "of at least" in found.summary
    assert int(found.details.checked.wrong) == 0


def test_nobody_is_certain_where_leaves_are_no_longer_there() -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, 2, 60)
    grown = RandomForestClassifier(4, bootstrap=False, random_state=0).fit(values, labels)
    forest = ta.load(grown)
    pruned = PruneLeaves(min_leaf=3, unanswered="reject").apply(forest)
    with pytest.raises(DataError, match="who was in them is not told"):
        infer_exact(pruned)
    for old, new in ((forest, pruned), (pruned, forest)):
        with pytest.raises(DataError, match="not told"):
            ta.difference(old, new)
