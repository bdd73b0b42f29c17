"""Stumps and a tree that add up, made of noisy counts: post-processing, which costs nothing.

A stump asks about one column, with a part for each range of a number or each category. Naive Bayes
adds up, in logarithms, how much more frequent a class is in each part than among all people.
Columns that tell the same count twice there, so stumps and tree each have a weight, to
which power they are taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.dp.scores import on_grid
from treeaudit.model.tree import Tree
from treeaudit.trainers.private_tree_columns import Cells, Codes
from treeaudit.trainers.private_tree_nodes import Edges, Nodes

__all__ = ["WEIGHTS", "Stump", "drawn", "parts_of", "right_answers", "share_of_all", "stump_of"]

WEIGHTS = tuple((stumps, tree) for stumps in (1, 2, 4, 8) for tree in (0, 4, 8))
"""What stumps and tree may weigh, in eighths."""
_PIECE = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stump:
    """What is known of the parts of a column.

    Attributes
    ----------
    column
        Which.
    part
        The part of each code; that of missing values last.
    cuts
        Of a number, the points between its parts. None for categories.
    people
        Shape ``(n_parts,)``, noisy.
    shares
        Shape ``(n_parts, n_classes)``: how frequent each class is, never 0.
    """

    column: int
    part: Wide
    cuts: Float | None
    people: Float
    shares: Float

    def tree(self, of_all: Float, weight: float) -> Tree:
        """Return it as a tree, its shares drawn towards those of all people by its weight.

        Numbers are asked for halves of the parts, halves of these, and so on.
        """
        nodes, lost = Nodes(), int(self.part[-1])
        held = [(0, len(self.people))]
        nodes.add_root()
        if self.cuts is None:
            sets = tuple((code,) for code in range(len(self.people)))
            nodes.split(0, Edges(feature=self.column, categories=sets, missing=lost))
            held += [(code, code + 1) for (code,) in sets]
        else:
            for node, (first, last) in enumerate(held):
                if last - first > 1:
                    middle = (first + last) // 2
                    cut, side = float(self.cuts[middle - 1]), int(lost >= middle)
                    low, high = (-np.inf, cut), (cut, np.inf)
                    nodes.split(node, Edges(feature=self.column, low=low, high=high, missing=side))
                    held += [(first, middle), (middle, last)]
        people = drawn(self.shares, of_all, weight) * self.people[:, None]
        return nodes.trees([people[first:last].sum(axis=0) for first, last in held])[0]


def parts_of(codes: Codes, most: int) -> Wide:
    """Return the part of each code; neighbours share one where a number has many.

    Parts are equally wide, so many or a few more, but those at both ends, where numbers
    that are mostly at a bound differ, are halved three times towards the end.

    Examples
    --------
    >>> parts_of(Codes(n=16, edges=np.arange(15.0)), 2).tolist()
    [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 6, 7]
    >>> parts_of(Codes(n=4), 3).tolist()
    [0, 1, 2, 3]
    """
    width = 1 if codes.edges is None else max(1, round(codes.n / most))
    ends = width >> np.arange(1, 4)
    cuts = np.concatenate([np.arange(width, codes.n, width), ends, codes.n - ends])
    cuts = np.unique(cuts[(cuts > 0) & (cuts < codes.n)])
    part: Wide = np.searchsorted(cuts, np.arange(codes.n), side="right")
    return part


def share_of_all(totals: Sequence[Float], variances: Sequence[float]) -> Float:
    """Return how frequent each class is, never 0, from several noisy counts of all people.

    Examples
    --------
    >>> share_of_all([np.array([4.0, 8.0]), np.array([7.0, -1.0])], [1.0, 2.0]).tolist()
    [0.5, 0.5]
    """
    people = np.average(totals, axis=0, weights=1 / np.array(variances))
    people = np.maximum(people, 1.0)
    share: Float = people / people.sum()
    return share


def stump_of(
    column: int, codes: Codes, part: Wide, noisy: Wide, of_all: Float, deviation: float
) -> Stump:
    """Return the stump of a column.

    Parameters
    ----------
    part
        The part of each code.
    noisy
        Shape ``(n_parts + 1, n_classes)``: noisy counts, those of missing values last. These
        join the part that they are most like.
    of_all
        How frequent each class is.
    deviation
        The standard deviation of the noise in the people of a part.
    """
    known = _smoothed(noisy[:-1], of_all, deviation, 1 if codes.edges is None else len(noisy))
    shares = np.vstack([known, _smoothed(noisy[-1:], of_all, deviation, 1)])
    unlike = np.abs(np.log(shares[:-1]) - np.log(shares[-1])).sum(axis=1)
    lost = int(unlike.argmin())
    cuts = None if codes.edges is None else codes.edges[np.flatnonzero(np.diff(part))]
    return Stump(
        column=column,
        part=np.append(part, lost),
        cuts=cuts,
        people=np.maximum(noisy[:-1].sum(axis=1), 0.5),
        shares=shares[:-1],
    )


def _smoothed(noisy: Wide, above: Float, deviation: float, width: int) -> Float:
    """Return shares in parts, drawn towards those of the parts around by the noise in them.

    Parts are taken together, about ``width`` at first and then half as many each time, down to
    one; to each as many people are added as the noise in it is large, with the shares of what
    it is a half of.
    """
    shares = np.broadcast_to(above, (1, len(above)))
    span = 1 << (width - 1).bit_length()
    while span:
        start = np.arange(0, len(noisy), span)
        people = np.maximum(np.add.reduceat(noisy, start), 0)
        n_parts = np.diff(np.append(start, len(noisy)))
        of = shares[np.arange(len(start)) // 2 if len(shares) > 1 else np.zeros(len(start), int)]
        pulled = people + deviation * np.sqrt(n_parts)[:, None] * of
        shares = pulled / pulled.sum(axis=1, keepdims=True)
        span //= 2
    return shares


def drawn(shares: Float, of_all: Float, weight: float) -> Float:
    """Return shares to the power of a weight by those of all people to that of the rest.

    Examples
    --------
    >>> drawn(np.array([[0.8, 0.2]]), np.array([0.5, 0.5]), 0.5).round(3).tolist()
    [[0.667, 0.333]]
    """
    mixed = np.exp(weight * np.log(shares) + (1 - weight) * np.log(of_all))
    result: Float = mixed / mixed.sum(axis=1, keepdims=True)
    return result


def right_answers(
    cells: Cells, node: Int, stumps: Sequence[Stump], tree: Float, of_all: Float
) -> Wide:
    """Count the people whose class is the answer, for each of the `WEIGHTS`.

    Parameters
    ----------
    cells, node
        The people, and where in the tree each of them is.
    tree
        Shape ``(n_nodes, n_classes)``: the shares in the nodes of the tree, never 0.

    Notes
    -----
    Logarithms are rounded to whole units before they are added, so the answer for a
    person is the same whoever else is there: one person more adds one, or none, to each count.
    """
    weigh = [(s.column, on_grid(np.log(s.shares / of_all))[s.part]) for s in stumps]
    by_node = on_grid(np.log(tree / of_all))
    by_all = 8 * on_grid(np.log(of_all))
    right = np.zeros(len(WEIGHTS), dtype=np.int64)
    for start in range(0, len(cells), _PIECE):
        rows = slice(start, start + _PIECE)
        cell = cells.cell[:, rows]
        label = cell[0] % cells.n_classes
        added = np.zeros((len(label), cells.n_classes), dtype=np.int64)
        for column, table in weigh:
            added += table[cell[column] // cells.n_classes]
        of_tree = by_node[node[rows]]
        for i, (stump, tree_weight) in enumerate(WEIGHTS):
            answer = (by_all + stump * added + tree_weight * of_tree).argmax(axis=1)
            right[i] += np.count_nonzero(answer == label)
    return right
