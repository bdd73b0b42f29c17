"""Count vectors of all leaves, joined without sorting the small ones."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.strategies import grow
from treeaudit.attacks.background.certainty import vectors_of
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree


def counted(forest: Forest) -> Counter:
    """Leaf by leaf."""
    found = Counter()
    for tree in forest.trees:
        for row in tree.counts[tree.leaves]:
            if row.sum():
                found[tuple(sorted(row[row > 0].astype(int).tolist(), reverse=True))] += 1
    return found


def joined(forest: Forest) -> Counter:
    vectors = vectors_of(ta.reconstruct(forest).groups)
    rows = zip(vectors.counts.tolist(), vectors.leaves.tolist(), strict=True)
    return Counter({tuple(n for n in row if n): times for row, times in rows})


@given(st.lists(st.integers(0, 999), min_size=1, max_size=3), st.integers(2, 4))
def test_every_leaf_is_in_one_vector(seeds, classes) -> None:
    schema = Schema.numeric(3, [f"c{i}" for i in range(classes)])
    forest = Forest(trees=tuple(grow(seed, classes) for seed in seeds), schema=schema)
    assert joined(forest) == counted(forest)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=2, max_size=9))
def test_small_and_large_leaves_of_two_labels(rows) -> None:
    counts = np.array([row for row in rows if sum(row)] or [(1, 0)])
    n = len(counts)
    edges = np.arange(1, n)
    star = Tree(
        parent=[-1] + [0] * n,
        feature=[-1] + [0] * n,
        low=[-np.inf, -np.inf, *edges],
        high=[np.inf, *edges, np.inf],
        n_records=[counts.sum(), *counts.sum(axis=1)],
        counts=np.vstack([counts.sum(axis=0), counts]),
    )
    forest = Forest(trees=(star,), schema=Schema.numeric(1, ["no", "yes"]))
    assert joined(forest) == counted(forest)
