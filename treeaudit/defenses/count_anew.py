"""Count the leaves of a forest anew, on everybody it was trained on.

A tree of a forest is grown on a draw, and its leaves say what those who were drawn have: what
the tree learnt by heart. Counted on everybody, a leaf holds those who were not drawn too, so that
fewer leaves are of one label, and none is smaller.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int
from treeaudit.defenses.defense import (
    Defense,
    DefenseWords,
    check_not_private,
    tree_by_tree,
)
from treeaudit.defenses.tree_edits import recount
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountAnew(Defense):
    """Count everybody in the leaf in which they end, whether or not they were drawn.

    Attributes
    ----------
    values
        The training data as `treeaudit.Forest.apply` takes it.
    labels
        Shape ``(n_records,)``: classes as in the trees.
    """

    id = "count-anew"
    title = "Count everybody in every tree"
    did = "leaves counted anew on everybody in the training data"
    words = DefenseWords(
        does="replaces the draws that each leaf of a forest holds by all training people who end "
        "in it; no rule changes, and a leaf answers with their labels",
        fixes="leaves that seem to be of one label because others were not drawn; leaves become "
        "larger, and the answers for those who were drawn less certain",
        leaves="counts that are exact for everybody, so that trees together give back more: fewer "
        "trees may be told",
        reference="Breiman (2001), Random Forests: out-of-bag estimates of the nodes",
    )
    values: npt.NDArray[np.floating[Any]] | None = field(default=None, repr=False)
    labels: Int | None = field(default=None, repr=False)

    def apply(self, forest: Forest) -> Forest:
        """Return the model with everybody in every tree.

        Raises DataError if there are no people with labels, or the counts of the model are not of
        its classes.
        """
        values, labels, classes = self.values, self.labels, forest.schema.classes
        counted = forest.counts_are in ("exact", "likely") and forest.tree_classes is None
        if classes is None or not counted:
            raise DataError("count-anew needs a model whose leaves hold counts of its classes")
        if values is None or labels is None:
            raise DataError("whom to count only the training data tells: give it with --train")
        check_not_private(forest, self.id)
        node, n = forest.apply(values), len(classes)

        def everybody(tree: Tree, i: int) -> Tree:
            key = node[:, i].astype(np.int64) * n + labels
            counts = np.bincount(key, minlength=tree.n_nodes * n).reshape(-1, n).astype(np.float64)
            people = counts.sum(axis=1).astype(np.int64)
            return recount(replace(tree, counts=counts, n_records=people), tree.is_leaf)

        parameters = dict(forest.source.parameters)
        if "bootstrap" in parameters:
            parameters["bootstrap"] = False
        return replace(
            tree_by_tree(forest, everybody),
            counts_are="exact",
            counts_reason="",
            records_are="all",
            n_records=len(values),
            source=replace(forest.source, parameters=parameters),
        )
