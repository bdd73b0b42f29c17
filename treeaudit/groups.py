"""What each leaf says about the people in it: a few numbers per leaf, one pass.

The attacks need sizes and diversities of all leaves of all trees, never the
trees themselves. A forest of seven million leaves takes 0.3 GB here.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit import diversity
from treeaudit.tree import CountsAre, Forest, Tree

__all__ = ["Groups", "Labels", "TreeLabels", "measure", "people_per_class"]

Float = npt.NDArray[np.float64]
Wide = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLabels:
    """The worst diversity of any leaf of one tree."""

    distinct_l: int
    entropy_l: float
    recursive_c: float
    t_closeness: float
    ordered_t_closeness: float
    delta_disclosure: float
    beta_likeness: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """What the class counts say, one entry per leaf.

    Attributes
    ----------
    distinct
        Classes that occur in the leaf; 0 in trees without class counts.
    absent
        Classes that occur in the tree but not in the leaf.
    share
        Share of the largest class.
    majority
        People in the largest class; NaN where counts are not people.
    fewest
        People in the smallest class that occurs; NaN where counts are not people.
    top
        The largest class, as a column of `Tree.counts`.
    trees
        The worst diversity per tree; None for trees without class counts.
    """

    distinct: npt.NDArray[np.int32]
    absent: npt.NDArray[np.int32]
    share: Float
    majority: Float
    fewest: Float
    top: npt.NDArray[np.int32]
    trees: tuple[TreeLabels | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """The leaves of a forest of which the model tells how many people they hold.

    Attributes
    ----------
    start
        Shape ``(n_trees + 1,)``: leaves ``start[t]`` to ``start[t + 1]``
        belong to tree t. None do where the tree does not tell.
    leaf
        Node number of each leaf.
    size
        People per leaf, or None where no tree tells.
    labels
        What the class counts say, or None where there are none.
    n_nodes, n_leaves
        Of the whole forest, leaves without people included.
    n_silent
        Trees that do not tell how many people are in their leaves.
    depth
        Of a single tree; None for a forest.
    """

    start: Wide
    leaf: npt.NDArray[np.int32]
    size: Wide | None
    labels: Labels | None
    n_nodes: int
    n_leaves: int
    n_silent: int = 0
    depth: int | None = None

    def tree_of(self, index: npt.ArrayLike) -> Wide:
        """Return the tree of some leaves, given their positions."""
        return np.searchsorted(self.start, np.asarray(index), side="right") - 1

    def positions(self, tree: int, nodes: npt.ArrayLike) -> Wide:
        """Return where some nodes of a tree stand among its leaves with people, or -1."""
        first, last = int(self.start[tree]), int(self.start[tree + 1])
        leaves, nodes = self.leaf[first:last], np.asarray(nodes)
        if not len(leaves):
            return np.full(len(nodes), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(leaves, nodes), len(leaves) - 1)
        return np.where(leaves[at] == nodes, at + first, -1)

    def per_tree(self, values: npt.ArrayLike) -> Wide:
        """Sum a whole number per leaf over each tree."""
        total = np.concatenate([[0], np.cumsum(np.asarray(values, dtype=np.int64))])
        return np.diff(total[self.start])


def people_per_class(counts: Float, size: Wide, counts_are: CountsAre) -> Float:
    """Return people per class, or NaN in rows where the file does not tell.

    Counts are people where they are stated to be and add up to the people in
    the leaf: under bootstrap that is where everybody was drawn once. A leaf
    with one class holds exactly ``size`` people of it, whatever they weigh.

    Parameters
    ----------
    counts
        Shape ``(n_leaves, n_classes)``, as in `Tree.counts`.
    size
        Shape ``(n_leaves,)``: people per leaf.
    counts_are
        As in `Forest`.

    Examples
    --------
    >>> draws = np.array([[2.0, 1.0], [3.0, 1.0], [5.0, 0.0]])
    >>> people_per_class(draws, np.array([3, 2, 2]), "exact").tolist()
    [[2.0, 1.0], [nan, nan], [2.0, 0.0]]
    """
    known = np.zeros(len(counts), dtype=np.bool_)
    if counts_are in ("exact", "likely"):
        known = counts.sum(axis=1) == size
    one_class = (counts > 0).sum(axis=1) == 1
    people = np.where(known[:, None], counts, np.nan)
    return np.where(one_class[:, None], (counts > 0) * size[:, None].astype(np.float64), people)


def measure(forest: Forest, progress: Callable[[int, int], None] | None = None) -> Groups:
    """Look at every tree once and keep a few numbers per leaf.

    Parameters
    ----------
    forest
        The model.
    progress
        Called with the trees done and their number.

    Examples
    --------
    >>> from treeaudit.schema import Schema
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...              high=[inf, 1.5, inf], n_records=[5, 2, 3], counts=[[2, 3], [2, 0], [0, 3]])
    >>> groups = measure(Forest(trees=(stump,), schema=Schema.numeric(1, ["no", "yes"])))
    >>> groups.size.tolist(), groups.labels.distinct.tolist()
    ([2, 3], [1, 1])
    """
    parts: list[_Part] = []
    for done, tree in enumerate(forest.trees, start=1):
        parts.append(_part(tree, forest.counts_are))
        if progress is not None:
            progress(done, forest.n_trees)
    told = [p.size for p in parts if p.size is not None]
    return Groups(
        start=np.concatenate([[0], np.cumsum([len(p.leaf) for p in parts])]),
        leaf=np.concatenate([p.leaf for p in parts]),
        size=np.concatenate(told) if told else None,
        labels=_join(parts),
        n_nodes=sum(p.n_nodes for p in parts),
        n_leaves=sum(p.n_leaves for p in parts),
        n_silent=len(parts) - len(told),
        depth=int(tree.depths.max()) if forest.n_trees == 1 else None,
    )


def _join(parts: "list[_Part]") -> Labels | None:
    """Put the labels of all trees in a row; trees without are filled with nothing."""
    if all(p.labels is None for p in parts):
        return None
    each = [p.labels if p.labels is not None else _no_labels(len(p.leaf)) for p in parts]
    return Labels(
        distinct=np.concatenate([labels.distinct for labels in each]),
        absent=np.concatenate([labels.absent for labels in each]),
        share=np.concatenate([labels.share for labels in each]),
        majority=np.concatenate([labels.majority for labels in each]),
        fewest=np.concatenate([labels.fewest for labels in each]),
        top=np.concatenate([labels.top for labels in each]),
        trees=tuple(worst for labels in each for worst in labels.trees),
    )


def _no_labels(n: int) -> Labels:
    return Labels(
        distinct=np.zeros(n, dtype=np.int32),
        absent=np.zeros(n, dtype=np.int32),
        share=np.zeros(n),
        majority=np.full(n, np.nan),
        fewest=np.full(n, np.nan),
        top=np.zeros(n, dtype=np.int32),
        trees=(None,),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    leaf: npt.NDArray[np.int32]
    size: Wide | None
    labels: Labels | None
    n_nodes: int
    n_leaves: int


def _part(tree: Tree, counts_are: CountsAre) -> _Part:
    leaves = tree.leaves
    n_leaves = len(leaves)
    size = labels = None
    if tree.n_records is None:
        leaves = leaves[:0]
    else:
        size = tree.n_records[leaves]
        leaves, size = leaves[size > 0], size[size > 0]
    if tree.counts is not None and size is not None and len(leaves):
        labels = _labels(tree.counts[leaves], size, counts_are)
    return _Part(leaf=leaves, size=size, labels=labels, n_nodes=tree.n_nodes, n_leaves=n_leaves)


def _labels(counts: Float, size: Wide, counts_are: CountsAre) -> Labels:
    top = counts.argmax(axis=1).astype(np.int32)
    overall = counts.sum(axis=0)
    counts, overall = counts[:, overall > 0], overall[overall > 0]
    distinct = diversity.distinct(counts)
    people = people_per_class(counts, size, counts_are)
    return Labels(
        distinct=distinct.astype(np.int32),
        absent=(len(overall) - distinct).astype(np.int32),
        share=diversity.dominance(counts),
        majority=people.max(axis=1),
        fewest=np.where(people == 0, np.inf, people).min(axis=1),
        top=top,
        trees=(
            TreeLabels(
                distinct_l=int(distinct.min()),
                entropy_l=float(diversity.entropy_l(counts).min()),
                recursive_c=float(diversity.recursive_c(counts).max()),
                t_closeness=round(float(diversity.closeness(counts, overall).max()), 12),
                ordered_t_closeness=round(
                    float(diversity.ordered_closeness(counts, overall).max()), 12
                ),
                delta_disclosure=float(diversity.delta_disclosure(counts, overall).max()),
                beta_likeness=round(float(diversity.beta_likeness(counts, overall).max()), 12),
            ),
        ),
    )
