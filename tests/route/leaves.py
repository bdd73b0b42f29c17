"""The groups of a tree, counted row by row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.route.rows import Seen

__all__ = ["Group", "groups"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The rows in one leaf.

    Attributes
    ----------
    members, ends
        Rows that were drawn into it, and all rows that end there.
    size
        How many people that is: rows, or the fewest persons.
    counts
        What the tree says per class: draws or weights; empty where nothing.
    people
        People per class where that follows from it; None elsewhere.
    majority, rarest, others, share
        People of the commonest class, of the rarest that occurs, of all but the commonest, and
        its share; NaN, or what is at least known, where counts are not people.
    """

    leaf: int
    members: np.ndarray
    ends: np.ndarray
    size: int
    counts: np.ndarray
    people: np.ndarray | None
    majority: float
    rarest: float
    others: float
    share: float
    top: int
    spread: np.ndarray
    persons: bool

    @property
    def persons_of_a_label(self) -> np.ndarray | None:
        """People per class, of whom known others can be taken out; None where that is not told.

        Of persons only those of the commonest label and all others are told apart.
        """
        if np.isnan(self.majority) or not self.persons:
            return self.people
        two = np.array([self.majority, self.size - self.majority]).astype(np.int64)
        return two if self.distinct <= 2 else None

    @property
    def counts_of_people(self) -> np.ndarray | None:
        """The same, and records where there are more labels."""
        return self.people if self.persons_of_a_label is None else self.persons_of_a_label

    @property
    def whole(self) -> bool:
        """Whether everybody who ends there is in it."""
        return len(self.members) == len(self.ends)

    @property
    def distinct(self) -> int:
        """How many classes occur."""
        return int((self.counts > 0).sum())


def groups(tree: Seen, person: np.ndarray | None = None, most: int = 1) -> list[Group]:
    """Return the leaves that hold anybody.

    ``person`` names whose row each is; ``most`` is the most rows of one person where nobody does.
    """
    drawn = (tree.times > 0) & (tree.weight > 0)
    found = []
    for leaf in np.unique(tree.leaf[drawn]).tolist():
        ends = np.flatnonzero(tree.leaf == leaf)
        found.append(_group(tree, leaf, ends[drawn[ends]], ends, person, most))
    return found


def _group(
    tree: Seen, leaf: int, members: np.ndarray, ends: np.ndarray, person: np.ndarray | None,
    most: int,
) -> Group:  # fmt: skip
    rows, counts, people = len(members), np.zeros(0), None
    if tree.counts and tree.label is not None:
        weight = (tree.times * tree.weight)[members]
        counts = np.bincount(tree.label[members], weight, tree.n_classes)
        if (counts > 0).sum() == 1:
            people = (counts > 0) * rows
        elif tree.counts == "draws" and counts.sum() == rows:
            people = counts.astype(np.int64)
    form: dict[str, Any] = {"leaf": leaf, "members": members, "ends": ends, "size": rows}
    form |= {"counts": counts, "people": people}
    form |= {"spread": np.zeros(0), "persons": person is not None or most > 1}
    form |= {"majority": np.nan, "rarest": np.nan, "others": np.nan, "share": np.nan}
    form["top"] = int(counts.argmax()) if len(counts) else -1
    if len(counts):
        form |= {"share": counts.max() / counts.sum(), "others": _exceptions(tree, counts, rows)}
    if people is not None:
        form |= {"majority": people.max(), "rarest": people[people > 0].min()}
    if person is not None:
        form |= _in_persons(tree, form, person)
    elif most > 1:
        form |= _at_most(form, -(-rows // most), most)
    return Group(**form)


def _exceptions(tree: Seen, counts: np.ndarray, rows: int) -> float:
    """Return how many people, no fewer, have another class than the commonest.

    Of draws at most three are of one person; of weights nobody knows how many people they are,
    so that what is nearly all of the weight stands for as few as there are classes.
    """
    other = int((counts > 0).sum()) - 1
    if not other:
        return 0.0
    if tree.counts == "weights":
        return float(other) if counts.max() >= 0.95 * counts.sum() else np.inf
    if counts.sum() == rows:
        return float(rows - counts.max())
    return float(max(np.ceil((counts.sum() - counts.max()) / 3), other, rows - counts.max()))


def _in_persons(tree: Seen, form: dict, person: np.ndarray) -> dict:
    """Count persons: exactly where all rows that end there are in the leaf, else the fewest."""
    members, ends = form["members"], form["ends"]
    who, rows = np.unique(person[ends], return_counts=True)
    if len(members) < len(ends):
        size, left = 0, form["size"]
        for many in sorted(rows.tolist(), reverse=True):
            if left <= 0:
                break
            size, left = size + 1, left - many
        return {"size": size, **_at_most(form, size, int(rows.max()))}
    if form["people"] is None and not len(form["counts"]):
        return {"size": len(who)}
    has = {p: np.unique(tree.label[ends][person[ends] == p], return_counts=True) for p in who}
    only = np.zeros(tree.n_classes)
    any_of = np.zeros(tree.n_classes)
    spread = np.zeros(tree.n_classes)
    for labels, times in has.values():
        any_of[labels] += 1
        spread[labels] += times / times.sum()
        if len(labels) == 1:
            only[labels] += 1
    return {
        "size": len(who), "majority": only.max(), "rarest": any_of[any_of > 0].min(),
        "others": len(who) - only.max(), "share": max(form["share"], spread.max() / len(who)),
        "spread": spread, "top": int(only.argmax()),
    }  # fmt: skip


def _at_most(form: dict, size: int, most: int) -> dict:
    """Return what follows where one person has at most so many of the rows."""
    if not len(form["counts"]):
        return {"size": size}
    needed, others = 0, 0.0
    if (form["counts"] > 0).sum() > 1:
        others = max(1.0, np.ceil(form["others"] / most))
        if form["people"] is not None:
            needed = min(
                max(1, np.ceil((form["size"] - form["majority"]) / most)), max(size - 1, 1)
            )
    majority = np.nan if form["people"] is None else size - needed
    return {
        "size": size, "majority": majority, "others": others,
        "rarest": np.ceil(form["rarest"] / most),
    }  # fmt: skip
