"""People counted once: how many different ones something is true of, in any tree of a forest.

Summed over trees a person counts once in each. The file alone bounds how many
different people there are: no fewer than in the worst tree, no more than the
sum or than everybody. With the training people at hand they are followed
through all trees. Where a tree saw a draw, everybody who ends in a leaf was in
it where as many end there as it holds; elsewhere some of them were.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.stated import Codes
from treeaudit.findings.checks import Measure
from treeaudit.findings.details import Details
from treeaudit.findings.findings import Finding
from treeaudit.findings.numbers import People
from treeaudit.model.forest import Forest
from treeaudit.table.labels import Labels

__all__ = ["InAnyTree", "at_most", "in_any_tree", "share_at_most", "share_told", "told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InAnyTree(Details):
    """Different people of whom something is true in at least one tree.

    Attributes
    ----------
    tree
        The tree with the most of them.
    worst
        How many that tree has.
    low, high
        No fewer and no more than that over all trees; the same where it is exact.
    among
        Of how many people.
    """

    tree: int
    worst: People
    low: People
    high: People
    among: People

    def __lt__(self, other: "InAnyTree") -> bool:
        return (self.high, self.low) < (other.high, other.low)

    @property
    def share(self) -> float:
        """The share of people that it is at most."""
        return self.high / self.among if self.among else 0.0

    @property
    def told(self) -> str:
        """The bounds in words."""
        if self.low == self.high:
            return f"{self.high:,}"
        return (
            f"at least {self.low:,} (tree {self.tree} alone: {self.worst:,}), at most {self.high:,}"
        )


def in_any_tree(
    case: Case, held: Wide, labels: Labels | None = None, code: Codes | None = None
) -> InAnyTree:
    """Bound how many different people are meant by some leaves, over all trees.

    Parameters
    ----------
    held
        Shape ``(n_leaves,)``: how many people of each leaf of the case are
        meant; 0 where none.
    labels, code
        What the leaves say and what each training person has, where only those
        are meant who have what their leaf says most often; None where all are.
    """
    table, forest = case.table, case.forest
    each = table.per_tree(held)
    tree, total = int(each.argmax()), int(each.sum())
    largest, apart = int(table.per_tree(table.size).max()), forest.records_are == "disjoint"
    known = table.n_people
    if known is None:
        known = largest if forest.records_are == "all" else None
    if case.train is not None:
        known = len(case.train)
    low = total if apart else int(each[tree])
    high = total if known is None else max(min(total, known), low)
    if low < high and case.train is not None and forest.counts_are != "noisy":
        fewest, most = _followed(
            case, held, np.argsort(-each, kind="stable").tolist(), labels, code
        )
        low, high = max(low, fewest), max(low, fewest, min(high, most))
    return InAnyTree(
        tree=tree,
        worst=People(int(each[tree])),
        low=People(low),
        high=People(high),
        among=People(largest if known is None else known),
    )


def _followed(
    case: Case, held: Wide, trees: Sequence[int], labels: Labels | None, code: Codes | None
) -> tuple[int, int]:
    """Follow the training people through all trees; no fewer and no more than these are meant."""
    table, train = case.table, case.people("train")
    certain, possible = np.zeros((2, len(train)), dtype=np.bool_)
    open_leaves = []
    for tree in trees:
        rows = table.rows_of(tree)
        if not held[rows].any():
            continue
        at = table.positions(tree, train.node[:, tree])
        inside = (at >= 0) & (held[at] > 0)
        if labels is not None and code is not None:
            inside &= labels.top[at] == code
        who = np.flatnonzero(inside)
        leaf = at[who] - rows.start
        here = np.bincount(leaf, minlength=rows.stop - rows.start)
        whole = here[leaf] <= held[rows][leaf]
        possible[who] = True
        certain[who[whole]] = True
        if not whole.all():
            open_leaves.append((held[rows], who[~whole], leaf[~whole]))
    # Of a leaf that holds some of those who end there: as many as it holds beyond those who
    # are counted already. What it may hold is then taken, so that nobody counts twice.
    taken, more = certain.copy(), 0
    for size, who, leaf in open_leaves:
        counted = np.bincount(leaf[taken[who]], minlength=len(size))
        ends = np.bincount(leaf, minlength=len(size)) > 0
        beyond = np.where(ends, np.maximum(size - counted, 0), 0)
        more += int(beyond.sum())
        taken[who[beyond[leaf] > 0]] = True
    return int(certain.sum()) + more, int(possible.sum())


def at_most(name: str) -> Measure:
    """Measure how many different people it is at most, of whom something is true in any tree."""

    def measure(findings: Sequence[Finding], _: Forest) -> float:
        return float(_worst(findings, name).high)

    return measure


def told(name: str) -> Callable[[Sequence[Finding]], str]:
    """Say how many different people it is; see `at_most`."""
    return lambda findings: _worst(findings, name).told


def share_at_most(share: str, name: str) -> Measure:
    """Measure the share of people: of those of the worst tree, or of all in any tree."""

    def measure(findings: Sequence[Finding], _: Forest) -> float:
        # Of one tree the share itself, which knows what it is the quotient of.
        worst: float = max(getattr(finding.details, share) for finding in findings)
        once = _worst(findings, name)
        return worst if once.share <= worst else once.share

    return measure


def share_told(share: str, name: str) -> Callable[[Sequence[Finding]], str]:
    """Say the share of the worst tree, and what it is at most over all; empty for one tree."""

    def say(findings: Sequence[Finding]) -> str:
        worst: float = max(getattr(finding.details, share) for finding in findings)
        once = _worst(findings, name)
        if once.low == once.high == once.worst:
            return ""
        return (
            f"{worst:.1%} of the people drawn for tree {once.tree}, at most {once.share:.1%} in any"
        )

    return say


def _worst(findings: Sequence[Finding], name: str) -> InAnyTree:
    found: list[InAnyTree] = [getattr(finding.details, name) for finding in findings]
    return max(found)
