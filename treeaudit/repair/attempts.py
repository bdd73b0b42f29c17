"""A model before and after a repair, both audited with the same people and options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from treeaudit.arrays import Flag
from treeaudit.attacks import all_checks, offered_attacks
from treeaudit.audit.scan import scan
from treeaudit.defenses import Defense, IntersectK
from treeaudit.defenses.defense import parameters, weights_of
from treeaudit.defenses.strip import without_extras
from treeaudit.dp.claims import promises
from treeaudit.errors import DataError
from treeaudit.findings.findings import Skipped
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report, Tried
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.checks.training_data import MisfitError
from treeaudit.people.records import checked_table
from treeaudit.people.streaming import sample_table
from treeaudit.repair.worth import Worth

_SECONDS = 0.5
"""For the reconstruction from each of many candidates; what takes longer is not shown to pass."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditOptions:
    """How the models of a repair are audited."""

    options: Mapping[str, Any] = field(default_factory=dict)  # Of `treeaudit.scan`
    # Unseen people; None without
    test: object = None
    # The same where a repair leaves people out or rounds their number, so that the training
    # data no longer fits: the most records of one person
    bound: Mapping[str, Any] = field(default_factory=dict)
    by_policy: bool = False  # Whether only the attacks that the policy asks are run
    original: Forest | None = None  # The model as it was: its file tells more of leaves that stay

    @property
    def train(self) -> object:
        """The training people; None without."""
        return self.options.get("train")

    def audited(
        self, forest: Forest, policy: Policy, attacks: Sequence[str] | None = None
    ) -> Report:
        """Return the audit of a model.

        By some attacks, unless told by all, or by those that the policy asks where that is said
        or people are at hand.
        """
        if attacks is None and (self.by_policy or self.train is not None):
            attacks = attacks_of(policy)
        options: dict[str, Any] = {"attacks": attacks, "seconds": _SECONDS}
        if self.original is not None:
            forest = with_spreads(forest, self.original)
        try:
            return scan(forest, policy=policy, test=self.test, **options, **self.options)
        except MisfitError:
            if self.train is None:
                raise
            return scan(forest, policy=policy, **options, **self.bound)


RECORDS = AuditOptions()


def attacks_of(policy: Policy) -> tuple[str, ...]:
    """Return the ids of the attacks that a policy asks for, in their order."""
    checks = all_checks(offered_attacks())
    known = [checks[name] for name in policy.values if name in checks]
    return tuple(sorted({one for check in known for one in check.attacks}))


def audit_options(
    forest: Forest,
    *,
    train: object,
    test: object = None,
    target: str | None,
    person: str | None,
    rows_per_person: int | None,
    repeats: str | None,
) -> AuditOptions:
    """Return what a repair is to count, and on whom, told by the model as it is.

    Raises DataError if the people do not fit the model, or what was said of persons does not fit
    either.
    """
    held = partial(checked_table, forest=forest, target=target, person=person)
    bound = {"rows_per_person": rows_per_person}
    original = forest if forest.schema.classes is None else None
    if train is None and person is None and repeats is None:
        told = {} if rows_per_person is None else bound
        return AuditOptions(options=told, original=original)
    options: dict[str, Any] = {
        "train": None if train is None else held(train, origin="train"),
        "target": target,
        "person": person,
        "rows_per_person": rows_per_person,
        "repeats": repeats,
    }
    unit = scan(forest, policy="observe", attacks=[], **options).unit
    most = rows_per_person if unit.persons is None else unit.most
    return AuditOptions(
        options=options,
        test=None if test is None else held(sample_table(test), origin="test"),
        bound={"rows_per_person": most},
        original=original,
    )


SPREADS = (
    "how the numbers in a leaf differ was read from the original, as the written file does not "
    "tell it: a scan of that file alone ends in REVIEW, with --train it runs the same checks"
)
"""What is said of a written model of numbers."""


def with_spreads(forest: Forest, original: Forest) -> Forest:
    """Return a model of numbers with the spreads that its leaves had in the file it comes from.

    No file that treeaudit writes holds them: they say more of people than a prediction needs. Who
    has the original can still tell by them that nobody makes up nearly all of a leaf.
    """
    if forest.schema.classes is not None or forest.n_trees != original.n_trees:
        return forest
    pairs = zip(forest.trees, original.trees, strict=True)
    trees = tuple(_with_spread(tree, old) for tree, old in pairs)
    if all(new is tree for new, tree in zip(trees, forest.trees, strict=True)):
        return forest
    return replace(forest, trees=trees, warnings=(*forest.warnings, SPREADS))


