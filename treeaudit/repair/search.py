"""The best repair of a forest that passes, with people: trees x leaf size x accuracy and AUC.

`Worth`, by which they are compared, takes little time to measure, and an audit much. So the repairs
of a coarse grid of trees, leaf sizes and ways to count are made first and audited from the best
downwards until one passes; then those beside it. If trees give back too much together, more of them
are not audited: more trees contain the fewer. Of what trees give back together that is a rule of
thumb, and what was left out by it is not reported.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.composition.view import CompositionDetails
from treeaudit.attacks.reconstruction.attack import Reconstruction
from treeaudit.attacks.singling_out.attack import Uniqueness
from treeaudit.attacks.singling_out.view import UniquenessDetails
from treeaudit.audit.preparation import Progress
from treeaudit.defenses import CountAnew, Defense, MergeSiblings, RoundCounts
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report, Tried
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records
from treeaudit.repair.attempts import Attempt, AuditOptions, applied, attacks_of, attempt, n_leaves
from treeaudit.repair.candidates import ChosenTrees, VotesOnly, merges_for, trees_by_benefit
from treeaudit.repair.worth import Worth, worth_on

DEAR = (Composition.id, Reconstruction.id)
"""What trees give away together: looked for only where everything before finds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A repair as a row of the table, and its audit if it was audited."""

    summary: Tried
    attempt: Attempt | None = None

    @property
    def total(self) -> float:
        """What it is compared by, as `Worth.total`."""
        return (self.summary.accuracy or 0.0) + (self.summary.auc or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluator:
    """Who a repair is held against."""

    policy: Policy
    counting: AuditOptions  # How it is audited
    train: Records  # The training people
    # Unseen people, whose answers say how accurate it is; the training people's do without
    test: Records | None

    keep_auc: float | None = None  # The most that may be lost of it, or of R²

    def worth(self, forest: Forest) -> Worth | None:
        """Return what a model is good for to those whom it is not to give away, or others."""
        return worth_on(forest, self.test or self.train)

    def judged(self, forest: Forest, defenses: tuple[Defense, ...]) -> Attempt:
        """Return a repair audited; by what is dear only where everything cheaper passes."""
        every = attacks_of(self.policy)
        attacks = tuple(one for one in every if one not in DEAR)
        one = attempt(forest, defenses, self.policy, self.counting, attacks)
        for dear in (dear for dear in DEAR if dear in every):
            if any(not c.met and c.attack in attacks for c in one.report.checks):
                break
            attacks = (*attacks, dear)
            one = attempt(forest, defenses, self.policy, self.counting, attacks)
        return one

    def summary(
        self,
        trees: int,
        worth: Worth | None,
        steps: tuple[str, ...] = (),
        report: Report | None = None,
        leaves: int | None = None,
    ) -> Tried:
        """Return the row of a repair in a table of all repairs."""
        passed = report is not None and report.verdict == "pass"
        missed = [] if report is None else [c for c in report.checks if not c.met]
        first = next((c for c in missed if c.status == "fail"), missed[0] if missed else None)
        details = {} if report is None else {one.id: one.details for one in report.findings}
        sizes, joint = details.get(Uniqueness.id), details.get(Composition.id)
        return Tried(
            trees=trees,
            smallest=sizes.min_leaf if isinstance(sizes, UniquenessDetails) else None,
            accuracy=None if worth is None else worth.right,
            auc=None if worth is None else worth.auc,
            leaves=leaves,
            unseen=self.test is not None,
            excess=joint.excess if isinstance(joint, CompositionDetails) else None,
            judged=report is not None,
            passed=passed,
            miss="" if first is None else f"{first.name}: {first.shown or first.reason}",
            steps=steps,
        )


def searchable(forest: Forest, train: Records) -> bool:
    """Tell whether trees can be taken out of a model and its answers be told from the others."""
    alone = forest.n_trees > 1 and len(forest.members) < 2 and forest.tree_classes is None
    return alone and forest.answers != "sum" and worth_on(forest, train) is not None


_FEWER = 0.7
_FAR, _NEAR = (1, 2, 4, 16), (2, 0.5)
_ABOUT, _BARE = 60, "what no prediction needs taken out"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a repair is in the grid: whether counted anew, people in a leaf, and trees."""

    anew: bool
    k: int
    trees: int

    @property
    def column(self) -> tuple[bool, int]:
        """What it has in common with repairs of more and fewer trees."""
        return self.anew, self.k


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Made:
    """A repair that can be audited."""

    place: _Place
    defenses: tuple[Defense, ...]
    worth: Worth | None
    leaves: int

    @property
    def total(self) -> float:
        """What it is compared by."""
        return 0.0 if self.worth is None else self.worth.total


