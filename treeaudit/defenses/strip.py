"""Keep only what a prediction needs, or even the label of each leaf alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treeaudit.arrays import Float
from treeaudit.defenses.defense import Defense, DefenseWords, counts_of, tree_by_tree, weights_of
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extras, Kind
from treeaudit.model.tree import Tree
from treeaudit.readers.residual.extra_content import is_plain
from treeaudit.readers.residual.seeds import is_seed
from treeaudit.readers.residual.targets import single_targets

_NEEDED: frozenset[Kind] = frozenset({"column-values", "extremes", "first-round-counts"})
"""What a writer needs for predictions."""
_LONGEST = 200
"""Characters of a setting that is text."""
_SHARES = "only the share of each class in each leaf is kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip(Defense):
    """Take out every number that no prediction needs."""

    id = "strip"
    title = "Keep what a prediction needs"
    did = "removed counts, node statistics, seeds and leftovers"
    words = DefenseWords(
        does="turns the class counts of leaves into shares and takes out how many people there "
        "are, all numbers of inner nodes, impurities, seeds, out-of-bag tables and weights",
        fixes="nobody can read off how many people a leaf holds; the draws of the trees cannot be "
        "repeated",
        leaves="the rules, and the share of each label: a leaf of one label still shows; what was "
        "a small leaf is no safer, it is only harder to see",
        reference="disclosure control of outputs: publish no counts that nobody needs",
    )

    def apply(self, forest: Forest) -> Forest:
        """Return the model with rules and answers alone.

        What was stripped cannot be audited any more: checks of group sizes are
        then skipped, which is never a pass.
        """
        return without_counts(without_extras(forest), _SHARES)


def without_counts(forest: Forest, reason: str) -> Forest:
    """Return the model with the shares of its leaves instead of how many people they hold."""
    bare = tree_by_tree(forest, lambda tree, i: _bare(tree, weights_of(tree, forest, i)))
    counted = forest.counts_are not in ("absent", "label-only")
    return replace(
        bare,
        counts_are="weighted" if counted else forest.counts_are,
        counts_reason=reason if counted else forest.counts_reason,
        records_are="all" if forest.records_are == "all" else "unknown",
        n_records=None,
        class_weights=None,
    )


def without_extras(forest: Forest) -> Forest:
    """Return the model without its seeds and without what lay beside its trees.

    What predictions need is kept, as no writer can leave it out. Whether a leaf
    still tells the target of one person is looked for again.
    """
    parameters: Mapping[str, Any] = {
        name: value
        for name, value in forest.source.parameters.items()
        if not is_seed(name) and (isinstance(value, list) or is_plain(value, _LONGEST))
    }
    if forest.schema.classes is None:
        # Nor are the spreads of numbers, which no prediction needs.
        forest = tree_by_tree(forest, lambda tree, _: replace(tree, spread=None))
    return replace(
        forest,
        extras=forest.extras.only(_NEEDED).beside(
            Extras(looked_for=KINDS)
            if forest.schema.classes is not None
            else single_targets(forest.trees, means=False)
        ),
        others={},
        seeds=None,
        # What is written from here on holds nothing else.
        source=replace(forest.source, parameters=parameters, canonical=True, canonical_reason=""),
    )


def _bare(tree: Tree, weights: Float) -> Tree:
    leaf = tree.is_leaf
    counts = None
    if tree.counts is not None:
        counts = np.where(leaf[:, None], np.maximum(tree.counts, 0), 0.0) * weights
        total = counts.sum(axis=1, keepdims=True)
        np.divide(counts, total, out=counts, where=total > 0)
    return replace(
        tree,
        n_records=None,
        counts=counts,
        label=None if tree.label is None else np.where(leaf, tree.label, 0),
        value=None if tree.value is None else np.where(leaf, tree.value, 0.0),
        spread=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsOnly(Defense):
    """Keep one label per leaf instead of counts."""

    id = "labels-only"
    title = "Labels instead of counts"
    did = "replaced class counts by one label per leaf"
    words = DefenseWords(
        does="keeps the label that each leaf answers, and takes out counts and shares",
        fixes="whether a leaf is of one label, and how many people are in it, cannot be read off",
        leaves="the rules, and that most people behind a rule have its label; probabilities are "
        "gone, and the trees of a forest vote with one voice each, which may change its answers",
        reference="disclosure control of outputs; Wakabayashi et al. (2024) attack the counts",
    )

    def apply(self, forest: Forest) -> Forest:
        """Return the model with labels alone.

        Raises DataError if it predicts no classes, or adds up numbers.
        """
        if forest.schema.classes is None or forest.answers == "sum":
            raise DataError("labels-only needs a model that predicts a class; use --method strip")
        return replace(
            tree_by_tree(forest, lambda tree, i: _labelled(tree, forest, i)),
            counts_are="label-only",
            counts_reason="only the label of each leaf is kept",
            answers="vote"
            if forest.answers in ("mean", "confidence", "product")
            else forest.answers,
            records_are="unknown",
            n_records=None,
            class_weights=None,
        )


def _labelled(tree: Tree, forest: Forest, i: int) -> Tree:
    label = tree.label
    if label is None:
        label = (counts_of(tree, forest) * weights_of(tree, forest, i)).argmax(axis=1)
    label = np.where(tree.is_leaf, label, 0).astype(np.int32)
    return replace(tree, n_records=None, counts=None, label=label, value=None)
