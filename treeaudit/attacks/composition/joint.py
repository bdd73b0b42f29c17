"""The answers of people that fit what all leaves say together.

Unknown is the answer x of everybody: the share of each label, or a number. With P_t x the mean
of x over the people of one's leaf in tree t, and s_t what that leaf says, the attacker minimises
the sum of (P_t x - s_t) ** 2 over people and trees, shares within their bounds: least squares
over the leaves with weights 1 / sqrt(people). As every P_t is a projection, the curvature is at
most the number of trees. The first step from nothing is the mean of what one's leaves say, the
answer of the model itself; whatever comes after is what the trees say together.

Everybody has to be in it: of a sample of people a leaf tells no sum. With a quarter of 40,000
people the attack found 95.6 % of labels where it finds 99.4 % with all (Adult, 100 trees).

References
----------
Beck and Teboulle (2009), A fast iterative shrinkage-thresholding algorithm. O'Donoghue and
Candes (2015), Adaptive restart for accelerated gradient schemes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Index, Int
from treeaudit.attacks.composition.equations import Said

_MOST_STEPS = 500
_AT_ONCE = 1 << 15
"""People times trees; fewer make calls dear, more fall out of the cache."""
_LOOK = 25
_SETTLED = 1e-3
_FEW = 0.7

_Column = tuple[Float, Index | None, Float]
"""Answers; whose are not 0, and these, or all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """What the attacker takes the answers to be.

    * ``x``: shape ``(n_people, n_columns)``, columns as in `Said.mean`.
    * ``answer``: shape ``(n_people,)``: the label as a position, or the number.
    * ``steps``: after how many steps.
    * ``settled``: whether the last 25 steps changed fewer than one answer in a thousand.
    * ``equations``: how many leaves say something of somebody.
    """

    x: Float
    answer: Float | Index
    steps: int
    settled: bool
    equations: int


def solve(
    said: Said, *, doubt: float = 0.0, tolerance: float = 0.0, most: int = _MOST_STEPS
) -> Solution:
    """Return the answers of people that fit what the leaves say best."""
    from threadpoolctl import threadpool_limits

    # A second thread of a product of vectors mostly waits, and that costs as much as working.
    with threadpool_limits(limits=1, user_api="blas"):
        return _solved(said, doubt, tolerance, most)


def _solved(said: Said, doubt: float, tolerance: float, most: int) -> Solution:
    told = _by_column(said)
    trees = (len(said.start) - 1) // len(told)
    # Leaves that stand for others answer like the model, and are no equations.
    start = _joined(
        _added(parts, lambda part, _: part.mean.astype(np.float64)) for _, parts in told
    )
    first = x = ahead = _bounded(said, start / trees)
    pace, before, settled, step = 1.0, _answers(said, x), False, 0
    while not settled and step < most:
        step += 1
        pulled = _joined(
            _added(parts, partial(_Part.lacks, kind=said.kind, x=_columns(ahead[:, at])))
            for at, parts in told
        )
        moved = ahead - pulled / trees
        new = _bounded(said, (trees * moved + doubt * first) / (trees + doubt))
        if float(np.vdot(ahead - new, new - x)) > 0:
            pace = 1.0
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        x, ahead, pace = new, new + ((pace - 1) / faster) * (new - x), faster
        if step % _LOOK == 0:
            now = _answers(said, x)
            settled = bool(np.mean(np.abs(now - before) > tolerance) <= _SETTLED)
            before = now
    equations = sum(len(part.size) - len(part.silent) for _, parts in told for part in parts)
    return Solution(x=x, answer=_answers(said, x), steps=step, settled=settled, equations=equations)


def _labels_of(x: Float) -> Index:
    """Return the likeliest label by the share of the second of two, or by that of each."""
    return (x[:, 0] > 0.5).astype(np.intp) if x.shape[1] == 1 else x.argmax(axis=1)


def _by_column(said: Said) -> "list[tuple[slice, list[_Part]]]":
    """Return the trees in parts: all of them, or those of each column that they tell of alone."""
    if said.column is None:
        return [(slice(None), _parts(said))]
    columns = range(said.n_columns)
    return [(slice(c, c + 1), _parts(said.of(np.flatnonzero(said.column == c)))) for c in columns]


