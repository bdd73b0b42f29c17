"""Trees whose questions are drawn without a look at the data.

All trees of a forest grow level by level together. Nothing here sees a record,
so nothing here costs epsilon.

References
----------
Fletcher & Islam (2017), algorithm 2, BuildTree.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.curator import Curator
from treeaudit.dp.subsampling import Entropy, below, permutation, unit
from treeaudit.errors import DataError
from treeaudit.model.routing import Walk, in_chunks, walk_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.trainers.training_rows import TrainingRows

_MOST_NODES = 10_000_000
_PIECE = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How many people a node must be expected to hold to be split.

    ``people`` are in a root, and parts of a node hold as many as each other; below ``least`` no
    node is split.
    """

    people: float
    least: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Level:
    """The nodes of one level of all trees; ``parent`` is the place in the level above."""

    tree: Int
    parent: Int
    feature: Int
    low: Float
    high: Float
    code: Int
    missing: Flag

    @classmethod
    def of_roots(cls, n_trees: int) -> "_Level":
        none = np.full(n_trees, -1, dtype=np.int32)
        return cls(
            tree=np.arange(n_trees, dtype=np.int32),
            parent=none,
            feature=none,
            low=np.full(n_trees, -np.inf),
            high=np.full(n_trees, np.inf),
            code=none,
            missing=np.zeros(n_trees, dtype=np.bool_),
        )

    def __len__(self) -> int:
        return len(self.tree)


def random_trees(
    schema: Schema,
    n_trees: int,
    depth: int,
    max_leaves: int | None,
    entropy: Entropy,
    *,
    roots: Wide | None = None,
    support: Support | None = None,
) -> tuple[Tree, ...]:
    """Return trees that ask at random, from a public schema alone.

    Every node asks about a random feature. A numeric one is split at a
    uniformly random point of what the path leaves of its public range; a
    categorical one into all its categories, once on a path. Missing values
    follow a random edge.
    """
    if depth > 64:
        raise DataError(f"a depth of {depth} is beyond anything that a tree can hold")
    fan = np.array([fan_of(f.categories, f.low, f.high) for f in schema.features], dtype=np.int64)
    named = np.array([f.categories is not None for f in schema.features], dtype=np.bool_)
    useful = np.flatnonzero(fan > 1)
    most_levels = depth if np.any(~named[useful]) else min(depth, len(useful))
    low = np.array([-np.inf if f.low is None else f.low for f in schema.features], np.float64)
    high = np.array([np.inf if f.high is None else f.high for f in schema.features], np.float64)
    levels = [_Level.of_roots(n_trees)]
    leaves = np.ones(n_trees, dtype=np.int64)
    n_nodes = n_trees
    expected = np.full(n_trees, np.inf if support is None else support.people)
    for level in range(most_levels):
        above = levels[-1]
        frontier = np.arange(len(above))
        if support is not None:
            frontier = frontier[expected >= support.least]
        asked = _draw_features(levels, frontier, useful, named, entropy)
        if level == 0 and roots is not None:
            asked = roots[frontier]
        grows = _within(above.tree[frontier], fan[asked], leaves, max_leaves, entropy)
        frontier, asked = frontier[grows], asked[grows]
        if not len(frontier):
            break
        n_nodes += int(fan[asked].sum())
        if n_nodes > _MOST_NODES:
            raise DataError(
                f"the trees would have more than {_MOST_NODES:,} nodes: set max_leaves or "
                "a smaller max_depth, or train fewer trees"
            )
        np.add.at(leaves, above.tree[frontier], fan[asked] - 1)
        cut = _cut(levels, frontier, asked, low, high, entropy)
        levels.append(_children(above, frontier, asked, fan, named, cut, entropy))
        expected = np.repeat(expected[frontier] / fan[asked], fan[asked])
    return _apart(levels, n_trees, bool(named.any()))


def leaves_within(max_leaves: int | None, n_trees: int) -> int:
    """Return how many leaves each of so many trees may have, for all of them to be held.

    For trees whose depth follows from an answer: after it nothing may fail.
    """
    # Of the nodes of a tree more than half are leaves.
    held = _MOST_NODES // (2 * n_trees)
    return held if max_leaves is None else min(max_leaves, held)


