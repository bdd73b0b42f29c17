"""The result of an audit, its privacy unit, and the page of an attack: no renderer is known."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from treeaudit.errors import DataError
from treeaudit.findings.checks import delta, epsilon
from treeaudit.findings.details import People, Share
from treeaudit.findings.findings import About, Check, Finding, Skipped, Verdict, View, Words
from treeaudit.findings.policy import Policy
from treeaudit.findings.record import LONGEST_LINE, Record, is_line
from treeaudit.findings.request import Request
from treeaudit.model.forest import Forest
from treeaudit.model.words import loss_in_words
from treeaudit.rendered import Rendered, renderer_of
from treeaudit.stats import Estimate
from treeaudit.table.table import Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What an audit counts."""

    # How persons were told apart: `record` where one record a person is assumed, `people` where
    # that was said, `person` by a column, `rows-per-person` by a bound, `copies` where equal
    # records are one person
    by: Literal["record", "people", "person", "rows-per-person", "copies"] = "record"
    # Of the training data, where it was given
    persons: int | None = None
    records: int | None = None
    rows_per_person: int | None = None  # The bound
    most_records: int | None = None  # The most records of one person, where they were told apart

    @property
    def counts_persons(self) -> bool:
        """Whether sizes are other than the records of a leaf."""
        return self.by not in ("record", "people")

    @property
    def spread(self) -> bool:
        """Whether a person may be in several leaves of a tree."""
        return self.by in ("person", "rows-per-person")

    @property
    def most(self) -> int:
        """The most records of one person, as far as it is known."""
        return self.most_records or self.rows_per_person or 1

    @property
    def sentence(self) -> str:
        """What is counted, in a sentence."""
        if self.by == "people":
            return "records; each is another person, as was said (--repeats people)"
        if self.by == "person":
            return f"{self.persons:,} persons, {self.records:,} records"
        if self.by == "copies":
            return f"distinct records, {self.persons:,} of {self.records:,}"
        if self.by == "rows-per-person":
            return f"persons, at least, with at most {self.most:,} records a person"
        return "records; one record a person is assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """What was tried after an audit that did not pass, and what it costs."""

    steps: tuple[str, ...]  # What was done, in words
    # Whether the repaired model passes the policy, and what it misses
    passed: bool
    misses: tuple[str, ...]
    leaves: tuple[int, int]  # Of all trees, before and after
    works: bool = False  # Whether the command was seen to write a model that does not fail
    people: bool = False  # Whether it was found with the training people at hand
    # The command that does it: `defend` repairs, `release` only writes again
    by: Literal["defend", "release"] = "defend"
    suffix: str = ""  # Of the file that it was seen to write; empty where the model's own serves
    # Share that is answered rightly, before and after: of the training people by the model where
    # `answered`, else of whom a tree was trained on by its own class counts, each tree alone, on
    # average. None where it holds none.
    right: tuple[float | None, float | None] = (None, None)
    answered: bool = False  # Whether the model itself was asked about the training people
    # Share of unseen people whose label is predicted rightly, before and after; None where there
    # were none
    unseen: tuple[Estimate, Estimate] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A repair of a forest that was tried with people at hand, or the model as it is."""

    # How many there are, and the people in the smallest leaf; None where it was not judged, or
    # the model does not tell
    trees: int
    smallest: People | None
    # Share of people answered rightly, or R² of a number, and whether these people were unseen:
    # those of the training data without
    accuracy: float | None
    unseen: bool
    auc: float | None  # Of several classes the mean of each against all others; None of numbers
    leaves: int | None  # Of all trees
    # Labels that all trees give back beyond the model's answers; None where that was not tried
    excess: Share | None
    # Whether it was audited, passes the policy, and the first check that it misses, in words
    judged: bool
    passed: bool
    miss: str
    steps: tuple[str, ...]  # What was done, in words
    chosen: bool = False  # Whether it is the repair that was chosen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Report(Rendered):
    """The result of an audit.

    Attributes
    ----------
    forest
        The model, for renderers that show its leaves.
    table
        The groups of its reconstructed table: the leaves that hold people.
    results
        One `Finding` or `Skipped` per attack, in the order of their ids.
    checks, verdict, policy
        What the policy says of them.
    request
        What was asked, without the data.
    warnings
        What else the reader should know, one sentence each.
    pages
        The page of each attack that was chosen, by id: its words and its view.
    people
        The tables that were given, by role: what each is called and its rows.
    baseline
        The accepted report it was held against: ``name`` and ``sha256`` of the
        file, ``model_sha256``, ``by`` whom, ``on`` which day, ``until`` when and for what
        ``reason`` it is accepted and whether that ``holds``; None without.
    fix
        The repair that was tried, where the audit did not pass and one was.
    unrepaired
        Whether no repair was found that works, or none was tried as that takes long.
    frontier
        The repairs of a forest that were tried with people at hand, the model as it is first.
    several
        Whether the file holds other models, each with a report of its own in the
        same run.
    unit
        What is counted as one.
    record
        When it was made, by whom, and the hashes of the tables that were read.
    """

    forest: Forest
    table: Table
    results: tuple[Finding | Skipped, ...]
    checks: tuple[Check, ...]
    verdict: Verdict
    policy: Policy
    request: Request
    warnings: tuple[str, ...] = ()
    pages: Mapping[str, "type[Page]"] = field(default_factory=dict)
    people: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    baseline: Mapping[str, Any] | None = None
    fix: Fix | None = None
    unrepaired: bool = False
    frontier: tuple[Tried, ...] = ()
    several: bool = False
    unit: Unit = field(default_factory=Unit)
    record: Record = field(default_factory=Record)

    @property
    def epsilon(self) -> float:
        """What bounds all that the model gives away of one person; infinite where nothing does."""
        return epsilon(self.forest, self.unit.most)

    @property
    def delta(self) -> float:
        """The chance with which that may be exceeded; infinite where nothing bounds it."""
        return delta(self.forest)

    @property
    def bound(self) -> str:
        """Both in words; empty where nothing bounds what the model gives away."""
        return loss_in_words(self.epsilon, self.delta) if isfinite(self.epsilon) else ""

    def made_by(self, name: str | None) -> Self:
        """Return the report with who made it; nobody is named where it is None."""
        if name is not None and not is_line(name):
            raise DataError(f"by takes a name on one line, of 1 to {LONGEST_LINE} characters")
        return replace(self, record=replace(self.record, by=name and name.strip()))

    @property
    def passed(self) -> bool:
        """Whether every check that applies passed: an accepted failure is none."""
        return self.verdict == "pass"

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The checks that failed, also those that somebody accepted.

        Examples
        --------
        >>> import treeaudit as ta
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> tree = DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))
        >>> report = ta.scan(tree)
        >>> report.passed, [check.name for check in report.failed_checks][:2]
        (False, ['min-leaf', 'max-unique-people'])
        """
        return tuple(check for check in self.checks if check.status == "fail")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The attacks that ran."""
        return tuple(result for result in self.results if isinstance(result, Finding))

    def __getitem__(self, attack_id: str) -> Finding:
        """Return the finding of an attack."""
        for result in self.results:
            if result.id == attack_id:
                if isinstance(result, Skipped):
                    raise KeyError(f"{attack_id} was skipped: {result.reason}")
                return result
        asked = ", ".join(result.id for result in self.results)
        raise KeyError(f"{attack_id} was not run; asked for: {asked or 'none'}")

    def __len__(self) -> int:
        """Return how many attacks were asked for."""
        return len(self.results)

    def __iter__(self) -> Iterator[Finding | Skipped]:
        """Go through their results."""
        return iter(self.results)

    def to_frame(self, of: Literal["findings", "checks"] = "findings") -> "pd.DataFrame":
        """Return a row per attack, or per check of the policy, as pandas."""
        frame: pd.DataFrame = renderer_of(type(self)).to_frame(self, of)
        return frame

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 3 for review, 4 for accepted."""
        return {"pass": 0, "fail": 1, "review": 3, "accepted": 4}[self.verdict]

    def save(
        self, path: str | os.PathLike[str], *, force: bool = False, release_safe: bool = False
    ) -> Path:
        """Write the report; ``.html``, ``.md``, ``.json`` or ``.txt`` by suffix.

        ``release_safe`` writes the statement that may leave the room in its place.

        Raises
        ------
        DataError
            If the suffix is unknown or the file exists already.
        """
        renderer = renderer_of(type(self))
        written: Path = renderer.save(self, path, force=force, release_safe=release_safe)
        return written


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Reports(Rendered):
    """The results for every model of one file.

    * ``reports``: one for each model, in the order of the file.
    """

    reports: tuple[Report, ...]

    @property
    def worst(self) -> Report:
        """The first of the reports with the worst verdict, which is that of the file."""
        return max(
            self.reports, key=lambda one: ("pass", "accepted", "review", "fail").index(one.verdict)
        )


Show = Callable[[Finding | Skipped, Report], View]


class Page(Protocol):
    """The part of an attack that is shown."""

    id: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[Words]
    about: ClassVar[About]
    view: ClassVar[Show]


def view_of(report: Report, result: Finding | Skipped) -> View:
    """Return the view of a result; an empty one where its attack is not known."""
    page = report.pages.get(result.id)
    return View() if page is None else page.view(result, report)
