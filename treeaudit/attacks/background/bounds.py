"""What a leaf proves about its people, and who falls once others are known (TA103).

`Bounds` says at least and at most how many of each class are in a leaf. If the counts are people
both bounds are the count. Weights and bootstrap samples still prove that somebody of a class is
there, or nobody. `cascade` takes known people out one by one; `matched` finds them
among the training people.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import CountsAre, Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.tree import Tree
from treeaudit.model.words import label_text, sentence
from treeaudit.people.records import Records
from treeaudit.table.labels import people_per_class


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """People per class in the leaves of one tree, one row per node."""

    # Shape `(n_nodes, n_classes)`
    low: Wide
    high: Wide
    size: Wide  # Shape `(n_nodes,)`: people of the leaf; 0 in inner nodes
    # Shape `(n_nodes,)`: leaves in which everybody who fits is counted. The others prove nothing
    # about a given person.
    holds: Flag

    def without(self, taken: Wide) -> "Bounds":
        """Return what is proved about the others, given known people per node and class."""
        size = self.size - taken.sum(axis=1)
        low, high = tightened(np.maximum(self.low - taken, 0), self.high - taken, size)
        return Bounds(low=low, high=high, size=size, holds=self.holds)


def bounds_of(tree: Tree, counts_are: CountsAre, holds: Flag | None = None) -> Bounds | None:
    """Return what the leaves of a tree prove, or None where it proves nothing."""
    if tree.counts is None or tree.n_records is None or counts_are == "noisy":
        return None
    leaf = tree.is_leaf & (tree.n_records > 0)
    size = np.where(leaf, tree.n_records, 0)
    there = (tree.counts > 0) & leaf[:, None]
    others = np.maximum(there.sum(axis=1) - 1, 0)
    low = there.astype(np.int64)
    high = np.where(there, (size - others)[:, None], 0)
    people = np.full(tree.counts.shape, np.nan)
    people[leaf] = people_per_class(tree.counts[leaf], size[leaf], counts_are)
    exact = ~np.isnan(people)
    known = np.where(exact, people, 0).astype(np.int64)
    return Bounds(
        low=np.where(exact, known, low),
        high=np.where(exact, known, high),
        size=size,
        holds=leaf if holds is None else leaf & holds,
    )


def sees_everybody(forest: Forest, tree: Tree) -> bool:
    """Tell whether all training people are counted in a tree, as far as the file tells."""
    if forest.records_are == "all":
        return True
    root = None if tree.n_records is None else int(tree.n_records[0])
    return root is not None and root == forest.n_records


def tightened(low: Wide, high: Wide, size: Wide) -> tuple[Wide, Wide]:
    """Use that the classes of a leaf add up to its size."""
    high = np.minimum(high, size[:, None] - (low.sum(axis=1, keepdims=True) - low))
    low = np.maximum(low, size[:, None] - (high.sum(axis=1, keepdims=True) - high))
    return low, high


def one_left(bounds: Bounds) -> Int:
    """Return the only class that people of each node can have; -1 where there are several."""
    possible = bounds.high > 0
    one = bounds.holds & (bounds.size > 0) & (possible.sum(axis=1) == 1)
    return np.where(one, possible.argmax(axis=1), -1).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Disclosed:
    """Whose label is certain, one entry per person."""

    label: Int  # The class, or -1 where it is not certain
    # 0 for whoever was known before, 1 for whoever follows from these, 2 for whoever follows from
    # those as well, and so on; -1 where nothing follows
    round: Int
    # The first tree that tells, or -1. In a person's leaf of that tree it can be seen why; where
    # no single tree tells, the first that rules a label out.
    tree: Int

    @property
    def n_rounds(self) -> int:
        """How many rounds disclosed somebody."""
        return int(self.round.max(initial=0))


def cascade(
    trees: Sequence[Bounds | None], node: Int, given: Int, step: Callable[[int], None] | None = None
) -> _Disclosed:
    """Take out whoever is known, in every tree, until nothing changes."""
    told = {i: tree for i, tree in enumerate(trees) if tree is not None}
    label = given.astype(np.int32).copy()
    when = np.where(label >= 0, 0, -1).astype(np.int32)
    which = np.full(len(label), -1, np.int32)
    n_classes = next((tree.low.shape[1] for tree in told.values()), 0)
    possible = np.ones((len(label), n_classes), np.bool_)
    new = np.flatnonzero(label >= 0)
    rounds = 0
    while told:
        rounds += 1
        if step is not None:
            step(rounds)
        told = {i: _taken_out(tree, node[new, i], label[new]) for i, tree in told.items()}
        asked = np.flatnonzero(label < 0)
        seen = possible[asked]
        found = _Round.of(seen)
        for i, tree in told.items():
            _look(tree, node[asked, i], seen, i, found)
        single = np.where(found.possible.sum(axis=1) == 1, found.possible.argmax(axis=1), -1)
        certain = np.where(found.forced >= 0, found.forced, single)
        if np.array_equal(found.possible, seen) and not (certain >= 0).any():
            break
        possible[asked] = found.possible
        before = np.where(which[asked] >= 0, which[asked], found.rules_out)
        which[asked] = np.where(found.tells >= 0, found.tells, before)
        new = asked[certain >= 0]
        label[new], when[new] = certain[certain >= 0], rounds
    return _Disclosed(
        label=label, round=when, tree=np.where(label >= 0, which, -1).astype(np.int32)
    )


@dataclass(slots=True, eq=False)
class _Round:
    """What the trees say of the people who are left, filled in tree by tree."""

    possible: Flag
    forced: Wide
    tells: Wide
    rules_out: Wide

    @classmethod
    def of(cls, seen: Flag) -> "_Round":
        nobody = np.full(len(seen), -1)
        return cls(possible=seen.copy(), forced=nobody, tells=nobody, rules_out=nobody)


def _taken_out(tree: Bounds, node: Int, label: Int) -> Bounds:
    if not len(node):
        return tree
    shape = tree.low.shape
    inside = tree.holds[node]
    key = node[inside].astype(np.int64) * shape[1] + label[inside]
    return tree.without(np.bincount(key, minlength=shape[0] * shape[1]).reshape(shape))


def _look(tree: Bounds, node: Int, seen: Flag, index: int, found: _Round) -> None:
    """Rule out and force labels by the leaves of one tree."""
    inside = tree.holds[node]
    able = np.column_stack(
        [np.bincount(node[mine & inside], minlength=len(tree.size)) for mine in seen.T]
    )
    low, high = tightened(tree.low, np.minimum(tree.high, able), tree.size)
    ruled_out = seen & (high[node] <= 0) & inside[:, None]
    needed = seen & (low[node] > 0) & (low[node] >= able[node]) & inside[:, None]
    forced = needed.any(axis=1)
    alone = inside & ((seen & ~ruled_out).sum(axis=1) == 1)
    found.possible &= ~ruled_out
    found.forced = np.where(forced, needed.argmax(axis=1), found.forced)
    found.tells = np.where((forced | alone) & (found.tells < 0), index, found.tells)
    first = ruled_out.any(axis=1) & (found.rules_out < 0)
    found.rules_out = np.where(first, index, found.rules_out)


def matched(known: Records, train: Records) -> Wide:
    """Return which training person each known person is.

    Whoever is there twice is matched twice; the model cannot tell people with
    the same values and label apart.
    """
    n = len(known)
    whole = np.column_stack([_plain(known, train), np.r_[known.labels, train.labels]])
    key = _same(whole)
    rank = _rank(key[:n]), _rank(key[n:])
    places = {
        pair: i for i, pair in enumerate(zip(key[n:].tolist(), rank[1].tolist(), strict=True))
    }
    pairs = zip(key[:n].tolist(), rank[0].tolist(), strict=True)
    found = np.array([places.get(pair, -1) for pair in pairs], np.int64)
    missing = np.flatnonzero(found < 0)
    if len(missing):
        row = int(missing[0])
        times = int((key[n:] == key[row]).sum())
        raise DataError(f"{known.origin}, row {row + 1}: {_why(known, train, row, times)}")
    return found


def _why(known: Records, train: Records, row: int, times: int) -> str:
    if times:
        once = "once" if times == 1 else f"{times} times"
        return f"this person is in {train.origin} only {once}"
    values = _same(_plain(known, train))
    if (values[len(known) :] == values[row]).any():
        return f"{train.origin} has this person with another label"
    return f"this person is not in {train.origin}; known people are training people"


def _plain(known: Records, train: Records) -> Float:
    values = np.concatenate([known.values, train.values]).astype(np.float64) + 0.0
    return np.where(np.isnan(values), np.inf, values)


def _same(table: Float) -> Wide:
    """Return a number for each row, the same for rows that are alike."""
    order = np.lexsort(table.T)
    new = np.r_[True, (table[order][1:] != table[order][:-1]).any(axis=1)]
    found = np.empty(len(table), np.int64)
    found[order] = np.cumsum(new) - 1
    return found


def _rank(key: Wide) -> Wide:
    """Return how often each entry has occurred before."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    begin = np.repeat(first, np.diff(np.r_[first, len(ordered)]))
    rank = np.empty(len(key), np.int64)
    rank[order] = np.arange(len(key)) - begin
    return rank


