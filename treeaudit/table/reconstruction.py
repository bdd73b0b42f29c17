"""From a model to its anonymised table, in one pass over the trees."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.tree import Tree
from treeaudit.model.words import sentence
from treeaudit.readers import load
from treeaudit.table.labels import Labels, LazyLabels, joined, labels_of
from treeaudit.table.table import Table

Int = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Leaves = tuple[Wide | None, Float | None]
"""People per leaf and class counts of some leaves of a tree, as far as they are told."""


def reconstruct(model: object, trees: Sequence[int] | None = None) -> Table:
    """Rebuild the anonymised table that a model gives away.

    Its labels are measured when they are first asked for.

    Parameters
    ----------
    model
        A path, a fitted estimator, or a `Forest`.
    trees
        Which trees; all of them unless told.

    Returns
    -------
    Table
        One row per leaf, in the order of the trees and of their nodes.

    Raises
    ------
    DataError
        If a tree is asked for that the model does not have.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...              high=[inf, 1.5, inf], n_records=[5, 2, 3], counts=[[2, 3], [2, 0], [0, 3]])
    >>> table = reconstruct(Forest(trees=(stump,), schema=Schema.numeric(1, ["no", "yes"])))
    >>> table.size.tolist(), table.labels.distinct.tolist()
    ([2, 3], [1, 1])
    """
    forest = load(model)
    wanted = range(forest.n_trees) if trees is None else sorted(set(trees))
    for index in wanted:
        _check_tree(forest, index)
    return _streamed(forest, wanted, _as_stated)


def measure(forest: Forest, progress: Callable[[int, int], None] | None = None) -> Table:
    """Rebuild the table of a model and measure its labels in the same pass."""
    labels: list[Labels | None] = []

    def see(counts: Float | None, size: Wide) -> None:
        labels.append(labels_of(counts, size, forest.counts_are))
        if progress is not None:
            progress(len(labels), forest.n_trees)

    table = _streamed(forest, range(forest.n_trees), _as_stated, see)
    n_leaves = np.diff(table.start).tolist()
    measured = LazyLabels(partial(joined, labels, n_leaves))
    # Asked for at once, so that the parts do not stay beside the whole.
    measured()
    return replace(table, _labels=measured)


def routed(table: Table, node: Int) -> Table:
    """Return a table in which trees that do not tell their people hold those who end in them.

    * ``table``: of all trees, with the rows of those that do not tell.
    * ``node``: shape ``(n_people, n_trees)``: where each training person ends.
    """
    if not table.n_silent or table.forest.counts_are == "noisy":
        return table
    forest, size = table.forest, table._size.copy()
    every = forest.records_are == "all"
    for i in range(forest.n_trees):
        rows = table.rows_of(i)
        people = np.bincount(node[:, i], minlength=1 + int(table.leaf[rows].max(initial=0)))
        held = people[table.leaf[rows]]
        if (size[rows] < 0).any():
            size[rows] = held
        else:
            # One that tells of everybody tells that nobody was left out of the others.
            every |= len(node) == int(size[rows].sum())
    return replace(
        table,
        n_silent=0 if every else table.n_silent,
        tells_people=True,
        _size=size,
        _labels=LazyLabels(partial(_measured, forest, _as_stated, table.start, table.leaf, size)),
    )


def with_labels(table: Table, node: Int, labels: npt.NDArray[np.integer[Any]]) -> Table:
    """Return a table with the labels of the training people too, where the file hides how many.

    * ``table``: of all trees; it tells the people of every row.
    * ``node``: shape ``(n_people, n_trees)``: where each training person ends.
    * ``labels``: shape ``(n_people,)``: the label of each, as a position.
    """
    forest = table.forest
    label_only = forest.counts_are == "label-only" and forest.privacy is None
    weighed = forest.counts_are == "weighted" and table.tells_labels
    hidden = (label_only or weighed) and forest.tree_classes is None
    if not hidden or not table.tells_people or forest.records_are != "all":
        return table
    n = len(forest.schema.classes or ())

    def counted(tree: int, leaf: Int) -> Float:
        at = node[:, tree].astype(np.int64) * n + labels
        held = np.bincount(at, minlength=n * (1 + int(leaf.max(initial=0))))
        return held.reshape(-1, n)[leaf].astype(np.float64)

    def measured() -> Labels | None:
        rows = [table.rows_of(i) for i in range(forest.n_trees)]
        each = [
            labels_of(counted(i, table.leaf[at]), table.size[at], "exact")
            for i, at in enumerate(rows)
        ]
        return joined(each, np.diff(table.start).tolist())

    of_people = LazyLabels(measured)
    # A leaf of which one label alone is known holds these at most.
    stated = of_people if label_only else table._labels
    return replace(table, _labels=stated, _labels_of_people=of_people)


def claimed(forest: Forest) -> Table:
    """Rebuild the table as the file claims it: noisy counts are read as people."""
    read = _rounded if forest.counts_are == "noisy" else _as_stated
    return _streamed(forest, range(forest.n_trees), read)


def _as_stated(tree: Tree, leaves: Int) -> Leaves:
    size = None if tree.n_records is None else tree.n_records[leaves]
    return size, None if tree.counts is None else tree.counts[leaves]


def _rounded(tree: Tree, leaves: Int) -> Leaves:
    if tree.n_records is not None or tree.counts is None:
        return _as_stated(tree, leaves)
    people = np.rint(np.maximum(tree.counts[leaves], 0))
    return people.sum(axis=1).astype(np.int64), people


def _streamed(
    forest: Forest,
    wanted: Sequence[int],
    read: Callable[[Tree, Int], Leaves],
    see: Callable[[Float | None, Wide], None] | None = None,
) -> Table:
    """Look at every tree once and keep a few numbers per leaf."""
    n_leaves = np.zeros(forest.n_trees, dtype=np.int64)
    n_nodes = n_silent = 0
    leaf, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for index in wanted:
        tree = forest.trees[index]
        leaves = tree.leaves
        size, counts = read(tree, leaves)
        if size is None:
            n_silent += 1
            size = np.full(len(leaves), -1)
        if see is not None:
            see(counts, size)
        leaf.append(leaves)
        sizes.append(size)
        n_leaves[index], n_nodes = len(leaves), n_nodes + tree.n_nodes
    start = np.concatenate([[0], np.cumsum(n_leaves)])
    leaves, size = np.concatenate(leaf), np.concatenate(sizes)
    return Table(
        forest=forest,
        start=start,
        leaf=leaves,
        n_nodes=n_nodes,
        n_leaves=len(leaves),
        n_silent=n_silent,
        tells_people=not n_silent,
        _size=size,
        _labels=LazyLabels(partial(_measured, forest, read, start, leaves, size)),
    )


def _measured(
    forest: Forest, read: Callable[[Tree, Int], Leaves], start: Wide, leaf: Int, size: Wide
) -> Labels | None:
    """Measure the labels in a pass of their own."""
    labels: list[Labels | None] = [None] * forest.n_trees
    for index in np.flatnonzero(np.diff(start)).tolist():
        rows = slice(start[index], start[index + 1])
        counts = read(forest.trees[index], leaf[rows])[1]
        labels[index] = labels_of(counts, size[rows], forest.counts_are)
    return joined(labels, np.diff(start).tolist())


def _check_tree(forest: Forest, index: int) -> None:
    if not 0 <= index < forest.n_trees:
        raise DataError(f"there is no tree {index}: the model has {forest.n_trees}")


def rule_text(forest: Forest, tree: int, leaf: int) -> str:
    """Return the rule of one leaf in words."""
    _check_tree(forest, tree)
    model = forest.trees[tree]
    if not 0 <= leaf < model.n_nodes or not model.is_leaf[leaf]:
        raise DataError(f"node {leaf} is no leaf of tree {tree}; 'reconstruct' lists the leaves")
    return sentence(rules_of(model, [leaf]), forest.schema)
