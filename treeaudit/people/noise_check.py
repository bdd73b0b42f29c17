"""Counts that are said to be noisy, held against the people who were counted.

Noise hides nobody where there is none: a model whose counts are nearer to its training people
than its noise lets them be, but once in a thousand million, does not have that noise.
"""

import math
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Float
from treeaudit.dp.bounded import FOUND_OUT, unbounded_because
from treeaudit.dp.ledger import Ledger
from treeaudit.dp.shapes import trees_counted
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records

__all__ = ["chance_of_so_near", "held_against"]

_IMPOSSIBLE = 1e-9
_LEAST = 0.5
"""What is left of the people of a leaf where noise leaves less."""


def held_against(forest: Forest, train: Records) -> Forest:
    """Return a private model with the reason that its counts have not the noise that it states.

    Parameters
    ----------
    forest
        The model. One that nothing bounds is returned as it is.
    train
        The people it is said to be trained on, all of them.
    """
    if forest.privacy is None or forest.counts_are != "noisy":
        return forest
    if unbounded_because(forest) is not None:
        return forest
    ledger = Ledger.from_plain(forest.privacy)
    rate = _rate(forest, ledger)
    if rate is None or forest.schema.classes is None:
        return forest
    off, room = [np.zeros(0)], [np.zeros(0)]
    for i in range(trees_counted(forest, ledger.queries)):
        one, most = _apart(forest, train, i)
        off.append(one)
        room.append(most)
    chance = chance_of_so_near(np.concatenate(off), np.concatenate(room), rate)
    if chance >= _IMPOSSIBLE:
        return forest
    reason = FOUND_OUT[-1]
    stated = [*forest.privacy.get("reasons", ()), reason]
    return replace(
        forest,
        privacy={**forest.privacy, "not_private": True, "reasons": stated},
        warnings=(*forest.warnings, f"not private: {reason}"),
    )


def _rate(forest: Forest, ledger: Ledger) -> float | None:
    """Return the rate of the least noise that a count can have; None where its law is another."""
    if forest.noise is not None:
        return forest.noise.rate
    rates = [
        float(query.as_used.epsilon / query.sensitivity)
        for query in ledger.queries
        if query.mechanism == "discrete Laplace"
    ]
    return None if ledger.rho else max(rates, default=None)


def _apart(forest: Forest, train: Records, i: int) -> tuple[Float, Float]:
    """Return how far the counts of the leaves of a tree are off, and how far that can be seen.

    Counts that were drawn towards others still hold as many people as were counted; those that
    were scaled do not, and are only asked whether they are right by chance.
    """
    tree = forest.trees[i]
    leaves = tree.leaves
    if tree.counts is None:
        return np.zeros(0), np.zeros(0)
    told = np.asarray(tree.counts[leaves], dtype=np.float64)
    after = () if forest.noise is None else forest.noise.afterwards
    cells = forest.noise is not None and not {"shrunk", "scaled"} & {*after}
    classes = forest.schema.classes or ()
    if cells and train.labels is not None:
        real = train.in_tree(i, tree.n_nodes, len(classes))[leaves].astype(np.float64).ravel()
        told = told.ravel()
    else:
        real = train.in_tree(i, tree.n_nodes)[leaves].astype(np.float64)
        told = told.sum(axis=1)
    off = np.abs(told - real)
    # What is clipped is off by no more than what there is.
    clipped = forest.noise is None or "clipped" in after or "shrunk" in after
    room = np.maximum(real - _LEAST, 0.0) if clipped else np.full(len(real), np.inf)
    if "scaled" in after:
        # The last part of a node is what the others leave.
        off, room = np.sort(off)[: (len(off) + 1) // 2], np.ones((len(off) + 1) // 2)
    return off, room


def chance_of_so_near(off: Float, room: Float, rate: float) -> float:
    """Return a bound of the chance that discrete Laplace noise is as small as this, altogether.

    Chernoff's bound of the sum of the distances, each of which is seen up to its room. Sums of
    several counts, and counts that are held against other people, are farther off still.

    Parameters
    ----------
    off
        How far each count is off.
    room
        How far that can be seen.
    rate
        Of the noise.

    Examples
    --------
    >>> far = np.full(20, np.inf)
    >>> bool(chance_of_so_near(np.zeros(20), far, 0.3) < 1e-15)
    True
    >>> chance_of_so_near(np.full(20, 3.0), far, 0.3), chance_of_so_near(np.zeros(20), far, 50.0)
    (1.0, 1.0)
    """
    seen = room > 0
    off, room = off[seen], room[seen]
    if not len(off):
        return 1.0
    q = math.exp(-rate)
    near = float(np.minimum(off, room).sum())
    most, n = np.unique(np.ceil(room), return_counts=True)
    zero = (1 - q) / (1 + q) if rate > 1e-12 else rate / 2
    least = 0.0
    for tilt in rate * np.logspace(-2, 12, 113, base=2.0):
        a = math.exp(-rate - tilt)
        open_ = np.isinf(most)
        k = np.where(open_, 1.0, most)
        sums = np.where(open_, a / (1 - a), (a - a**k) / (1 - a))
        beyond = np.where(open_, 0.0, 2 * np.exp(-rate * k - tilt * (k - 0.5)) / (1 + q))
        each = np.minimum(zero * (1 + 2 * sums) + beyond, 1.0)
        least = min(least, float(tilt * near + (n * np.log(np.maximum(each, 1e-300))).sum()))
    return math.exp(least)
