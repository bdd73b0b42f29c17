"""The attacker who knows some of the people already: they are taken off, the others are sought.

From exact counts the known are subtracted, and what is certain of the others follows as of any
forest. From draws or noise the known stay in the rows; of one person who is missing the posterior
is a formula: ``log P(place) = log weight + sum over rows of the gain of one person more``, which
for discrete Laplace noise is plus or minus the rate in every row.
"""

from dataclasses import replace

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.defenses.cutting import summed
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records
from treeaudit.reconstruction.posterior import Evidence, Posterior

__all__ = ["of_one", "without"]


def of_one(row: Wide, evidence: Evidence, weight: Float, known: Wide) -> Posterior:
    """Return where the one person is whom nobody knows yet.

    Parameters
    ----------
    row, weight, known
        As `treeaudit.reconstruction.posterior.posterior` takes them.

    Examples
    --------
    Two leaves with 3 and 2 after noise of rate 1; two people are known, one in each. The first
    place takes its leaf from 1 to 2, which is nearer to 3; so does the second to 2. The third, in
    both, is nearer to both: e to the power of 1, 1 and 2.

    >>> from treeaudit.reconstruction.noisy import Noisy
    >>> rows = Noisy(count=np.array([3.0, 2.0, 0.0]), rate=np.array([1.0, 1.0, 0.0]))
    >>> found = of_one(np.array([[0, 2], [1, 2], [0, 1]]), rows, np.ones(3), np.array([1, 1, 0]))
    >>> found.place.tolist(), found.probability.round(3).tolist()
    ([2, 0, 1], [0.576, 0.212, 0.212])
    """
    score = np.log(weight) + evidence.gain(row, known[row]).sum(axis=1)
    share = np.exp(score - score.max())
    share /= share.sum()
    order = np.argsort(-share, kind="stable")
    return Posterior(place=order, nth=np.ones(len(order), np.int64), probability=share[order])


def without(forest: Forest, known: Records) -> Forest:
    """Return a forest whose exact counts hold the people who are not known.

    Raises
    ------
    DataError
        If more are known in some leaf than it holds: they were not all in the training data.
    """
    n_classes = len(forest.schema.classes or ())
    trees: list[Tree] = []
    for i, tree in enumerate(forest.trees):
        key = known.node[:, i].astype(np.int64) * n_classes + known.known_labels
        ends = np.bincount(key, minlength=tree.n_nodes * n_classes).reshape(-1, n_classes)
        held = summed(tree, ends.astype(np.float64))
        counts = held if tree.counts is None else tree.counts - held
        if (counts < 0).any():
            raise DataError(f"{known.origin} holds people who were not in the training data")
        trees.append(replace(tree, counts=counts, n_records=counts.sum(axis=1).astype(np.int64)))
    return replace(forest, trees=tuple(trees), n_records=None)
