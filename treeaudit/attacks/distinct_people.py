"""Bounds on the number of distinct people affected in at least one tree, and their wording.

Summed over trees a person counts once in each. The file alone bounds how many
different people there are: no fewer than in the worst tree, no more than the
sum or than everybody. With the training people they are followed through all trees.
If a tree saw a bootstrap sample, everybody who ends in a leaf was in it if as many
end there as it holds; otherwise some of them were.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Wide
from treeaudit.attacks.case import Case
from treeaudit.findings.checks import Measure
from treeaudit.findings.details import Details, People, Phrase, Share, say
from treeaudit.findings.findings import Finding, Rung, Skipped
from treeaudit.findings.report import Report
from treeaudit.model.forest import Forest
from treeaudit.table.labels import Labels
from treeaudit.table.persons import Codes, ImpliedPeople


def _meant_in(case: Case, tree: int, labels: Labels | None, code: Codes | None) -> ImpliedPeople:
    """Return who is meant by the leaves of a tree; see `in_any_tree`."""
    told = labels is not None and code is not None
    kept = case.implied.get((tree, told))
    if kept is not None and (not told or (kept[0] is labels and kept[1] is code)):
        return kept[2]
    found = _implied_people(case, tree, labels, code)
    if case.people("train").persons is not None:
        case.implied[tree, told] = labels, code, found
    return found


def _implied_people(
    case: Case, tree: int, labels: Labels | None, code: Codes | None
) -> ImpliedPeople:
    found, rows = case.members(tree), case.table.rows_of(tree)
    leaf, who, single = found.leaf, found.who, None
    if labels is not None and code is not None and found.one_record_each:
        here, own = np.flatnonzero(found.pair >= 0), np.empty(len(leaf), dtype=code.dtype)
        own[found.pair.take(here)] = code.take(here)
        chosen = np.flatnonzero(labels.top[rows].take(leaf) == own)
        leaf, who = leaf.take(chosen), who.take(chosen)
    elif labels is not None and code is not None:
        said = np.append(labels.top[rows][leaf], -2)[found.pair] == code
        alike, mixed = np.zeros((2, len(leaf) + 1), dtype=np.bool_)
        alike[found.pair[said]] = True
        mixed[found.pair[~said]] = True
        # Of a person with several labels in a leaf none follows, unless one record was drawn.
        if case.forest.records_are == "all":
            alike &= ~mixed
        chosen = np.flatnonzero(alike[:-1])
        leaf, who, single = leaf[chosen], who[chosen], ~mixed[chosen]
        single = None if single.all() else single
    people = np.bincount(leaf, minlength=rows.stop - rows.start)
    apart = single is None and int(np.bincount(who, minlength=1).max()) <= 1
    return ImpliedPeople(leaf=leaf, who=who, people=people, single=single, apart=apart)


@dataclass(frozen=True, slots=True, kw_only=True)
class InAnyTree(Details):
    """Different people of whom something is true in at least one tree."""

    tree: int  # The tree with the most of them
    worst: People  # How many that tree has
    # No fewer and no more than that over all trees; the same where it is exact
    low: People
    high: People
    among: People  # Of how many people

    def __lt__(self, other: "InAnyTree") -> bool:
        return (self.high, self.low) < (other.high, other.low)

    @property
    def share(self) -> float:
        """The share of people that it is at most."""
        return min(1.0, self.high / self.among) if self.among else 0.0

    @property
    def text(self) -> str:
        """The bounds in words."""
        if self.low == self.high:
            return f"{self.high:,}"
        return f"{self.low:,} to {self.high:,}"


def in_any_tree(
    case: Case, held: Wide, labels: Labels | None = None, code: Codes | None = None
) -> InAnyTree:
    """Bound how many different people are meant by some leaves, over all trees.

    * ``held``: shape ``(n_leaves,)``: how many people of each leaf of the case are meant; 0 where
      none.
    * ``labels``, ``code``: what the leaves say and what each training person has, where only those
      are meant who have what their leaf says most often; None where all are.
    """
    table, forest, train = case.table, case.forest, case.train
    each = of_each_tree(case, held, labels, code)
    tree, total = int(each.argmax()), int(each.sum())
    known, largest = table.n_people, 0
    if known is None:
        largest = int(table.per_tree(table.size).max())
        known = largest if forest.records_are == "all" else None
    if train is not None and not table.in_persons:
        known = len(train)
    # Records are in one of these trees, persons may be in several.
    apart = forest.records_are == "disjoint" and not table.in_persons
    low = total if apart else int(each[tree])
    # Nobody tells whether the records of a leaf are of as few persons as can be, or of one each.
    most_of_them = total * (case.most if table.in_persons else 1)
    high = most_of_them if known is None else max(min(most_of_them, known), low)
    if (
        train is not None
        and forest.counts_are != "noisy"
        and (low < high or train.persons is not None)
    ):
        fewest, most = _followed(
            case, held, np.argsort(-each, kind="stable").tolist(), labels, code
        )
        if table.in_persons and train.persons is not None:
            # A leaf that saw a draw is counted in the fewest persons it can hold.
            high = len(train) if known is None else known
        low, high = max(low, fewest), max(low, fewest, min(high, most))
    among = max(largest, high) if known is None else known
    return InAnyTree(
        tree=tree,
        worst=People(int(each[tree])),
        low=People(low),
        high=People(high),
        among=People(among),
    )


def of_each_tree(
    case: Case, held: Wide, labels: Labels | None = None, code: Codes | None = None
) -> Wide:
    """Return how many different people some leaves of each tree mean, shape ``(n_trees,)``."""
    if case.train is None or case.train.persons is None or case.forest.counts_are == "noisy":
        return case.table.per_tree(held)
    trees = range(case.forest.n_trees)
    return np.array([_fewest(case, held, tree, labels, code) for tree in trees])


def of_tree(
    case: Case, tree: int, held: Wide, labels: Labels | None = None, code: Codes | None = None
) -> int:
    """Return how many different people some leaves of one tree mean; see `of_each_tree`.

    * ``held``: shape ``(n_leaves,)``: how many people of each leaf of that tree are meant.
    """
    if case.train is None or case.train.persons is None or case.forest.counts_are == "noisy":
        return int(held.sum())
    every = np.zeros(len(case.table), dtype=np.int64)
    every[case.table.rows_of(tree)] = held
    return _fewest(case, every, tree, labels, code)


def _fewest(case: Case, held: Wide, tree: int, labels: Labels | None, code: Codes | None) -> int:
    """Return no fewer than how many people some leaves of a tree mean."""
    size = held[case.table.rows_of(tree)]
    if not size.any():
        return 0
    meant = _meant_in(case, tree, labels, code)
    if meant.apart:
        return int(np.minimum(meant.people, size).sum())
    return _followed(case, held, [tree], labels, code)[0]


def worst_share(case: Case, chosen: Flag) -> Share:
    """Return the share of the people of a tree who are in some leaves, of the worst tree."""
    size = case.table.size
    people, every = of_each_tree(case, size * chosen), of_each_tree(case, size)
    if len(every) == 1:
        return Share.of(int(people[0]), int(every[0]))
    return Share(float((people / np.maximum(every, 1)).max()))


def _followed(
    case: Case, held: Wide, trees: Sequence[int], labels: Labels | None, code: Codes | None
) -> tuple[int, int]:
    """Follow the training people through some trees; no fewer and no more than these are meant."""
    train = case.people("train")
    n = len(train) if train.persons is None else int(train.persons.max()) + 1
    certain, possible = np.zeros((2, n), dtype=np.bool_)
    open_leaves: list[tuple[Wide, Codes, Codes]] = []
    for tree in trees:
        rows = case.table.rows_of(tree)
        size = held[rows]
        if not size.any():
            continue
        meant = _meant_in(case, tree, labels, code)
        leaf, who, single = meant.leaf, meant.who, meant.single
        if not size.all():
            chosen = np.flatnonzero((size > 0)[leaf])
            leaf, who = leaf[chosen], who[chosen]
            single = None if single is None else single[chosen]
        whole = (meant.people <= size)[leaf]
        if single is not None:
            whole &= single
        possible[who] = True
        if whole.all():
            certain[who] = True
        else:
            certain[who[whole]] = True
            # With those of it who are certain: they are some of as many as it holds.
            open_ = np.bincount(leaf[~whole], minlength=len(size))[leaf] > 0
            open_leaves.append((size, who[open_], leaf[open_]))
    # Of a leaf that holds some of those who end there: as many as it holds beyond those who
    # are counted already. What it may hold is then taken, so that nobody counts twice.
    taken, more, first = certain.copy(), 0, np.zeros(n if open_leaves else 0, dtype=np.int64)
    for size, who, leaf in open_leaves:
        # A person may end in several of these leaves, and counts in the first.
        first[who[::-1]] = leaf[::-1]
        counted = np.bincount(leaf[taken[who] | (leaf > first[who])], minlength=len(size))
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


def bounds_in_words(name: str) -> Callable[[Sequence[Finding]], str]:
    """Say how many different people it is; see `at_most`."""
    return lambda findings: _worst(findings, name).text


def share_at_most(share: str, name: str) -> Measure:
    """Measure the share of people: of those of the worst tree, or of all in any tree."""

    def measure(findings: Sequence[Finding], _: Forest) -> float:
        # Of one tree the share itself, which knows what it is the quotient of.
        worst: float = max(getattr(finding.details, share) for finding in findings)
        distinct = _worst(findings, name)
        return worst if distinct.share <= worst else distinct.share

    return measure


def share_in_words(share: str, name: str) -> Callable[[Sequence[Finding]], str | Phrase]:
    """Say the share of the worst tree, and what it is at most of everybody; empty for one tree."""

    def told(findings: Sequence[Finding]) -> str | Phrase:
        worst: float = max(getattr(finding.details, share) for finding in findings)
        distinct = _worst(findings, name)
        if distinct.low == distinct.high == distinct.worst:
            return ""
        # A tree of draws holds fewer people than there are: the second share can be the lower one.
        return say(
            "{} in tree {}, up to {} over all trees",
            Share(worst),
            distinct.tree,
            Share(distinct.share),
        )

    return told


def _worst(findings: Sequence[Finding], name: str) -> InAnyTree:
    found: list[InAnyTree] = [getattr(finding.details, name) for finding in findings]
    return max(found)


def headline_tree(report: Report) -> int | None:
    """Return the tree of which the headline speaks, so that it joins no numbers of two trees."""
    if report.forest.n_trees == 1:
        return None
    for finding in report.findings:
        for name in ("unique_in_any_tree", "below_k_in_any_tree", "homogeneous_in_any_tree"):
            distinct = getattr(finding.details, name, None)
            if isinstance(distinct, InAnyTree) and distinct.worst:
                return distinct.tree
    return None


def number_of_tree(finding: Finding, tree: int | None, column: str, total: int) -> int:
    """Return a number of one tree; that of the model where it has one tree."""
    if tree is None or finding.per_tree is None:
        return total
    return next((int(row[column]) for row in finding.per_tree if row["tree"] == tree), 0)


def in_worst_tree(report: Report, distinct: InAnyTree, *, labels: bool = False) -> str:
    """Say in which tree a number of people was counted; nothing for one tree."""
    if labels and len(report.table.first_round) == 1:
        return ", in the first tree"
    return f", in the worst tree (tree {distinct.tree})" if report.forest.n_trees > 1 else ""


def in_any(report: Report, distinct: InAnyTree, *, labels: bool = False) -> Phrase:
    """Say how many different people it is over all trees; nothing for one tree."""
    if report.forest.n_trees == 1:
        return say("")
    if labels and len(report.table.first_round) == 1:
        return say(" in the first tree")
    if distinct.low == distinct.high:
        return say(" in one tree; {} in any tree", distinct.high)
    return say(
        " in one tree; at least {} and at most {} in any tree",
        People.alone(distinct.low), distinct.high,
    )  # fmt: skip


def skipped_rung(knows: str, result: Skipped, said: str = "{}") -> Rung:
    """Return the rung of an attack that was not run."""
    return Rung(knows=say(knows), number=None, follows=say(said, result.reason))
