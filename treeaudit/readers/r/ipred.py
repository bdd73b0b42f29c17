"""Bagged trees of ipred: an rpart object for each tree, and the rows that it was grown from."""

from dataclasses import replace

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.links import sums
from treeaudit.readers.r import rpart
from treeaudit.readers.r.fields import DRAWS
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.sklearn.counts import Meaning, weakest


def read(model: RObject, source: Source) -> Forest:
    """Return the forest of a bagging object."""
    members = model.part("mtrees").items()
    check_number(len(members), "ipred")
    read_ones = each_tree(members, lambda one: _member(one, source))
    first = read_ones[0].schema
    if len({(*one.schema.names, one.schema.classes) for one in read_ones}) > 1:
        raise ReadError("its trees differ in columns or classes")
    trees, numeric = tuple(one.trees[0] for one in read_ones), first.classes is None
    stated = [Meaning(counts_are=one.counts_are, reason=one.counts_reason) for one in read_ones]
    meaning = weakest(stated)
    rows = model.get("y")
    drawn = [one.get("bindx") for one in members]
    repeated = any(len(np.unique(one.numbers())) < len(one) for one in drawn)
    survival = source.estimator == "survbagg"
    return Forest(
        trees=trees,
        schema=first,
        counts_are=meaning.counts_are,
        counts_reason=DRAWS if meaning.counts_are == "exact" and repeated else meaning.reason,
        answers="unknown" if survival else "mean" if numeric else "vote",
        records_are="bootstrap" if repeated else "unknown",
        n_records=len(rows) if rows and not rows.dim else None,
        warnings=tuple(dict.fromkeys(says for one in read_ones for says in one.warnings)),
        source=replace(source, library="ipred"),
    )


def _member(member: RObject, source: Source) -> Forest:
    """Return a tree, with the distinct rows of its leaves where the file tells them."""
    stored = member.part("btree")
    if not stored.is_a("rpart"):
        raise ReadError("it is no rpart object")
    forest = rpart.read(stored, source)
    drawn, where, people = member.get("bindx"), stored.get("where"), None
    if drawn and len(drawn) == len(where):
        n, leaf = forest.trees[0].n_nodes, where.whole() - 1
        if np.any((leaf < 0) | (leaf >= n)):
            raise ReadError("a row is in no node")
        once = np.unique(np.column_stack([leaf, drawn.whole()]), axis=0)[:, 0]
        held = np.bincount(once, minlength=n).astype(np.float64)
        people = sums(forest.trees[0].parent, held).astype(np.int64)
    return replace(forest, trees=(replace(forest.trees[0], n_records=people),))
