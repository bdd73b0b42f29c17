"""Who was drawn for which tree: the draws of a bagged forest, made again from its seeds."""

from dataclasses import replace

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.checks.bootstrap_counts import drawn_times
from treeaudit.reconstruction.scope import not_usable

__all__ = ["check_draws", "not_drawn", "not_draws", "times_of"]

_MOST_DRAWS = 50_000_000


def not_drawn(forest: Forest) -> str | None:
    """Say why it is not known who was drawn for the trees of a model, or why that says nothing."""
    if forest.records_are != "bootstrap":
        return "its trees were not trained on draws"
    if forest.seeds is None:
        return not_usable(forest)
    if (reason := not_draws(forest)) is not None:
        return reason
    if (forest.n_records or 0) * forest.n_trees > _MOST_DRAWS:
        return f"more than {_MOST_DRAWS:,} draws are not made again"
    return None


def not_draws(forest: Forest) -> str | None:
    """Say why the leaves of a model are no draws from so many people; None where they are."""
    if forest.records_are != "bootstrap":
        return "its trees were not trained on draws"
    if (reason := not_usable(replace(forest, records_are="all"))) is not None:
        return reason
    if forest.n_records is None:
        return "it does not tell of how many people its trees were drawn"
    return None


def times_of(forest: Forest) -> Wide:
    """Return how often each row was drawn for each tree, shape ``(n_people, n_trees)``.

    For each tree scikit-learn draws as many rows as its root holds, with replacement, from a
    generator that starts from the tree's seed. The draws are those of the file only where each
    tree holds as many distinct people as are drawn.

    Raises
    ------
    DataError
        If `not_drawn` has a reason, or if they are not.
    """
    check_draws(forest)
    n = forest.n_records or 0
    # By columns: what the first tree shows to be other draws has then not touched the others.
    times = np.zeros((n, forest.n_trees), dtype=np.int64, order="F")
    for t in range(forest.n_trees):
        times[:, t] = _times(forest, t)
    return times


def check_draws(forest: Forest) -> None:
    """Draw for the first tree alone: what shows other draws mostly shows there.

    Raises
    ------
    DataError
        As `times_of`.
    """
    if (reason := not_drawn(forest)) is not None:
        raise DataError(reason)
    if len(forest.seeds or ()) != forest.n_trees:
        raise DataError(f"there are {len(forest.seeds or ()):,} seeds for {forest.n_trees:,} trees")
    _times(forest, 0)


def _times(forest: Forest, t: int) -> Wide:
    """Return how often each row was drawn for one tree."""
    n, tree = forest.n_records or 0, forest.trees[t]
    if tree.counts is None or tree.n_records is None:
        raise DataError("a tree does not hold how many people it was trained on")
    leaves = tree.leaves
    times = drawn_times((forest.seeds or ())[t], n, round(float(tree.counts[leaves].sum())))
    if np.count_nonzero(times) != tree.n_records[leaves].sum():
        raise DataError("its seeds do not draw the people whom its trees hold")
    return times
