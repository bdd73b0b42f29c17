"""Bounds of whole numbers from equations whose coefficients are known to within an error.

Any multipliers y of the equations ``A x = b + e``, ``abs(e) <= error``, prove something: with
``s = y A`` it is ``sum s x = y b + y e``, and the last part is at most ``abs(y) @ error``. How y
was found does not matter, so that it may be found by floating-point arithmetic.

Nobody. If s is 0 or more for every x, and some x k has ``s[k] > y b + abs(y) error``, it is 0.
One y serves for all empty cells at once: of those with ``s >= 1`` there, and 0 where somebody is,
the shortest, a problem of least distance.

Somebody. If s is 1 for one x and 0 for the others, that x is ``y b`` to within the error. Such y
are the rows of a left inverse of the columns that are still open.

References
----------
Neumaier and Shcherbina (2004), Safe bounds in linear and mixed-integer linear programming.
Lawson and Hanson (1974), Solving least squares problems, chapter 23. Bro and de Jong (1997), A
fast non-negativity-constrained least squares algorithm.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from scipy import linalg, sparse

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.inference.boosted_equations import Equations
from treeaudit.inference.bounds import Bounds
from treeaudit.inference.scope import Budget

_MOST_OPEN, _TRIES = 2_500, 20
_SLACK = 1e-9
_SUM, _TYPICAL, _EVEN = 1e-12, 1e-7, 0.1
_RIDGE = 1e-13
_TIMES, _MOST_NODES = 100.0, 50
"""Equations are multiplied before the search, which takes a millionth for nothing.

