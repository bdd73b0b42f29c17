"""What a file claims of its people, and how much of that is true.

A model that was trained with noise claims people who are not there. Counted on
the real training people, a claim is right or wrong. Without them it has a
probability under the noise that the model states, for an attacker to whom all
counts are alike beforehand.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.records import Records
from treeaudit.tree import Forest, Tree

__all__ = ["Claims", "claims_of", "noise_rate", "true_counts"]

Flag = npt.NDArray[np.bool_]
Wide = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Claims of the worst tree of a model, each beside what is true of them.

    Attributes
    ----------
    told
        Whether the file tells how many people are in its leaves at all.
    smallest
        People in the smallest leaf; None where the file does not tell.
    alone
        Leaves that claim to hold one person.
    alone_true
        Those in which exactly one training person ends; None without training
        data.
    certain
        People in leaves that claim to hold one label only.
    certain_true
        Training people who end in such a leaf and have its label; None without.
    sizes
        People per leaf of the tree with most people alone, smallest first.
    alone_expected, certain_expected
        How many of ``alone`` and ``certain`` to expect to be true under the
        noise, as if nothing had been done to the counts after it; None for
        counts without known noise.
    """

    told: bool
    smallest: int | None
    alone: int
    alone_true: int | None
    certain: int
    certain_true: int | None
    sizes: tuple[int, ...]
    alone_expected: float | None = None
    certain_expected: float | None = None


def noise_rate(forest: Forest) -> float | None:
    """Return the rate of the discrete Laplace noise on the counts of the leaves, or None."""
    return None if forest.noise is None else forest.noise.rate


def true_counts(noisy: npt.NDArray[np.float64], rate: float, n: int) -> npt.NDArray[np.float64]:
    """Return how likely n people are behind each noisy count, all n from 0 being alike before.

    Examples
    --------
    >>> true_counts(np.array([1.0]), 1.0, 1).round(4).tolist()
    [0.5129]
    """
    c = np.rint(noisy)
    q = np.exp(-rate)
    # The sum of exp(-rate |c - k|) over all k from 0.
    upward = np.where(c >= 0, q / (1 - q), np.exp(rate * np.minimum(c, 0)) / (1 - q))
    downward = np.where(c >= 0, (1 - q ** (np.maximum(c, 0) + 1)) / (1 - q), 0.0)
    likely: npt.NDArray[np.float64] = np.exp(-rate * np.abs(c - n)) / (upward + downward)
    return likely


def claims_of(forest: Forest, train: Records | None = None) -> Claims:
    """Return what a file claims, tree by tree, and keep the worst tree of each claim.

    Parameters
    ----------
    forest
        The model. Noisy counts are rounded to people.
    train
        The people it was trained on, routed through it.

    Examples
    --------
    >>> from treeaudit import Schema
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...              high=[inf, 1.5, inf], n_records=[9, 1, 8], counts=[[2, 7], [1, 0], [1, 7]])
    >>> found = claims_of(Forest(trees=(stump,), schema=Schema.numeric(1, ["no", "yes"])))
    >>> found.smallest, found.alone, found.certain, found.sizes
    (1, 1, 1, (1, 8))
    """
    told, smallest, sizes = False, None, np.empty(0, dtype=np.int64)
    rate = noise_rate(forest)
    expected = {"alone": 0.0, "certain": 0.0}
    alone: tuple[int, int | None] = (0, None if train is None else 0)
    certain = alone
    for i, tree in enumerate(forest.trees):
        leaves = tree.leaves
        size = _sizes(tree, forest, leaves)
        if size is None:
            continue
        leaves, size = leaves[size > 0], size[size > 0]
        if not len(leaves):
            continue
        least = int(size.min())
        smallest = least if smallest is None else min(smallest, least)
        node = None if train is None else train.node[:, i]
        here = _alone(tree, leaves[size == 1], node)
        if not told or here[0] > alone[0]:
            sizes, alone = np.sort(size), here
            expected["alone"] = _alone_expected(tree, leaves[size == 1], rate)
        labels = None if train is None else train.labels
        here = _certain(tree, leaves, size, node, labels)
        if not told or here[0] > certain[0]:
            certain = here
            expected["certain"] = _certain_expected(tree, leaves, size, rate)
        told = True
    return Claims(
        told=told,
        smallest=smallest,
        alone=alone[0],
        alone_true=alone[1],
        certain=certain[0],
        certain_true=certain[1],
        sizes=tuple(sizes.tolist()),
        alone_expected=None if rate is None else expected["alone"],
        certain_expected=None if rate is None else expected["certain"],
    )


def _sizes(tree: Tree, forest: Forest, leaves: npt.NDArray[np.int32]) -> Wide | None:
    if tree.n_records is not None:
        return tree.n_records[leaves]
    if tree.counts is None or forest.counts_are != "noisy":
        return None
    rounded: Wide = np.rint(np.maximum(tree.counts[leaves], 0).sum(axis=1)).astype(np.int64)
    return rounded


def _alone(
    tree: Tree, leaves: npt.NDArray[np.int32], node: npt.NDArray[np.int32] | None
) -> tuple[int, int | None]:
    if node is None:
        return len(leaves), None
    real = np.bincount(node, minlength=tree.n_nodes)[leaves]
    return len(leaves), int((real == 1).sum())


def _certain(
    tree: Tree,
    leaves: npt.NDArray[np.int32],
    size: Wide,
    node: npt.NDArray[np.int32] | None,
    labels: npt.NDArray[np.int32] | None,
) -> tuple[int, int | None]:
    if tree.counts is None:
        return 0, None if node is None else 0
    counts = np.rint(tree.counts[leaves])
    pure = (counts > 0).sum(axis=1) == 1
    claimed = int(size[pure].sum())
    if node is None or labels is None:
        return claimed, None
    stated = np.full(tree.n_nodes, -1)
    stated[leaves[pure]] = counts[pure].argmax(axis=1)
    return claimed, int((stated[node] == labels).sum())


def _alone_expected(tree: Tree, leaves: npt.NDArray[np.int32], rate: float | None) -> float:
    """Return how many leaves to expect to hold one person: one of a class, none of others."""
    if rate is None or tree.counts is None or not len(leaves):
        return 0.0
    one = true_counts(tree.counts[leaves], rate, 1)
    none = true_counts(tree.counts[leaves], rate, 0)
    return float((none.prod(axis=1) * (one / none).sum(axis=1)).sum())


def _certain_expected(
    tree: Tree, leaves: npt.NDArray[np.int32], size: Wide, rate: float | None
) -> float:
    """Return how many of the people to expect in leaves whose other classes are empty."""
    if rate is None or tree.counts is None:
        return 0.0
    counts = np.rint(tree.counts[leaves])
    pure = (counts > 0).sum(axis=1) == 1
    none = true_counts(counts[pure], rate, 0)
    top = counts[pure].argmax(axis=1)
    none[np.arange(len(none)), top] = 1.0
    return float((size[pure] * none.prod(axis=1)).sum())