def fan_of(categories: tuple[str, ...] | None, low: float | None, high: float | None) -> int:
    """Return into how many parts a feature splits; 1 where it tells nobody apart."""
    if categories is not None:
        return len(categories)
    return 2 if low is not None and high is not None and low < high else 1


def _draw_features(
    levels: list[_Level], at: Index, useful: Wide, named: Flag, entropy: Entropy
) -> Wide:
    """Draw a feature per node, none of the categorical ones that its path has asked about."""
    drawn = useful[below(entropy, len(useful), len(at))]
    again = np.flatnonzero(named[drawn])
    while len(again):
        here: Index | Int = at[again]
        used = np.zeros(len(again), dtype=np.bool_)
        for level in levels[:0:-1]:
            used |= level.feature[here] == drawn[again]
            here = level.parent[here]
        again = again[used]
        drawn[again] = useful[below(entropy, len(useful), len(again))]
        again = again[named[drawn[again]]]
    return drawn


def _within(tree: Int, fan: Wide, leaves: Wide, max_leaves: int | None, entropy: Entropy) -> Flag:
    """Tell which nodes may split, in random order, until the tree has all its leaves."""
    if max_leaves is None:
        return np.ones(len(tree), dtype=np.bool_)
    room = max_leaves - leaves
    more = fan - 1
    if np.all(np.bincount(tree, weights=more, minlength=len(leaves)) <= room):
        return np.ones(len(tree), dtype=np.bool_)
    order = permutation(entropy, len(tree))
    order = order[np.argsort(tree[order], kind="stable")]
    total = np.cumsum(more[order])
    before = np.concatenate([[0], total])[np.searchsorted(tree[order], np.arange(len(leaves)))]
    fits = np.zeros(len(tree), dtype=np.bool_)
    fits[order] = total - before[tree[order]] <= room[tree[order]]
    return fits


def _cut(
    levels: list[_Level], at: Index, asked: Wide, low: Float, high: Float, entropy: Entropy
) -> Float:
    """Draw where to split, inside what the path has left of the range."""
    least, most = low[asked], high[asked]
    # In pieces that stay at hand.
    for i in range(0, len(at), _PIECE):
        piece = slice(i, i + _PIECE)
        here: Index | Int = at[piece]
        column, low_end, high_end = asked[piece], least[piece], most[piece]
        for level in levels[:0:-1]:
            same = (level.feature.take(here) == column).nonzero()[0]
            edge = here.take(same)
            low_end[same] = np.maximum(low_end.take(same), level.low.take(edge))
            high_end[same] = np.minimum(high_end.take(same), level.high.take(edge))
            here = level.parent.take(here)
    share = unit(entropy, len(at))
    with np.errstate(invalid="ignore"):
        # As a mean of both ends, which cannot overflow.
        return least * (1 - share) + most * share


def _children(
    above: _Level,
    at: Index,
    asked: Wide,
    fan: Wide,
    named: Flag,
    cut: Float,
    entropy: Entropy,
) -> _Level:
    n_parts = fan[asked]
    feature = np.repeat(asked.astype(np.int32), n_parts)
    start = np.cumsum(n_parts) - n_parts
    part = np.arange(len(feature), dtype=np.int32) - np.repeat(start.astype(np.int32), n_parts)
    numeric = ~named[feature]
    point = np.repeat(cut, n_parts)
    lost = np.minimum((unit(entropy, len(at)) * n_parts).astype(np.int64), n_parts - 1)
    return _Level(
        tree=np.repeat(above.tree[at], n_parts),
        parent=np.repeat(at.astype(np.int32), n_parts),
        feature=feature,
        low=np.where(numeric & (part == 1), point, -np.inf),
        high=np.where(numeric & (part == 0), point, np.inf),
        code=np.where(numeric, np.int32(-1), part),
        missing=part == np.repeat(lost.astype(np.int32), n_parts),
    )