def search(
    forest: Forest,
    evaluator: Evaluator,
    before: Attempt,
    progress: Progress | None = None,
    sizes: Sequence[int] = (),
) -> list[Candidate]:
    """Return all repairs that were tried, the model itself first; of these leaf sizes, if told."""
    return _Search(forest, evaluator, before, progress, sizes).found()


class _Search:
    """What was tried so far."""

    def __init__(
        self,
        forest: Forest,
        evaluator: Evaluator,
        before: Attempt,
        progress: Progress | None,
        sizes: Sequence[int],
    ) -> None:
        # Every try starts from the same trees: they are built once.
        self._forest = replace(forest, trees=tuple(forest.trees))
        self._evaluator, self._progress, self._sizes = evaluator, progress, sizes
        self._whole = evaluator.worth(self._forest)
        summary = evaluator.summary(
            forest.n_trees, self._whole, report=before.report, leaves=before.leaves
        )
        self._tried = [Candidate(summary=summary, attempt=before)]
        self._best: _Made | None = None
        self._seen: set[_Place] = set()
        self._sized: dict[tuple[bool, int], tuple[Forest, list[int]]] = {}
        self._smallest: dict[bool, tuple[bool, int]] = {}
        self._too_many: dict[tuple[bool, int], int] = {}
        self._steps = 0

    def found(self) -> list[Candidate]:
        """Try what is far apart, then beside the best."""
        forest = self._forest
        # What passes without its leftovers is not merged.
        if forest.extras.found and not self._sizes:
            place = _Place(anew=False, k=0, trees=forest.n_trees)
            made = _Made(place=place, defenses=(), worth=self._whole, leaves=n_leaves(forest))
            if self._passes(made):
                return self._tried
        least, most = max(2, self._evaluator.policy.k), max(2, len(self._evaluator.train) // 4)
        drawn = forest.records_are == "bootstrap" and bool(forest.schema.classes)
        trees = _fewer(forest.n_trees)
        self._try(
            _Place(anew=anew, k=k, trees=n)
            for anew in ((True, False) if drawn else (False,))
            for k in self._sizes
            or dict.fromkeys(min(least * far, max(least, most)) for far in _FAR)
            for n in trees[::-2]
        )
        if self._best is None or self._sizes:
            return self._tried
        place = self._best.place
        neighbours = [place.trees, *_neighbors(trees, place.trees)]
        sizes = [int(place.k * near) for near in (1, *_NEAR)]
        self._try(
            replace(place, k=k, trees=n) for k in sizes if least <= k <= most for n in neighbours
        )
        place = self._best.place
        neighbours = [int((place.trees * n) ** 0.5) for n in _neighbors(trees, place.trees)]
        self._try(replace(place, trees=n) for n in neighbours)
        return self._tried

    def _try(self, places: Iterable[_Place]) -> None:
        """Make repairs, and audit those that are worth more than what passes; in a sweep, all."""
        made = [one for place in places if (one := self._made(place)) is not None]
        for one in sorted(made, key=lambda one: (one.total, one.place.trees), reverse=True):
            worse = self._best is not None and one.total <= self._best.total
            both, most = self._whole and one.worth, self._evaluator.keep_auc
            lost = both is not None and self._whole is not None and self._whole.loses(both, most)
            if lost or (worse and not self._sizes):
                self._tell(one)
            elif self._few(one.place) and self._passes(one) and not worse:
                self._best = one

    def _few(self, place: _Place) -> bool:
        """Tell whether there are fewer trees than gave back too much together."""
        return place.trees < self._too_many.get(place.column, self._forest.n_trees + 1)

    def _made(self, place: _Place) -> _Made | None:
        """Return a repair; None where it was made before, or cannot be."""
        if place in self._seen:
            return None
        self._seen.add(place)
        self._step()
        chosen: tuple[Defense, ...] = ()
        policy = self._evaluator.policy
        people = self._evaluator.train
        more = self._merging(values=people.values, labels=people.labels)
        if self._forest.answers == "weighted":
            # The label of a leaf is all that its vote needs.
            more += (VotesOnly(),)
        if base := int(policy.values.get("round-to", 0)):
            more += (RoundCounts(base=base),)
        try:
            sized, order = self._column(place)
            if place.trees < self._forest.n_trees:
                chosen = (ChosenTrees(kept=tuple(sorted(order[: place.trees]))),)
            forest = applied(sized, (*chosen, *more))
            leaves = n_leaves(forest)
            if leaves == forest.n_trees:
                return None
        except DataError:
            return None
        defenses = (*chosen, *self._sizing(place), *more)
        worth = self._evaluator.worth(forest)
        return _Made(place=place, defenses=defenses, worth=worth, leaves=leaves)

    def _merging(self, **people: object) -> tuple[Defense, ...]:
        if not self._forest.schema.classes:
            return ()
        return merges_for(self._evaluator.policy, self._forest.n_trees, **people)

    def _sizing(self, place: _Place) -> tuple[Defense, ...]:
        train = self._evaluator.train
        counted = (CountAnew(values=train.values, labels=train.labels),) if place.anew else ()
        return (*counted, MergeSiblings(min_leaf=place.k))

    def _column(self, place: _Place) -> tuple[Forest, list[int]]:
        """Return all trees with leaves of k, and which to keep first.

        That is told by how they answer merged, with the smallest leaves that were asked for.
        """
        if place.column not in self._sized:
            if place.anew in self._smallest:
                small, order = self._sized[self._smallest[place.anew]]
                sized = applied(small, (MergeSiblings(min_leaf=place.k),))
            else:
                sized = applied(self._forest, self._sizing(place))
                try:
                    order = trees_by_benefit(applied(sized, self._merging()), self._evaluator.train)
                except DataError:
                    order = list(range(self._forest.n_trees))
                self._smallest[place.anew] = place.column
            self._sized[place.column] = sized, order
        return self._sized[place.column]

    def _passes(self, one: _Made) -> bool:
        self._step()
        attempt = self._evaluator.judged(applied(self._forest, one.defenses), one.defenses)
        self._tell(one, attempt)
        missed = {check.attack for check in attempt.report.checks if not check.met}
        if missed and missed <= {*DEAR}:
            self._too_many[one.place.column] = one.place.trees
        return not missed

    def _tell(self, one: _Made, attempt: Attempt | None = None) -> None:
        steps = tuple(step.step for step in one.defenses) or (_BARE,)
        report = None if attempt is None else attempt.report
        summary = self._evaluator.summary(one.place.trees, one.worth, steps, report, one.leaves)
        self._tried.append(Candidate(summary=summary, attempt=attempt))

    def _step(self) -> None:
        if self._progress is not None:
            self._progress("trying repairs", self._steps, max(self._steps + 1, _ABOUT))
        self._steps += 1


def _neighbors(trees: list[int], n: int) -> list[int]:
    """Return the next smaller and the next larger number of trees."""
    return [*[one for one in trees if one < n][-1:], *[one for one in trees if one > n][:1]]


def _fewer(trees: int) -> list[int]:
    """Return numbers of trees up to all, a geometric row."""
    numbers = {trees}
    while trees > 1:
        trees = int(trees * _FEWER)
        numbers.add(max(trees, 1))
    return sorted(numbers)
