"""Decide what the class numbers of a scikit-learn tree mean, and prove it.

Let ``n`` be the distinct training rows of a node (``n_node_samples``), ``w``
their weight (``weighted_n_node_samples``) and ``V`` the stored ``value``.

1. scikit-learn 1.4 changed ``V`` from class weights to class fractions. The
   numbers decide: rows that sum to ``w`` are weights, rows that sum to 1 are
   fractions and are multiplied by ``w``. (Where both hold, ``w`` is 1 and they
   mean the same.) Call the result ``C``: weight per class.
2. Without bootstrap and ``class_weight``, ``w = n`` in every leaf and whole ``C``
   mean that every row weighed 1: ``C`` is people. *Exact.*
3. Without bootstrap and with one weight per class, ``C[:, c] = weight_c *
   people_c`` and the people of a node sum to ``n``. So ``C @ u = n`` with
   ``u_c = 1 / weight_c``. If this overdetermined system has one solution that
   is positive, holds in every node and turns all ``C * u`` into whole numbers,
   these are the people. *Exact* if the ``class_weight`` that the file states
   weighs them so; otherwise *likely*, where three leaves more than the system
   needs agree: weights of single rows (sample_weight) can look like weights of
   classes, and without leaves to spare they do one time in ten. Weights that
   are stated as numbers need no solution. A class of weight 0 leaves no trace.
4. With bootstrap, ``w`` counts draws. If ``C`` is whole and every tree has the
   same total (the stated one, since 1.4), ``C`` is draws per class. *Exact*, but
   draws and not people, since 1.9; before, when weights of rows still weighed
   the draws, *likely* unless many trees agree.
5. Anything else stays *weighted*. A leaf with one class still holds exactly
   ``n`` people of it, whatever they weigh.

Checked on 749 trees of 13 versions: never wrong (notes on formats, section 4).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ReadError
from treeaudit.model.forest import CountsAre
from treeaudit.readers.limits import Most
from treeaudit.readers.types import Float, Wide

_SLACK = 1e-6
_TO_SPARE = 3
"""Leaves that have to agree beside those that the weights of classes are worked out from."""
_NOT_APART = (
    "rows have weights of their own (sample_weight or class_weight), and the file does not tell "
    "them apart"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meaning:
    """What class numbers are, why, and the factor that turns them into people.

    Attributes
    ----------
    counts_are, reason
        As in `treeaudit.Forest`.
    per_weight
        Shape ``(n_classes,)``: people per unit of weight, where known.
    """

    counts_are: CountsAre
    reason: str
    per_weight: Float | None = None


_BLOCK = 16_384
"""Numbers that are worked on at once: what a fast cache holds."""
_FIRST = 16
"""Rows that tell nearly always that they are no weights."""
_FEW = 8
"""Classes up to which one column after the other takes less than one row after the other."""


def class_weights(value: Float, weight: Float, room: Float | None = None) -> Float:
    """Return weight per class from ``value`` as stored before or since 1.4.

    Parameters
    ----------
    value
        Shape ``(n_nodes, n_classes)``, as stored.
    weight
        Shape ``(n_nodes,)``: ``weighted_n_node_samples``.
    room
        Where to write weights that are worked out; anew unless given.

    Examples
    --------
    >>> class_weights(np.array([[0.25, 0.75]]), np.array([8.0])).tolist()
    [[2.0, 6.0]]
    >>> class_weights(np.array([[2.0, 6.0]]), np.array([8.0])).tolist()
    [[2.0, 6.0]]
    >>> class_weights(np.array([[1.0, 0.0]]), np.array([1e-10])).tolist()
    [[1e-10, 0.0]]
    """
    found = _of_shares(value, weight, np.empty(value.shape) if room is None else room)
    return _told(value, weight) if found is None else found


def _told(value: Float, weight: Float) -> Float:
    """Return the same of numbers of either kind, or raise what they are not."""
    if value.min(initial=0) < 0:
        raise ReadError("the tree is damaged: a class has a negative count")
    with np.errstate(over="ignore"):
        total = _sums(value)
    few = slice(_FIRST)
    if all(_near(total[i], weight[i], _SLACK * (1 + weight[i])) for i in (few, slice(None))):
        return value
    if _near(total, 1.0, _SLACK):
        found = np.empty_like(value)
        for part in _blocks(value):
            found[part] = _near_whole(_times(value[part], weight[part]))
        return found
    raise ReadError(
        "the class numbers of the tree are neither counts nor fractions: the file is inconsistent"
    )


def _sums(table: Float) -> Float:
    """Return the sum of each row."""
    if table.shape[1] > _FEW:
        return table @ np.ones(table.shape[1])
    return reduce(np.add, table.T)


def _times(table: Float, each: Float) -> Float:
    """Return each row times a number of its own."""
    if table.shape[1] > _FEW:
        return table * each[:, None]
    product = np.empty(table.shape)
    for i, column in enumerate(table.T):
        np.multiply(column, each, out=product[:, i])
    return product


def _blocks(table: Float) -> Iterator[slice]:
    """Yield rows that are worked on at once: much as one would be read over and over."""
    rows = max(1, _BLOCK // table.shape[1])
    return (slice(begin, begin + rows) for begin in range(0, len(table), rows))


def _of_shares(value: Float, weight: Float, found: Float) -> Float | None:
    """Return shares times weights, each number read once; None where they may be no shares."""
    in_rows = value.shape[1] > _FEW
    with np.errstate(over="ignore"):
        few, their = _sums(value[:_FIRST]), weight[:_FIRST]
        if _near(few, their, _SLACK * (1 + their)):
            return None
        for part in _blocks(value):
            share, each = value[part], weight[part]
            if not in_rows:
                # A run of numbers for each class.
                share = np.array(share.T, order="C")
            total = _sums(share if in_rows else share.T)
            if not (share.min() >= 0 and total.max() - 1 <= _SLACK and 1 - total.min() <= _SLACK):
                return None
            if in_rows:
                found[part] = _near_whole(share * each[:, None])
                continue
            # A column at a time: numpy turns a table on its side slowly.
            for i, column in enumerate(_near_whole(share * each)):
                found[part, i] = column
    return found


def _near_whole(weights: Float) -> Float:
    """Return shares that were multiplied, whole numbers where that is what they were.

    A fraction times its weight misses the whole number by rounding only; and however little
    somebody weighs, it is not nothing.
    """
    near = np.rint(weights)
    slack = 1e-9 * near
    if _near(weights, near, slack):
        return near
    return np.where(np.abs(weights - near) <= slack, near, weights)


def people_per_class(
    weights: Float, n: Wide, weight: Float, class_weight: Mapping[int, float] | str | None = None
) -> Meaning:
    """Decide for a tree that saw every training row once (rules 2, 3 and 5).

    Parameters
    ----------
    weights
        Shape ``(n_leaves, n_classes)``, from `class_weights`. Inner nodes are
        sums of leaves and would prove nothing more.
    n
        Shape ``(n_leaves,)``: people per leaf.
    weight
        Shape ``(n_leaves,)``: total weight per leaf.
    class_weight
        As the file states it: the weight of each class by its position,
        ``balanced``, or None.

    Examples
    --------
    One person of a class that weighs 3, two of a class that weighs 1:

    >>> leaves = np.array([[3.0, 0.0], [0.0, 2.0]])
    >>> found = people_per_class(leaves, np.array([1, 2]), leaves.sum(axis=1), {0: 3.0})
    >>> found.counts_are, np.rint(leaves * found.per_weight).tolist()
    ('exact', [[1.0, 0.0], [0.0, 2.0]])
    """
    classes = weights.shape[1]
    if each_weighs_one(weights, n, weight, class_weight):
        return each_is_one(classes)
    used = np.flatnonzero(_largest(weights) > 0)
    system = weights[:, used]
    stated = _of_numbers(class_weight, used)
    if stated is not None and _fits(system / stated, n):
        return _told_apart(1 / stated, used, classes, proved=True)
    if system.size * len(used) > Most.work:
        return _weighted("there are too many classes to tell the weights of the rows apart")
    found, _, rank, _ = np.linalg.lstsq(system, n.astype(np.float64), rcond=None)
    solution: Float = np.asarray(found, np.float64)
    people = system * solution
    if rank < len(used) or not np.all(solution > 0) or not _fits(people, n):
        return _weighted(_NOT_APART)
    balanced = _balanced(class_weight, np.rint(people).sum(axis=0), classes)
    proved = balanced is not None and np.allclose(balanced * solution, 1, rtol=0, atol=_SLACK)
    if not proved and len(np.unique(system, axis=0)) < len(used) + _TO_SPARE:
        return _weighted(_NOT_APART)
    return _told_apart(solution, used, classes, proved=proved)


def _fits(people: Float, n: Wide) -> bool:
    """Tell whether numbers are whole and add up to the people of each leaf."""
    return np.allclose(people.sum(axis=1), n, rtol=0, atol=1e-4) and _whole(people, 1e-4)


def _told_apart(
    solution: Float, used: npt.NDArray[np.intp], classes: int, *, proved: bool
) -> Meaning:
    per_weight = np.zeros(classes)
    per_weight[used] = solution
    return Meaning(
        counts_are="exact" if proved else "likely",
        reason="each class has one weight, which the totals of the nodes give away",
        per_weight=per_weight,
    )


def each_is_one(classes: int) -> Meaning:
    """Return what class numbers are where `each_weighs_one`."""
    return Meaning(
        counts_are="exact", reason="every training row weighs 1", per_weight=np.ones(classes)
    )


def each_weighs_one(
    weights: Float, n: Wide, weight: Float, class_weight: Mapping[int, float] | str | None
) -> bool:
    """Tell whether weights are people (rule 2); those of some nodes are if those of more are."""
    return (
        _all_one(class_weight, np.flatnonzero(_largest(weights) > 0))
        and np.array_equal(weight, n)
        and _whole(weights)
    )


def _all_one(class_weight: Mapping[int, float] | str | None, used: npt.NDArray[np.intp]) -> bool:
    """Whether ``class_weight`` is as good as none."""
    if isinstance(class_weight, str):
        return False
    return class_weight is None or all(class_weight.get(int(c), 1) == 1 for c in used)


def _of_numbers(
    class_weight: Mapping[int, float] | str | None, used: npt.NDArray[np.intp]
) -> Float | None:
    """Return what one person of each class weighs, if the file states it as numbers."""
    if class_weight is None or isinstance(class_weight, str):
        return None
    stated = np.array([class_weight.get(int(c), 1.0) for c in used], dtype=np.float64)
    return stated if np.all((stated > 0) & np.isfinite(stated)) else None


def _balanced(
    class_weight: Mapping[int, float] | str | None, people: Float, classes: int
) -> Float | None:
    """Return what one person of each class weighs, if the file states that by a word."""
    if not isinstance(class_weight, str) or not np.all(people > 0):
        return None
    balanced: Float = people.sum() / (classes * people)
    return balanced


def _weighted(reason: str) -> Meaning:
    return Meaning(counts_are="weighted", reason=reason)


def _near(array: Float, other: Float | float, slack: Float | float) -> bool:
    """Whether no element is further off; without the temporaries that cost more than the sums."""
    gap = np.subtract(array, other)
    np.abs(gap, out=gap)
    return bool(np.all(gap <= slack))


def _whole(array: Float, slack: float = _SLACK) -> bool:
    for part in _blocks(array):
        some, near = array[part], np.rint(array[part])
        if not np.array_equal(some, near) and not _near(some, near, slack):
            return False
    return True


def _largest(table: Float) -> Float:
    """Return the largest number of each column."""
    if table.shape[1] > _FEW:
        return np.asarray(table.max(axis=0))
    return np.array([column.max() for column in table.T])
