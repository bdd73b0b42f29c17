"""The certificates, held against the people a forest was trained on."""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int
from treeaudit.attacks.reconstruction.details import Checked
from treeaudit.findings.numbers import People
from treeaudit.people.records import Records
from treeaudit.reconstruction.answer import Answer

__all__ = ["checked_on"]


def checked_on(train: Records, answer: Answer) -> Checked:
    """Return in how many cells with somebody certain there are as many people as was certain."""
    rng = np.random.default_rng(0)
    factor = rng.integers(1, 2**63, answer.n_trees, dtype=np.uint64) | np.uint64(1)
    person = _keys(train.node[:, : answer.n_trees], factor)
    cells = wrong = 0
    for label, one in enumerate(answer.labels):
        low, high = one.bounds.low, one.bounds.high
        mine = np.sort(person[train.known_labels == label])
        cell = _keys(answer.cells.leaf[:, one.cell].T, factor)
        there = np.searchsorted(mine, cell, "right") - np.searchsorted(mine, cell, "left")
        cells += int((low > 0).sum())
        wrong += int(((there < low) | (there > high)).sum())
    return Checked(cells=People(cells, "cell", "cells"), wrong=People(wrong, "cell", "cells"))


def _keys(leaf: Int, factor: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return a number per row of leaves, the same for the same leaves: a sum of 64 bits."""
    total = np.zeros(len(leaf), dtype=np.uint64)
    for i, one in enumerate(factor):
        total += (leaf[:, i].astype(np.uint64) + np.uint64(1)) * one
    return total
