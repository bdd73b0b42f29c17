"""Test by permutation whether labels are consistent with the leaves of a model.

If trees saw all rows, counts are compared one by one. Bootstrap samples, weights and the steps of
a boosting leave room: labels of another column may fit as well. The statistic is the sum, over
trees and people, of how much more frequent the label of a person is in the leaf than in the tree.
Under permutations of the labels its mean and deviation are known exactly. If the labels are not far
above that mean, nothing shows that they are those of the training, and nothing may rest on them.

Numbers to predict have to rise with the values of their leaves. Ranks are correlated, since a
single number rules the correlation of skewed ones; under permutations the correlation of any scores
of ranks has mean 0 and variance ``1 / (n - 1)``.

References
----------
Wald and Wolfowitz (1944), Statistical tests based on permutations of the observations. Savage
(1956), Contributions to the theory of rank order statistics.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import changed_target, draws_in_order, values_fit
from treeaudit.people.coding.columns import class_apart, own_classes
from treeaudit.people.records import Records

_FAR, _OF_MOST = 3.5, 0.75
"""Deviations above permuted labels; of very few people, a part of the most that is possible."""
_SOME = 2.0
"""Deviations from which labels are more consistent than most permuted ones."""
_ROWS, _NOTHING = 50_000, 1e-9
_OF_VALUES = ("mean", "sum", "weighted")
_NO_BETTER = (
    "nothing shows that they are those of the training, since other {} would go with the leaves of "
    "the model as well; if it was trained with another column, name that (--target): nothing that "
    "rests on them was looked at"
)
_TOO_FEW = (
    "they are too few, or too noisy, to tell whether they are those of the training: nothing that "
    "rests on them was looked at"
)
_FEWEST_LEAVES = 3
"""Leaves beyond one a tree: with fewer, counts that agree may do so by chance."""


def unverified_labels(forest: Forest, train: Records) -> str:
    """Say in one sentence why labels may not be those of the training; empty if they are."""
    if train.targets is not None:
        return _numbers_not_held(forest, train, train.targets)
    apart = own_classes(forest)
    # A member alone knows its class and all others: two.
    own = apart if len(apart) > 1 else ()
    labels = train.members if own else train.labels
    if labels is None or forest.schema.classes is None:
        return ""
    # Noise may leave little of the labels.
    if forest.counts_are == "noisy" or forest.privacy is not None or _compared(forest, train):
        return ""
    said = f"the labels of {train.origin} could not be verified: "
    if forest.tree_classes is not None and not apart and not _holds_steps(forest):
        return said + "every tree of the model counts labels of its own"
    rows = _sampled(np.flatnonzero(labels >= 0))
    labels, node = labels[rows], train.node[rows]
    n_classes = len(own) or len(forest.schema.classes)
    if len(np.unique(labels)) < 2:
        return said + _NO_BETTER.format("labels") if n_classes > 1 else ""
    evidence = list(_evidence(forest, node, labels, own, n_classes))
    if not evidence:
        return said + "the file does not tell of them"
    total = np.sum(evidence, axis=0)
    found, deviation = beyond_chance(total, labels)
    if deviation <= _NOTHING * float(np.abs(total).max()):
        # Leaves with the same evidence for everybody tell nobody's label.
        return ""
    return (
        ""
        if found > 0 and _is_far(found / deviation, len(rows))
        else said + _reason(found / deviation, "labels")
    )


def _numbers_not_held(forest: Forest, train: Records, targets: Float) -> str:
    """Do the same for numbers that are predicted."""
    if forest.privacy is not None or len(forest.members) > 1 or forest.answers not in _OF_VALUES:
        return ""
    if values_fit(forest, train):
        return ""
    rows = _sampled(np.arange(len(targets)))
    total, numbers = np.zeros(len(rows)), targets[rows]
    for i, tree in enumerate(forest.trees):
        total += 0.0 if tree.value is None else tree.value[train.node[rows, i]]
    if np.ptp(total) <= _NOTHING * np.abs(total).max():
        return ""
    said = f"the numbers of {train.origin} could not be verified: "
    if np.ptp(numbers) == 0:
        return said + _NO_BETTER.format("numbers")
    found = _rank_correlation(total, numbers)
    if forest.source.library != "scikit-learn" or changed_target(forest):
        # The leaves may hold a function that falls as the target rises.
        found = max(found, _rank_correlation(total, -numbers))
    return "" if _is_far(found, len(rows)) else said + _reason(found, "numbers")


def _sampled(rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return at most so many rows as are tested."""
    if len(rows) <= _ROWS:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, _ROWS, replace=False))


def _is_far(deviations: float, n: int) -> bool:
    return deviations >= min(_FAR, _OF_MOST * float(np.sqrt(n - 1)))


def _reason(deviations: float, what: str) -> str:
    return _TOO_FEW if deviations >= _SOME else _NO_BETTER.format(what)


