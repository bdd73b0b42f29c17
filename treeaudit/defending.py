"""Repair a model: as asked, or the mildest way that a policy passes; audited before and after."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from treeaudit.defenses import (
    Defense,
    IntersectK,
    MergeClosest,
    MergeDiverse,
    MergeSiblings,
    PruneLeaves,
    RoundCounts,
    Strip,
)
from treeaudit.errors import DataError
from treeaudit.policy import Policy, read_policy
from treeaudit.predictions import Utility, averages, utility
from treeaudit.readers import load
from treeaudit.records import read_records
from treeaudit.repairs import Attempt, Repair, asked, attempt, continued, nearest_miss, rank
from treeaudit.tree import Forest

__all__ = ["Method", "Unanswered", "defend", "nearest_miss", "repair", "sweep", "utility_on"]

Method = Literal["merge-siblings", "merge-closest", "prune-leaves", "intersect-k"]
Unanswered = Literal["reject", "parent"]
Progress = Callable[[str, int, int], None]

_WIDER = (1, 2, 4, 10)


def defend(
    model: object,
    *,
    min_leaf: int | None = None,
    method: Method = "merge-siblings",
    policy: str | Policy = "default",
    unanswered: Unanswered = "parent",
    strip: bool = False,
    round_counts: int | None = None,
    train: object = None,
    target: str | None = None,
) -> Forest:
    """Return a repaired model; the one given is left as it is.

    Parameters
    ----------
    model
        A path, a fitted estimator, or a `Forest`.
    min_leaf
        The k that every leaf shall hold. Unless told, the mildest repair that
        passes the policy is searched for.
    method
        ``merge-siblings`` (Method 2), ``merge-closest`` (the same for trees that
        branch more than twice, losing less), ``prune-leaves`` (Method 1), or
        ``intersect-k``, which holds for the trees of a forest together.
    policy
        What to search for where ``min_leaf`` is not told.
    unanswered
        With ``prune-leaves``: what becomes of records of removed leaves.
    strip, round_counts
        What else to do; see `treeaudit.defenses`.
    train, target
        The training data, which ``intersect-k`` needs, and its column of labels.

    Returns
    -------
    Forest
        Write it with `treeaudit.save`, audit it with `treeaudit.scan`, or use
        it with `treeaudit.writers.to_estimator`.

    Raises
    ------
    DataError
        If it cannot be done, or nothing that was tried passes the policy.
    ReadError
        If the model cannot be read.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> safer = defend(tree, min_leaf=10)
    >>> ta.scan(tree)["TA101"].details.min_leaf, ta.scan(safer)["TA101"].details.min_leaf
    (1, 17)
    """
    done = repair(
        model,
        min_leaf=min_leaf,
        method=method,
        policy=policy,
        unanswered=unanswered,
        strip=strip,
        round_counts=round_counts,
        train=train,
        target=target,
    )
    if done.searched and not done.passed and done.after.report.verdict == "fail":
        raise DataError(nearest_miss(done))
    return done.forest


def repair(
    model: object,
    *,
    min_leaf: int | None = None,
    method: Method = "merge-siblings",
    policy: str | Policy = "default",
    unanswered: Unanswered = "parent",
    strip: bool = False,
    round_counts: int | None = None,
    train: object = None,
    target: str | None = None,
    progress: Progress | None = None,
) -> Repair:
    """Repair a model and audit it before and after; see `defend`.

    A search that finds nothing returns its nearest miss and does not raise.

    Raises
    ------
    DataError
        If what was asked for cannot be done.
    """
    forest = load(model)
    resolved = policy if isinstance(policy, Policy) else read_policy(policy)
    extra: list[Defense] = []
    if round_counts is not None:
        extra.append(RoundCounts(base=round_counts))
    if strip:
        extra.append(Strip())
    before = attempt(forest, (), resolved)
    if min_leaf is not None or method == "intersect-k":
        k = _at_least_2(resolved.k if min_leaf is None else min_leaf)
        first: Defense = MergeSiblings(min_leaf=k)
        if method == "prune-leaves":
            first = PruneLeaves(min_leaf=k, unanswered=unanswered)
        elif method == "merge-closest":
            first = MergeClosest(min_leaf=k)
        elif method == "intersect-k":
            people = None if train is None else read_records(train, forest, target=target).values
            first = IntersectK(min_leaf=k, values=people)
        return Repair(before=before, after=asked(forest, (first, *extra), resolved))
    if before.report.verdict == "pass":
        return Repair(before=before, after=asked(forest, extra, resolved), searched=True)
    tried = _tries(forest, resolved, before, progress)
    best = min(tried, key=lambda one: rank(one, before))
    if extra:
        best = continued(best, extra, resolved)
    return Repair(before=before, after=best, tried=tuple(tried), searched=True)


def _at_least_2(min_leaf: int) -> int:
    if min_leaf < 2:
        raise DataError("--min-leaf takes 2 or more: every leaf holds 1 person anyway")
    return min_leaf


def _tries(
    forest: Forest, policy: Policy, before: Attempt, progress: Progress | None
) -> list[Attempt]:
    """Try ever stronger repairs; one that leaves nothing but roots is none."""
    tried: list[Attempt] = []
    reasons: list[str] = []
    plans = list(_plans(policy))
    for done, defenses in enumerate(plans, start=1):
        # What passes already is not merged further.
        if len(defenses) > 1 and tried and tried[-1].report.verdict == "pass":
            continue
        try:
            tried.append(asked(forest, defenses, policy))
        except DataError as error:
            reasons.append(str(error))
        if progress is not None:
            progress("trying repairs", done, len(plans))
    if not tried and before.report.verdict == "fail" and reasons:
        raise DataError(reasons[0])
    return tried or [before]


def _plans(policy: Policy) -> Iterator[tuple[Defense, ...]]:
    """Yield combinations, the mildest first: none, which takes out leftovers alone."""
    yield ()
    share = policy.values.get("max-certain-share")
    sized = {"min-leaf", "max-unique-people", "max-small-leaf-people"} & set(policy.values)
    if not sized and share is not None:
        yield (MergeDiverse(allowed=share),)
    for factor in _WIDER:
        k = max(2, policy.k * factor)
        yield (MergeSiblings(min_leaf=k),)
        if share is not None:
            yield (MergeSiblings(min_leaf=k), MergeDiverse(allowed=share))


def sweep(
    model: object,
    sizes: Sequence[int],
    *,
    method: Method = "merge-siblings",
    unanswered: Unanswered = "parent",
    policy: str | Policy = "default",
) -> list[Attempt]:
    """Repair a model once for each k: what privacy costs.

    A size that the model cannot reach ends the sweep.

    Raises
    ------
    DataError
        If not even the first size can be reached.
    """
    forest = load(model)
    attempts: list[Attempt] = []
    for k in sizes:
        try:
            done = repair(forest, min_leaf=k, method=method, unanswered=unanswered, policy=policy)
        except DataError:
            if not attempts:
                raise
            break
        attempts.append(done.after)
    return attempts


def utility_on(forest: Forest, test: object, target: str | None = None) -> Utility | None:
    """Return how useful a model is to unseen people, or None where the file does not tell.

    Raises
    ------
    DataError
        If the data does not fit the model, or has no labels.
    """
    return utility(forest, read_records(test, forest, target=target)) if averages(forest) else None
