"""Leaf counts completed or bounded by the training people.

Counts that were rounded are bounded by who ends in a leaf, and leaves without counts are counted.
"""

from dataclasses import replace
from math import gcd

import numpy as np

from treeaudit.defenses.tree_edits import summed
from treeaudit.errors import DataError
from treeaudit.inference.scope import draws_samples, sample_share
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.source import KINDS
from treeaudit.model.tree import Tree
from treeaudit.people.predict.newton_steps import (
    newton_of,
    newton_of_digits,
    resampled_steps,
    shows_samples,
)
from treeaudit.people.predict.predictions import column_of_each_tree, target_values
from treeaudit.people.records import Records
from treeaudit.readers.first_round import counted, labels_of_first_round
from treeaudit.readers.residual.targets import targets_in


def counted_if_rounded(forest: Forest, train: Records) -> tuple[Forest, str]:
    """Return a model whose leaves hold no more than end there, where its counts were rounded.

    So they are where one number divides all of them, and no leaf is off by more than that number
    for each of its labels, but some are. Of what a leaf tells and who ends there, fewer are taken:
    other people beside small leaves do not make them larger. Other models are returned as they are.
    """
    same = forest, ""
    if forest.records_are != "all" or forest.privacy is not None:
        return same
    base, off, each = 0, 0, []
    for i, tree in enumerate(forest.trees):
        if tree.n_records is None:
            return same
        leaves = tree.leaves
        told = tree.n_records[leaves]
        base = gcd(base, int(np.gcd.reduce(told)))
        if base == 1:
            return same
        real = train.in_tree(i, tree.n_nodes)[leaves]
        off = max(off, int(np.abs(told - real)[told > 0].max(initial=0)))
        each.append(np.minimum(told, real))
    if not 0 < off <= base * max(1, len(forest.schema.classes or ())):
        return same

    def build(i: int) -> Tree:
        tree = forest.trees[i]
        ends = np.zeros(tree.n_nodes)
        ends[tree.leaves] = each[i]
        return replace(tree, n_records=summed(tree, ends).astype(np.int64))

    made = replace(
        forest,
        trees=LazyTrees(build, forest.n_trees),
        counts_are="noisy",
        counts_reason=f"counts are rounded to multiples of {base:,}",
        n_records=None,
        boosting=None,
    )
    return made, (
        f"the file counts in multiples of {base:,}, as rounded, so that {train.origin} could not "
        "be verified as its training data: no leaf counts for more than it tells, or end in it"
    )


_NOT_DRAWN = (
    "the file says that the steps of its trees are of draws, but they follow from all of the "
    "training people: nobody was left out"
)

_DIGITS = (
    "the steps of its trees are of draws of the people, with all their digits: these tell how many "
    "of each label were drawn into a leaf and, where few end in it, who; treeaudit defend --train "
    "computes them anew, with noise"
)

_GROWN_ON_DRAWS = (
    "the file says that the steps of its trees are of draws, but they are not of draws that were "
    "made once the trees stood: each tree was grown on those whom it drew, rows had weights, or "
    "these are other people; what such steps tell of single people was not looked at"
)

_OF_DRAWS = (
    "the steps are of draws of the people; in the first round the labels of all who end in a leaf "
    "are counted, which its step nearly tells; later trees hold steps and no labels"
)

_OF_ALL = (
    "the steps follow from all of the training people; in the first round the labels of those who "
    "end in a leaf are counted, which its step tells; later trees hold steps and no labels"
)


_SHARE = 0.5
"""What `treeaudit.defenses.DrawSteps` draws unless told."""


def as_trained(forest: Forest, train: Records) -> tuple[Forest, list[str]]:
    """Return a model that says of draws what its steps say, and what to say of it.

    The file of a histogram boosting cannot say that its steps are of draws: they do.
    """
    stated, each = draws_samples(forest), target_values(train)
    histogram = forest.source.estimator.startswith("HistGradientBoosting")
    if not stated and not (histogram and all(t.n_records is None for t in forest.trees)):
        return forest, []
    share = sample_share(forest) if stated else _SHARE
    drawn = resampled_steps if stated else shows_samples
    try:
        newton_of(forest, train.node, each)
        said = _NOT_DRAWN
    except DataError:
        if newton_of_digits(forest, train.node, each) is not None:
            said = _DIGITS
        elif not drawn(forest, train.node, each, share):
            said = _GROWN_ON_DRAWS
        else:
            return (forest if stated else _drawing(forest, subsample=share)), []
    if not stated:
        return forest, []
    return _drawing(forest, subsample=1.0, bagging_fraction="1"), [said]


def _drawing(forest: Forest, **shares: object) -> Forest:
    """Return a model that says so of its draws."""
    parameters = {**forest.source.parameters, **shares}
    return replace(forest, source=replace(forest.source, parameters=parameters))


def with_people(forest: Forest, train: Records) -> Forest:
    """Return a model in which trees that tell no sizes hold the training people who end there."""
    trees, node = forest.trees, train.node
    told = [None if tree.n_records is None else int(tree.n_records[0]) for tree in trees]
    silent = [one is None for one in told]
    if not any(silent) or forest.privacy is not None:
        return forest
    drawn = draws_samples(forest) and all(silent)
    everybody = forest.records_are == "all" or set(told) == {None, len(node)}
    follow = not everybody and not drawn and _follow(forest, train)
    if not (everybody or drawn or follow):
        return forest

    def sized(i: int) -> Tree:
        tree = trees[i]
        if not silent[i]:
            return tree
        ends = np.bincount(node[:, i], minlength=tree.n_nodes).astype(np.float64)
        return replace(tree, n_records=summed(tree, ends).astype(np.int64))

    made = replace(forest, trees=LazyTrees(sized, len(trees)))
    if forest.schema.classes is None and not targets_in(
        None if tree.n_records is None else tree.n_records[tree.is_leaf] for tree in made.trees
    ):
        # No leaf holds one person, whose number its value could tell.
        made = replace(made, extras=forest.extras.only(KINDS - {"targets"}))
    return _with_labels(made, train, _OF_DRAWS if drawn else _OF_ALL) if drawn or follow else made


def _follow(forest: Forest, train: Records) -> bool:
    """Tell whether the steps of a boosting follow from all of these people, and so are of them."""
    try:
        newton_of(forest, train.node, target_values(train))
    except DataError:
        return False
    return True


def _with_labels(forest: Forest, train: Records, reason: str) -> Forest:
    """Return a boosting whose first round tells the labels of the people in its leaves."""
    classes, column, labels = forest.schema.classes or (), column_of_each_tree(forest), train.labels
    if labels is None or column is None or not classes:
        return forest
    width, trees = int(column.max()) + 1, forest.trees

    def told(i: int) -> Tree:
        tree = trees[i]
        # One that answers everybody alike tells nobody's label.
        if i >= width or tree.value is None or not np.ptp(tree.value[tree.is_leaf]):
            return tree
        k = i if width > 1 else 1
        held = np.bincount(train.node[:, i], labels == k, minlength=tree.n_nodes)
        return counted(tree, held[tree.is_leaf], k, len(classes))

    return replace(
        forest,
        trees=LazyTrees(told, forest.n_trees),
        counts_are="likely",
        counts_reason=reason,
        tree_classes=labels_of_first_round(classes, forest.n_trees) if width > 1 else None,
    )
