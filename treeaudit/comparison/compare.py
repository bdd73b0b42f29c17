"""Models side by side: what each gives away, what it is good for, and which one to take."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from treeaudit.attacks import ATTACKS, all_checks
from treeaudit.audit.scan import audit
from treeaudit.comparison.measures import MEASURES, Claims, Leakage, Measure, claims_of, leakage_of
from treeaudit.dp.claims import bounded, unbounded_because
from treeaudit.errors import DataError
from treeaudit.findings.findings import Check, Verdict
from treeaudit.findings.policy import BUILT_IN, Policy, judge, verdict_of
from treeaudit.findings.report import Report
from treeaudit.findings.request import Request, listed
from treeaudit.people.checks.training_data import MisfitError
from treeaudit.people.input.table_input import read_table
from treeaudit.people.predict.utility import Utility, explained, utility
from treeaudit.people.records import read_records
from treeaudit.readers import load
from treeaudit.rendered import Rendered
from treeaudit.stats import Estimate

_PRIVATE = BUILT_IN["private"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedModel:
    """One model of a comparison."""

    name: str  # What to call it: its file name, or a number
    report: Report  # Its audit
    claims: Claims  # What the file claims, and what of that is true where there is training data
    utility: Utility | None  # What it is good for on unseen people, or None
    explained: Estimate | None = None  # R² of a number that it predicts on unseen people, or None
    leakage: Leakage = field(default_factory=Leakage)  # What was measured of its people
    # The checks of policy ``private``, where noise bounds what the model gives away and the
    # policy could therefore not be checked; empty elsewhere
    ledger: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()  # What could not be done for it, one sentence each

    @property
    def epsilon(self) -> float | None:
        """What bounds all that the model gives away of one person, or None."""
        epsilon = self.report.epsilon
        return epsilon if math.isfinite(epsilon) else None

    @property
    def delta(self) -> float:
        """The chance with which that may be exceeded; 0 where there is no epsilon."""
        return 0.0 if self.epsilon is None else self.report.delta

    @property
    def verdict(self) -> Verdict:
        """That of the policy; of a private model that it cannot check, that of its ledger."""
        return verdict_of(self.ledger) if self.ledger else self.report.verdict

    @property
    def membership_auc(self) -> float | None:
        """How well members are told from unseen people, or None where that was not attacked."""
        return None if self.leakage.auc is None else self.leakage.auc.value

    @property
    def useful(self) -> Estimate | None:
        """Accuracy on unseen people, whoever gets no answer being wrong; R² of a number."""
        return self.explained if self.utility is None else self.utility.right_of_all


def _ledger_checks(report: Report) -> tuple[Check, ...]:
    """Return the checks of policy ``private`` where another policy asks about leaves of noise.

    The largest epsilon is that of the policy of the report, where it names one.
    """
    if report.verdict not in ("review", "fail") or not bounded(report.forest):
        return ()
    # What fails of people or of the file fails whatever the leaves are; leaves hold noise.
    pages = report.pages
    failed = [check.attack for check in report.checks if check.status == "fail"]
    if any(one is None or one not in pages or pages[one].about != "table" for one in failed):
        return ()
    own = {name: report.policy.values[name] for name in _PRIVATE.values
           if name in report.policy.values}  # fmt: skip
    policy = Policy(name="private", values={**_PRIVATE.values, **own})
    return judge(policy, report.results, report.forest, all_checks(), report.unit.most)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """The model to take, and what speaks for others."""

    best: ComparedModel  # The model to take, of those that pass
    top: ComparedModel  # The most accurate of those that pass; it may be the same
    # Models that do not pass, are no less accurate and gave away no more of what was measured
    better: tuple[ComparedModel, ...]


def common_measures(models: Sequence[ComparedModel]) -> tuple[Measure, ...]:
    """Return what was measured of all of some models."""
    return tuple(m for m in MEASURES if all(m in one.leakage.measured for one in models))


def dominates(one: ComparedModel, other: ComparedModel) -> bool:
    """Tell whether a model is no less accurate, gave away no more, and is better in one."""
    if one.useful is None or other.useful is None:
        return False
    mine, its = one.leakage.measured, other.leakage.measured
    gains = [one.useful.value - other.useful.value]
    gains += [its[measure].value - mine[measure].value for measure in common_measures((one, other))]
    return len(gains) > 1 and min(gains) >= 0 and max(gains) > 0


def choose(models: Sequence[ComparedModel]) -> Choice | None:
    """Return the model to take; None where none passes.

    The most accurate of those that pass, unless one that cannot be told from it in accuracy gave
    away less of what was measured, or as much as far as can be told and is bounded by an epsilon.
    """
    passing = [one for one in models if one.verdict == "pass"]
    if not passing:
        return None
    top = max(passing, key=_accuracy)
    rivals = [one for one in passing if not any(dominates(other, one) for other in passing)]
    better = [one for one in rivals if one is not top and _instead_of(one, top)]
    best = (
        min(better, key=_worst) if better else top if top in rivals else max(rivals, key=_accuracy)
    )
    worse = [one for one in models if one.verdict != "pass" and dominates(one, best)]
    return Choice(best=best, top=top, better=tuple(worse))


def _accuracy(model: ComparedModel) -> float:
    return -1.0 if model.useful is None else model.useful.value


def _worst(model: ComparedModel) -> float:
    worst = model.leakage.worst
    return 1.0 if worst is None else worst.value


def _instead_of(one: ComparedModel, top: ComparedModel) -> bool:
    """Tell whether a model serves as well as the most accurate one, and gives away less."""
    if one.useful is None or top.useful is None or one.useful.high < top.useful.value:
        return False
    mine, its = one.leakage.worst, top.leakage.worst
    if mine is None or its is None:
        return False
    private = one.epsilon is not None and top.epsilon is None
    return mine.high < its.low or (private and mine.value <= its.high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Rendered):
    """Models side by side, in the order in which they were given.

    Attributes
    ----------
    models
        One entry per model.
    policy
        The policy they are held against.
    people
        The tables that were given, by role: what each is called and its rows.
    """

    models: tuple[ComparedModel, ...]
    policy: Policy
    people: dict[str, tuple[str, int]]

    def __getitem__(self, name: str) -> ComparedModel:
        """Return a model by its name."""
        for model in self.models:
            if model.name == name:
                return model
        raise KeyError(
            f"{name} was not compared; compared: {', '.join(m.name for m in self.models)}"
        )

    @property
    def predicts(self) -> Literal["labels", "numbers", "both"]:
        """What the models predict: accuracy is of labels, R² of numbers."""
        numbers = {model.report.forest.schema.classes is None for model in self.models}
        return "both" if len(numbers) > 1 else "numbers" if True in numbers else "labels"

    @property
    def choice(self) -> Choice | None:
        """Which model to take, and what speaks for others; None where none passes."""
        return choose(self.models)

    @property
    def best(self) -> ComparedModel | None:
        """The model to take; None where none passes."""
        choice = self.choice
        return None if choice is None else choice.best


def compare(
    *models: object,
    names: Sequence[str] | None = None,
    train: object = None,
    test: object = None,
    target: str | None = None,
    person: str | None = None,
    rows_per_person: int | None = None,
    repeats: Literal["people", "copies"] | None = None,
    policy: str | Policy = "default",
    attacks: Sequence[str] | None = None,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Audit several models in the same way and set them side by side.

    Parameters
    ----------
    models
        Paths, fitted estimators or forests, at least one.
    names
        What to call them; file names and numbers unless told.
    train
        The people they were trained on: claims are counted on them.
    test
        People who were not in the training data: accuracy and control.
    target, person, rows_per_person, repeats, policy, attacks, seed
        As in `treeaudit.scan`.
    progress
        Called with what is being done, steps done and steps in all.

    Raises
    ------
    ReadError
        If a model cannot be read.
    DataError
        If there are no models, or the people do not fit one of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> x, y = load_iris(return_X_y=True)
    >>> small = DecisionTreeClassifier(max_depth=2, random_state=0).fit(x, y)
    >>> large = DecisionTreeClassifier(random_state=0).fit(x, y)
    >>> found = compare(small, large, names=["small", "large"])
    >>> [(m.name, m.claims.alone, m.report.verdict) for m in found.models]
    [('small', 0, 'fail'), ('large', 3, 'fail')]
    """
    if not models:
        raise DataError("there is nothing to compare: name at least one model")
    if names is not None and len(listed("names", names, "plain")) != len(models):
        raise DataError(f"{len(names)} names for {len(models)} models")
    called = _names(models) if names is None else list(names)
    request = Request(
        model=None,
        train=train,
        test=test,
        target=target,
        person=person,
        rows_per_person=rows_per_person,
        repeats=repeats,
        policy=policy,
        attacks=None if attacks is None else listed("attacks", attacks, ATTACKS[0].id),
        seed=seed,
    )
    # Tables are read once, for all models.
    whose = () if person is None else (person,)
    trained = None if train is None else read_table(train, "train", whose)
    unseen = None if test is None else read_table(test, "test", whose)
    rows = []
    for i, (name, model) in enumerate(zip(called, models, strict=True)):
        if progress is not None:
            progress(f"auditing {name}", i, len(models))
        asked = replace(request, model=model)
        rows.append(_compared(name, asked, replace(asked, train=trained, test=unseen)))
    return Comparison(
        models=tuple(rows), policy=rows[0].report.policy, people=_tables(rows)
    )  # fmt: skip


