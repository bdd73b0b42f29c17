"""Random trees on all records, with the class counts of their leaves asked for."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.curator import Curator
from treeaudit.model.coarse import Coarse
from treeaudit.model.lower import lower_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.walk import in_chunks, walk_of
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["branching", "counted", "least_share", "levels_of", "people_of", "with_counts"]

_CHUNK, _OF_BITS = 1 << 12, 32
"""Records that go down together: they stay at hand, and more of them where they are small."""
_TABLE = 4
"""Places of complete trees for each node of a tree that they stand for, at most."""
_WORTH_IT = 2
"""Questions of a record for each of its numbers, from which on these are made small first."""
_SIZE_SHARE = 50
"""The number of people costs one part of so many of the budget."""


def branching(schema: Schema) -> Fraction:
    """Return the mean number of parts that a column splits into (b of equation 15).

    Examples
    --------
    >>> from treeaudit.model.schema import Feature
    >>> age, sex = Feature(name="age", low=0, high=99), Feature(name="sex", categories=tuple("fmx"))
    >>> branching(Schema(features=(age, sex)))
    Fraction(5, 2)
    """
    fans = [2 if f.categories is None else len(f.categories) for f in schema.features]
    return Fraction(sum(fans), len(fans))


def people_of(
    rows: TrainingRows, curator: Curator, epsilon: Fraction, public: int | None, *, printed: bool
) -> tuple[int, Fraction]:
    """Return how many records there are, and the epsilon that is left.

    Parameters
    ----------
    public
        The number, where everybody knows it.
    printed
        Take the exact number, as the papers do; a fiftieth of epsilon buys a noisy one else.
    """
    if public is not None:
        return int(public), epsilon
    if printed:
        return max(1, len(rows)), epsilon
    cost = epsilon / _SIZE_SHARE
    noisy = curator.count("people", [len(rows)], cost)
    return max(1, int(noisy[0])), epsilon - cost


def least_share(epsilon: Fraction, public: int | None, n_trees: int) -> Fraction:
    """Return the least epsilon of a question where `people_of` and so many trees are asked."""
    if public is not None:
        return epsilon / n_trees
    return min(epsilon / _SIZE_SHARE, (epsilon - epsilon / _SIZE_SHARE) / n_trees)


def counted(
    trees: tuple[Tree, ...],
    rows: TrainingRows,
    ask: Callable[[str, Wide], Wide],
    n_jobs: int | None = None,
) -> tuple[Tree, ...]:
    """Return the trees with the class counts that were answered for their leaves.

    Parameters
    ----------
    ask
        From the name of a question and the true counts of the leaves of one tree, disjoint
        parts of all records, to the answer.
    """
    found = []
    gaps = bool(np.isnan(rows.values).any())
    coarse = None if gaps else _coarse(trees, rows)
    for number, tree in enumerate(trees):
        places = 0 if gaps else _TABLE * tree.n_nodes
        true = _counts(tree, rows, places, coarse, n_jobs)[tree.is_leaf]
        found.append(with_counts(tree, ask(f"leaf counts of tree {number + 1}", true)))
    return tuple(found)


def _coarse(trees: tuple[Tree, ...], rows: TrainingRows) -> Coarse | None:
    """Return the records in few bits, where all are numbers and enough is asked of them."""
    features = rows.schema.features
    low = [feature.low for feature in features if feature.low is not None]
    high = [feature.high for feature in features if feature.high is not None]
    asked = sum(tree.n_nodes.bit_length() for tree in trees)
    if not len(low) == len(high) == len(features) or asked < _WORTH_IT * len(features):
        return None
    return Coarse.of(rows.values, low, high)


def _counts(
    tree: Tree, rows: TrainingRows, places: int, coarse: Coarse | None, n_jobs: int | None
) -> Wide:
    """Count people by class and by the node where they end.

    The upper levels are a complete tree of at most so many places; where values are missing, none.
    """
    walk = walk_of([tree], rows.schema)
    n_nodes, n_classes = tree.n_nodes, rows.n_classes
    key = np.empty(len(rows), dtype=np.min_scalar_type(n_nodes * n_classes))
    levels = max(0, places.bit_length() - 1) if walk.everywhere else 0
    upper = lower_of(walk, np.zeros(1, dtype=np.int64), levels)
    questions = None if coarse is None else coarse.questions(upper)

    def route(chunk: slice) -> None:
        values, end = rows.values[chunk], np.zeros(chunk.stop - chunk.start, dtype=np.int64)
        if coarse is not None and questions is not None:
            end = coarse.down(questions, chunk)
        elif upper.asked:
            upper.down(values, np.zeros((1, len(end)), dtype=np.int64), out=end[None])
        if not upper.whole:
            end = walk.descend(values, end)
        key[chunk] = end * n_classes + rows.labels[chunk]

    in_chunks(route, len(rows), n_jobs, _CHUNK if coarse is None else _OF_BITS * _CHUNK)
    return np.bincount(key, minlength=n_nodes * n_classes).reshape(n_nodes, n_classes)


def with_counts(tree: Tree, of_leaves: Wide) -> Tree:
    """Return a tree with the counts of its leaves, in their order; nodes above add up."""
    counts = np.zeros((tree.n_nodes, of_leaves.shape[1]))
    counts[tree.is_leaf] = of_leaves
    return replace(tree, counts=summed(tree, counts))


def levels_of(n_people: int, branches: Fraction) -> int:
    """Return how often so many people can be split until one is left (log_b n).

    Examples
    --------
    >>> levels_of(1000, Fraction(10)), levels_of(8, Fraction(2)), levels_of(1, Fraction(1))
    (3, 3, 64)
    """
    if branches <= 1:
        return 64
    levels = 0
    while levels < 64 and branches ** (levels + 1) <= n_people:
        levels += 1
    return levels
