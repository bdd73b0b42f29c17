"""What a defense must offer, and how it reaches every tree of a model."""

import math
from collections.abc import Callable
from dataclasses import Field, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.tree import Tree

__all__ = [
    "Bounds",
    "Defense",
    "DefenseWords",
    "at_most",
    "check_not_private",
    "counts_of",
    "people_in",
    "sizes",
    "telling_less",
    "tree_by_tree",
    "weights_of",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a parameter may be, as an annotation of its type; both ends included."""

    least: float
    most: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class DefenseWords:
    """What there is to say about a defense, once, for every renderer.

    Attributes
    ----------
    does
        What it changes in the model.
    fixes
        Which findings it removes.
    leaves
        What an attacker can still do.
    reference
        Where it comes from.
    """

    does: str
    fixes: str
    leaves: str
    reference: str


class Defense:
    """What `treeaudit.defenses.DEFENSES` holds, each a frozen dataclass.

    Its fields are its parameters, its docstring says what they are, and ``did``
    what it did with them. Where it needs the training data, it has a field
    ``values`` for them. See `treeaudit.defenses.parameters`.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    id: ClassVar[str]
    title: ClassVar[str]
    did: ClassVar[str]
    words: ClassVar[DefenseWords]

    @property
    def step(self) -> str:
        """What it did, with its parameters, in a few words."""
        return self.did.format(self)

    def apply(self, forest: Forest) -> Forest:
        """Return the repaired model; the one given is left as it is.

        Raises
        ------
        DataError
            If the model does not tell what the defense needs, or cannot be made
            what it asks for; for a tree, when that tree is asked for.
        """
        return tree_by_tree(forest, lambda tree, _: self.changed(tree, forest))

    def changed(self, tree: Tree, forest: Forest) -> Tree:
        """Return a tree as it becomes, where trees become it one by one."""
        raise NotImplementedError


def tree_by_tree(forest: Forest, change: Callable[[Tree, int], Tree]) -> Forest:
    """Return the model with every tree changed, given its number, when it is asked for.

    Counts that were added up anew no longer carry the noise that was drawn: no `Noise` is stated.

    Raises
    ------
    DataError
        If a tree cannot be changed, when it is asked for; names the tree.
    """
    trees = forest.trees

    def build(i: int) -> Tree:
        try:
            return change(trees[i], i)
        except DataError as error:
            if len(trees) == 1:
                raise
            raise DataError(f"tree {i}: {error}") from None

    return replace(forest, trees=LazyTrees(build, len(trees)), noise=None)


def sizes(tree: Tree, forest: Forest) -> Float:
    """Return how many people each node holds, as far as the model tells.

    Noisy counts are summed as they are: what is done with them afterwards costs
    no privacy. Draws with replacement are no people.

    Raises
    ------
    DataError
        If the model does not tell.
    """
    if tree.n_records is not None:
        return tree.n_records.astype(np.float64)
    people = forest.counts_are in ("exact", "likely") and forest.records_are != "bootstrap"
    if tree.counts is not None and (people or forest.counts_are == "noisy"):
        sums: Float = tree.counts.sum(axis=1)
        return sums
    raise DataError(
        "the model does not tell how many people are in its leaves, so small ones cannot be "
        f"found: {telling_less(tree, forest)}, or defend the model that it was made from"
    )


def telling_less(tree: Tree, forest: Forest) -> str:
    """Return, as advice, the repairs that need to know of no people."""
    answers = forest.answers != "sum" and (tree.counts is not None or tree.label is not None)
    labels = answers and forest.schema.classes is not None
    return f"use {'--method labels-only or ' if labels else ''}--method strip"


def check_not_private(forest: Forest, method: str) -> None:
    """Refuse to decide about a private model by the very people whom its epsilon protects.

    Raises
    ------
    DataError
        If its ledger promises something that would no longer hold.
    """
    if forest.privacy is None:
        return
    from treeaudit.dp.claims import promises  # which no model needs that claims nothing

    if promises(forest):
        raise DataError(
            f"{method} decides by the training people themselves, and the epsilon of this private "
            "model would no longer hold: use a method that goes by the file alone, such as "
            "--method merge-siblings"
        )


def at_most(people: float, tree: Tree, forest: Forest) -> str:
    """Return the largest ``min_leaf`` that works as advice, or what works without one."""
    k = int(people)
    return f"ask for at most {k:,} (--min-leaf {k})" if k > 1 else telling_less(tree, forest)


def counts_of(tree: Tree, forest: Forest) -> Float:
    """Return the class counts of each node, none below zero.

    Raises
    ------
    DataError
        If the model holds none.
    """
    if tree.counts is None:
        why = forest.counts_reason or "it holds none"
        raise DataError(
            f"labels cannot be told apart without class counts ({why}): "
            f"{telling_less(tree, forest)}"
        )
    counts: Float = np.maximum(tree.counts, 0)
    return counts


def weights_of(tree: Tree, forest: Forest, i: int) -> Float:
    """Return what a person of each class weighs in the answers of a tree, the i-th."""
    if forest.class_weights is None:
        return np.ones(1 if tree.counts is None else tree.counts.shape[1])
    return np.array(forest.class_weights[i], dtype=np.float64)


def people_in(tree: Tree, forest: Forest) -> Float:
    """Return people per node; the sum of its class counts where people are not told."""
    if tree.n_records is not None:
        return tree.n_records.astype(np.float64)
    total: Float = counts_of(tree, forest).sum(axis=1)
    return total