def _parts(said: Said) -> "list[_Part]":
    """Return the trees, some together if there are few people."""
    people, trees = said.node.shape
    step = max(1, _AT_ONCE // max(people, 1))
    return [_Part.of(said, slice(i, min(i + step, trees))) for i in range(0, trees, step)]


def _joined(columns: Iterator[Float]) -> Float:
    first, *rest = columns
    return np.hstack([first, *rest]) if rest else first


def _columns(x: Float) -> "list[_Column]":
    """Return the answers of each column, and whose are not 0, if those are few."""
    found: list[_Column] = []
    for column in x.T:
        # Nothing is added where 0 is, and bounds make it the answer of most.
        some = np.flatnonzero(column)
        few = len(some) < _FEW * len(column)
        found.append((column, some, column[some]) if few else (column, None, column))
    return found


def _added(parts: "Sequence[_Part]", of: "Callable[[_Part, Index], Float]") -> Float:
    """Return the sum over the trees of something of one's leaves, person by person."""
    longest = max(len(part.at) for part in parts)
    # Arrays that are made anew for every tree cost more than what is put into them.
    where, each, total = np.empty(longest, dtype=np.intp), np.empty(longest), None
    for part in parts:
        # As numpy looks up: it takes four times as long to convert them on its way.
        at = where[: len(part.at)]
        at[:] = part.at
        told = of(part, at)
        if total is None:
            total = np.zeros((len(at) // part.trees, told.shape[1]))
        # All are in range.
        for i, column in enumerate(told.T):
            if part.trees > 1:
                term = column.take(at, mode="clip").reshape(part.trees, -1).sum(axis=0)
            else:
                term = each[: len(at)]
                column.take(at, out=term, mode="clip")
            total[:, i] += term
    return np.zeros((0, 0)) if total is None else total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """Some trees; what the nodes say in which somebody ends, and how many do.

    * ``trees``: how many.
    * ``at``: shape ``(n_trees * n_people,)``: where everybody ends, tree after tree, of those
      nodes.
    * ``silent``: the nodes that say nothing.

    All are held of every tree until the end, as small as they were told.
    """

    trees: int
    at: Int
    mean: Float
    size: npt.NDArray[np.unsignedinteger[Any]]
    silent: Index

    @classmethod
    def of(cls, said: Said, trees: slice) -> "_Part":
        """Count who ends where."""
        nodes = slice(int(said.start[trees.start]), int(said.start[trees.stop]))
        above = said.start[trees] - nodes.start
        at = said.node[:, trees.start]
        if len(above) > 1:
            at = (said.node[:, trees] + above.astype(np.int32)).ravel("F")
        size = np.bincount(at)
        return cls(
            trees=len(above),
            at=at,
            mean=said.mean[nodes],
            size=size.astype(np.min_scalar_type(size.max(initial=0))),
            silent=np.flatnonzero(~said.told[nodes]),
        )

    def lacks(self, at: Index, *, kind: str, x: "Sequence[_Column]") -> Float:
        """Return how far the means of the leaves are off what these say."""
        mean, size = np.empty(self.mean.shape), self.size.astype(np.float64)
        for i, (column, some, held) in enumerate(x):
            if self.trees > 1:
                total = np.bincount(at, np.tile(column, self.trees), len(mean))
            else:
                ends = at if some is None else at.take(some, mode="clip")
                total = np.bincount(ends, held, len(mean))
            np.divide(total, size, out=mean[:, i])
        if len(self.silent):
            mean[self.silent] = self.mean[self.silent]
        return _lacks(kind, mean, self.mean.astype(np.float64))


def _answers(said: Said, x: Float) -> Float | Index:
    return x[:, 0] if said.kind == "numbers" else _labels_of(x)


def _lacks(kind: str, mean: Float, said: Float) -> Float:
    """Return how far means are off what is said of them."""
    if kind != "labels":
        return mean - said
    two = mean.shape[1] == 1
    every = np.arange(len(mean))
    shares = np.hstack([1 - mean, mean]) if two else mean
    top = _labels_of(said)
    rivals = shares.copy()
    rivals[every, top] = -1.0
    rival = rivals.argmax(axis=1)
    # The label need not be more frequent than it has to be.
    off = np.maximum(rivals[every, rival] - shares[every, top], 0.0) / 2
    lacks = np.zeros_like(shares)
    lacks[every, rival], lacks[every, top] = off, -off
    return lacks[:, 1:] if two else lacks


def _bounded(said: Said, x: Float) -> Float:
    """Return the nearest answers that can be: shares that add up to 1, or any number.

    The extremes of the means of leaves are no bounds: people beyond them were averaged away.
    """
    if said.kind == "numbers":
        return x if said.span is None else np.clip(x, *said.span)
    if x.shape[1] == 1:
        return np.clip(x, 0.0, 1.0)
    # Duchi et al. (2008): the projection on the simplex.
    down = -np.sort(-x, axis=1)
    over = (np.cumsum(down, axis=1) - 1) / np.arange(1, x.shape[1] + 1)
    last = (down > over).sum(axis=1) - 1
    nearest: Float = np.maximum(x - over[np.arange(len(x)), last][:, None], 0.0)
    return nearest