It finds whole numbers at few nodes, if at all.
"""


def nearest_solution(equations: Equations, over: Callable[[], bool]) -> Float | None:
    """Return the whole numbers nearest to the least squares of the equations; None without time."""
    # Not what rounding can do at worst, but what it does on the whole.
    size = abs(equations.middle).max(axis=1).toarray().ravel() * np.sqrt(equations.people + 1)
    weight = 1 / (equations.tolerance + _TYPICAL * size + _SUM)
    columns = (sparse.diags(weight) @ equations.middle).tocsc()
    possible = equations.most > 0
    if not possible.any():
        return np.zeros(len(possible))
    solution = nonnegative_least_squares(
        columns[:, np.flatnonzero(possible)], weight * equations.target, over=over
    )
    if solution is None:
        return None
    whole = np.zeros(len(possible))
    whole[possible] = np.rint(solution)
    return whole


def searched_solution(equations: Equations, budget: Budget) -> Float | None:
    """Return whole numbers that fulfil the equations, sought by branch and bound; None without."""
    from scipy.optimize import Bounds as Sides
    from scipy.optimize import LinearConstraint, milp

    at = np.flatnonzero(equations.most > 0)
    if not 0 < len(at) <= _MOST_OPEN:
        return None
    size = abs(equations.middle).max(axis=1).toarray().ravel()
    times = _TIMES / np.where(size > 0, size, 1.0)
    error = times * equations.errors(equations.most) + _SLACK
    middle = times * equations.target
    with _unprinted():
        found = milp(
            np.zeros(len(at)),
            constraints=LinearConstraint(
                sparse.diags(times) @ equations.middle[:, at], middle - error, middle + error
            ),
            integrality=np.ones(len(at)),
            bounds=Sides(0, equations.most[at]),
            options={"time_limit": max(budget.left, 0.1), "node_limit": _MOST_NODES},
        )
    if found.x is None:
        return None
    whole = np.zeros(len(equations.most))
    whole[at] = np.rint(found.x)
    return whole


@contextmanager
def _unprinted() -> Iterator[None]:
    """Keep off the standard output, which may be a report, what the solver prints of its own."""
    try:
        kept = os.dup(1)
    except OSError:  # there is none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def fulfils(equations: Equations, x: Float) -> bool:
    """Tell whether numbers fulfil every equation."""
    size = abs(equations.middle) @ x
    allowed = (
        equations.tolerance + equations.width @ x + _SUM * (1 + np.abs(equations.target) + size)
    )
    away = np.abs(equations.middle @ x - equations.target)
    return bool((away <= allowed).all() and (x >= 0).all() and (x <= equations.most).all())


def enclose(equations: Equations, x: Float, over: Callable[[], bool]) -> tuple[Bounds, bool]:
    """Return bounds that hold for all numbers that fulfil the equations, and whether time was left.

    The numbers ``x`` do: nothing is proved by them, but they show what to try.
    """
    low, high = np.zeros(len(x)), equations.most.copy()
    for _ in range(_TRIES):
        before = low.copy(), high.copy()
        for step in (_nobody, _somebody):
            if over():
                return Bounds(low=low, high=high), False
            step(equations, x, low, high, over)
        if (low == high).all():
            break
        if (low == before[0]).all() and (high == before[1]).all():
            break
    return Bounds(low=low, high=high), not over()


def _nobody(
    equations: Equations, x: Float, low: Float, high: Float, over: Callable[[], bool]
) -> None:
    """Prove as many cells as possible empty."""
    open_ = np.flatnonzero(low < high)
    empty = x[open_] == 0
    error = equations.errors(high)
    weight = _weights(error)
    columns = equations.middle.tocsc()[:, open_]
    weighted = (sparse.diags(weight) @ columns).tocsc()
    size = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=0)).ravel())
    target = equations.target - equations.middle @ low
    wish = np.where(empty & (size > 0), size, 0.0)
    scale = float(wish.max(initial=0.0))
    for _ in range(_TRIES):
        if not wish.any() or over():
            return
        more = sparse.vstack([weighted / scale, sparse.csr_matrix(wish / scale)]).tocsc()
        aim = np.zeros(more.shape[0])
        aim[-1] = 1.0
        solution = nonnegative_least_squares(more, aim, ~empty, over)
        if solution is None:
            return
        rest = aim - more @ solution
        if rest[-1] > _SLACK:
            y = -rest[:-1] * weight
            s = y @ columns
            doubt = _SUM * (np.abs(y) @ abs(columns))
            s = s - doubt
            against = float(np.maximum(-s, 0) @ (high - low)[open_])
            room = float(y @ target + np.abs(y) @ error) + against
            most = np.divide(room, s, out=np.full(len(s), np.inf), where=s > 0)
            most = np.floor(most * (1 + _SLACK) + _SLACK)
            # What counted against the bound was everybody else.
            high[open_] = np.minimum(high[open_], low[open_] + np.maximum(most, 0))
            return
        # These stand against each other: no y has them all above 0.
        wish[(solution > 0) & empty] = 0.0


def _somebody(
    equations: Equations, x: Float, low: Float, high: Float, over: Callable[[], bool]
) -> None:
    """Prove how many people are in cells by a left inverse of their columns."""
    open_ = np.flatnonzero(low < high)
    if not len(open_) or len(open_) > _MOST_OPEN:
        return
    error = equations.errors(high)
    weight = _weights(error)
    columns = equations.middle.tocsc()[:, open_]
    weighted = (sparse.diags(weight) @ columns).tocsc()
    gram = (weighted.T @ weighted).toarray()
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    gram = gram / scale[:, None] / scale + _RIDGE * np.eye(len(scale))
    try:
        factor = linalg.cho_factor(gram)
    except linalg.LinAlgError:
        return
    turned = linalg.cho_solve(factor, (weighted.T.toarray() / scale[:, None]))
    y = turned / scale[:, None] * weight
    s = y @ columns
    size = np.abs(y)
    away = np.abs(s - np.eye(len(open_))) + _SUM * (size @ abs(columns))
    middle = y @ (equations.target - equations.middle @ low)
    room = size @ error + away @ (high - low)[open_] + _SLACK * (1 + np.abs(middle))
    high[open_] = np.minimum(high[open_], low[open_] + np.floor(middle + room))
    low[open_] = np.maximum(low[open_], low[open_] + np.ceil(middle - room))


def _weights(error: Float) -> Float:
    """Return what equations weigh: the less they are off the more, within what numbers can hold."""
    weight: Float = 1 / np.maximum(error, _EVEN * float(np.median(error)))
    return weight


_BATCH, _RATHER = 32, 0.3
_MOST = 1_500
"""Unknowns above 0 at the same time."""
_RIDGE, _END = 1e-13, 1e-12


@np.errstate(all="ignore")  # what becomes of it is checked on the equations
def nonnegative_least_squares(
    a: sparse.csc_matrix,
    b: Float,
    free: Flag | None = None,
    over: Callable[[], bool] = lambda: False,
) -> Float | None:
    """Return x of 0 and more with the least ``norm(a @ x - b)``; None where that takes too much.

    ``free`` are the x that may be below 0; ``over`` tells whether time is up.
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
    while not over() and len(at) <= _MOST:
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
        at, gram = _inside(x, at, gram, aim, free, over)
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


def _inside(
    x: Float, at: Wide, gram: Float, aim: Float, free: Flag | None, over: Callable[[], bool]
) -> tuple[Wide, Float]:
    """Move x to the least squares of the unknowns at hand; those that would fall below 0 leave."""
    while len(at) and not over():
        goal = _solved(gram, aim[at])
        below = goal <= 0
        if free is not None:
            below &= ~free[at]
        if not below.any():
            x[at] = goal
            break
        here = x[at]
        # Who is at 0 and is to stay there leaves at once.
        moves = here - np.where(below, goal, here - 1.0)
        share = np.where(
            below, np.divide(here, moves, out=np.zeros_like(here), where=moves != 0), np.inf
        )
        step = float(share.min())
        x[at] = here + step * (goal - here)
        stays = ~(below & (share <= step * (1 + 1e-12)))
        x[at[~stays]] = 0.0
        at, gram = at[stays], gram[np.ix_(stays, stays)]
    return at, gram


def _solved(gram: Float, aim: Float) -> Float:
    scale = np.sqrt(gram.diagonal())
    scaled = gram / scale[:, None] / scale + _RIDGE * np.eye(len(scale))
    try:
        solution: Float = linalg.cho_solve(linalg.cho_factor(scaled), aim / scale) / scale
    except linalg.LinAlgError:
        solution = np.linalg.lstsq(scaled, aim / scale, rcond=None)[0] / scale
    return solution
