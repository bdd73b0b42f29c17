"""Random trees, tables and models for the laws that hold for all of them."""

from collections.abc import Sequence

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import CategorySets, Tree

CATEGORIES = ("a", "b", "c", "d")


def smallest_intersection(forest: Forest, values: np.ndarray) -> int:
    """Return how many records share their leaves in all trees, at the least."""
    return int(np.unique(forest.apply(values), axis=0, return_counts=True)[1].min())


def examples(most: int) -> settings:
    """Try so many examples of a law, or as many as the profile tries if these are fewer."""
    return settings(max_examples=min(most, settings().max_examples))


def one_in(n: int, cases: Sequence) -> Sequence:
    """Return every nth of very many cases; all of them in the profile ``deep``."""
    return cases if settings().max_examples >= 1_000 else cases[::n]


@st.composite
def count_tables(draw: st.DrawFn, most: int = 12) -> np.ndarray:
    """Class counts per group, every group with somebody in it."""
    groups = draw(st.integers(1, 8))
    classes = draw(st.integers(1, 5))
    rows = st.lists(st.integers(0, most), min_size=classes, max_size=classes)
    table = draw(st.lists(rows.filter(any), min_size=groups, max_size=groups))
    return np.array(table, dtype=np.float64)


@st.composite
def forests(draw: st.DrawFn, most_trees: int = 3) -> Forest:
    """Forests of binary, multiway and category-set trees, with people who add up."""
    classes = draw(st.integers(2, 4))
    schema = Schema(
        features=(
            Feature(name="age"),
            Feature(name="income"),
            Feature(name="kind", categories=CATEGORIES),
        ),
        classes=tuple(f"class {i}" for i in range(classes)),
    )
    n_trees = draw(st.integers(1, most_trees))
    seeds = draw(st.lists(st.integers(0, 2**32 - 1), min_size=n_trees, max_size=n_trees))
    return Forest(trees=tuple(grow(seed, classes) for seed in seeds), schema=schema)


def grow(seed: int, classes: int, splits: int = 8) -> Tree:
    """Return a random tree of the schema that `forests` uses."""
    rng = np.random.default_rng(seed)
    parent, feature = [-1], [-1]
    low, high = [-np.inf], [np.inf]
    sets: list[list[int]] = [[]]
    counts = [rng.integers(1, 30, classes)]
    box = [{0: (-np.inf, np.inf), 1: (-np.inf, np.inf), 2: set(range(4))}]
    open_nodes = [0]
    for _ in range(int(rng.integers(0, splits + 1))):
        node = open_nodes.pop(int(rng.integers(len(open_nodes)))) if open_nodes else -1
        if node < 0 or counts[node].sum() < 2:
            continue
        for child_feature, edge in _children(rng, box[node]):
            parent.append(node)
            feature.append(child_feature)
            inside = dict(box[node])
            if child_feature == 2:
                sets.append(sorted(edge))
                low.append(-np.inf)
                high.append(np.inf)
                inside[2] = set(edge)
            else:
                sets.append([])
                low.append(edge[0])
                high.append(edge[1])
                old = inside[child_feature]
                inside[child_feature] = (max(old[0], edge[0]), min(old[1], edge[1]))
            box.append(inside)
            counts.append(np.zeros(classes, dtype=int))
            open_nodes.append(len(parent) - 1)
        _share_out(rng, counts, [i for i, p in enumerate(parent) if p == node], counts[node])
    sizes = [len(codes) for codes in sets]
    return Tree(
        parent=parent,
        feature=feature,
        low=low,
        high=high,
        categories=CategorySets(
            start=np.concatenate([[0], np.cumsum(sizes)]),
            codes=np.array([c for codes in sets for c in codes], dtype=np.int32),
        ),
        n_records=[int(c.sum()) for c in counts],
        counts=np.array(counts, dtype=np.float64),
    )


def _children(rng: np.random.Generator, box: dict) -> list:
    feature = int(rng.integers(3))
    if feature == 2 and len(box[2]) > 1:
        codes = sorted(box[2])
        if rng.random() < 0.5:
            return [(2, [code]) for code in codes]
        cut = int(rng.integers(1, len(codes)))
        return [(2, codes[:cut]), (2, codes[cut:])]
    feature = min(feature, 1)
    low, high = box[feature]
    threshold = float(rng.integers(-20, 20)) + 0.5
    if not low < threshold < high:
        threshold = (max(low, -100.0) + min(high, 100.0)) / 2
    return [(feature, (-np.inf, threshold)), (feature, (threshold, np.inf))]


def _share_out(rng: np.random.Generator, counts: list, children: list[int], total) -> None:
    """Give every child somebody where there are enough people."""
    people = np.repeat(np.arange(len(total)), total)
    rng.shuffle(people)
    homes = rng.integers(0, len(children), len(people))
    homes[: len(children)] = np.arange(len(children))[: len(people)]
    for i, child in enumerate(children):
        counts[child] = np.bincount(people[homes == i], minlength=len(total))


def rows(seed: int, n: int = 60) -> np.ndarray:
    """Return random records for the schema of `forests`, categories as codes."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.uniform(-30, 30, n), rng.uniform(-30, 30, n), rng.integers(0, 4, n)]
    )
