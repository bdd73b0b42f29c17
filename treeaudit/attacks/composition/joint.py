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

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.arrays import Float, Index, Int
from treeaudit.attacks.composition.equations import Said

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Solution", "labels_of", "solve"]

_MOST_STEPS = 500
_LOOK = 25
_SETTLED = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """What the attacker takes the answers to be.

    Attributes
    ----------
    x
        Shape ``(n_people, n_columns)``, columns as in `Said.mean`.
    answer
        Shape ``(n_people,)``: the label as a position, or the number.
    steps
        After how many steps.
    settled
        Whether the last 25 steps changed fewer than one answer in a thousand.
    """

    x: Float
    answer: Float | Index
    steps: int
    settled: bool


def solve(
    said: Said, node: Int, *, doubt: float = 0.0, tolerance: float = 0.0, most: int = _MOST_STEPS
) -> Solution:
    """Return the answers of people that fit what the leaves say best.

    Parameters
    ----------
    said
        What the leaves say.
    node
        Shape ``(n_people, n_trees)``: where everybody ends; further trees are left out.
    doubt
        What the distance from the first step weighs beside the trees, 1 for as much as one tree.
    tolerance
        How far a number may be off to be the same.
    most
        After how many steps to stop.
    """
    from threadpoolctl import threadpool_limits

    # A second thread of a product of vectors mostly waits, and that costs as much as working.
    with threadpool_limits(limits=1, user_api="blas"):
        return _solved(said, node, doubt, tolerance, most)


def _solved(said: Said, node: Int, doubt: float, tolerance: float, most: int) -> Solution:
    member = _members(said, node)
    size = np.asarray(member.sum(axis=0)).ravel()[:, None]
    trees, told = len(said.start) - 1, said.told[:, None]
    weight, gather = told / np.maximum(size, 1.0), member.T
    first = x = ahead = _bounded(said, _times(member, said.mean * told) / trees)
    pace, before, settled, step = 1.0, _answers(said, x), False, 0
    while not settled and step < most:
        step += 1
        lacks = _lacks(said, _times(gather, ahead) * weight) * told
        moved = ahead - _times(member, lacks) / trees
        new = _bounded(said, (trees * moved + doubt * first) / (trees + doubt))
        if float(np.vdot(ahead - new, new - x)) > 0:
            pace = 1.0
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        x, ahead, pace = new, new + ((pace - 1) / faster) * (new - x), faster
        if step % _LOOK == 0:
            now = _answers(said, x)
            settled = bool(np.mean(np.abs(now - before) > tolerance) <= _SETTLED)
            before = now
    return Solution(x=x, answer=_answers(said, x), steps=step, settled=settled)


def labels_of(x: Float) -> Index:
    """Return the likeliest label by the share of the second of two, or by that of each."""
    return (x[:, 0] > 0.5).astype(np.intp) if x.shape[1] == 1 else x.argmax(axis=1)


def _members(said: Said, node: Int) -> "csr_matrix":
    """Return who ends where, shape ``(n_people, n_nodes)``, one entry per person and tree."""
    from scipy.sparse import csr_matrix

    at = said.nodes(node)
    n, trees = at.shape
    entries = (np.ones(at.size), at.astype(np.int32).ravel(), np.arange(0, at.size + 1, trees))
    return csr_matrix(entries, shape=(n, len(said.told)))


def _times(matrix: "csr_matrix", x: Float) -> Float:
    """Return a product; one column is multiplied as a vector, which takes half the time."""
    product: Float = matrix @ (x[:, 0] if x.shape[1] == 1 else x)
    return product[:, None] if product.ndim == 1 else product


def _answers(said: Said, x: Float) -> Float | Index:
    return x[:, 0] if said.kind == "numbers" else labels_of(x)


def _lacks(said: Said, mean: Float) -> Float:
    """Return how far the means of the leaves are off what these say."""
    if said.kind != "labels":
        return mean - said.mean
    two = mean.shape[1] == 1
    every = np.arange(len(mean))
    shares = np.hstack([1 - mean, mean]) if two else mean
    top = labels_of(said.mean)
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
        return x
    if x.shape[1] == 1:
        return np.clip(x, 0.0, 1.0)
    # Duchi et al. (2008): the projection on the simplex.
    down = -np.sort(-x, axis=1)
    over = (np.cumsum(down, axis=1) - 1) / np.arange(1, x.shape[1] + 1)
    last = (down > over).sum(axis=1) - 1
    nearest: Float = np.maximum(x - over[np.arange(len(x)), last][:, None], 0.0)
    return nearest
