"""How far a reconstructed table is from the people: Ferry et al. (2024)."""

import numpy as np

from treeaudit.arrays import Float
from treeaudit.model.schema import Schema
from treeaudit.reconstruction.likely import Likely
from treeaudit.reconstruction.population import values_of

__all__ = ["error", "records_of"]


def error(found: Float, people: Float) -> float:
    """Return the share of values that differ when records are paired as well as can be.

    Parameters
    ----------
    found, people
        Shape ``(n_records, n_features)``, of the same people in any order.

    Examples
    --------
    The first two are each other's; of the third one of two values is wrong.

    >>> error(np.array([[1, 1], [0, 0], [0, 1]]), np.array([[0, 0], [1, 1], [0, 0]])).__round__(3)
    0.167
    """
    n = np.float32(found.shape[1])
    apart = np.zeros((len(found), len(people)), dtype=np.float32)
    for mine, theirs in zip(found.T, people.T, strict=True):
        apart += mine[:, None] != theirs
    # Loaded late: nobody who only scans a file needs it.
    from scipy.optimize import linear_sum_assignment

    pairs = linear_sum_assignment(apart)
    return float(apart[pairs].mean() / n)


def records_of(answer: Likely, schema: Schema) -> Float | None:
    """Return the likeliest table as the model takes it; None where a column is a number.

    Of a cell of several records the likeliest one is taken; a column that no tree asks about is 0.
    """
    if any(one.cuts is not None for one in answer.domain.variables):
        return None
    codes = values_of(answer.cells, answer.cell, answer.guess, answer.people.place)
    found = np.zeros((len(codes), len(schema.features)))
    for variable, code in zip(answer.domain.variables, codes.T, strict=True):
        if variable.kind == "categories":
            found[:, variable.features[0]] = code
        else:
            for member, feature in enumerate(variable.features):
                found[:, feature] = code == member
    return found
