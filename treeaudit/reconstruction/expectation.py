"""The likeliest table behind counts that are off by chance: expectation and maximisation.

References
----------
Richardson (1972), Bayesian-based iterative method of image restoration. Lucy (1974), An iterative
technique for the rectification of observed distributions.
"""

from collections.abc import Callable

import numpy as np

from treeaudit.arrays import Float, Wide

__all__ = ["likeliest"]

_NOBODY = 0.1
"""People in a place that is left out from then on, as a share of those in a place on average."""


def likeliest(
    row: Wide,
    told: Float,
    n_people: int,
    over: Callable[[], bool] = lambda: False,
    rounds: int = 100,
) -> Float:
    """Return how many people are in each place, so that counts as these are the likeliest.

    With Poisson counts of mean ``A x`` each round takes x to ``x * A'(told / A x) / n_equations``;
    whoever has reached 0 stays there. Where nobody is counted, all places are as likely.

    Parameters
    ----------
    row
        Shape ``(n_places, n_equations)``: the rows that each place is in, one an equation.
    told
        Shape ``(n_rows,)``: about how many people are in a row.
    over
        Tells whether to stop before that.
    rounds
        How many.

    Examples
    --------
    Two trees part three places, 3 : 1 and 1 : 3.

    >>> row = np.array([[0, 2], [0, 3], [1, 3]])
    >>> likeliest(row, np.array([3.0, 1.0, 1.0, 3.0]), 4).round(2).tolist()
    [1.0, 2.0, 1.0]
    """
    # Loaded late: nobody who only scans a file needs it.
    from scipy.sparse import csr_array

    n_places, n_equations = row.shape
    ends = np.arange(0, row.size + 1, max(n_equations, 1), dtype=np.int32)
    shape = (n_places, len(told))
    held = csr_array((np.ones(row.size), row.ravel().astype(np.int32), ends), shape=shape)
    found = np.zeros(n_places)
    at, guess = np.arange(n_places), np.full(n_places, n_people / max(n_places, 1))
    for i in range(rounds):
        if over():
            break
        ratio = told / np.maximum(held.T @ guess, 1e-12)
        guess = guess * (held @ ratio) / n_equations
        if i == rounds - 1 or i % 10 == 9:
            kept = guess > _NOBODY * n_people / n_places
            at, guess, held = at[kept], guess[kept], held[kept]
    found[at] = guess
    total = found.sum()
    return found * (n_people / total) if total else np.full(n_places, n_people / max(n_places, 1))
