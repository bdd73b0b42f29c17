"""Draws that are known: no certificate is ever wrong, and whole tables come back in order."""

import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from tests.strategies import examples, one_in
from treeaudit.errors import DataError
from treeaudit.inference.bootstrap import (
    BootstrapSolution,
    infer_bootstrap,
    not_reproducible,
    sample_counts,
)
from treeaudit.model.forest import Forest
from treeaudit.readers import load


def trained(
    seed: int, most_people: int, most_values: int = 8
) -> tuple[Forest, np.ndarray, np.ndarray]:
    """Return a forest of draws, its people, and their classes."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, most_people + 1)), int(rng.integers(1, 5))
    levels = np.full(width, 2) if seed % 2 else rng.integers(2, most_values + 1, width)
    values = np.column_stack([rng.integers(0, high, n) for high in levels]).astype(np.float64)
    labels = rng.integers(0, int(rng.integers(2, 4)), n)
    grown = (RandomForestClassifier, ExtraTreesClassifier)[int(rng.random() < 0.3)](
        int(rng.integers(10, 31)),
        bootstrap=True,
        max_samples=[None, n - n // 3][int(rng.random() < 0.3)],
        min_samples_leaf=int(rng.integers(1, 4)),
        max_depth=[None, int(rng.integers(1, 5))][int(rng.random() < 0.4)],
        random_state=seed,
    ).fit(values, labels)
    return load(grown), values, np.searchsorted(grown.classes_, labels)


def holds(found: BootstrapSolution, forest: Forest, values: np.ndarray, labels: np.ndarray) -> None:
    """Hold what is certain, and what may be, against the people in their order."""
    leaf, codes = forest.apply(values), found.domain.codes(values)
    mine = (leaf[found.person] == found.cells.leaf[:, found.cell].T).all(axis=1)
    for variable, row, x in zip(
        found.domain.variables, found.cells.layout.row.tolist(), codes.T, strict=False
    ):
        of = x[found.person]
        if variable.cuts is None:
            # Where few questions let a column pass for 0 or 1, what is assumed may not hold.
            words = found.cells.sets[row, found.cell, 0].astype(np.int64)
            mine &= (of < 0) | ((words >> np.maximum(of, 0)) & 1 > 0)
        else:
            mine &= found.cells.low[row, found.cell] <= of
            mine &= of < found.cells.high[row, found.cell]
    mine &= found.label == labels[found.person]
    assert np.bincount(found.person[mine], minlength=len(values)).tolist() == [1] * len(values)
    assert (found.bounds.low <= mine).all()
    assert (mine <= found.bounds.high).all()


@given(st.integers(0, 2**32 - 1))
@examples(40)
def test_the_people_are_within_the_bounds(seed) -> None:
    forest, values, labels = trained(seed, most_people=40)
    if not_reproducible(forest) is None:
        holds(infer_bootstrap(forest, sample_counts(forest)), forest, values, labels)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("first", one_in(15, range(0, 1_500, 100)))
def test_many_small_tables(first) -> None:
    for seed in one_in(3, range(first, first + 100)):
        forest, values, labels = trained(seed, most_people=25)
        if not_reproducible(forest) is None:
            holds(infer_bootstrap(forest, sample_counts(forest)), forest, values, labels)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_the_bounds_hold_all_tables_that_fit(seed) -> None:
    """Three people of up to six records and two classes: every table is tried."""
    rng = np.random.default_rng(seed)
    grid = np.array(list(product(range(2), range(int(rng.integers(2, 4))))), dtype=np.float64)
    values, labels = grid[rng.integers(0, len(grid), 3)], np.array([0, 1, rng.integers(0, 2)])
    options = {"min_samples_leaf": int(rng.integers(1, 3)), "random_state": seed}
    forest = load(RandomForestClassifier(10, **options).fit(values, labels))
    if not_reproducible(forest) is not None:
        pytest.skip("nothing shows that its counts are draws")
    times = sample_counts(forest)
    found = infer_bootstrap(forest, times)
    leaf, place = forest.apply(grid), {}
    for i, at in enumerate(zip(found.person, found.cell, found.label, strict=True)):
        place[(at[0], *found.cells.leaf[:, at[1]], at[2])] = i
    n_tables = 0
    for record in product(range(len(grid)), repeat=3):
        ends = leaf[list(record)]
        for label in product(range(2), repeat=3):
            if not fits(forest, times, ends, np.array(label)):
                continue
            n_tables += 1
            table = np.zeros(len(found.person))
            for k in range(3):
                table[place[(k, *ends[k], label[k])]] = 1
            assert (found.bounds.low <= table).all()
            assert (table <= found.bounds.high).all()
    assert n_tables


def fits(forest: Forest, times: np.ndarray, ends: np.ndarray, labels: np.ndarray) -> bool:
    for t, tree in enumerate(forest.trees):
        counts, people = np.zeros_like(tree.counts), np.zeros(tree.n_nodes)
        np.add.at(counts, (ends[:, t], labels), times[:, t])
        np.add.at(people, ends[:, t], times[:, t] > 0)
        same = (counts == tree.counts)[tree.leaves].all()
        if not same or (people != tree.n_records)[tree.leaves].any():
            return False
    return True


@pytest.fixture
def default() -> RandomForestClassifier:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2, (40, 6)).astype(np.float64)
    return RandomForestClassifier(30, random_state=7).fit(values, rng.integers(0, 2, 40))


def test_draws_are_those_of_the_library(default) -> None:
    drawn = np.stack([np.bincount(one, minlength=40) for one in default.estimators_samples_], 1)
    assert (sample_counts(load(default)) == drawn).all()
    for tree in default.estimators_:
        tree.random_state = 0
    assert (sample_counts(load(default)) == drawn).all()


def test_seeds_of_other_draws_are_not_believed(default) -> None:
    forest = load(default)
    other = replace(forest, seeds=tuple(seed + 1 for seed in forest.seeds))
    with pytest.raises(DataError, match="its seeds do not draw the people whom its trees hold"):
        sample_counts(other)


@pytest.mark.parametrize("name", ["adult", "compas", "default_credit"])
def test_a_default_forest_gives_its_table_back_in_order(name) -> None:
    import pandas as pd

    path = Path(os.environ.get("TREEAUDIT_DATA", "")) / "forests" / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip("the public tables are not here")
    table = pd.read_csv(path).sample(100, random_state=0)
    values, labels = table.iloc[:, :-1], table.iloc[:, -1]
    forest = load(RandomForestClassifier(random_state=0).fit(values, labels))
    found = infer_bootstrap(forest, sample_counts(forest))
    assert found.person[found.exact].tolist() == list(range(100))
    holds(found, forest, values.to_numpy(np.float64), labels.to_numpy())
