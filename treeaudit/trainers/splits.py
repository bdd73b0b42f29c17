"""What a greedy tree may ask at a node, and how good each question is.

At every node of a level the same candidates are scored, from class counts per
code: a numeric column cut at one of its public points, one category against
the rest, and a part for each category. What the path has settled already cannot be asked
again; that follows from what was chosen above and from the schema.
"""

from collections.abc import Set
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Wide, sum_of_row
from treeaudit.dp.mechanisms import IMPOSSIBLE
from treeaudit.dp.scores import GINI, INFORMATION_GAIN, MAX, UNIT, Score
from treeaudit.dp.subsampling import Entropy, below
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.trainers.histograms import Codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """The conditions that lead out of one node about the column ``feature``.

    Of a number ``low < x <= high``, one each per part; of categories the codes of each part.
    Missing values follow the part ``missing``.
    """

    feature: int
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    categories: tuple[tuple[int, ...], ...] = ()
    missing: int = 0

    @property
    def n_parts(self) -> int:
        """Into how many parts the node is split."""
        return len(self.categories) or len(self.low)


@dataclass(slots=True, kw_only=True)
class Nodes:
    """Nodes of several trees, parents before children.

    ``edge`` holds the edges of the parent of a node and which of them leads to it.
    """

    tree: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    edge: list[tuple[Edges, int] | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tree)

    def add_root(self) -> int:
        """Begin a tree; return its root."""
        self.tree.append(max(self.tree, default=-1) + 1)
        self.parent.append(-1)
        self.depth.append(0)
        self.edge.append(None)
        return len(self) - 1

    def split(self, node: int, edges: Edges) -> list[int]:
        """Give a node its children; return them."""
        first = len(self)
        for part in range(edges.n_parts):
            self.tree.append(self.tree[node])
            self.parent.append(node)
            self.depth.append(self.depth[node] + 1)
            self.edge.append((edges, part))
        return list(range(first, len(self)))

    @property
    def is_leaf(self) -> Flag:
        """Which nodes have no children."""
        leaf: Flag = np.ones(len(self), dtype=np.bool_)
        leaf[[above for above in self.parent if above >= 0]] = False
        return leaf

    def high(self, node: int) -> float:
        """Return the upper end of the numeric edge into a node; infinite where open."""
        edge = self.edge[node]
        return np.inf if edge is None or not edge[0].high else edge[0].high[edge[1]]

    def trees(self, counts: npt.ArrayLike, keep: Flag | None = None) -> tuple[Tree, ...]:
        """Return the trees of the nodes that stay, with class counts for all of them."""
        table = np.asarray(counts, dtype=np.float64)
        kept = np.ones(len(self), dtype=np.bool_) if keep is None else keep
        tree = np.array(self.tree)
        return tuple(
            self._tree(np.flatnonzero((tree == number) & kept), table)
            for number in range(int(tree.max(initial=-1)) + 1)
        )

    def _tree(self, mine: Index, counts: Float) -> Tree:
        place = np.full(len(self), -1)
        place[mine] = np.arange(len(mine))
        n = len(mine)
        parent = np.full(n, -1)
        feature = np.full(n, -1)
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        missing = np.zeros(n, dtype=np.bool_)
        sets: list[tuple[int, ...]] = [()] * n
        for i, node in enumerate(mine.tolist()):
            edge = self.edge[node]
            if edge is None:
                continue
            edges, part = edge
            parent[i] = place[self.parent[node]]
            feature[i] = edges.feature
            missing[i] = part == edges.missing
            if edges.categories:
                sets[i] = edges.categories[part]
            else:
                low[i], high[i] = edges.low[part], edges.high[part]
        start = np.concatenate([[0], np.cumsum([len(codes) for codes in sets])])
        codes = np.array([code for group in sets for code in group], dtype=np.int32)
        return Tree(
            parent=parent,
            feature=feature,
            low=low,
            high=high,
            categories=CategorySets(start=start, codes=codes) if len(codes) else None,
            missing=missing,
            counts=counts[mine],
        )


_DEAREST = 1 << 60


