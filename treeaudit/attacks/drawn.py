"""Whether the training people are those who were drawn, where seeds and the table's order tell."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records

__all__ = ["are_draws_of"]


def are_draws_of(
    forest: Forest, train: Records, draws: Callable[[], npt.NDArray[np.integer[Any]]]
) -> bool:
    """Tell whether draws are those of some people.

    The draws that the seeds of the file make again are those of these people only if they stand
    in the order of the training: then every leaf holds as many of each label as it says.

    Parameters
    ----------
    draws
        Gives how often each row was drawn for each tree, shape ``(n_records, n_trees)``.
    """
    if train.labels is None or forest.seeds is None or forest.n_records != len(train):
        return False
    if min(train.labels.min(initial=0), train.node.min(initial=0)) < 0:
        return False
    try:
        times = draws()
    except DataError:
        return False
    for t, tree in enumerate(forest.trees):
        if tree.counts is None:
            return False
        width = tree.counts.shape[1]
        place = train.node[:, t].astype(np.int64) * width + train.labels
        drawn = np.bincount(place, times[:, t], minlength=tree.n_nodes * width)
        if (drawn.reshape(-1, width) != tree.counts)[tree.leaves].any():
            return False
    return True