def _compared(name: str, asked: Request, request: Request) -> ComparedModel:
    """Audit one model: ``asked`` is what was given, ``request`` the same with its tables read."""
    forest = load(asked.model)
    request = replace(request, model=forest)
    notes: list[str] = []
    try:
        report = audit(request)
    except MisfitError as error:
        # A repaired model no longer counts everybody: its claims are still counted below.
        notes.append(f"not audited on the training people: {error}")
        most = _most_records(request)
        asked, alone = (
            replace(one, train=None, person=None, repeats=None, rows_per_person=most)
            for one in (asked, request)
        )
        report = audit(alone)
    trained = useful = number = None
    if request.train is not None:
        trained = read_records(
            request.train, forest, target=request.target, person=request.person, origin="train"
        )
    if request.test is not None:
        unseen = read_records(
            request.test, forest, target=request.target, person=request.person, origin="test"
        )
        try:
            if forest.schema.classes is None:
                number = explained(forest, unseen, trained)
            else:
                useful = utility(forest, unseen, trained)
        except DataError as error:
            notes.append(f"not measured how good it is: {error}")
    because = None if forest.privacy is None else unbounded_because(report.forest)
    if because is not None:
        notes.append(f"its epsilon bounds nothing: {because}")
    return ComparedModel(
        name=name,
        report=replace(report, request=asked.kept()),
        claims=claims_of(report.table, trained),
        utility=useful,
        explained=number,
        leakage=leakage_of(report),
        ledger=_ledger_checks(report),
        notes=tuple(notes),
    )


def _most_records(request: Request) -> int | None:
    """Return the most records of one person, where a column tells whose they are."""
    if request.person is None:
        return request.rows_per_person
    frame = read_table(request.train).frame
    column = next(c for c in frame if str(c) == request.person)
    return int(frame[column].value_counts().max())


def _names(models: Sequence[object]) -> list[str]:
    plain = [
        Path(model).name if isinstance(model, str | os.PathLike) else f"model {i}"
        for i, model in enumerate(models, start=1)
    ]
    if len(set(plain)) == len(plain):
        return plain
    return [
        str(model) if isinstance(model, str | os.PathLike) else name
        for name, model in zip(plain, models, strict=True)
    ]


def _tables(rows: Sequence[ComparedModel]) -> dict[str, tuple[str, int]]:
    tables: dict[str, tuple[str, int]] = {}
    for row in rows:
        tables |= row.report.people
    return tables
