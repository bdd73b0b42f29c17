"""How much more likely the counts of a leaf are if one more person is in it.

Somebody who trained a tree is one of the people who are counted in their leaf;
somebody who did not is not. How many people a leaf would hold anyway is read
off a reference sample of other people. No shadow model is trained.

References
----------
The likelihood ratio is that of a Poisson count with and without one more
person. Carlini et al. (2022), Membership inference attacks from first
principles, for the test that it sharpens.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["Reference", "draws_ratio", "expected_counts", "leaf_scores", "people_ratio"]


_PSEUDO = 0.5
"""People added to every leaf of the reference sample: an empty leaf is not impossible."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """People who were not in the training data, as far as the score needs them.

    Attributes
    ----------
    node
        Shape ``(n, n_trees)``: where each of them ends.
    labels
        Shape ``(n,)``: positions in ``schema.classes``, or None.
    n_members
        People in the training data of the whole model.
    """

    node: Int
    labels: Int | None
    n_members: int


def expected_counts(reference: npt.ArrayLike, n_reference: int, total: float) -> Float:
    """Return how many people a leaf would hold of ``total``, given a reference sample."""
    return (np.asarray(reference, dtype=np.float64) + _PSEUDO) * (total / n_reference)


def people_ratio(counts: Float, expected: Float, share: float = 1.0) -> Float:
    """Return the log likelihood ratio of "is in the leaf" where people are counted once."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(1 - share + share * (counts / expected)))


def draws_ratio(counts: Float, expected: Float, each: float = 1.0) -> Float:
    """Return the log likelihood ratio of "is in the leaf" where draws are counted."""
    return np.asarray(counts * np.log1p(each / expected) - each)


def leaf_scores(forest: Forest, index: int, tree: Tree, reference: Reference) -> Float | None:
    """Return the score of being in each leaf of a tree, per class.

    Class counts are used where they are people or draws; otherwise the people
    in the leaf whatever their label, and of weights only whether they are zero.

    Returns
    -------
    numpy.ndarray or None
        Shape ``(n_nodes, n_classes)``, or ``(n_nodes, 1)`` where the label does
        not matter; 0 at inner nodes, where only those end whom no edge lets
        through. None where the tree tells nothing of people.
    """
    leaf = tree.is_leaf
    labels = reference.labels if forest.tree_classes is None else None
    counts = None if labels is None else tree.counts
    if labels is not None and counts is not None and forest.counts_are in ("exact", "likely"):
        scores = _labelled(forest, counts, leaf, reference, reference.node[:, index], labels)
    elif tree.n_records is not None:
        scores = _unlabelled(tree.n_records, counts, leaf, reference, index)
    else:
        return None
    scores[~leaf] = 0
    return scores


def _labelled(
    forest: Forest, counts: Float, leaf: Flag, reference: Reference, node: Int, labels: Int
) -> Float:
    n, classes = counts.shape
    key = node.astype(np.int64) * classes + labels
    seen = np.bincount(key, minlength=n * classes).reshape(n, classes)
    total = float(counts[leaf].sum())
    expected = expected_counts(seen, len(key), max(total, 1.0))
    if forest.records_are == "bootstrap":
        return draws_ratio(counts, expected, total / reference.n_members)
    return people_ratio(counts, expected, _share(total, reference))


def _unlabelled(
    people: Wide, weight: Float | None, leaf: Flag, reference: Reference, index: int
) -> Float:
    seen = np.bincount(reference.node[:, index], minlength=len(people))
    total = float(people[leaf].sum())
    expected = expected_counts(seen, len(reference.node), max(total, 1.0))
    share = _share(total, reference)
    scores = people_ratio(people.astype(np.float64), expected, share)[:, None]
    if weight is None:
        return scores
    nobody = people_ratio(np.zeros(1), np.ones(1), share)
    return np.where(weight > 0, scores, nobody)


def _share(total: float, reference: Reference) -> float:
    return min(1.0, total / reference.n_members)