def _norm(counts: npt.ArrayLike) -> Wide:
    table = np.asarray(counts, dtype=np.int64)
    squares = sum_of_row(table * table)
    # The error is below a unit. What is left of it shows in the difference of the squares, which
    # is small: modulo 2^64 it is exact.
    length = (np.sqrt(squares) * UNIT).astype(np.int64)
    square = squares.view(np.uint64) * np.uint64(UNIT * UNIT)
    over = (length.view(np.uint64) ** 2 - square).view(np.int64)
    length -= over > 0
    length += over + 2 * length + 1 <= 0
    return sum_of_row(length)


NORM = Score(name="norm", of=_norm, sensitivity=lambda _: Fraction(UNIT))
r"""The sum over the parts of the Euclidean length of their class counts.

It lies between `MAX`, the largest count, and `GINI`, the squared length by the
number of people, and tells two splits apart at half the sensitivity of the
latter. Adding a record of one class adds a vector of length 1 without negative
entries: by the triangle inequality the length grows by at most 1, and it does
not shrink. Monotone, sensitivity 1.

The length is rounded down to whole units exactly, up to 2^31 people: what grows by
at most one person then grows by at most the units of one. A split never lowers
the sum, by the triangle inequality again.
"""


def _deviation(sums: npt.ArrayLike) -> Wide:
    score: Wide = np.abs(np.asarray(sums, dtype=np.int64).sum(axis=-1)).sum(axis=-1)
    return score


DEVIATION = Score(name="deviation", of=_deviation, sensitivity=lambda most: Fraction(2 * most))
r"""How far the targets of the parts are from a centre, in sum: ``sum over parts |sum of d|``.

A record has the deviation ``d = clip(w - centre, -most, most)`` from a centre of its node that
was answered before, and is in one part of every candidate. With S the sum of the others in
that part, adding it changes a score by ``|S + d| - |S|``, which lies between -|d| and |d|. So two
candidates move apart by at most ``2 |d| <= 2 most``, and no other score of the node's moves them.
That is reached: S = d for one candidate and S = -d for another. (Adding the same ``sum |d|`` to
all candidates gives twice the larger of the sums above and below the centre in each part, which
only grows: the number of people on the right side, as `treeaudit.dp.scores.MAX`, by d.)
"""

