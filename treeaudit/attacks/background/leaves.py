"""Leaves in which several labels are left, and who of which kind may be in them."""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Int, Wide
from treeaudit.attacks.background.kinds import kinds_in_leaves
from treeaudit.attacks.case import Case
from treeaudit.model.tree import Tree
from treeaudit.people.prior import Prior
from treeaudit.people.records import Records

__all__ = ["MixedLeaves", "claimed_leaves", "real_leaves"]


_CELLS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedLeaves:
    """Leaves of one tree with people of several labels left in them.

    Attributes
    ----------
    counts
        Shape ``(n_leaves, n_classes)``: people who are not known yet.
    people
        Shape ``(n_leaves, n_kinds)``: the same people by kind; None where only
        the rules are known.
    able
        Shape ``(n_leaves, n_kinds)``: which kinds are there, or may be.
    only
        Shape ``(n_leaves,)``: the kind of all of them, -1 where it is not told.
    """

    node: Int
    counts: Wide
    people: Wide | None
    able: Flag
    only: Wide

    def parts(self, n_cells: int) -> list["MixedLeaves"]:
        """Cut many leaves into parts that fit into memory, given the cells of one."""
        most = max(1, _CELLS // max(n_cells, 1))
        cuts = [slice(begin, begin + most) for begin in range(0, len(self.node), most)]
        return [
            MixedLeaves(
                node=self.node[cut],
                counts=self.counts[cut],
                people=None if self.people is None else self.people[cut],
                able=self.able[cut],
                only=self.only[cut],
            )
            for cut in cuts
        ]


def _mixed(case: Case, index: int) -> tuple[Int, Wide]:
    """Return the leaves of a tree of which the people per class are known, and these."""
    table, mine = case.table, case.table.rows_of(index)
    if case.forest.tree_classes is not None:
        return table.leaf[:0], np.empty((0, 0), np.int64)
    people = table.people(np.arange(mine.start, mine.stop))
    known = ~np.isnan(people).any(axis=1)
    return table.leaf[mine][known], people[known].astype(np.int64)


def real_leaves(
    case: Case, tree: Tree, index: int, train: Records, kinds: Wide, n_kinds: int, label: Int | None
) -> MixedLeaves:
    """Return the leaves in which everybody who ends there is counted, by kind."""
    node, counts = _mixed(case, index)
    home = train.node[:, index].astype(np.int64)
    routed = np.bincount(home, minlength=tree.n_nodes)[node]
    left = np.ones(len(train), np.bool_) if label is None else label < 0
    cells = np.bincount(home[left] * n_kinds + kinds[left], minlength=tree.n_nodes * n_kinds)
    people = cells.reshape(tree.n_nodes, n_kinds)[node]
    whole = routed == counts.sum(axis=1)
    if label is not None and counts.size:
        n_classes = counts.shape[1]
        taken = np.bincount(
            home[~left] * n_classes + label[~left], minlength=tree.n_nodes * n_classes
        )
        counts = counts - taken.reshape(tree.n_nodes, n_classes)[node]
    chosen = whole & ((counts > 0).sum(axis=1) > 1)
    return MixedLeaves(
        node=node[chosen],
        counts=counts[chosen],
        people=people[chosen],
        able=people[chosen] > 0,
        only=np.full(int(chosen.sum()), -1),
    )


def claimed_leaves(case: Case, tree: Tree, index: int, prior: Prior) -> MixedLeaves:
    """Return the leaves of several labels, and which kinds their rules let in."""
    node, counts = _mixed(case, index)
    chosen = (counts > 0).sum(axis=1) > 1
    node, counts = node[chosen], counts[chosen]
    able, only = kinds_in_leaves(prior, case.forest.schema, tree, node)
    return MixedLeaves(node=node, counts=counts, people=None, able=able, only=only)
