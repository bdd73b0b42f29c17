"""Repair a model: as asked, or the mildest way that a policy passes; audited before and after."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Literal

from treeaudit.defenses import DEFENSES, Defense, MergeSiblings, RoundCounts, Strip
from treeaudit.defenses.defense import build_defense, parameters, takes_people
from treeaudit.dp.claims import promises
from treeaudit.errors import DataError, UnsupportedModelError, near
from treeaudit.findings.policy import Policy, fails_for_good, read_policy
from treeaudit.findings.report import Report, Tried
from treeaudit.model.forest import Forest
from treeaudit.people.records import Records, read_records
from treeaudit.people.streaming import sample_table
from treeaudit.readers import load
from treeaudit.repair.attempts import (
    Attempt,
    AuditOptions,
    Repair,
    applied,
    attempt,
    attempt_of,
    audit_options,
    audited_repair,
    nearest_miss,
    rank,
)
from treeaudit.repair.candidates import try_candidates
from treeaudit.repair.search import Candidate, Evaluator, search, searchable
from treeaudit.repair.worth import Worths
from treeaudit.writers import to_estimator

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    """How a model shall be repaired: the parameters of `defend`."""

    method: str | None = None
    min_leaf: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    policy: str | Policy = "default"
    strip: bool = False
    round_counts: int | None = None
    train: object = None
    test: object = None
    target: str | None = None
    person: str | None = None
    rows_per_person: int | None = None
    repeats: str | None = None
    keep_auc: float | None = None

    def counting(self, forest: Forest) -> AuditOptions:
        """Return what is to be counted as one."""
        return audit_options(
            forest,
            train=self.train,
            test=self.test,
            target=self.target,
            person=self.person,
            rows_per_person=self.rows_per_person,
            repeats=self.repeats,
        )

    def by_file_alone(self) -> "RepairRequest":
        """Return the same without anybody's records: so a private model is repaired.

        What comes of it is then made of answers that its ledger counts, and of nothing else.
        """
        return replace(self, train=None, test=None, person=None, repeats=None)

    def resolved(self) -> Policy:
        """Return the policy itself."""
        return self.policy if isinstance(self.policy, Policy) else read_policy(self.policy)

    @property
    def searched(self) -> bool:
        """Whether a repair that passes the policy is to be searched for."""
        return self.method is None and self.min_leaf is None and not self.parameters

    def defenses(self, forest: Forest) -> list[Defense]:
        """Return what is asked for, in the order in which it is done.

        Raises DataError if there is no such method, it does not take what is given, or the people
        do not fit the model.
        """
        rounding = [] if self.round_counts is None else [RoundCounts(base=self.round_counts)]
        stripping = [Strip()] if self.strip else []
        return [*([] if self.searched else [self._first(forest)]), *rounding, *stripping]

    def _first(self, forest: Forest) -> Defense:
        by_id = {one.id: one for one in DEFENSES}
        kind = by_id.get(self.method or MergeSiblings.id)
        if kind is None:
            raise DataError(
                f"there is no method {self.method!r}{near(str(self.method), by_id, 'known:')}"
            )
        given = dict(self.parameters)
        if self.min_leaf is not None:
            given["min_leaf"] = self.min_leaf
        elif "min_leaf" in parameters(kind):
            given["min_leaf"] = max(2, self.resolved().k)
        people = None
        if self.train is not None and takes_people(kind):
            people = read_records(self.train, forest, target=self.target, person=self.person)
        return build_defense(kind, given, people)


def defend(
    model: object,
    *,
    method: str | None = None,
    min_leaf: int | None = None,
    policy: str | Policy = "default",
    strip: bool = False,
    round_counts: int | None = None,
    train: object = None,
    test: object = None,
    target: str | None = None,
    person: str | None = None,
    rows_per_person: int | None = None,
    repeats: Literal["people", "copies"] | None = None,
    keep_auc: float | None = None,
    **parameters: object,
) -> Any:  # noqa: ANN401  # an estimator, which has no type, or a Forest
    """Return a repaired model; the one given is left as it is.

    Parameters
    ----------
    model
        A path, a fitted estimator, or a `Forest`.
    method
        The ``id`` of one of `treeaudit.defenses.DEFENSES`; ``merge-siblings``
        where ``min_leaf`` alone is told. Where neither is, the mildest repair
        that passes the policy is searched for: of a forest whose training people
        are given, the best of fewer trees and larger leaves. The best is what loses
        least accuracy and AUC together, if there are people to measure them on.
    min_leaf
        The k that every leaf shall hold, for methods that see to it; that of
        the policy unless told.
    policy
        What the repaired model is audited by.
    strip, round_counts
        What else to do: `treeaudit.defenses.Strip`, `treeaudit.defenses.RoundCounts`.
    train, target
        The training data, on which the audits count, and its column of labels. A
        forest passes a built-in policy only with them: its trees are judged together.
    test
        Unseen people, on whom the repairs of a forest are compared. Neither they nor ``train``
        decide about a private model, whose epsilon would no longer hold.
    person, rows_per_person, repeats
        What is one person, as in `treeaudit.scan`: the audits before and after
        count persons then.
    keep_auc
        The most that the AUC may lose, such as 0.01, or R² of a model of numbers:
        measured on ``test``, or else on ``train``. Of several classes the AUC is the mean
        of each against all others.
    **parameters
        Of the method: the fields of its class, such as ``unanswered="reject"``.

    Returns
    -------
    estimator or Forest
        For a fitted estimator of scikit-learn one of the same kind, which predicts. A `Forest`
        for a path, a `Forest`, and what scikit-learn cannot hold: an estimator of XGBoost or
        LightGBM, a parameter ``unanswered="reject"``. `treeaudit.save` writes either, and
        `treeaudit.scan` audits it.

    Raises
    ------
    DataError
        If it cannot be done, nothing that was tried passes the policy, or all of it loses more
        than ``keep_auc``.
    ReadError
        If the model cannot be read.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> safer = defend(tree, min_leaf=10)
    >>> [ta.scan(model).findings[0].details.min_leaf for model in (tree, safer)]
    [1, 17]
    >>> safer.predict([[15.0] * 30]).tolist()
    [1]
    >>> defend(ta.load(tree), method="labels-only").counts_are
    'label-only'
    """
    done = repair(
        model,
        RepairRequest(
            method=method,
            min_leaf=min_leaf,
            parameters=parameters,
            policy=policy,
            strip=strip,
            round_counts=round_counts,
            train=train,
            test=test,
            target=target,
            person=person,
            rows_per_person=rows_per_person,
            repeats=repeats,
            keep_auc=keep_auc,
        ),
    )
    if done.searched and not done.passed and done.after.report.verdict == "fail":
        raise DataError(nearest_miss(done))
    if isinstance(model, Forest | str | os.PathLike):
        return done.forest
    try:
        return to_estimator(done.forest)
    except UnsupportedModelError:
        return done.forest


def repair(
    model: object,
    wanted: RepairRequest,
    *,
    known: Report | None = None,
    progress: Progress | None = None,
    trial: int | None = None,
) -> Repair:
    """Repair a model and audit it before and after; see `defend`.

    A search that finds nothing returns its nearest miss and does not raise. A private model is
    repaired and audited by its file alone: else its epsilon would no longer hold.

    Raises DataError if what was asked for cannot be done.
    """
    forest, policy = load(model), wanted.resolved()
    defenses = wanted.defenses(forest)
    wanted = wanted.by_file_alone() if promises(forest) else wanted
    counting = wanted.counting(forest)
    before = attempt_of(forest, known) if known else attempt(forest, (), policy, counting)
    whole, counting = counting, replace(counting, by_policy=known is not None)
    # With the people of leaves that do not tell them, where they were counted.
    forest = replace(forest, trees=before.report.forest.trees)
    worth = _worths(forest, wanted, counting)
    if not wanted.searched or before.report.verdict == "pass":
        after = audited_repair(forest, defenses, policy, counting)
        worth.keeps([after.forest])
        return Repair(before=before, after=after, searched=wanted.searched, counting=counting)
    if fails_for_good(before.report.checks):
        return Repair(before=before, after=before, searched=True, counting=whole)
    frontier = _frontier(forest, wanted, worth, before, progress, counting)
    if frontier:
        tried = [one.attempt for one in frontier[1:] if one.attempt is not None]
        tried = tried or ([before] if wanted.keep_auc is None else [])
    else:
        tried = try_candidates(forest, policy, before, progress, counting, worth.train, trial)
        tried = list(compress(tried, worth.keeps([one.forest for one in tried])))
    if not tried:
        raise worth.nothing_keeps()
    best = min(tried, key=lambda one: rank(one, before, worth))
    passed = [one for one in frontier if one.summary.passed]
    chosen = max(passed, key=lambda one: (one.total, one.summary.trees), default=None)
    if chosen is not None and chosen.attempt is not None:
        best = chosen.attempt
    if defenses or (frontier and chosen is None):
        best = attempt(applied(best.forest, defenses), (*best.defenses, *defenses), policy, whole)
    elif known is not None and best is not before:
        best = attempt(best.forest, best.defenses, policy, whole)
    return Repair(
        before=before,
        after=best,
        tried=tuple(tried),
        searched=True,
        counting=whole,
        frontier=tuple(replace(one.summary, chosen=one is chosen) for one in frontier),
        keep_auc=wanted.keep_auc,
    )


def _worths(forest: Forest, wanted: RepairRequest, counting: AuditOptions) -> Worths:
    test = None if wanted.test is None else sample_table(wanted.test)
    return Worths(
        forest,
        train=_read(counting.train, forest, wanted),
        test=_read(test, forest, wanted),
        keep=wanted.keep_auc,
    )


def _frontier(
    forest: Forest,
    wanted: RepairRequest,
    worth: Worths,
    before: Attempt,
    progress: Progress | None,
    counting: AuditOptions,
    sizes: Sequence[int] = (),
) -> list[Candidate]:
    """Search the repairs of a forest; nothing where there are no people or no forest."""
    if worth.train is None or not searchable(forest, worth.train):
        return []
    evaluator = Evaluator(
        policy=wanted.resolved(),
        counting=counting,
        train=worth.train,
        test=worth.test,
        keep_auc=wanted.keep_auc,
    )
    return search(forest, evaluator, before, progress, sizes)


def _read(data: object, forest: Forest, wanted: RepairRequest) -> Records | None:
    if data is None:
        return None
    return read_records(data, forest, target=wanted.target, person=wanted.person)


def frontier_of(
    model: object, sizes: Sequence[int], wanted: RepairRequest, progress: Progress | None = None
) -> tuple[Tried, ...]:
    """Try numbers of trees with each k, all of them audited together: what privacy costs a forest.

    Nothing where it is no forest, or its training people are not given.
    """
    forest, policy = load(model), wanted.resolved()
    if wanted.train is None or promises(forest) or not wanted.searched:
        return ()
    counting = wanted.counting(forest)
    worth = _worths(forest, wanted, counting)
    if worth.train is None or not searchable(forest, worth.train):
        return ()
    before = attempt(forest, (), policy, counting)
    forest = replace(forest, trees=before.report.forest.trees)
    found = _frontier(forest, wanted, worth, before, progress, counting, sizes)
    return tuple(one.summary for one in found)


def sweep(model: object, sizes: Sequence[int], wanted: RepairRequest) -> list[Attempt]:
    """Repair a model once for each k: what privacy costs.

    A size that the model cannot reach ends the sweep.

    Raises DataError if not even the first size can be reached, or the method takes no size.
    """
    forest, policy = load(model), wanted.resolved()
    plans = [replace(wanted, min_leaf=k).defenses(forest) for k in sizes]
    attempts: list[Attempt] = []
    counting = wanted.counting(forest)
    for defenses in plans:
        try:
            attempts.append(audited_repair(forest, defenses, policy, counting))
        except DataError:
            if not attempts:
                raise
            break
    return attempts
