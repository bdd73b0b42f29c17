"""Trees x leaf size x accuracy: the most accurate repair of a forest that passes, with people.

For a leaf size and a way of counting, fewer trees are told until all of them together pass. More
trees contain the fewer, so that what fails in some fails in more; of what trees give back together
that is a rule of thumb, and what was left out by it is not said to fail. The number of trees is
found by bisection, for few leaf sizes far apart and then beside the best. A repair that is less
accurate than one that passes is not judged; of the others the cheap attacks are run first, and
trees are put together only where these find nothing.
"""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.composition.details import CompositionDetails
from treeaudit.attacks.singling_out.details import UniquenessDetails
from treeaudit.attacks.singling_out.uniqueness import Uniqueness
from treeaudit.audit.preparation import Progress
from treeaudit.defenses import (
    CountAnew,
    Defense,
    MergeDiverse,
    MergeSiblings,
    RoundCounts,
)
from treeaudit.defenses.cost import n_leaves
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report, Tried
from treeaudit.model.forest import Forest
from treeaudit.people.predictions import averages, class_shares
from treeaudit.people.records import Records, routed
from treeaudit.repair.attempts import Attempt, applied, attempt
from treeaudit.repair.choosing import ChosenTrees, helpful
from treeaudit.repair.counting import Counting, attacks_of

__all__ = ["Candidate", "Judges", "merging_for", "right", "search", "searchable"]

_FEWER = 0.7
_FAR, _NEAR = (4, 16), (2, 0.5)
_ABOUT, _BARE = 25, "what no prediction needs taken out"
_POOR = 2
"""With so many repairs that are less accurate than one that passes, a row is given up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A repair as it is told, and with its audit where it was judged."""

    told: Tried
    attempt: Attempt | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judges:
    """Who a repair is held against.

    Attributes
    ----------
    counting
        How it is audited.
    train
        The training people.
    test
        Unseen people, whose answers say how accurate it is; the training people's do without.
    """

    policy: Policy
    counting: Counting
    train: Records
    test: Records | None

    def accuracy(self, forest: Forest) -> float | None:
        """Return how often a model is right for those whom it is not to give away, or others."""
        return right(forest, self.test or self.train)

    def judged(self, forest: Forest, defenses: tuple[Defense, ...]) -> Attempt:
        """Return a repair audited, by the cheap attacks alone where these find enough."""
        every = attacks_of(self.policy)
        cheap = tuple(one for one in every if one != Composition.id)
        one = attempt(forest, defenses, self.policy, self.counting, cheap)
        if cheap == every or any(
            check.status != "pass" and check.attack != Composition.id for check in one.report.checks
        ):
            return one
        return attempt(forest, defenses, self.policy, self.counting, every)

    def told(
        self,
        forest: Forest,
        report: Report | None,
        steps: tuple[str, ...] = (),
        accuracy: float | None = None,
    ) -> Tried:
        """Return what is told of a repair."""
        passed = report is not None and report.verdict == "pass"
        missed = [] if report is None else [c for c in report.checks if c.status != "pass"]
        first = next((c for c in missed if c.status == "fail"), missed[0] if missed else None)
        found = {} if report is None else {one.id: one.details for one in report.findings}
        sizes, joint = found.get(Uniqueness.id), found.get(Composition.id)
        return Tried(
            trees=forest.n_trees,
            smallest=sizes.min_leaf if isinstance(sizes, UniquenessDetails) else None,
            accuracy=self.accuracy(forest) if accuracy is None else accuracy,
            unseen=self.test is not None,
            excess=joint.excess if isinstance(joint, CompositionDetails) else None,
            judged=report is not None,
            passed=passed,
            miss="" if first is None else f"{first.title.lower()}: {first.shown or first.reason}",
            steps=steps,
        )


def searchable(forest: Forest, train: Records) -> bool:
    """Tell whether trees can be taken out of a model and its answers be told from the others."""
    alone = forest.n_trees > 1 and len(forest.members) < 2 and forest.tree_classes is None
    return alone and right(forest, train) is not None


def right(forest: Forest, people: Records) -> float | None:
    """Return the share of people answered rightly, or R² of a number; None where neither is told.

    The people may have been routed through another model of the same columns.
    """
    if averages(forest) and people.labels is not None:
        shares, _ = class_shares(forest, routed(forest, people.values))
        return float((shares.argmax(axis=1) == people.labels).mean())
    values = [tree.value for tree in forest.trees]
    if people.targets is None or forest.answers != "mean" or any(one is None for one in values):
        return None
    node = routed(forest, people.values)
    said = np.mean([v[node[:, i]] for i, v in enumerate(values) if v is not None], axis=0)
    spread = float(people.targets.var())
    return 1 - float(((said - people.targets) ** 2).mean()) / spread if spread else None


def merging_for(policy: Policy, trees: int = 1, **people: object) -> tuple[Defense, ...]:
    """Return what leaves a label certain, or nearly, for no more people than a policy allows.

    Each tree has its part of the share, unless people tell who they are in all of them.
    """
    made: list[Defense] = []
    part = 1 if people else trees
    if (certain := policy.values.get("max-certain-share")) is not None:
        made.append(MergeDiverse(allowed=certain / part, **people))  # type: ignore[arg-type]
    if (nearly := policy.values.get("max-nearly-certain-share")) is not None:
        made.append(MergeDiverse(allowed=nearly / part, exceptions=policy.k, **people))  # type: ignore[arg-type]
    return tuple(made)


