"""Bagged trees of ipred: an rpart object for each tree, and the rows that it was grown from."""

from dataclasses import replace

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Extras, Source
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.links import sums
from treeaudit.readers.r.fields import extras_of, items, optional, part, whole
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.rows import DRAWS
from treeaudit.readers.r.rpart import Stored, read_rpart
from treeaudit.readers.sklearn.counts import weakest


def read(model: RObject, source: Source) -> Forest:
    """Return the forest of a bagging object."""
    members = items(part(model, "mtrees"))
    check_number(len(members), "ipred")
    stored = each_tree(members, _member)
    first = stored[0].schema
    if any(
        one.schema.names != first.names or one.schema.classes != first.classes for one in stored
    ):
        raise ReadError("its trees differ in columns or classes")
    trees = tuple(one.tree for one in stored)
    numeric, meaning = first.classes is None, weakest([one.meaning for one in stored])
    exact = meaning.counts_are == "exact"
    rows = optional(model, "y")
    drawn = [optional(one, "bindx") for one in members]
    repeated = any(one is not None and len(np.unique(one.numbers())) < len(one) for one in drawn)
    survival = source.estimator == "survbagg"
    return Forest(
        trees=trees,
        schema=first,
        counts_are=meaning.counts_are,
        counts_reason=DRAWS if exact and repeated else meaning.reason,
        answers="unknown" if survival else "mean" if numeric else "vote",
        records_are="bootstrap" if repeated else "unknown",
        n_records=None if rows is None or rows.dim else len(rows),
        class_weights=None,
        extras=extras_of(trees, means=False) if numeric else Extras(),
        warnings=tuple(dict.fromkeys(says for one in stored for says in one.warnings)),
        source=replace(source, library="ipred"),
    )


def _member(member: RObject) -> Stored:
    """Return a tree, with the distinct rows of its leaves where the file tells them."""
    tree = part(member, "btree")
    if not tree.is_a("rpart"):
        raise ReadError("it is no rpart object")
    stored = read_rpart(tree)
    drawn, where = optional(member, "bindx"), optional(tree, "where")
    people = None
    if drawn is not None and where is not None and len(drawn) == len(where):
        n = stored.tree.n_nodes
        leaf, row = whole(where) - 1, whole(drawn)
        if np.any((leaf < 0) | (leaf >= n)):
            raise ReadError("a row is in no node")
        once = np.unique(np.column_stack([leaf, row]), axis=0)[:, 0]
        people = sums(stored.tree.parent, np.bincount(once, minlength=n).astype(np.float64)).astype(
            np.int64
        )
    return replace(stored, tree=replace(stored.tree, n_records=people))
