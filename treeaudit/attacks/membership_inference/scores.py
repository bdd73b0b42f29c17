"""Members, non-members and reference people, and the usual membership tests (TA104, TA105).

An attack that is tested on the people it was tuned on proves nothing: one half of the unseen
people is the reference, the other half the control. `leaf_scores` compares the counts of the
leaves with what the reference makes one expect. The loss attack asks how sure the model is of the
right answer; `treeaudit.attacks.membership_inference.shadows` compares that with other models.

References
----------
Yeom et al. (2018), Privacy risk in machine learning, section 3 (loss).
"""

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.predict.predictions import answered_numbers, answered_shares
from treeaudit.people.records import Records

_PSEUDO = 0.5
"""People added to every leaf of the reference sample: an empty leaf is not impossible."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """People who were not in the training data, as far as the score needs them."""

    node: Int  # Shape `(n, n_trees)`: where each of them ends
    labels: Int | None  # Shape `(n,)`: positions in `schema.classes`, or None
    n_members: int  # People in the training data of the whole model


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

    Returns: shape ``(n_nodes, n_classes)``, or ``(n_nodes, 1)`` where the label does not matter; 0
    at inner nodes, where only those end whom no edge lets through. None where the tree tells
    nothing of people.
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Rows of the people given, by what they are used for."""

    # The people
    train: Records
    test: Records
    members: Index  # Rows of `train`, sampled
    control: Index  # Rows of `test` that nothing is learnt from, sampled
    reference: Index  # Rows of the other half of `test`, all of them

    def population(self, case: Case) -> Reference:
        """Return the reference half as the count score takes it."""
        labels = self.test.labels
        return Reference(
            node=self.test.node[self.reference],
            labels=None if labels is None else labels[self.reference],
            n_members=case.forest.n_records or len(self.train),
        )


def split_groups(case: Case, attack_id: str, most: int) -> Groups:
    """Split the people by the seed of the case."""
    train, test = case.people("train"), case.people("test")
    rng = np.random.default_rng([case.seed, zlib.crc32(attack_id.encode())])
    members = _one_each(train, rng.permutation(len(train)))[:most]
    every = rng.permutation(len(test))
    unseen = _one_each(test, every)
    half = len(unseen) // 2
    reference = unseen[:half]
    if test.persons is not None:
        reference = np.flatnonzero(np.isin(test.persons, test.persons[reference]))
    return Groups(
        train=train,
        test=test,
        members=np.sort(members),
        control=np.sort(unseen[half : half + most]),
        reference=np.sort(reference),
    )


def _one_each(people: Records, order: Index) -> Index:
    """Return the first record of every person in an order; all where persons are not known."""
    if people.persons is None:
        return order
    return order[np.sort(np.unique(people.persons[order], return_index=True)[1])]


Scores = tuple[Float, Float]
Reason = str


def loss(forest: Forest, people: Groups) -> Scores | Reason:
    """Return how right the model is about members and about control people."""
    parts = ((people.train, people.members), (people.test, people.control))
    # Both at once: what the leaves say is worked out tree by tree.
    node = np.concatenate([records.node[rows] for records, rows in parts])
    try:
        if forest.schema.classes is not None:
            labels = np.concatenate([records.known_labels[rows] for records, rows in parts])
            shares, _ = answered_shares(forest, node, people.train)
            found = shares[np.arange(len(labels)), labels]
        else:
            numbers = [each.targets[rows] for each, rows in parts if each.targets is not None]
            if len(numbers) < len(parts):
                return "the numbers that people have are not known"
            found = -np.abs(answered_numbers(forest, node, people.train) - np.concatenate(numbers))
    except DataError as error:
        return str(error)
    return found[: len(people.members)], found[len(people.members) :]
