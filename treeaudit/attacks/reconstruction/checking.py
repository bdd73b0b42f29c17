"""The certificates, held against the people a forest was trained on."""

from collections.abc import Iterable

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.attacks.reconstruction.details import Checked
from treeaudit.findings.numbers import People
from treeaudit.inference.bounds import Bounds
from treeaudit.inference.cells import Cells, leaf_keys
from treeaudit.people.records import Records

__all__ = ["checked_on"]


def checked_on(train: Records, cells: Cells, tables: Iterable[tuple[Wide, Bounds]]) -> Checked:
    """Return in how many cells with somebody certain there are as many people as was certain.

    Parameters
    ----------
    tables
        Per class, cells and how many people must and may be in each.
    """
    n_trees = len(cells.leaf)
    person = leaf_keys(train.node[:, :n_trees])
    held = wrong = 0
    for label, (at, bounds) in enumerate(tables):
        low, high = bounds.low, bounds.high
        mine = np.sort(person[train.known_labels == label])
        cell = leaf_keys(cells.leaf[:, at].T)
        there = np.searchsorted(mine, cell, "right") - np.searchsorted(mine, cell, "left")
        held += int((low > 0).sum())
        wrong += int(((there < low) | (there > high)).sum())
    return Checked(cells=People(held, "cell", "cells"), wrong=People(wrong, "cell", "cells"))
