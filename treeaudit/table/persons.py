"""A table in persons: how many different people are behind the records of its leaves.

The one place where records become persons: attacks read `Table.size` and
`Table.labels` and need not know. What is measured in persons is never milder than
in records: a group is at most as large, and of both diversities the worse is kept.
Class counts that are read off the trees (`Table.counts`, `Table.people`) stay records.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide, groups_of
from treeaudit.model.tree import Tree
from treeaudit.table.diversity import Worst, counted, crosstab
from treeaudit.table.labels import Labels, LazyLabels, measured
from treeaudit.table.table import Table

Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafMembers:
    """Which persons have how many records in which leaf of a tree, leaves and persons ascending."""

    # Shape `(n_pairs,)`: the leaf, among those of its tree in the table; the person; how many
    # records
    leaf: Codes
    who: Codes
    records: Codes
    # Shape `(n_records,)`: which of them each record is one of; -1 where it ends in no leaf of
    # the table
    pair: Codes

    @property
    def one_record_each(self) -> bool:
        """Whether nobody has two records in a leaf."""
        return int(self.records.max(initial=1)) == 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImpliedPeople:
    """Which persons are meant by the leaves of a tree, if those leaves are meant at all."""

    # Shape `(n_pairs,)`: the leaf, among those of its tree in the table, and the person
    leaf: Codes
    who: Codes
    people: Wide  # Shape `(n_leaves,)`: how many of these pairs each leaf is in
    # Shape `(n_pairs,)`: whether all records of the person in the leaf have the label that it
    # says; None where that is so of everybody
    single: Flag | None
    apart: bool  # Whether everybody is in one of these pairs at most, with all their records


def leaf_members(table: Table, tree: int, node: Codes, persons: Codes | None) -> LeafMembers:
    """Return who is in which leaf of a tree.

    * ``node``: shape ``(n_records,)``: where each record ends.
    * ``persons``: shape ``(n_records,)``: a number from 0 per person; None where a record is a
      person, in whose order they then stand.
    """
    at = table.positions(tree, node)
    inside = np.flatnonzero(at >= 0)
    leaf, pair = at[inside] - int(table.start[tree]), np.full(len(at), -1, dtype=np.int32)
    if persons is None:
        pair[inside] = np.arange(len(inside))
        return LeafMembers(leaf=leaf, who=inside, records=np.ones_like(inside), pair=pair)
    n = int(persons.max(initial=0)) + 1
    key, own, records = groups_of(leaf * n + persons[inside])
    pair[inside] = own
    held, who = np.empty((2, len(key)), dtype=np.int32)
    held[own], who[own] = leaf, persons[inside]
    return LeafMembers(leaf=held, who=who, records=records.astype(np.int32), pair=pair)


def at_most(table: Table, most: int) -> Table:
    """Return a table in the fewest persons that it can hold."""
    if not table.tells_people:
        return table
    size = -(-table.size // most)
    bound = np.full(len(table), most, dtype=np.int64)
    people = None if table.n_people is None else -(-table.n_people // most)
    return _with(table, size, _bounded(table, size, bound), people)


def in_persons(table: Table, node: Codes, persons: Codes, labels: Codes | None) -> Table:
    """Return a table in persons, counted on the people the model was trained on.

    Where all records that end in a leaf are in it, its persons are counted. Where a
    draw of them is, nobody tells who was drawn: the leaf holds the fewest persons
    who could be its n records, those with most records first.

    * ``table``: its groups, in records.
    * ``node``: shape ``(n_records, n_trees)``: where each record ends.
    * ``persons``: shape ``(n_records,)``: a number from 0 per person.
    * ``labels``: shape ``(n_records,)``: classes as in the trees, or None: then only as much
      follows of labels as from the most records of one person in a leaf.
    """
    if not table.tells_people:
        return table
    people = int(np.count_nonzero(np.bincount(persons)))
    size, most = table.size.copy(), np.ones(len(table), dtype=np.int64)
    counted_labels = None if labels is None or not table.tells_labels else labels
    exact = np.zeros(len(table), dtype=np.bool_)
    every = table.labels if table.tells_labels else None
    columns = {} if every is None else {n: getattr(every, n).copy() for n in _CHANGED}
    trees = [] if every is None else list(every.trees)
    for tree in range(len(table.start) - 1):
        rows = table.rows_of(tree)
        held = leaf_members(table, tree, node[:, tree], persons)
        if not len(held.leaf):
            continue
        stated, n = table.size[rows], rows.stop - rows.start
        routed = np.bincount(held.leaf, held.records, n).astype(np.int64)
        size[rows], most[rows] = _fewest(held, stated), _most(held, n)
        if counted_labels is None:
            continue
        said = _said(held, counted_labels, n)
        whole = routed == stated
        exact[rows] = whole
        for name in _CHANGED:
            columns[name][rows][whole] = getattr(said, name)[whole]
        if every is not None:
            columns["share"][rows] = np.maximum(columns["share"][rows], every.share[rows])
            if whole.all() and trees[tree] is not None:
                trees[tree] = worse(trees[tree], counted(said.spread).worst())
    bounded = _bounded(table, size, most)
    if every is None or bounded is None:
        return _with(table, size, None, people)
    measured = {n: np.where(exact, columns[n], getattr(bounded, n)) for n in _CHANGED}
    return _with(table, size, replace(every, **measured, trees=tuple(trees)), people)


def counted_tree(table: Table, index: int) -> Tree:
    """Return a tree with the people of its leaves as a table counts them."""
    tree = table.forest.trees[index]
    if not table.in_persons or tree.n_records is None:
        return tree
    people, mine = np.zeros(tree.n_nodes, dtype=np.int64), table.rows_of(index)
    people[table.leaf[mine]] = table.size[mine]
    for node in range(tree.n_nodes - 1, 0, -1):
        people[tree.parent[node]] += people[node]
    return replace(tree, n_records=people)


_CHANGED = ("majority", "fewest", "others", "share", "top")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Said:
    """The columns of `Labels` in persons; ``spread`` has people per leaf and class."""

    majority: Float
    fewest: Float
    others: Float
    share: Float
    top: Wide
    spread: Float


def _fewest(held: LeafMembers, stated: Wide) -> Wide:
    """Return the fewest persons that make up the stated records, at least one."""
    leaf, records = held.leaf, held.records
    pairs = np.bincount(leaf, minlength=len(stated))
    if held.one_record_each:
        return np.where(pairs * stated > 0, np.minimum(pairs, stated), stated)
    order = np.lexsort((-records, leaf))
    leaf, records = leaf[order], records[order]
    total = np.concatenate([[0], np.cumsum(records)])
    first = np.repeat(np.cumsum(pairs) - pairs, pairs)
    needed = total[:-1] - total[first] < stated[leaf]
    found = np.bincount(leaf[needed], minlength=len(stated))
    return np.where(found > 0, found, stated)


def _most(held: LeafMembers, n: int) -> Wide:
    most = np.ones(n, dtype=np.int64)
    if held.one_record_each:
        return most
    first = np.flatnonzero(np.diff(held.leaf, prepend=-1))
    most[held.leaf[first]] = np.maximum.reduceat(held.records, first)
    return most


def _said(held: LeafMembers, label: Codes, n: int) -> _Said:
    """Count persons per leaf and label, in leaves that hold all records that end there."""
    inside = held.pair >= 0
    label = label[inside]
    classes = int(label.max()) + 1
    pair, shape = held.pair[inside].astype(np.int64), (n, classes)
    if held.one_record_each:
        # Who has one record in a leaf has one label there.
        cell = held.leaf.take(pair) * classes + label
        only = have = np.bincount(cell, minlength=n * classes).reshape(shape)
        spread = have.astype(np.float64)
    else:
        key, records = np.unique(pair * classes + label, return_counts=True)
        pair, label = np.divmod(key, classes)
        cell = held.leaf[pair] * classes + label
        alone = np.bincount(pair, minlength=len(held.leaf))[pair] == 1
        only = np.bincount(cell[alone], minlength=n * classes).reshape(shape)
        have = np.bincount(cell, minlength=n * classes).reshape(shape)
        part = records / held.records[pair]
        spread = np.bincount(cell, part, n * classes).reshape(shape).astype(np.float64)
    people = np.maximum(np.bincount(held.leaf, minlength=n), 1)
    majority = only.max(axis=1).astype(np.float64)
    return _Said(
        majority=majority,
        fewest=np.where(have > 0, have, np.inf).min(axis=1),
        others=people - majority,
        top=only.argmax(axis=1),
        share=spread.max(axis=1) / people,
        spread=spread[have.any(axis=1)][:, have.any(axis=0)],
    )


def _bounded(table: Table, size: Wide, most: Wide) -> Labels | None:
    return bounded_by(table.labels, table.size, size, most) if table.tells_labels else None


def bounded_by(labels: Labels, records: Wide, size: Wide, most: Wide) -> Labels:
    """Return what follows of labels from the most records of one person in each leaf.

    * ``labels``: what leaves say, in records.
    * ``records``, ``size``, ``most``: shape ``(n_leaves,)``: their records, persons, and the most
      records of one of these.
    """
    needed = np.ceil((records - labels.majority) / most)
    needed = np.where(labels.distinct > 1, np.clip(needed, 1, np.maximum(size - 1, 1)), 0)
    return replace(
        labels,
        majority=np.where(np.isnan(labels.majority), np.nan, size - needed),
        fewest=np.ceil(labels.fewest / most),
        others=np.ceil(labels.others / most),
    )


def worse(one: Worst | None, other: Worst) -> Worst | None:
    """Return of every measure the worse of two; None where one of them is not known."""
    if one is None:
        return None
    pick = {"distinct_l": min, "entropy_l": min}
    names = [field.name for field in fields(Worst)]
    return Worst(**{n: pick.get(n, max)(getattr(one, n), getattr(other, n)) for n in names})


def _with(table: Table, size: Wide, labels: Labels | None, people: int | None) -> Table:
    known: Flag = table.size > 0
    return replace(
        table,
        _size=np.where(known, size, table.size),
        _counted=(people, table.n_records),
        _labels=table._labels if labels is None else LazyLabels(lambda: labels),
        _labels_of_people=None,
    )


def values_in(
    group: Wide,
    code: Wide,
    n_groups: int,
    n_values: int,
    *,
    persons: Codes | None = None,
    most: int = 1,
) -> tuple[Labels, Wide]:
    """Return what the leaves of a tree say of a column, and how many people are in each.

    In persons it is never milder than in records.

    * ``group``, ``code``: shape ``(n_records,)``: the leaf and the value of each record, from 0; no
      leaf is empty.
    * ``persons``: shape ``(n_records,)``: whose each record is, a number from 0; None where that is
      not told.
    * ``most``: the most records of one person, where it is not.
    """
    counts = crosstab(group, code, n_groups, n_values)
    labels = measured(counts, np.arange(n_groups), n_groups)
    size = np.bincount(group, minlength=n_groups).astype(np.int64)
    if persons is not None:
        return _in_persons(labels, group, code, n_values, persons)
    if most == 1:
        return labels, size
    fewest = -(-size // most)
    return bounded_by(labels, size, fewest, np.full(n_groups, most, dtype=np.int64)), fewest


def _in_persons(
    labels: Labels, group: Wide, code: Wide, n_values: int, persons: Codes
) -> tuple[Labels, Wide]:
    """Count persons per leaf and value, of the values that occur: a column may have very many."""
    n_groups = len(labels.share)
    n_persons = int(persons.max(initial=0)) + 1
    who, own, records = np.unique(
        group.astype(np.int64) * n_persons + persons, return_inverse=True, return_counts=True
    )
    leaf = who // n_persons
    size = np.bincount(leaf, minlength=n_groups).astype(np.int64)
    key, times = np.unique(own.reshape(-1) * n_values + code, return_counts=True)
    pair, value = np.divmod(key, n_values)
    single = np.bincount(pair, minlength=len(who))[pair] == 1
    have = crosstab(leaf[pair], value, n_groups, n_values)
    cell = np.unique(leaf[pair] * n_values + value, return_inverse=True)[1].reshape(-1)
    only = np.bincount(cell, single)
    majority = np.maximum.reduceat(only, have.start[:-1])
    first = np.flatnonzero(only == np.repeat(majority, have.distinct))
    spread = crosstab(leaf[pair], value, n_groups, n_values, times / records[pair])
    tree = worse(labels.trees[0], spread.worst())
    return replace(
        labels,
        majority=majority,
        fewest=have.least,
        others=np.asarray(size - majority, dtype=np.float64),
        share=np.maximum(labels.share, spread.dominance),
        top=have.value[first[np.searchsorted(first, have.start[:-1])]].astype(np.int32),
        trees=(tree,),
    ), size
