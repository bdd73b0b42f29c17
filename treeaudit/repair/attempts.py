"""A model before and after a repair, both audited."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from treeaudit.defenses import Defense, IntersectK, without_leftovers
from treeaudit.defenses.cost import n_leaves, training_accuracy
from treeaudit.defenses.parameters import parameters
from treeaudit.dp.claims import promises
from treeaudit.errors import DataError
from treeaudit.findings.findings import Skipped
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report, Tried
from treeaudit.model.forest import Forest
from treeaudit.repair.counting import RECORDS, Counting

__all__ = ["Attempt", "Repair", "applied", "asked", "attempt", "measured", "nearest_miss", "rank"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attempt:
    """One way to repair a model.

    Attributes
    ----------
    defenses
        What was done.
    forest
        The repaired model.
    report
        Its audit.
    accuracy
        Of the people in its leaves, by its class counts; None without.
    leaves
        Of all trees.
    """

    defenses: tuple[Defense, ...]
    forest: Forest
    report: Report
    accuracy: float | None
    leaves: int

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
    """A model before and after, and what was tried.

    Attributes
    ----------
    before, after
        The model as it was and as it is. Where nothing passed the policy,
        ``after`` is the nearest miss.
    tried
        Every attempt of a search, in the order of the tries.
    searched
        Whether a policy was searched for, or the steps were asked for.
    counting
        What is one in all of these audits.
    frontier
        What was tried of a forest with people at hand, the model as it is first.
    """

    before: Attempt
    after: Attempt
    tried: tuple[Attempt, ...] = ()
    searched: bool = False
    counting: Counting = RECORDS
    frontier: tuple[Tried, ...] = ()

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
        f"{check.title.lower()}: {check.shown or check.reason}, asked for {check.bound}"
        for check in report.checks
        if check.status != "pass"
    ]


def nearest_miss(done: Repair) -> str:
    """Say in one sentence that nothing passed, and what came nearest."""
    nearest = " and ".join(done.after.steps) or "the model as it is"
    policy, misses = done.after.report.policy.title, "; ".join(done.after.misses)
    n = len(done.tried)
    if not n:
        return (
            f"no repair changes an epsilon, and policy {policy} fails for it ({misses}): train "
            "the model again, with an epsilon that it allows (treeaudit train --epsilon)"
        )
    return f"none of {n} repairs passes policy {policy}; nearest: {nearest} ({misses})"


def asked(
    forest: Forest, defenses: Sequence[Defense], policy: Policy, counting: Counting = RECORDS
) -> Attempt:
    """Return the model repaired and audited.

    Raises
    ------
    DataError
        If a defense cannot be applied, or leaves nothing but roots.
    """
    done = attempt(applied(forest, defenses), defenses, policy, counting)
    if done.leaves == done.forest.n_trees and n_leaves(forest) > forest.n_trees:
        raise DataError(
            f"{' and '.join(done.steps)}: a single leaf would be left, which answers everybody "
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
    made = without_leftovers(made)
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
    counting: Counting = RECORDS,
    attacks: Sequence[str] | None = None,
) -> Attempt:
    """Return a model that is what it is, audited; see `Counting.audited`."""
    return measured(forest, counting.audited(forest, policy, attacks), defenses)


def measured(forest: Forest, report: Report, defenses: Sequence[Defense] = ()) -> Attempt:
    """Return a model that is what it is, with its audit."""
    return Attempt(
        defenses=tuple(defenses),
        forest=forest,
        report=report,
        accuracy=training_accuracy(forest),
        leaves=n_leaves(forest),
    )


def rank(one: Attempt, before: Attempt) -> tuple[int, int, float, int]:
    """Order attempts: those that pass first, then those that lose the least."""
    verdict = {"pass": 0, "review": 1, "fail": 2}[one.report.verdict]
    misses = len(one.misses) if verdict else 0
    lost = 0.0
    if one.accuracy is not None and before.accuracy is not None:
        lost = before.accuracy - one.accuracy
    return verdict, misses, lost, -one.leaves
