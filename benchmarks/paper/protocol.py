"""The paper's protocol: ten splits of 80 to 20, trees of depth 3 to 7, six thresholds.

Every figure is taken for several tree seeds: scikit-learn breaks ties between
equally good splits at random, and the paper gives no seed.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from benchmarks.paper.cells import THRESHOLDS, Cell, Measured
from benchmarks.paper.clean import answers, audited, defended, policy_search
from benchmarks.paper.data import People
from benchmarks.paper.printed_rules import cut, left_by_merging, nodes, stopped

__all__ = ["PARENT_ONLY", "SEARCH", "SPARING", "run_clean", "run_printed"]

SPARING = "Method 1, sparing capital-gain"
"""The emptied nodes without those that split on one column."""
PARENT_ONLY = "Method 2, not by position"
"""The printed counts of Method 2 by the rule of the other data sets."""
SEARCH = "policy default"
"""The mildest repair that passes."""

_CLEAN_SEEDS = 5

Labels = npt.NDArray[np.object_]
Figures = Iterable[tuple[tuple[str, int, str], float]]


def run_printed(
    name: str, people: People, depths: Sequence[int], splits: int = 10, seeds: int | None = None
) -> Measured:
    """Measure by the printed rules.

    Parameters
    ----------
    name
        What to call the data set in the cells.
    people
        Its records; the columns that number them are features.
    depths
        How deep the trees are.
    splits, seeds
        How many of each; as many tree seeds as the data set asks for unless told.
    """
    found = defaultdict(list)
    for split in range(splits):
        train, test, y_train, y_test = _split(people.features, people.labels, split)
        for depth in depths:
            for seed in range(seeds or people.n_seeds):
                model = _tree(depth, seed).fit(train, y_train)
                for (rule, s, what), value in _by_printed_rules(people, model, test, y_test):
                    found[Cell(name, rule, depth, s, what)].append(value)
    return _stacked(found, splits)


def run_clean(
    name: str,
    people: People,
    depths: Sequence[int],
    splits: int = 10,
    *,
    without: Sequence[str] = (),
) -> Measured:
    """Measure treeaudit's own methods, without the columns that are named."""
    found = defaultdict(list)
    features = people.features.drop(columns=list(without))
    for split in range(splits):
        train, test, y_train, y_test = _split(features, people.labels, split)
        for depth in depths:
            for seed in range(_CLEAN_SEEDS):
                forest = ta.load(_tree(depth, seed).fit(train, y_train))
                for (rule, s, what), value in _by_treeaudit(forest, test, y_test, depth):
                    found[Cell(name, rule, depth, s, what)].append(value)
    return _stacked(found, splits)


def _tree(depth: int, seed: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=depth, random_state=seed)


def _split(
    features: pd.DataFrame, labels: Labels, split: int
) -> tuple[pd.DataFrame, pd.DataFrame, Labels, Labels]:
    parts = train_test_split(features, labels, test_size=0.2, random_state=split)
    return parts[0], parts[1], parts[2], parts[3]


def _stacked(found: dict[Cell, list[float]], splits: int) -> Measured:
    return {cell: np.array(values, float).reshape(splits, -1) for cell, values in found.items()}


def _by_printed_rules(
    people: People, model: DecisionTreeClassifier, test: pd.DataFrame, labels: Labels
) -> Figures:
    tree, leaf = nodes(model), model.apply(test)
    answer = model.classes_[tree.majority]

    def counts(rule: str, s: int, held: npt.NDArray[np.bool_]) -> Figures:
        yield (rule, s, "U"), float((held & (tree.people == 1)).sum())
        yield (rule, s, "N_l"), float(held.sum())
        yield (rule, s, "N_u"), float(tree.people[held].sum())

    def emptied(rule: str, s: int, at: npt.NDArray[np.bool_]) -> Figures:
        stop = stopped(tree, at)[leaf]
        says = np.where(at[stop], people.emptied, answer[stop])
        yield (rule, s, "ACC"), float((says == labels).mean())

    yield from counts("none", 0, tree.pure)
    yield ("none", 0, "ACC"), float((answer[leaf] == labels).mean())
    for s in THRESHOLDS:
        at = cut(tree, s)
        yield from counts("Method 1", s, tree.pure & (tree.people > s))
        yield from emptied("Method 1", s, at)
        yield from counts("Method 2", s, left_by_merging(tree, s, by_position=people.by_position))
        yield ("Method 2", s, "ACC"), float((answer[stopped(tree, at)[leaf]] == labels).mean())
        if people.by_position:
            yield from counts(PARENT_ONLY, s, left_by_merging(tree, s, by_position=False))
        if people.spared:
            column = people.features.columns.get_loc(people.spared)
            yield from emptied(SPARING, s, at & (tree.feature != column))


def _by_treeaudit(forest: ta.Forest, test: pd.DataFrame, labels: Labels, depth: int) -> Figures:
    for what, value in {**audited(forest), **answers(forest, test, labels)}.items():
        yield ("none", 0, what), value
    if depth != 7:
        return
    for what, value in policy_search(forest, test, labels).items():
        yield (SEARCH, 0, what), value
    for s in THRESHOLDS:
        for (rule, what), value in defended(forest, s, test, labels).items():
            yield (rule, s, what), value
