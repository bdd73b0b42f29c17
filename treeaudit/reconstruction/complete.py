"""Whether values were missing in the training data, as far as a file tells."""

from collections.abc import Iterable, Iterator

import numpy as np

from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["complete"]

_COUNTED_ANEW = 4.0
"""Leaves may have been counted anew on those who were not drawn: by chance sides differ less."""
_WHY = "who is certain is worked out only where no value was missing in the training data"


def complete(forest: Forest, trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield trees of a forest, as long as nothing tells that values were missing in training.

    Raises
    ------
    DataError
        If the file says so of a column that a tree asks about, or if a tree shows it: scikit-learn
        sends what was never missing to the larger side.
    """
    features = forest.schema.features
    gaps = np.array([one.had_missing for one in features], dtype=np.bool_)
    by_size = forest.source.library == "scikit-learn"
    slack = 0.0 if forest.answers == "sum" else _COUNTED_ANEW
    for i, tree in enumerate(trees):
        asked = tree.feature[tree.parent >= 0]
        if gaps.any() and gaps[asked].any():
            name = features[int(asked[gaps[asked]][0])].name
            raise DataError(f"{_WHY}, and the file tells that some were of column {name!r}")
        if (tree.low == np.inf).any():
            raise DataError(f"{_WHY}, and tree {i} asks whether one is")
        if by_size and _not_by_size(tree, slack):
            if tree.n_records is not None and (tree.n_records[tree.leaves] == 0).any():
                # Sides were larger before a repair took people out of them.
                raise DataError(f"{_WHY}, and tree {i}, which leaves were taken out of, hides it")
            raise DataError(f"{_WHY}, and tree {i} tells that some were, by where it sends them")
        yield tree


def _not_by_size(tree: Tree, slack: float) -> bool:
    """Tell whether missing values of a number go to a side that is not the larger one.

    Parameters
    ----------
    slack
        By how many times the square root of the people in a node sides must differ to count.
    """
    if tree.missing is None or tree.n_records is None:
        return False
    numbers = np.isfinite(tree.low) | np.isfinite(tree.high)
    at = np.flatnonzero((tree.parent >= 0) & tree.missing & numbers)
    n, left = tree.n_records[tree.parent[at]], np.isfinite(tree.high[at])
    less = n - 2 * tree.n_records[at] - slack * np.sqrt(n)
    # Of sides of one size the right one is taken; and a release that never asked where missing
    # values belong sends all of them there.
    return bool(((less > 0) & left.any()).any() or ((less == 0) & left).any())
