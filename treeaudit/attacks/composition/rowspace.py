"""Of which groups alone the sums of leaves tell: linear algebra, exact but for rounding.

What a group adds up to follows from the sums of the leaves where its unit vector is in their
row space: where nothing that all leaves leave open has anything of it. So a random vector, less its
part in the row space, is 0 at the groups of which everything follows, and at no other but by a
chance in millions; several are asked. The part in the row space comes from the Cholesky factor of
the smaller Gram matrix with pivots, or where that is large from conjugate gradients on the normal
equations.

References
----------
Björck (1996), Numerical methods for least squares problems.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Index
from treeaudit.attacks.composition.bounds import Sums

_VECTORS = 2
_DENSE, _DEAR = 4_000, 4e8
"""Rows of a Gram matrix, and what it may cost to count it."""
_NOTHING, _LITTLE = 1e-6, 1e-3
"""What of a random vector is none, and what may become none in more steps."""
_RANK = 1e-9
_MOST_STEPS, _FEWEST_STEPS, _WORK, _SETTLED = 500, 25, 1e9, 1e-9
_HELD = 20_000_000
"""Groups times trees whose places are held, and not worked out at every step."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Followed:
    """What follows from the sums.

    * ``known``: shape ``(n_groups,)``: of which groups the sum follows.
    * ``off``: shape ``(n_groups,)``: how far off it is where the leaves are off by what was given.
    * ``open``: how many groups may be known besides: the solution ended before that was told.
    """

    known: Flag
    off: Float
    open: int = 0


def follow(sums: Sums, off: Float | None = None) -> _Followed:
    """Return of which groups the sum follows from those of the leaves."""
    groups = sums.leaf.shape[1]
    held = sums.added(np.ones(groups))
    rows = np.flatnonzero(held)
    if not groups or not len(rows):
        return _Followed(known=np.zeros(groups, np.bool_), off=np.zeros(groups))
    # Every tree is a projection then: that of a group on the mean of its leaf.
    scale = np.zeros(len(held))
    scale[rows] = held[rows] ** -0.5
    rng = np.random.default_rng(0)
    random = rng.standard_normal((groups, _VECTORS))
    wanted = np.column_stack([scale * sums.added(one) for one in random.T])
    trees = len(sums.leaf)
    few = min(groups, len(rows)) <= _DENSE
    if few and trees * float(np.dot(held, held) if groups <= len(rows) else trees * groups) < _DEAR:
        if off is not None:
            wanted = np.column_stack([wanted, np.where(sums.counts, scale * off, 0.0)])
        found, settled = _by_factors(sums, scale, rows, wanted), True
    else:
        found, settled = _by_gradients(sums, scale, wanted[:, :1])
        if (np.abs(random[:, :1] - found) >= _LITTLE).all():
            # What one vector tells of nobody no other would.
            return _Followed(known=np.zeros(groups, np.bool_), off=np.zeros(groups))
        more, also = _by_gradients(sums, scale, wanted[:, 1:])
        found, settled = np.column_stack([found, more]), settled and also
    left = np.abs(random - found[:, :_VECTORS]).max(axis=1)
    known = left < _NOTHING
    if off is not None and found.shape[1] == _VECTORS and known.any():
        more, _ = _by_gradients(sums, scale, np.where(sums.counts, scale * off, 0.0)[:, None])
        found = np.column_stack([found, more])
    # What follows by small weights is small long before the end.
    maybe = 0 if settled else int(np.count_nonzero(left < _LITTLE) - np.count_nonzero(known))
    beside = found[:, _VECTORS] if found.shape[1] > _VECTORS else np.zeros(groups)
    return _Followed(known=known, off=beside, open=maybe)


def _by_factors(sums: Sums, scale: Float, rows: Index, wanted: Float) -> Float:
    """Return the shortest solution for every column of what is wanted of the leaves."""
    from scipy.linalg import cho_factor, cho_solve, lapack
    from scipy.sparse import csr_array

    at = sums.places()
    trees, groups = at.shape
    columns = np.tile(np.arange(groups), trees)
    table = csr_array((scale[at].ravel(), (at.ravel(), columns)), shape=(sums.n_leaves, groups))[
        rows
    ]
    wide = groups > table.shape[0]
    gram = (table @ table.T if wide else table.T @ table).toarray(order="F")
    edge = _RANK * float(gram.diagonal().max())
    factor, pivots, rank, _ = lapack.dpstrf(gram, tol=edge, lower=1, overwrite_a=1)
    lower = np.empty((len(factor), rank))
    lower[pivots - 1] = np.tril(factor[:, :rank])
    # The Gram matrix is L L', and its pseudo-inverse L (L' L)^-2 L'.
    inner = cho_factor(lower.T @ lower, overwrite_a=True, check_finite=False)

    def solved(right: Float) -> Float:
        found: Float = lower @ cho_solve(inner, cho_solve(inner, lower.T @ right))
        return found

    if wide:
        return np.asarray(table.T @ solved(wanted[rows]))
    return solved(np.asarray(table.T @ wanted[rows]))


def _by_gradients(sums: Sums, scale: Float, wanted: Float) -> tuple[Float, bool]:
    """Return the same by conjugate gradients, and whether they were done after so many steps."""
    held = list(sums.parts()) if sums.leaf.size <= _HELD else None
    most = int(min(_MOST_STEPS, max(_FEWEST_STEPS, _WORK / sums.leaf.size)))
    found = np.zeros((sums.leaf.shape[1], wanted.shape[1]))
    settled = True
    for i, column in enumerate(wanted.T):
        x, rest = np.zeros(len(found)), column.copy()
        way = pull = sums.told(scale * rest, held)
        size = float(pull @ pull)
        least, step = size * _SETTLED**2, 0
        while size > least and step < most:
            moved = scale * sums.added(way, held)
            pace = size / float(moved @ moved)
            x += pace * way
            rest -= pace * moved
            pull = sums.told(scale * rest, held)
            before, size = size, float(pull @ pull)
            way = pull + (size / before) * way
            step += 1
        found[:, i] = x
        settled &= size <= least
    return found, settled
