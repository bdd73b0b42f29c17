"""Who falls when some people are known, and then who falls because of those.

The attacker knows which people were in the training data and their features,
so in which leaf of each tree everybody is, and the labels of a few. Whoever is
certain in one tree is taken out in all the others, until nothing changes. A
label is ruled out for a person where a leaf has none of it left, and forced
where a leaf needs everybody who may have it.

This is sound: whoever falls has that label in every training set that fits the
file. For one tree it is complete. For several trees it is not: deciding that in
general is as hard as solving systems of integer equations.

References
----------
Wakabayashi et al. (2024), section 3.1, background knowledge attack. Ganta,
Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Int, Wide
from treeaudit.attacks.background.bounds import Bounds, tightened

__all__ = ["Disclosed", "cascade"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Disclosed:
    """Whose label is certain, one entry per person.

    Attributes
    ----------
    label
        The class, or -1 where it is not certain.
    round
        0 for whoever was known before, 1 for whoever follows from these, 2 for
        whoever follows from those as well, and so on; -1 where nothing follows.
    tree
        The first tree that tells, or -1. In a person's leaf of that tree it can
        be seen why; where no single tree tells, the first that rules a label out.
    """

    label: Int
    round: Int
    tree: Int

    @property
    def n_rounds(self) -> int:
        """How many rounds disclosed somebody."""
        return int(self.round.max(initial=0))


def cascade(
    trees: Sequence[Bounds | None], node: Int, given: Int, step: Callable[[int], None] | None = None
) -> Disclosed:
    """Take out whoever is known, in every tree, until nothing changes.

    Parameters
    ----------
    trees
        What the leaves of each tree prove; None for trees that prove nothing.
    node
        Shape ``(n_people, n_trees)``: where everybody ends. In every node with
        ``holds``, as many people as its size.
    given
        Shape ``(n_people,)``: the labels that are known, -1 for the others.

    Returns
    -------
    Disclosed
        Never wrong where the given labels are right.

    Examples
    --------
    >>> leaf = np.array([[1, 2]])
    >>> table_4 = Bounds(low=leaf, high=leaf, size=np.array([3]), holds=np.array([True]))
    >>> home = np.zeros((3, 1), np.int32)
    >>> found = cascade([table_4], home, np.array([0, -1, -1], np.int32))
    >>> found.label.tolist(), found.round.tolist()
    ([0, 1, 1], [0, 1, 1])
    """
    told = {i: tree for i, tree in enumerate(trees) if tree is not None}
    label = given.astype(np.int32).copy()
    when = np.where(label >= 0, 0, -1).astype(np.int32)
    which = np.full(len(label), -1, np.int32)
    n_classes = next((tree.low.shape[1] for tree in told.values()), 0)
    possible = np.ones((len(label), n_classes), np.bool_)
    new = np.flatnonzero(label >= 0)
    rounds = 0
    while told:
        rounds += 1
        if step is not None:
            step(rounds)
        told = {i: _taken_out(tree, node[new, i], label[new]) for i, tree in told.items()}
        asked = np.flatnonzero(label < 0)
        seen = possible[asked]
        found = _Round.of(seen)
        for i, tree in told.items():
            _look(tree, node[asked, i], seen, i, found)
        single = np.where(found.possible.sum(axis=1) == 1, found.possible.argmax(axis=1), -1)
        certain = np.where(found.forced >= 0, found.forced, single)
        if np.array_equal(found.possible, seen) and not (certain >= 0).any():
            break
        possible[asked] = found.possible
        before = np.where(which[asked] >= 0, which[asked], found.rules_out)
        which[asked] = np.where(found.tells >= 0, found.tells, before)
        new = asked[certain >= 0]
        label[new], when[new] = certain[certain >= 0], rounds
    return Disclosed(label=label, round=when, tree=np.where(label >= 0, which, -1).astype(np.int32))


@dataclass(slots=True, eq=False)
class _Round:
    """What the trees say of the people who are left, filled in tree by tree."""

    possible: Flag
    forced: Wide
    tells: Wide
    rules_out: Wide

    @classmethod
    def of(cls, seen: Flag) -> "_Round":
        nobody = np.full(len(seen), -1)
        return cls(possible=seen.copy(), forced=nobody, tells=nobody, rules_out=nobody)


def _taken_out(tree: Bounds, node: Int, label: Int) -> Bounds:
    if not len(node):
        return tree
    shape = tree.low.shape
    inside = tree.holds[node]
    key = node[inside].astype(np.int64) * shape[1] + label[inside]
    return tree.without(np.bincount(key, minlength=shape[0] * shape[1]).reshape(shape))


def _look(tree: Bounds, node: Int, seen: Flag, index: int, found: _Round) -> None:
    """Rule out and force labels by the leaves of one tree."""
    inside = tree.holds[node]
    able = np.column_stack(
        [np.bincount(node[mine & inside], minlength=len(tree.size)) for mine in seen.T]
    )
    low, high = tightened(tree.low, np.minimum(tree.high, able), tree.size)
    ruled_out = seen & (high[node] <= 0) & inside[:, None]
    needed = seen & (low[node] > 0) & (low[node] >= able[node]) & inside[:, None]
    forced = needed.any(axis=1)
    alone = inside & ((seen & ~ruled_out).sum(axis=1) == 1)
    found.possible &= ~ruled_out
    found.forced = np.where(forced, needed.argmax(axis=1), found.forced)
    found.tells = np.where((forced | alone) & (found.tells < 0), index, found.tells)
    first = ruled_out.any(axis=1) & (found.rules_out < 0)
    found.rules_out = np.where(first, index, found.rules_out)
