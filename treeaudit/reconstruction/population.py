"""Who is where beforehand: people imagined in cells, from margins or from a public table."""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.people.records import Records
from treeaudit.reconstruction.cells import Cells

__all__ = ["counted", "independent", "keys", "values_of"]

_ANYWHERE = 0.02
"""Share of the people who may have any value, whatever the margins are."""


def keys(leaf: Int) -> npt.NDArray[np.uint64]:
    """Return a number per row of leaves, the same for the same leaves: a sum of 64 bits."""
    rng = np.random.default_rng(0)
    factor = rng.integers(1, 2**63, (leaf.shape[1], 1), dtype=np.uint64) | np.uint64(1)
    total = np.zeros(len(leaf), dtype=np.uint64)
    for i, one in enumerate(factor):
        total += (leaf[:, i].astype(np.uint64) + np.uint64(1)) * one
    return total


def counted(cells: Cells, cell: Wide, label: Wide, people: Records) -> Float:
    """Return how many of some people are in each place: in a cell, with a class."""
    found, n_trees = np.zeros(len(cell)), len(cells.leaf)
    person, there = keys(people.node[:, :n_trees]), keys(cells.leaf.T)
    for one in np.unique(label).tolist():
        mine = np.sort(person[people.known_labels == one])
        at = np.flatnonzero(label == one)
        key = there[cell[at]]
        found[at] = np.searchsorted(mine, key, "right") - np.searchsorted(mine, key, "left")
    return found


def independent(cells: Cells, cell: Wide, label: Wide, people: Float) -> Float:
    """Return shares of places as if values and label had nothing to do with each other.

    Parameters
    ----------
    people
        Shape ``(n_places,)``: people in each, of whom the margins are taken.

    Returns
    -------
    ndarray
        Above 0; adds up to 1 over all the places there are.
    """
    shares = [one @ share for one, share in _margins(cells, cell, people)]
    of_label = np.bincount(label, people) / people.sum()
    of_label = (1 - _ANYWHERE) * of_label + _ANYWHERE / len(of_label)
    product = np.prod([*shares, of_label[label]], axis=0)
    found: Float = product / product.sum()
    return found


def values_of(cells: Cells, cell: Wide, people: Float, chosen: Wide) -> Int:
    """Return the likeliest code of every variable in some places, shape ``(n, n_variables)``."""
    return np.stack(
        [
            np.where(one[chosen] > 0, share, -1.0).argmax(axis=1)
            for one, share in _margins(cells, cell, people)
        ],
        axis=1,
    ).astype(np.int32)


def _margins(cells: Cells, cell: Wide, people: Float) -> list[tuple[Float, Float]]:
    """Return per variable which codes each place holds, and the shares of the codes."""
    found = []
    layout = cells.layout
    for variable, row in zip(layout.domain.variables, layout.row.tolist(), strict=False):
        codes = np.arange(variable.n_codes)
        if variable.cuts is None:
            sets = cells.sets[row, cell].view(np.uint8)
            held = np.unpackbits(sets, axis=1, count=len(codes), bitorder="little")
        else:
            low, high = cells.low[row, cell][:, None], cells.high[row, cell][:, None]
            held = (codes >= low) & (codes < high)
        one = held.astype(np.float64)
        share = (people / one.sum(axis=1)) @ one
        share = (1 - _ANYWHERE) * share / share.sum() + _ANYWHERE / len(codes)
        found.append((one, share))
    return found