def check_fit(forest: Forest, index: int, bounds: Bounds, known: Records) -> None:
    """Refuse known people whom a tree that has seen everybody cannot have seen."""
    if known.labels is None:
        return
    node, n_classes = known.node[:, index].astype(np.int64), bounds.high.shape[1]
    label = known.labels.astype(np.int64)
    same_label, same_leaf = _rank(node * n_classes + label), _rank(node)
    wrong = np.flatnonzero(
        (same_label >= bounds.high[node, label]) | (same_leaf >= bounds.size[node])
    )
    if not len(wrong):
        return
    row, tree = int(wrong[0]), forest.trees[index]
    leaf = int(node[row])
    name = f"leaf {leaf} of tree {index}" if forest.n_trees > 1 else f"leaf {leaf}"
    rule = sentence(rules_of(tree, [leaf]), forest.schema)
    where = f"{known.origin}, row {row + 1}"
    if not bounds.size[leaf]:
        raise DataError(f"{where}: this person fits no leaf that holds people; they end at {rule}")
    wanted = label_text((forest.schema.classes or ())[int(label[row])])
    most = int(bounds.high[leaf, label[row]])
    if same_label[row] < most:
        holds = f"only {int(bounds.size[leaf]):,} people"
    else:
        holds = f"only {most:,} × {wanted}" if most else f"nobody with the label {wanted}"
    before = ", and the rows before are as many already" if most else ""
    raise DataError(
        f"{where}: {name} ({rule}) holds {holds}{before}; known people are training people, "
        "each of them once"
    )