SCORES = {score.name.replace(" ", "-"): score for score in (NORM, GINI, MAX, INFORMATION_GAIN)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """What can be asked, in the order of the scores."""

    codes: tuple[Codes, ...]
    feature: Wide  # The column
    at: Wide  # The point (code) to cut after, the category to set apart, or -1 for a part per code
    # The part that missing values follow; where there is a part per code, the code that they join,
    # or the first that can occur
    lost: Wide

    def __len__(self) -> int:
        return len(self.feature)

    def parts(self, candidate: int, allowed: Flag) -> tuple[Edges, Wide]:
        """Return the edges of a split, and the part of each code; ``allowed`` ones can occur."""
        feature, at, lost = (int(a[candidate]) for a in (self.feature, self.at, self.lost))
        codes = self.codes[feature]
        number = np.arange(codes.n + 1)
        if codes.edges is not None and at >= 0:
            point = float(codes.edges[at])
            part = (number > at).astype(np.int64)
            part[codes.n] = lost
            edges = Edges(feature=feature, low=(-np.inf, point), high=(point, np.inf), missing=lost)
            return edges, part
        if at >= 0:
            part = (number != at).astype(np.int64)
            part[codes.n] = lost
            rest = tuple(code for code in range(codes.n) if code != at)
            return Edges(feature=feature, categories=((at,), rest), missing=lost), part
        there = np.flatnonzero(allowed)
        part = np.searchsorted(there, number)
        # What cannot occur has no part; it must only not point beyond the last one.
        part = np.minimum(part, len(there) - 1)
        into = int(part[lost]) if allowed[lost] else 0
        part[codes.n] = into
        if codes.edges is not None:
            ends = np.concatenate([[-np.inf], codes.edges, [np.inf]])
            low, high = tuple(ends[there].tolist()), tuple(ends[there + 1].tolist())
            return Edges(feature=feature, low=low, high=high, missing=into), part
        sets = tuple((int(code),) for code in there)
        return Edges(feature=feature, categories=sets, missing=into), part


def available(codes: tuple[Codes, ...], *, ways: bool, entropy: Entropy) -> Candidates:
    """List the candidates of a level.

    With ``ways`` a column of categories may be split into a part for each; where
    missing values go then is drawn.
    """
    feature: list[int] = []
    at: list[int] = []
    lost: list[int] = []
    for column, c in enumerate(codes):
        n_points = c.n - 1 if c.edges is not None else c.n
        if c.edges is None and c.n < 2:
            continue
        for side in (0, 1):
            feature += [column] * n_points
            at += range(n_points)
            lost += [side] * n_points
        if ways and c.edges is None and c.n > 2:
            feature.append(column)
            at.append(-1)
            lost.append(int(below(entropy, c.n, 1)[0]))
    return Candidates(
        codes=codes,
        feature=np.array(feature, dtype=np.int64),
        at=np.array(at, dtype=np.int64),
        lost=np.array(lost, dtype=np.int64),
    )


def one_each(
    codes: tuple[Codes, ...], entropy: Entropy, without: Set[int] = frozenset()
) -> Candidates:
    """List one candidate per column that tells anybody apart, but for some: a part per code."""
    lost = {i: int(below(entropy, c.n, 1)[0]) for i, c in enumerate(codes) if c.n > 1}
    feature = [i for i in lost if i not in without]
    return Candidates(
        codes=codes,
        feature=np.array(feature, dtype=np.int64),
        at=np.full(len(feature), -1),
        lost=np.array([lost[i] for i in feature], dtype=np.int64),
    )


def score_level(
    candidates: Candidates,
    histograms: list[Wide],
    allowed: list[Flag],
    score: Score,
    cost_of_a_part: int = 0,
) -> Wide:
    """Return how good every candidate is at every node.

    ``histograms``: per column, shape ``(n_nodes, n_codes + 1, n_classes)``. ``allowed``: per
    column, shape ``(n_nodes, n_codes)``: which codes can occur. ``cost_of_a_part``: what every part
    beyond the second is to be worth, in units of the score.

    They have shape ``(n_nodes, n_candidates)``; `IMPOSSIBLE` where a node cannot be split so.
    Neither that nor the cost depends on records but through what was released before, so
    scores keep their sensitivity.
    """
    result = np.full((len(histograms[0]), len(candidates)), IMPOSSIBLE, dtype=np.int64)
    for column in np.unique(candidates.feature).tolist():
        counts, there = histograms[column], allowed[column]
        mine = candidates.feature == column
        in_two = mine & (candidates.at >= 0)
        if in_two.any():
            numeric = candidates.codes[column].edges is not None
            for side, found in enumerate(_in_two(counts, there, score, numeric=numeric)):
                result[:, np.flatnonzero(in_two & (candidates.lost == side))] = found
        for whole in np.flatnonzero(mine & (candidates.at < 0)).tolist():
            into = int(candidates.lost[whole])
            result[:, whole] = _apart(counts, there, score, into, cost_of_a_part)
    return result


def _in_two(counts: Wide, there: Flag, score: Score, *, numeric: bool) -> tuple[Wide, Wide]:
    """Score the splits in two, with missing values in the first part and in the second."""
    lost, known = counts[:, -1:], counts[:, :-1]
    one = known.cumsum(axis=1)[:, :-1] if numeric else known
    rest = known.sum(axis=1, keepdims=True) - one
    if numeric:
        left = np.logical_or.accumulate(there, axis=1)[:, :-1]
        right = np.logical_or.accumulate(there[:, ::-1], axis=1)[:, ::-1][:, 1:]
        possible = left & right
    else:
        possible = there & (there.sum(axis=1, keepdims=True) > 1)
    first = np.where(possible, score.of(np.stack([one + lost, rest], axis=-2)), IMPOSSIBLE)
    if not lost.any():
        return first, first
    return first, np.where(possible, score.of(np.stack([one, rest + lost], axis=-2)), IMPOSSIBLE)


def _apart(counts: Wide, there: Flag, score: Score, into: int, cost_of_a_part: int) -> Wide:
    """Score the split into a part per code; missing values join one code."""
    every = np.arange(len(counts))
    joined = counts[:, :-1].copy()
    joined[every, np.where(there[:, into], into, there.argmax(axis=1))] += counts[:, -1]
    n_parts = there.sum(axis=1)
    # A cost from noise alone may be beyond all people there are.
    cost = min(cost_of_a_part, _DEAREST // there.shape[1])
    return np.where(n_parts > 1, score.of(joined) - cost * (n_parts - 2), IMPOSSIBLE)
