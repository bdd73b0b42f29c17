"""The certificates, held against the people a forest was trained on."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide
from treeaudit.attacks.reconstruction.details import Checked
from treeaudit.findings.numbers import People
from treeaudit.people.records import Records
from treeaudit.reconstruction.cells import Cells
from treeaudit.reconstruction.system import Bounds

__all__ = ["checked_on"]


def checked_on(train: Records, cells: Cells, tables: Iterable[tuple[Wide, Bounds]]) -> Checked:
    """Return in how many cells with somebody certain there are as many people as was certain.

    Parameters
    ----------
    tables
        Per class, cells and how many people must and may be in each.
    """
    n_trees = len(cells.leaf)
    rng = np.random.default_rng(0)
    factor = rng.integers(1, 2**63, n_trees, dtype=np.uint64) | np.uint64(1)
    person = _keys(train.node[:, :n_trees], factor)
    held = wrong = 0
    for label, (at, bounds) in enumerate(tables):
        low, high = bounds.low, bounds.high
        mine = np.sort(person[train.known_labels == label])
        cell = _keys(cells.leaf[:, at].T, factor)
        there = np.searchsorted(mine, cell, "right") - np.searchsorted(mine, cell, "left")
        held += int((low > 0).sum())
        wrong += int(((there < low) | (there > high)).sum())
    return Checked(cells=People(held, "cell", "cells"), wrong=People(wrong, "cell", "cells"))


def _keys(leaf: Int, factor: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return a number per row of leaves, the same for the same leaves: a sum of 64 bits."""
    total = np.zeros(len(leaf), dtype=np.uint64)
    for i, one in enumerate(factor):
        total += (leaf[:, i].astype(np.uint64) + np.uint64(1)) * one
    return total
