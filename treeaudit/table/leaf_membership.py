"""Where people end: who is in which leaf of a tree, each once, and who is meant by it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Wide, groups_of
from treeaudit.table.table import Table

Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """Which persons have how many records in which leaf of a tree, leaves and persons ascending.

    Attributes
    ----------
    leaf, who, records
        Shape ``(n_pairs,)``: the leaf, among those of its tree in the table; the person; how
        many records.
    pair
        Shape ``(n_records,)``: which of them each record is one of; -1 where it ends in no leaf
        of the table.
    """

    leaf: Codes
    who: Codes
    records: Codes
    pair: Codes

    @property
    def once(self) -> bool:
        """Whether nobody has two records in a leaf."""
        return int(self.records.max(initial=1)) == 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meant:
    """Which persons are meant by the leaves of a tree, if those leaves are meant at all.

    Attributes
    ----------
    leaf, who
        Shape ``(n_pairs,)``: the leaf, among those of its tree in the table, and the person.
    people
        Shape ``(n_leaves,)``: how many of these pairs each leaf is in.
    single
        Shape ``(n_pairs,)``: whether all records of the person in the leaf have the label that
        it says; None where that is so of everybody.
    apart
        Whether everybody is in one of these pairs at most, with all their records.
    """

    leaf: Codes
    who: Codes
    people: Wide
    single: Flag | None
    apart: bool


def held_in(table: Table, tree: int, node: Codes, persons: Codes | None) -> Held:
    """Return who is in which leaf of a tree.

    Parameters
    ----------
    node
        Shape ``(n_records,)``: where each record ends.
    persons
        Shape ``(n_records,)``: a number from 0 per person; None where a record is a person, in
        whose order they then stand.

    Examples
    --------
    >>> import treeaudit as ta
    >>> stump = ta.Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 15],
    ...     high=[np.inf, 15, np.inf], n_records=[3, 1, 2])
    >>> table = ta.reconstruct(ta.Forest(trees=(stump,), schema=ta.Schema.numeric(["age"])))
    >>> held = held_in(table, 0, np.array([2, 1, 2]), np.array([1, 0, 1]))
    >>> held.leaf.tolist(), held.who.tolist(), held.records.tolist(), held.pair.tolist()
    ([0, 1], [0, 1], [1, 2], [1, 0, 1])
    """
    at = table.positions(tree, node)
    inside = np.flatnonzero(at >= 0)
    leaf, pair = at[inside] - int(table.start[tree]), np.full(len(at), -1, dtype=np.int32)
    if persons is None:
        pair[inside] = np.arange(len(inside))
        return Held(leaf=leaf, who=inside, records=np.ones_like(inside), pair=pair)
    n = int(persons.max(initial=0)) + 1
    key, own, records = groups_of(leaf * n + persons[inside])
    pair[inside] = own
    held, who = np.empty((2, len(key)), dtype=np.int32)
    held[own], who[own] = leaf, persons[inside]
    return Held(leaf=held, who=who, records=records.astype(np.int32), pair=pair)
