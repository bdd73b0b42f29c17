"""Counts that are said to be noisy, held against the people who were counted.

Noise hides nobody where there is none: a model whose counts are nearer to its training people
than its noise lets them be, but once in a thousand million, does not have that noise.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Float, Index, Int, Wide
from treeaudit.dataclass import dataclass
from treeaudit.dp.beside import in_leaves_below
from treeaudit.dp.bounded import FOUND_OUT, unbounded_because
from treeaudit.dp.forms import STUMPS
from treeaudit.dp.gaussian import GAUSSIAN
from treeaudit.dp.ledger import Ledger
from treeaudit.dp.shapes import trees_counted
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.nearness import (
    chance_of_so_many,
    chance_of_so_near,
    peak_of_gaussian,
    peak_of_sum,
)
from treeaudit.people.records import Records
from treeaudit.people.shares_held import shares_right
from treeaudit.people.taught import are_the_people

__all__ = ["chance_of_so_near", "held_against"]

_IMPOSSIBLE = 1e-9
_BOTH = 4e-11
"""A product of two bounds is below it but once in a thousand million."""
_LEVELS = 128
_LEAST = 0.5
"""What is left of the people of a leaf where noise leaves less."""
_ADDED = "PrivateAdditiveTreeClassifier"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Law:
    """The least noise that a count can have: of a rate, or Gaussian of a variance."""

    rate: float | None
    variance: float

    def peaks(self, n: Wide) -> Float:
        """Return the largest chance that a number has in a sum of n."""
        if self.rate is None:
            return peak_of_gaussian(self.variance, n)
        return peak_of_sum(self.rate, n)

    @property
    def deviation(self) -> float:
        """The standard deviation, or more."""
        return math.sqrt(self.variance) if self.rate is None else math.sqrt(2) / self.rate

    @property
    def divided(self) -> float:
        """The largest chance that one of two numbers has whose sum is known."""
        if self.rate is None:
            return float(peak_of_gaussian(self.variance / 2, np.ones(1, np.int64))[0])
        return math.tanh(self.rate)


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
    n_own = trees_counted(forest, ledger.queries)
    laws = [_law(forest, ledger, i) for i in range(n_own)]
    if None in laws or forest.schema.classes is None:
        return forest
    if not _too_near(forest, train, laws) and not are_the_people(forest, train, n_own):
        return forest
    reason = FOUND_OUT[-1]
    stated = [*forest.privacy.get("reasons", ()), reason]
    return replace(
        forest,
        privacy={**forest.privacy, "not_private": True, "reasons": stated},
        warnings=(*forest.warnings, f"not private: {reason}"),
    )


def _law(forest: Forest, ledger: Ledger, i: int) -> _Law | None:
    """Return the least noise that a count of a tree can have; None where its law is another."""
    if forest.noise is not None:
        return _Law(rate=forest.noise.rate, variance=0.0)
    queries = ledger.queries
    if forest.source.estimator == _ADDED and forest.class_weights is not None:
        # Stumps, which weigh classes, and the tree are asked by a row each.
        name = "leaf counts" if set(forest.class_weights[i] or {1.0}) == {1.0} else STUMPS
        queries = tuple(query for query in queries if query.name.endswith(name))
    wide = [
        float(row.sensitivity**2 / (2 * row.as_used.rho))
        for row in queries
        if row.mechanism == GAUSSIAN and row.as_used.rho > 0
    ]
    rates = [
        float(row.as_used.epsilon / row.sensitivity)
        for row in queries
        if row.mechanism == "discrete Laplace"
    ]
    if wide:
        return _Law(rate=None, variance=min([*wide, *(1 / max(r, 1e-9) ** 2 for r in rates)]))
    return _Law(rate=max(rates), variance=0.0) if rates else None


def _too_near(forest: Forest, train: Records, laws: Sequence[_Law | None]) -> bool:
    """Tell whether leaves, or nodes of a level, are nearer to the people than noise lets them."""
    whole = _are_whole(forest, len(laws))
    found: dict[tuple[_Law, int], list[_Apart]] = {}
    for i, law in enumerate(laws):
        if law is None:
            continue
        for level, apart in _of_tree(forest, train, i, law, whole=whole):
            found.setdefault((law, level), []).append(apart)
    for (law, level), parts in found.items():
        most = 1.0 if level < 0 else 1 / _LEVELS
        peak = np.concatenate([part.peak for part in parts])
        off, room = (np.concatenate([getattr(p, name) for p in parts]) for name in ("off", "room"))
        near = chance_of_so_near(off, room, law.rate, peak)
        hits, n = sum(part.right for part in parts), sum(part.shares for part in parts)
        shares = chance_of_so_many(hits, n, law.divided)
        if near < _IMPOSSIBLE * most or near * shares < _BOTH * most:
            return True
    return False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Apart:
    """How far counts are off, how far that can be seen, and how many shares are right."""

    off: Float
    room: Float
    peak: Float
    right: int = 0
    shares: int = 0


def _of_tree(
    forest: Forest, train: Records, i: int, law: _Law, *, whole: bool
) -> Iterator[tuple[int, _Apart]]:
    """Yield what the leaves of a tree tell, as level -1, and the nodes of each level above."""
    tree = forest.trees[i]
    if tree.counts is None:
        return
    told = np.asarray(tree.counts, dtype=np.float64)
    n_classes = told.shape[1]
    if train.labels is None:
        real = train.in_tree(i, tree.n_nodes)[:, None].astype(np.float64)
    else:
        real = train.in_tree(i, tree.n_nodes, n_classes).astype(np.float64)
    real = in_leaves_below(tree, real)
    below = in_leaves_below(tree, np.ones((tree.n_nodes, 1)))[:, 0].astype(np.int64)
    yield -1, _apart(forest, tree, law, (told, real, below), tree.leaves, whole=whole)
    inner = ~tree.is_leaf
    follow = in_leaves_below(tree, told)
    if not inner.any() or np.allclose(follow[inner], told[inner]) or not told[inner].any():
        return
    depth = tree.depths
    for level in range(int(depth[inner].max()) + 1):
        nodes = np.flatnonzero(inner & (depth == level))
        yield level, _apart(forest, tree, law, (told, real, below), nodes, whole=False)


def _apart(
    forest: Forest,
    tree: Tree,
    law: _Law,
    counts: tuple[Float, Float, Wide],
    nodes: Index | Int,
    *,
    whole: bool,
) -> _Apart:
    """Return how far the counts of nodes are off, and how far that can be seen.

    Counts that were drawn towards others still hold as many people as were counted; those that
    were scaled do not, and are only asked whether they are right by chance.
    """
    told, real, below = counts[0][nodes], counts[1][nodes], counts[2][nodes]
    after = () if forest.noise is None else forest.noise.afterwards
    cells = forest.noise is not None and not {"shrunk", "scaled"} & {*after}
    cells |= whole and "scaled" not in after
    n_classes, added = told.shape[1], forest.source.estimator == _ADDED
    own = np.ones(len(nodes), dtype=np.int64)
    # Of nodes that are asked for themselves one number is drawn a cell, of others one a leaf.
    each = own if forest.noise is not None and forest.noise.counts == "nodes" else below
    right = shares = 0
    if cells and real.shape[1] == n_classes:
        off, real, each = np.abs(told - real).ravel(), real.ravel(), np.repeat(each, n_classes)
    else:
        if real.shape[1] == n_classes:
            slack = 2 * law.deviation * np.sqrt(2 * n_classes * below)
            right, shares = shares_right(
                tree, (counts[0], counts[1]), nodes, slack, fine=added or "scaled" in after
            )
        # A sum of clipped cells may have the noise of one.
        each = each * (n_classes if added or after[:1] == ("shrunk",) else 1)
        real = real.sum(axis=1)
        off = np.abs(told.sum(axis=1) - real)
    # What is clipped is off by no more than what there is.
    clipped = forest.noise is None or "clipped" in after or "shrunk" in after
    room = np.maximum(real - _LEAST, 0.0) if clipped else np.full(len(real), np.inf)
    peak = law.peaks(each)
    if "scaled" in after:
        # The last part of a node is what the others leave.
        n = (len(off) + 1) // 2
        off, room, peak = np.sort(off)[:n], np.ones(n), law.peaks(np.ones(n, np.int64))
    return _Apart(off=off, room=room, peak=peak, right=right, shares=shares)


def _are_whole(forest: Forest, n_own: int) -> bool:
    """Tell whether all leaves hold whole people, and no multiples of a number.

    Then nothing drew them towards others, and each was counted.
    """
    common = 0
    for tree in forest.trees[:n_own]:
        counts = np.zeros((1, 1)) if tree.counts is None else tree.counts[tree.is_leaf]
        if not (np.rint(counts) == counts).all():
            return False
        common = int(np.gcd.reduce(np.abs(counts).astype(np.int64), axis=None, initial=common))
    return common == 1