def search(
    forest: Forest, judges: Judges, before: Attempt, progress: Progress | None = None
) -> list[Candidate]:
    """Return all repairs that were tried, the model itself first."""
    return _Search(forest, judges, before, progress).found()


class _Search:
    """What was tried so far."""

    def __init__(
        self, forest: Forest, judges: Judges, before: Attempt, progress: Progress | None
    ) -> None:
        # Every try starts from the same trees: they are built once.
        self._forest = replace(forest, trees=tuple(forest.trees))
        self._judges, self._progress = judges, progress
        self._trees = _fewer(forest.n_trees)
        self._tried = [Candidate(told=judges.told(forest, before.report), attempt=before)]
        self._best: tuple[float, int, bool, int] | None = None
        self._orders: dict[tuple[bool, int], tuple[int, ...]] = {}

    def found(self) -> list[Candidate]:
        """Try what is far apart, then beside the best."""
        # What passes without its leftovers is not merged.
        if self._forest.leftovers.found and self._good((), False, 0):
            return self._tried
        least, most = max(2, self._judges.policy.k), len(self._judges.train) // 4
        drawn = self._forest.records_are == "bootstrap" and bool(self._forest.schema.classes)
        ways = (True, False) if drawn else (False,)
        for anew in ways:
            self._column(anew, least)
        anew = self._best[2] if self._best else drawn
        sizes = {least}
        for near in (False, True):
            middle = self._best[3] if self._best and near else least
            for factor in _NEAR if near else _FAR:
                k = int(middle * factor)
                if k not in sizes and least <= k <= most:
                    sizes.add(k)
                    self._column(anew, k)
        self._between()
        return self._tried

    def _between(self) -> None:
        """Try as many trees as lie between the best number and those tried beside it."""
        if self._best is None:
            return
        _, trees, anew, k = self._best
        at = self._trees.index(trees)
        beside = self._trees[max(at - 1, 0) : at] + self._trees[at + 1 : at + 2]
        for between in {int((trees * other) ** 0.5) for other in beside} - {*self._trees}:
            self._tried_with(between, anew, k)

    def _column(self, anew: bool, k: int) -> None:
        """Find how many trees with leaves of k pass."""
        low, high, poor = -1, len(self._trees), 0
        seen = set()
        while high - low > 1 and poor < _POOR:
            middle = (low + high) // 2
            seen.add(middle)
            before = len(self._tried)
            good = self._tried_with(self._trees[middle], anew, k)
            poor += any(not one.told.judged for one in self._tried[before:])
            low, high = (middle, high) if good else (low, middle)
        # More trees are not always more accurate.
        for fewer in {max(low - 2, 0), max(low - 1, 0)} - seen if not poor else ():
            self._tried_with(self._trees[fewer], anew, k)

    def _tried_with(self, trees: int, anew: bool, k: int) -> bool:
        policy, train = self._judges.policy, self._judges.train
        whole = trees == self._forest.n_trees
        kept = () if whole else (ChosenTrees(kept=tuple(sorted(self._order(anew, k)[:trees]))),)
        defenses = (*kept, *self._sized(anew, k))
        if self._forest.schema.classes:
            defenses += merging_for(policy, values=train.values)
        if base := int(policy.values.get("round-to", 0)):
            defenses += (RoundCounts(base=base),)
        return self._good(defenses, anew, k)

    def _sized(self, anew: bool, k: int) -> tuple[Defense, ...]:
        train = self._judges.train
        counted = (CountAnew(values=train.values, labels=train.labels),) if anew else ()
        return (*counted, MergeSiblings(min_leaf=k))

    def _order(self, anew: bool, k: int) -> tuple[int, ...]:
        """Return which trees to keep first, as they answer when they are merged."""
        if (anew, k) not in self._orders:
            every = self._forest.n_trees
            merging = merging_for(self._judges.policy, every) if self._forest.schema.classes else ()
            try:
                merged = applied(self._forest, (*self._sized(anew, k), *merging))
                order = helpful(merged, self._judges.train)
            except DataError:
                order = list(range(self._forest.n_trees))
            self._orders[anew, k] = tuple(order)
        return self._orders[anew, k]

    def _good(self, defenses: tuple[Defense, ...], anew: bool, k: int) -> bool:
        """Tell whether a repair passes, or is less accurate than one that does."""
        if self._progress is not None:
            done = len(self._tried)
            self._progress("trying repairs", done, max(done + 1, _ABOUT))
        judges = self._judges
        try:
            made = applied(self._forest, defenses)
        except DataError:
            return False
        if defenses and n_leaves(made) == made.n_trees:
            return False
        steps = tuple(one.step for one in defenses) or (_BARE,)
        accuracy = judges.accuracy(made)
        best = self._best
        if best is not None and accuracy is not None and accuracy <= best[0]:
            self._tried.append(Candidate(told=judges.told(made, None, steps, accuracy)))
            return True
        one = judges.judged(made, defenses)
        told = judges.told(made, one.report, steps, accuracy)
        self._tried.append(Candidate(told=told, attempt=one))
        if told.passed and accuracy is not None:
            self._best = (accuracy, made.n_trees, anew, k)
        return told.passed


def _fewer(trees: int) -> list[int]:
    """Return numbers of trees up to all, a geometric row.

    Examples
    --------
    >>> _fewer(100)
    [1, 2, 4, 7, 11, 16, 23, 34, 49, 70, 100]
    """
    found = {trees}
    while trees > 1:
        trees = int(trees * _FEWER)
        found.add(max(trees, 1))
    return sorted(found)
