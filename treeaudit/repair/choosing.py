"""Which trees of a forest to keep: each the one that helps those before it most."""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.defenses.defense import Defense, DefenseWords
from treeaudit.defenses.keep_trees import chosen
from treeaudit.model.forest import Forest
from treeaudit.people.predict.predictions import said_by_nodes
from treeaudit.people.records import Records

__all__ = ["ChosenTrees", "helpful"]

_MOST_NUMBERS = 400_000_000
"""People times classes times pairs of trees that are looked at for an order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTrees(Defense):
    """Keep some trees of a forest.

    Attributes
    ----------
    kept
        Their positions, ascending: what is written finds them where they stood.
    """

    id = "chosen-trees"
    title = "Fewer trees, chosen"
    words = DefenseWords(
        does="keeps the trees of a forest that answer best together for the training people",
        fixes="with every tree that goes, less can be put together",
        leaves="each tree that stays, as it is",
        reference="Caruana et al. (2004), Ensemble selection from libraries of models",
    )
    kept: tuple[int, ...] = (0,)

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        return f"{len(self.kept)} {'tree' if len(self.kept) == 1 else 'trees'} kept"

    def apply(self, forest: Forest) -> Forest:
        """Return the model of these trees."""
        return chosen(forest, self.kept)


def helpful(forest: Forest, train: Records) -> list[int]:
    """Return all trees in the order in which each adds most right answers to those before it.

    Of trees that add as many, the one that gives most weight to what is right comes first. Where
    that would be too much to look at, and for models of numbers, the order of the model itself.
    """
    labels, n = train.labels, forest.n_trees
    size = len(train) * len(forest.schema.classes or ()) * n * n // 2
    if labels is None or not forest.schema.classes or size > _MOST_NUMBERS:
        return list(range(n))
    node = forest.apply(train.values)
    said = [said_by_nodes(forest, tree, i)[node[:, i]] for i, tree in enumerate(forest.trees)]
    total, order, left = np.zeros_like(said[0]), [], list(range(n))
    while left:
        best = max(left, key=lambda i: _worth(total + said[i], labels))
        total += said[best]
        order.append(best)
        left.remove(best)
    return order


def _worth(total: Float, labels: Int) -> tuple[int, float]:
    right = total[np.arange(len(labels)), labels]
    return int((total.argmax(axis=1) == labels).sum()), float(right.sum())
