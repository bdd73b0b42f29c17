"""Small tables, forests trained on them, and every table that fits a forest."""

from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.readers import load

INF = np.inf
KINDS = ("binary", "ordinal", "mixed")


def stump(feature: int, *counts: list[float], **more) -> Tree:
    """Return a tree that asks whether a feature is above a half."""
    return Tree(
        parent=[-1, 0, 0], feature=[-1, feature, feature], low=[-INF, -INF, 0.5],
        high=[INF, 0.5, INF], counts=[np.sum(counts, axis=0), *counts], **more,
    )  # fmt: skip


def trained(seed: int, most_people: int = 60) -> tuple[Forest, np.ndarray, np.ndarray]:
    """Return a forest of 1 to 20 trees without bootstrap, its people, and their classes."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, most_people + 1)), int(rng.integers(1, 6))
    kind = KINDS[seed % len(KINDS)]
    levels = np.full(width, 2)
    if kind != "binary":
        levels[rng.random(width) < (0.5 if kind == "mixed" else 1)] = rng.integers(2, 9)
    values = np.column_stack([rng.integers(0, high, n) for high in levels]).astype(np.float64)
    labels = rng.integers(0, int(rng.integers(2, 4)), n)
    grown = (RandomForestClassifier, ExtraTreesClassifier)[int(rng.random() < 0.3)](
        int(rng.integers(1, 21)),
        bootstrap=False,
        min_samples_leaf=int(rng.integers(1, 5)),
        max_depth=[None, int(rng.integers(1, 5))][int(rng.random() < 0.5)],
        random_state=seed,
    ).fit(values, labels)
    return load(grown), values, np.searchsorted(grown.classes_, labels)


def small(seed: int) -> tuple[Forest, np.ndarray, np.ndarray, np.ndarray]:
    """Return a forest on at most eight people, and every record that there can be."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 4, int(rng.integers(1, 4)))
    grid = np.array(list(product(*map(range, levels))), dtype=np.float64)
    values = grid[rng.integers(0, len(grid), int(rng.integers(2, 9)))]
    labels = rng.integers(0, 2, len(values))
    labels[:2] = 0, 1
    grown = RandomForestClassifier(
        int(rng.integers(1, 6)), bootstrap=False, random_state=seed,
        min_samples_leaf=int(rng.integers(1, 4)),
    ).fit(values, labels)  # fmt: skip
    return load(grown), values, labels, grid


def every_table(forest: Forest, grid: np.ndarray, label: int) -> list[Counter]:
    """Return every table of people of a class that gives each leaf as many as it says.

    Each is counted by the leaves of its people; found by trying all of them.
    """
    leaf = [tuple(ends) for ends in forest.apply(grid).tolist()]
    told = [tree.counts[:, label] for tree in forest.trees]
    n = round(told[0][0])
    found = []
    for table in combinations_with_replacement(sorted(set(leaf)), n):
        counts = [Counter(ends) for ends in zip(*table, strict=True)] or [Counter()] * len(told)
        if all(
            said[node] == counts[tree][node]
            for tree, said in enumerate(told)
            for node in forest.trees[tree].leaves.tolist()
        ):
            found.append(Counter(table))
    return found
