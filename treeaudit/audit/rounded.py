"""Counts of a file that are those of its training people, but for rounding."""

from dataclasses import replace
from math import gcd

import numpy as np

from treeaudit.defenses.tree_edits import summed
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

__all__ = ["counted_if_rounded"]


def counted_if_rounded(forest: Forest, train: Records) -> tuple[Forest, str]:
    """Return a model whose leaves hold no more than end there, where its counts were rounded.

    So they are where one number divides all of them, and no leaf is off by more than that number
    for each of its labels, but some are. Of what a leaf tells and who ends there, fewer are taken:
    other people beside small leaves do not make them larger. Other models are returned as they are.

    Returns
    -------
    tuple of Forest and str
        The model, and what to say of it; nothing where it is the same.
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