def _compared(forest: Forest, train: Records) -> bool:
    """Tell whether `verify` compared every label, since it is known who is in the trees."""
    if draws_in_order(forest, train):
        return True
    if forest.records_are != "all" or forest.counts_are not in ("exact", "likely"):
        return False
    if forest.tree_classes is not None and not own_classes(forest):
        counted = [class_apart(labels) is not None for labels in forest.tree_classes]
    else:
        counted = [True] * forest.n_trees
    leaves = [
        int(tree.is_leaf.sum()) - 1
        for tree, known in zip(forest.trees, counted, strict=True)
        if known and tree.counts is not None
    ]
    return len(leaves) == forest.n_trees or sum(leaves) >= _FEWEST_LEAVES


def _holds_steps(forest: Forest) -> bool:
    """Tell whether leaves hold steps: counts of the first round alone say less."""
    return forest.trees[0].value is not None


def _evidence(
    forest: Forest, node: Int, labels: Int, own: tuple[str, ...], n_classes: int
) -> Iterator[Float]:
    """Yield the evidence of each tree for each label of everybody, ``(n_people, n_classes)``."""
    steps, moved = _holds_steps(forest), _moved(forest, own, n_classes)
    for i, tree in enumerate(forest.trees):
        at, only = node[:, i], moved[i]
        part = np.zeros((len(at), n_classes))
        if steps or (tree.counts is None and tree.label is None):
            if tree.value is not None:
                part[:, only] = tree.value[at]
                yield part
        elif own:
            part[:, only] = _excess(tree, at, (labels == only).astype(np.int32), 2)[at, 1]
            yield part
        else:
            yield _excess(tree, at, labels, n_classes)[at]


def _moved(forest: Forest, own: tuple[str, ...], n_classes: int) -> list[int]:
    """Return the class that the steps of each tree move: in turn, by model and round."""
    if own and forest.tree_classes is not None:
        return [own.index(str(labels[1])) for labels in forest.tree_classes]
    stated = forest.source.parameters.get("num_parallel_tree", 1)
    parallel = stated if isinstance(stated, int) and stated > 0 else 1
    models = [member.n_trees for member in forest.members] or [forest.n_trees]
    if n_classes == 2:
        return [1] * forest.n_trees
    return [i // parallel % n_classes for n_trees in models for i in range(n_trees)]


def _excess(tree: Tree, at: Int, labels: Int, n_classes: int) -> Float:
    """Return how much more frequent each label is in each node than in the tree."""
    held = np.bincount(labels, minlength=n_classes).astype(np.float64)
    if tree.counts is None:
        counts = np.zeros((tree.n_nodes, n_classes))
        if tree.label is not None:
            counts[np.arange(tree.n_nodes), tree.label] = 1.0
            counts *= np.bincount(at, minlength=tree.n_nodes)[:, None]
    else:
        counts = np.maximum(tree.counts, 0.0)
    leaves: Flag = tree.is_leaf
    if tree.n_records is not None:
        leaves = leaves & (tree.n_records > 0)
    total = leaves.astype(np.float64) @ counts
    # Class weights are undone: each class counts as often as there are people of it.
    frequent = np.where(total > 0, held, 0.0)
    shares = counts * np.divide(frequent, total, out=np.zeros(n_classes), where=total > 0)
    size = shares.sum(axis=1)
    known = leaves & (size > 0)
    shares /= np.where(known, size, 1.0)[:, None]
    return np.where(known[:, None], shares - frequent / max(frequent.sum(), 1.0), 0.0)


def beyond_chance(evidence: Float, labels: Int) -> tuple[float, float]:
    """Return how far a sum over people is above that of permuted labels, and its deviation.

    ``evidence``: shape ``(n_people, n_classes)``: what is added for each, by their label.
    ``labels``: shape ``(n_people,)``; of two at least.
    """
    n = len(labels)
    held = np.bincount(labels, minlength=evidence.shape[1])
    centred = evidence - evidence.mean(axis=0)
    centred -= (centred @ (held / n))[:, None]
    found = float(centred[np.arange(n), labels].sum())
    return found, float(np.sqrt((centred**2 @ held).sum() / (n - 1)))


def _rank_correlation(one: Float, other: Float) -> float:
    """Return by how many deviations two numbers rise together more than by chance."""
    ranks = [_midranks(one), _midranks(other)]
    if np.mean(other) < np.median(other):
        tails = [np.log(rank) for rank in ranks]
    else:
        tails = [-np.log1p(-rank) for rank in ranks]
    correlations = (float(np.corrcoef(*pair)[0, 1]) for pair in (ranks, tails))
    return max(correlations) * float(np.sqrt(len(one) - 1))


def _midranks(numbers: Float) -> Float:
    """Return the share of numbers below each, of equal ones half of them."""
    _, place, times = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - times / 2)[place.reshape(-1)] / len(numbers))