def _with_spread(tree: Tree, old: Tree) -> Tree:
    if tree.spread is not None or old.spread is None or old.n_records is None:
        return tree
    if tree.value is None or old.value is None or tree.n_records is None:
        return tree
    below = {_edge(old, i, int(old.parent[i])): i for i in range(old.n_nodes)}
    spread, at = np.full(tree.n_nodes, np.nan), [-1] * tree.n_nodes
    for i in range(tree.n_nodes):
        above = -1 if i == 0 else at[tree.parent[i]]
        at[i] = -2 if above == -2 else below.get(_edge(tree, i, above), -2)
        same = at[i] >= 0 and old.n_records[at[i]] == tree.n_records[i]
        if same and np.isclose(old.value[at[i]], tree.value[i], rtol=1e-6, atol=0.0):
            spread[i] = old.spread[at[i]]
    return replace(tree, spread=spread, spread_is=old.spread_is)


def _edge(tree: Tree, i: int, above: int) -> tuple[object, ...]:
    """Return what leads to a node: where from, and by which values of which column."""
    sets, missing = tree.categories, tree.missing
    codes = () if sets is None else tuple(sets.of(i))
    lost = missing is not None and bool(missing[i])
    return above, int(tree.feature[i]), float(tree.low[i]), float(tree.high[i]), codes, lost


def n_leaves(forest: Forest) -> int:
    """Return the leaves of all trees, without those that nobody is known to be in."""
    return sum(int(_occupied(tree).sum()) for tree in forest.trees)


def training_accuracy(forest: Forest) -> float | None:
    """Return how many of the people in its leaves a tree answers rightly.

    Read off the class counts; the mean over the trees of a forest, each taken
    alone. None where there are no class counts, and of a boosting, whose first tree
    alone may tell some and answers nothing by itself.
    """
    if forest.answers == "sum":
        return None
    each = [_right(tree, forest, i) for i, tree in enumerate(forest.trees)]
    told = [share for share in each if share is not None]
    return float(np.mean(told)) if told else None


def _right(tree: Tree, forest: Forest, index: int) -> float | None:
    if tree.counts is None:
        return None
    leaf = _occupied(tree)
    counts = np.maximum(tree.counts[leaf], 0)
    answer = (counts * weights_of(tree, forest, index)).argmax(axis=1)
    total = float(counts.sum())
    return float(counts[np.arange(len(counts)), answer].sum()) / total if total else None


def _occupied(tree: Tree) -> Flag:
    leaf = tree.is_leaf
    # A leaf that nobody is in only stands in for one that was taken out.
    if tree.n_records is not None and tree.n_records[0] > 0:
        leaf &= tree.n_records > 0
    return leaf


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attempt:
    """One way to repair a model."""

    defenses: tuple[Defense, ...]  # What was done
    forest: Forest  # The repaired model
    report: Report  # Its audit
    accuracy: float | None  # Of the people in its leaves, by its class counts; None without
    leaves: int  # Of all trees

    @property
    def steps(self) -> tuple[str, ...]:
        """What was done, in words."""
        return tuple(defense.step for defense in self.defenses)

    @property
    def misses(self) -> list[str]:
        """The checks that it did not pass, in words."""
        return misses_of(self.report)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repair:
    """A model before and after, and what was tried."""

    # The model as it was and as it is. Where nothing passed the policy, ``after`` is the
    # nearest miss.
    before: Attempt
    after: Attempt
    tried: tuple[Attempt, ...] = ()  # Every attempt of a search, in the order of the tries
    searched: bool = False  # Whether a policy was searched for, or the steps were asked for
    counting: AuditOptions = RECORDS  # What is one in all of these audits
    # What was tried of a forest with people at hand, the model as it is first
    frontier: tuple[Tried, ...] = ()
    keep_auc: float | None = None  # What of the AUC, or of R², could be lost at most

    @property
    def forest(self) -> Forest:
        """The repaired model."""
        return self.after.forest

    @property
    def steps(self) -> tuple[str, ...]:
        """What was done, in words."""
        return self.after.steps

    @property
    def tree_by_tree(self) -> bool:
        """Whether groups were made large enough, but in each of several trees alone."""
        done = [type(one) for one in self.after.defenses]
        sized = self.searched or any("min_leaf" in parameters(one) for one in done)
        alone = sized and self.forest.n_trees > 1 and IntersectK not in done
        return alone and not self.frontier

    @property
    def by_file_alone(self) -> bool:
        """Whether nobody's records may decide what comes of it, as of a private model."""
        return promises(self.before.forest)

    @property
    def needs_people(self) -> str:
        """Why checks could not be made for which training people would be enough, if so."""
        if self.by_file_alone:
            return ""
        open_ = {one.attack for one in self.after.report.checks if one.status == "skipped"}
        asks = (
            one.reason
            for one in self.after.report.results
            if isinstance(one, Skipped) and one.id in open_ and "--train" in one.asks
        )
        return next(asks, "")

    @property
    def passed(self) -> bool:
        """Whether the repaired model passes every check of the policy."""
        return self.after.report.verdict == "pass"


