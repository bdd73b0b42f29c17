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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from treeaudit.arrays import Float, Index, Int, Wide
from treeaudit.attacks.composition.equations import Said

_MOST_STEPS = 500
_LOOK = 25
_SETTLED = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """What the attacker takes the answers to be."""

    x: Float  # Shape `(n_people, n_columns)`, columns as in `Said.mean`
    answer: Float | Index  # Shape `(n_people,)`: the label as a position, or the number
    steps: int  # After how many steps
    settled: bool  # Whether the last 25 steps changed fewer than one answer in a thousand
    equations: int  # How many leaves say something of somebody
    unseen: Float | Index  # The same answers for people whom no leaf counts; see `solve`


def solve(
    said: Said,
    *,
    doubt: float = 0.0,
    tolerance: float = 0.0,
    most: int = _MOST_STEPS,
    unseen: Int | None = None,
) -> Solution:
    """Return the answers of people that fit what the leaves say best.

    ``unseen``: shape ``(n_unseen, n_trees)``: the entries in which other people end. They are
    answered like the people who share all their leaves, or would if there were any.
    """
    from threadpoolctl import threadpool_limits

    # A second thread of a product of vectors mostly waits, and that costs as much as working.
    with threadpool_limits(limits=1, user_api="blas"):
        return _solved(said, doubt, tolerance, most, unseen)


def _solved(said: Said, doubt: float, tolerance: float, most: int, unseen: Int | None) -> Solution:
    n = len(said.node)
    if unseen is not None:
        said = replace(said, node=np.vstack([said.node, unseen.astype(said.node.dtype)]))
    told = _by_column(said, n)
    trees = (len(said.start) - 1) // len(told)
    # Leaves that stand for others answer like the model, and are no equations.
    start = np.hstack([_added(each, lambda tree: tree.mean) for _, each in told])
    first = x = ahead = _bounded(said, start / trees)
    pace, before, settled, step = 1.0, _answers(said, x), False, 0
    while not settled and step < most:
        step += 1
        pulled = np.hstack(
            [
                _added(each, partial(_TreeLeaves.residual, kind=said.kind, x=ahead[:, columns]))
                for columns, each in told
            ]
        )
        moved = ahead - pulled / trees
        new = _bounded(said, (trees * moved + doubt * first) / (trees + doubt))
        if float(np.vdot((ahead - new)[:n], (new - x)[:n])) > 0:
            pace = 1.0
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        x, ahead, pace = new, new + ((pace - 1) / faster) * (new - x), faster
        if step % _LOOK == 0:
            now = _answers(said, x)
            settled = bool(np.mean(np.abs(now - before)[:n] > tolerance) <= _SETTLED)
            before = now
    equations = sum(len(tree.size) - len(tree.silent) for _, each in told for tree in each)
    answer = _answers(said, x)
    return Solution(
        x=x[:n],
        answer=answer[:n],
        steps=step,
        settled=settled,
        equations=equations,
        unseen=answer[n:],
    )


def _labels_of(x: Float) -> Index:
    """Return the likeliest label by the share of the second of two, or by that of each."""
    return (x[:, 0] > 0.5).astype(np.intp) if x.shape[1] == 1 else x.argmax(axis=1)


def _by_column(said: Said, n: int) -> "list[tuple[slice, list[_TreeLeaves]]]":
    """Return all trees, or those of each column if a tree is about one column alone."""
    if said.column is None:
        return [(slice(None), _leaves_of(said, n))]
    columns = range(said.n_columns)
    trees = [np.flatnonzero(said.column == c) for c in columns]
    return [(slice(c, c + 1), _leaves_of(said.of(trees[c]), n)) for c in columns]


def _leaves_of(said: Said, n: int) -> "list[_TreeLeaves]":
    trees = []
    for t, (begin, end) in enumerate(pairwise(said.start.tolist())):
        at = said.node[:, t]
        size = np.bincount(at[:n], minlength=end - begin)
        silent = np.flatnonzero(~said.informative[begin:end])
        trees.append(_TreeLeaves(at=at, mean=said.mean[begin:end], size=size, silent=silent))
    return trees


def _added(trees: "Sequence[_TreeLeaves]", of: "Callable[[_TreeLeaves], Float]") -> Float:
    """Return the sum over the trees of something of one's leaves, person by person."""
    total = np.zeros((len(trees[0].at), trees[0].mean.shape[1]))
    for tree in trees:
        at, of_leaf = tree.at.astype(np.intp), of(tree)
        for i in range(total.shape[1]):
            total[:, i] += of_leaf[:, i].take(at)
    return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _TreeLeaves:
    """What the nodes of a tree say in which somebody ends, and how many people do."""

    # Shape `(n_people,)`: where everybody ends, of those nodes; the last of them may count nowhere
    at: Int
    mean: Float
    size: Wide
    silent: Index  # The nodes that say nothing

    def residual(self, *, kind: str, x: Float) -> Float:
        """Return how far the means of answers over the leaves are off what these say."""
        stated = self.mean.astype(np.float64)
        n = int(self.size.sum())
        totals = [np.bincount(self.at[:n], column[:n], len(stated)) for column in x.T]
        mean = np.column_stack(totals) / self.size[:, None]
        mean[self.silent] = stated[self.silent]
        return _residual(kind, mean, stated)


def _answers(said: Said, x: Float) -> Float | Index:
    return x[:, 0] if said.kind == "numbers" else _labels_of(x)


def _residual(kind: str, mean: Float, stated: Float) -> Float:
    """Return how far means are off what is said of them."""
    if kind != "labels":
        return mean - stated
    two = mean.shape[1] == 1
    every = np.arange(len(mean))
    shares = np.hstack([1 - mean, mean]) if two else mean
    top = _labels_of(stated)
    rivals = shares.copy()
    rivals[every, top] = -1.0
    rival = rivals.argmax(axis=1)
    # The label need not be more frequent than it has to be.
    off = np.maximum(rivals[every, rival] - shares[every, top], 0.0) / 2
    residual = np.zeros_like(shares)
    residual[every, rival], residual[every, top] = off, -off
    return residual[:, 1:] if two else residual


def _bounded(said: Said, x: Float) -> Float:
    """Return the nearest answers that can be: shares that add up to 1, or any number."""
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
