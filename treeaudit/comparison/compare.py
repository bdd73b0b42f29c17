"""Models side by side: what each gives away, and what it is good for."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from treeaudit.attacks import ATTACKS
from treeaudit.audit.scan import audit
from treeaudit.comparison.choice import Choice, choose
from treeaudit.comparison.claims import claims_of
from treeaudit.comparison.compared import Compared, by_ledger
from treeaudit.comparison.leakage import leakage_of
from treeaudit.dp.bounded import unbounded_because
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.findings.request import Request, listed
from treeaudit.people.records import read_records
from treeaudit.people.sheet import read_table
from treeaudit.people.utility import explained, utility
from treeaudit.people.verification import MisfitError
from treeaudit.readers import load
from treeaudit.rendered import Rendered

__all__ = ["Compared", "Comparison", "compare"]


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

    models: tuple[Compared, ...]
    policy: Policy
    people: dict[str, tuple[str, int]]

    def __getitem__(self, name: str) -> Compared:
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
    def best(self) -> Compared | None:
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


def _compared(name: str, asked: Request, request: Request) -> Compared:
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
    seen = useful = number = None
    if request.train is not None:
        seen = read_records(
            request.train, forest, target=request.target, person=request.person, origin="train"
        )
    if request.test is not None:
        unseen = read_records(
            request.test, forest, target=request.target, person=request.person, origin="test"
        )
        try:
            if forest.schema.classes is None:
                number = explained(forest, unseen)
            else:
                useful = utility(forest, unseen)
        except DataError as error:
            notes.append(f"not measured how good it is: {error}")
    because = None if forest.privacy is None else unbounded_because(report.forest)
    if because is not None:
        notes.append(f"its epsilon bounds nothing: {because}")
    return Compared(
        name=name,
        report=replace(report, request=asked.kept()),
        claims=claims_of(report.table, seen),
        utility=useful,
        explained=number,
        leakage=leakage_of(report),
        ledger=by_ledger(report),
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


def _tables(rows: Sequence[Compared]) -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for row in rows:
        found |= row.report.people
    return found