def misses_of(report: Report) -> list[str]:
    """Return the checks that a model did not pass, in words."""
    return [
        f"{check.title.lower()}: {check.shown or check.reason} ({check.bound})"
        for check in report.checks
        if not check.met
    ]


def nearest_miss(done: Repair) -> str:
    """Say in one sentence that nothing passed, and what came nearest."""
    nearest = ", then ".join(done.after.steps) or "the model as it is"
    policy, misses = done.after.report.policy.title, "; ".join(done.after.misses)
    n = len(done.tried)
    if not n:
        return (
            f"no repair changes an epsilon, and policy {policy} fails for it ({misses}): train "
            "the model again, with an epsilon that it allows (treeaudit train --epsilon)"
        )
    kept = "" if done.keep_auc is None else f" that lose at most {done.keep_auc:g} AUC"
    none = f"none of {n} repairs{kept} passes policy {policy}"
    return f"{none}; nearest: {nearest}; still missed: {misses}"


def audited_repair(
    forest: Forest, defenses: Sequence[Defense], policy: Policy, counting: AuditOptions = RECORDS
) -> Attempt:
    """Return the model repaired and audited.

    Raises DataError if a defense cannot be applied, or leaves nothing but roots.
    """
    done = attempt(applied(forest, defenses), defenses, policy, counting)
    if done.leaves == done.forest.n_trees and n_leaves(forest) > forest.n_trees:
        raise DataError(
            f"{', then '.join(done.steps)}: a single leaf would be left, which answers everybody "
            f"alike; ask for less ({_less(defenses)})"
        )
    return done


def _less(defenses: Sequence[Defense]) -> str:
    names = {name for defense in defenses for name in parameters(type(defense))}
    if not names or "min_leaf" in names:
        return "a smaller --min-leaf"
    return " or ".join(f"another --set {name}=…" for name in sorted(names))


def applied(forest: Forest, defenses: Sequence[Defense]) -> Forest:
    """Apply one after the other, and hold the trees that come out of it.

    What lies beside the trees and is not needed for predictions goes too, as no
    writer writes it.
    """
    made = forest
    for defense in defenses:
        made = defense.apply(made)
        # Several that follow ask for each tree more than once.
        made = replace(made, trees=tuple(made.trees))
    made = without_extras(made)
    if not defenses:
        return made
    note = f"repaired, not the file as it is: {'; '.join(defense.step for defense in defenses)}"
    return replace(
        made,
        trees=tuple(made.trees),
        source=replace(made.source, digest=None, n_bytes=None),
        warnings=(*made.warnings, note),
    )


def attempt(
    forest: Forest,
    defenses: Sequence[Defense],
    policy: Policy,
    counting: AuditOptions = RECORDS,
    attacks: Sequence[str] | None = None,
) -> Attempt:
    """Return a model that is what it is, audited; see `Counting.audited`."""
    return attempt_of(forest, counting.audited(forest, policy, attacks), defenses)


def attempt_of(forest: Forest, report: Report, defenses: Sequence[Defense] = ()) -> Attempt:
    """Return a model that is what it is, with its audit."""
    return Attempt(
        defenses=tuple(defenses),
        forest=forest,
        report=report,
        accuracy=training_accuracy(forest),
        leaves=n_leaves(forest),
    )


def rank(
    one: Attempt, before: Attempt, worth: Callable[[Forest], Worth | None]
) -> tuple[int, int, float, int]:
    """Order attempts: those that pass first, then those that lose least accuracy and AUC together.

    Where nobody is at hand on whom these are measured, the class counts of the leaves tell.
    """
    verdict = {"pass": 0, "review": 1, "fail": 2}[one.report.verdict]
    misses = len(one.misses) if verdict else 0
    lost = 0.0
    if not verdict and (found := worth(one.forest)) is not None:
        lost = -found.total
    elif one.accuracy is not None and before.accuracy is not None:
        lost = before.accuracy - one.accuracy
    return verdict, misses, lost, -one.leaves
