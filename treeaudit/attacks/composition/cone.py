"""Which groups of one label alone nothing else can be: one linear programme for all of them.

The true counts fit all leaves. Others that do are the true ones and a difference that every leaf
adds up to 0, which is at least 0 for groups that hold nobody of a label and at most 0 for those
that hold that label alone. The differences are a cone: the sum of two is one, so that one of them
is off 0 wherever any is. The groups where it is 0 are certain.
"""

import numpy as np

from treeaudit.arrays import Flag, Float
from treeaudit.attacks.composition.sums import Sums

__all__ = ["MOST_CELLS", "fixed"]

MOST_CELLS = 20_000
"""Groups times trees; the effort grows much faster than these."""
_MOST_STEPS, _HALF = 50_000, 0.5


def fixed(sums: Sums, sign: Float) -> Flag:
    """Return which groups can hold nothing else; none where that is not told after so many steps.

    Parameters
    ----------
    sums
        Which groups each leaf adds up.
    sign
        Shape ``(n_groups,)``: 1 for groups that hold nobody of the label, -1 for those that hold
        nobody else, 0 for all others.

    Examples
    --------
    One label among the first three of four groups, and one among the last three: in the outer two,
    or one in the middle. With none among the last three it is the first that has it.

    >>> leaf = np.array([[0, 0, 0, 1], [1, 0, 0, 0]])
    >>> sums = Sums(start=np.array([0, 2, 4]), leaf=leaf, counts=np.array([True, False] * 2))
    >>> fixed(sums, np.array([-1.0, 1, 1, -1])).tolist()
    [False, False, False, False]
    >>> fixed(sums, np.array([-1.0, 1, 1, 1])).tolist()
    [True, True, True, True]
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    signed = np.flatnonzero(sign)
    known = np.zeros(len(sign), dtype=np.bool_)
    at = sums.places()
    trees, groups = at.shape
    told = sums.counts[at]
    table = csr_array(
        (np.ones(int(told.sum())), (at[told], np.tile(np.arange(groups), (trees, 1))[told])),
        shape=(sums.n_leaves, groups),
    )
    rows = np.flatnonzero(np.bincount(at[told], minlength=sums.n_leaves))
    if not len(signed) or not len(rows):
        return known
    # Of each difference that has a sign a part up to 1 counts, and the rest does not.
    towards = np.where(sign == 0, 1.0, sign)
    table = table[rows] * towards[None, :]
    solved = linprog(
        np.r_[np.zeros(groups), -np.ones(len(signed))],
        A_eq=hstack([table, table[:, signed]], format="csc"),
        b_eq=np.zeros(len(rows)),
        bounds=[(0.0 if one else None, None) for one in sign] + [(0.0, 1.0)] * len(signed),
        method="highs",
        options={"maxiter": _MOST_STEPS},
    )
    if solved.status == 0:
        known[signed] = solved.x[groups:] < _HALF
    return known
