"""Least squares of numbers that are not below 0.

References
----------
Lawson and Hanson (1974), Solving least squares problems, chapter 23; Bro and de Jong (1997), A
fast non-negativity-constrained least squares algorithm. Here several unknowns enter at a time,
and only those that have entered are ever written out.
"""

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse

from treeaudit.arrays import Flag, Float, Wide

__all__ = ["nonnegative"]

_BATCH, _RATHER = 32, 0.3
_RIDGE, _END = 1e-13, 1e-12


def nonnegative(
    a: sparse.csc_matrix,
    b: Float,
    free: Flag | None = None,
    over: Callable[[], bool] = lambda: False,
) -> Float | None:
    """Return x of 0 and more with the least ``norm(a @ x - b)``; None where time is up.

    Parameters
    ----------
    free
        Which x may be below 0.
    over
        Tells whether time is up.

    Examples
    --------
    >>> a = sparse.csc_matrix(np.array([[1.0, 1.0], [0.0, 1.0]]))
    >>> nonnegative(a, np.array([1.0, -1.0])).round(9).tolist()
    [1.0, 0.0]
    """
    n = a.shape[1]
    turned = a.T.tocsr()
    x, at = np.zeros(n), np.zeros(0, dtype=np.int64)
    gram = np.zeros((0, 0))
    size = np.sqrt(np.asarray(a.multiply(a).sum(axis=0)).ravel())
    size[size == 0] = 1.0
    aim, left = turned @ b, b
    end = _END * float(np.linalg.norm(b))
    lowest = np.inf
    batch = _BATCH
    while not over():
        slope = (turned @ left) / size
        if free is not None:
            slope[free] = np.abs(slope[free])
        slope[at] = -np.inf
        best = slope.max()
        if best <= end:
            return x
        new = np.argsort(-slope)[:batch]
        new = new[slope[new] > max(_RATHER * best, end)]
        gram, at = _wider(a, gram, at, new), np.concatenate([at, new])
        at, gram = _inside(x, at, gram, aim, free)
        left = b - a @ x
        norm = float(np.linalg.norm(left))
        if norm >= lowest * (1 - 1e-15):
            if batch == 1:
                return x
            batch = 1
        lowest = min(lowest, norm)
    return None


def _wider(a: sparse.csc_matrix, gram: Float, at: Wide, new: Wide) -> Float:
    columns = a[:, new]
    own: Float = (columns.T @ columns).toarray()
    if not len(at):
        return own
    both = (columns.T @ a[:, at]).toarray()
    return np.block([[gram, both.T], [both, own]])


def _inside(x: Float, at: Wide, gram: Float, aim: Float, free: Flag | None) -> tuple[Wide, Float]:
    """Move x to the least squares of the unknowns at hand; those that would fall below 0 leave."""
    while len(at):
        goal = _solved(gram, aim[at])
        below = goal <= 0
        if free is not None:
            below &= ~free[at]
        if not below.any():
            x[at] = goal
            break
        here = x[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(below, here / (here - goal), np.inf)
        step = float(np.nanmin(share))
        x[at] = here + step * (goal - here)
        kept = ~(below & (share <= step * (1 + 1e-12)))
        x[at[~kept]] = 0.0
        at, gram = at[kept], gram[np.ix_(kept, kept)]
    return at, gram


def _solved(gram: Float, aim: Float) -> Float:
    scale = np.sqrt(gram.diagonal())
    scaled = gram / scale[:, None] / scale + _RIDGE * np.eye(len(scale))
    try:
        found: Float = linalg.cho_solve(linalg.cho_factor(scaled), aim / scale) / scale
    except linalg.LinAlgError:
        found = np.linalg.lstsq(scaled, aim / scale, rcond=None)[0] / scale
    return found
