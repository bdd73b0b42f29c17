"""Who of the training people was drawn for which tree, where seeds and the table's order tell."""

from typing import TYPE_CHECKING

import numpy as np

from treeaudit.arrays import Flag
from treeaudit.errors import DataError
from treeaudit.later import later
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records

if TYPE_CHECKING:
    from treeaudit.reconstruction.draws import times_of
else:
    times_of = later("treeaudit.reconstruction.draws", "times_of")

__all__ = ["drawn_of"]


def drawn_of(forest: Forest, train: Records) -> Flag | None:
    """Return who was drawn, shape ``(n_records, n_trees)``; None where nothing shows it.

    The draws that the seeds of the file make again are those of these people only if they stand
    in the order of the training: then every leaf holds as many of each label as it says.
    """
    if train.labels is None or forest.seeds is None or forest.n_records != len(train):
        return None
    if min(train.labels.min(initial=0), train.node.min(initial=0)) < 0:
        return None
    try:
        times = times_of(forest)
    except DataError:
        return None
    for t, tree in enumerate(forest.trees):
        if tree.counts is None:
            return None
        width = tree.counts.shape[1]
        place = train.node[:, t].astype(np.int64) * width + train.labels
        drawn = np.bincount(place, times[:, t], minlength=tree.n_nodes * width)
        if (drawn.reshape(-1, width) != tree.counts)[tree.leaves].any():
            return None
    return times > 0