def _apart(levels: list[_Level], n_trees: int, with_categories: bool) -> tuple[Tree, ...]:
    """Return the nodes tree by tree."""
    bounds = np.array([np.searchsorted(level.tree, np.arange(n_trees + 1)) for level in levels])
    trees = []
    for begin, end in zip(bounds.T[:-1].tolist(), bounds.T[1:].tolist(), strict=True):
        mine = [slice(*ends) for ends in zip(begin, end, strict=True)]
        # The number of a node is its place in its level, and all that stand above in the tree.
        number = np.cumsum([0, *np.subtract(end, begin)]).tolist()
        above = [
            level.parent[which] + np.int32(first - place)
            for level, which, first, place in zip(
                levels[1:], mine[1:], number[:-2], begin[:-1], strict=True
            )
        ]

        def of(name: str, mine: list[slice] = mine) -> Any:  # noqa: ANN401  # an array of any kind
            return np.concatenate(
                [getattr(level, name)[which] for level, which in zip(levels, mine, strict=True)]
            )

        sets = None
        if with_categories:
            code = of("code")
            start = np.concatenate([[0], np.cumsum(code >= 0)])
            sets = CategorySets(start=start, codes=code[code >= 0])
        trees.append(
            Tree(
                parent=np.concatenate([[-1], *above]).astype(np.int32),
                feature=of("feature"),
                low=of("low"),
                high=of("high"),
                categories=sets,
                missing=of("missing"),
            )
        )
    return tuple(trees)


_SIZE_SHARE = 50
"""The number of people costs one part of so many of the budget."""


def branching(schema: Schema) -> Fraction:
    """Return the mean number of parts that a column splits into (b of equation 15)."""
    fans = [2 if f.categories is None else len(f.categories) for f in schema.features]
    return Fraction(sum(fans), len(fans))


def people_of(
    rows: TrainingRows, curator: Curator, epsilon: Fraction, public: int | None, *, printed: bool
) -> tuple[int, Fraction]:
    """Return how many records there are, and the epsilon that is left.

    That is the ``public`` number if there is one; else the exact number if ``printed``, as in the
    papers; else a noisy one, for a fiftieth of epsilon.
    """
    if public is not None:
        return int(public), epsilon
    if printed:
        return max(1, len(rows)), epsilon
    cost = epsilon / _SIZE_SHARE
    noisy = curator.count("people", [len(rows)], cost)
    return max(1, int(noisy[0])), epsilon - cost


def least_share(epsilon: Fraction, public: int | None, n_trees: int) -> Fraction:
    """Return the least epsilon of a question where `people_of` and so many trees are asked."""
    if public is not None:
        return epsilon / n_trees
    return min(epsilon / _SIZE_SHARE, (epsilon - epsilon / _SIZE_SHARE) / n_trees)


def counted(
    trees: tuple[Tree, ...],
    rows: TrainingRows,
    ask: Callable[[str, Wide], Wide],
    n_jobs: int | None = None,
) -> tuple[Tree, ...]:
    """Return the trees with the class counts that were answered for their leaves.

    ``ask`` takes the name of a question and the true counts of the leaves of one tree, disjoint
    parts of all records, and returns the answer.
    """
    root, found = np.zeros(len(rows), dtype=np.int64), []
    for number, tree in enumerate(trees):
        leaf = last_nodes(walk_of([tree], rows.schema), rows, root, n_jobs)
        true = rows.by_node(leaf, tree.n_nodes)[tree.is_leaf]
        counts = np.zeros((tree.n_nodes, rows.n_classes))
        counts[tree.is_leaf] = ask(f"leaf counts of tree {number + 1}", true)
        found.append(replace(tree, counts=summed(tree, counts)))
    return tuple(found)


def last_nodes(walk: Walk, rows: TrainingRows, first: Wide, n_jobs: int | None) -> Wide:
    """Return the node in which each record ends, from the one in which it begins."""
    node = np.zeros(len(rows), dtype=np.int64)

    def route(chunk: slice) -> None:
        node[chunk] = walk.descend(rows.values[chunk], first[chunk])

    in_chunks(route, len(rows), n_jobs)
    return node


def levels_of(n_people: int, branches: Fraction) -> int:
    """Return how often so many people can be split until one is left (log_b n)."""
    if branches <= 1:
        return 64
    levels = 0
    while levels < 64 and branches ** (levels + 1) <= n_people:
        levels += 1
    return levels
