"""Prepare an audit: read the people, verify them, count, and build one `Case`.

The privacy unit is a record or a person; the numbers of the model are converted to it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from treeaudit.attacks import Case
from treeaudit.attacks.sensitive_columns import check_columns
from treeaudit.audit.counts_from_people import as_trained, counted_if_rounded, with_people
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Unit
from treeaudit.findings.request import Request
from treeaudit.model.forest import Forest
from treeaudit.people.checks.label_consistency import unverified_labels
from treeaudit.people.checks.overlap import without_members
from treeaudit.people.checks.training_data import check_bounds, check_noise, verify
from treeaudit.people.input.sources import large_source
from treeaudit.people.persons import (
    Repeats,
    Tables,
    apart,
    look_synthetic,
    named,
    of_copies,
    repeats_in,
)
from treeaudit.people.predict.imputation import CrossGuess
from treeaudit.people.prior import Prior, prior_table, read_prior
from treeaudit.people.records import Records, read_records, target_of
from treeaudit.people.streaming import Tally, stream_records
from treeaudit.table.persons import at_most, in_persons
from treeaudit.table.reconstruction import measure, routed, with_labels
from treeaudit.table.table import Table

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Given:
    """A model and the people of an audit, with what a reader should know of them."""

    forest: Forest
    train: Records | None = None
    test: Records | None = None
    known: Records | None = None
    # Whether the unseen people have the person column: then whose rows they are is known
    test_has_persons: bool = False
    warnings: tuple[str, ...] = ()
    unverified: str = ""  # Why the training people could not be verified, or empty


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """The table and the people of an audit by role, and what is one in them."""

    table: Table
    tables: Tables
    unit: Unit
    warnings: tuple[str, ...] = ()


def prepare(
    forest: Forest,
    request: Request,
    policy: Policy,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> tuple[Case, Counted, str]:
    """Return the case, what is counted in it, and why the people could not be verified, if so."""
    _check_numbers(request)
    _check_request(request, forest)
    prior = None if request.prior is None else prior_table(request.prior, forest)
    given = _verified(_read_people(forest, request, prior, jobs))
    given, silent = _with_people(given)
    table, given = _table(given, silent, progress)
    one = _in_units(given, request, table)
    test = one.tables["test"]
    case = Case(
        forest=given.forest,
        table=one.table,
        k=policy.k,
        seed=request.seed,
        seconds=request.seconds,
        train=one.tables["train"],
        test=test,
        known=one.tables["known"],
        prior=None if prior is None else read_prior(prior, given.forest, one.tables["train"]),
        sensitive=request.sensitive,
        tolerance=request.tolerance,
        most=request.rows_per_person or 1,
        fraction=request.fraction,
        guess=_guess(given.forest, test, request.seed),
        progress=progress,
    )
    check_columns(case)
    return case, one, given.unverified


def _check_numbers(request: Request) -> None:
    """Refuse a sampling fraction or a tolerance that is none."""
    fraction, tolerance = request.fraction, request.tolerance
    if fraction is not None and not 0 < fraction <= 1:
        raise DataError(f"a sampling fraction of {fraction:g} is not above 0 and at most 1")
    if tolerance is not None and not 0 <= tolerance < float("inf"):
        raise DataError(f"a tolerance of {tolerance:g} is no number of at least 0")


def _read_people(forest: Forest, request: Request, prior: Prior | None, jobs: int | None) -> _Given:
    """Read the training people, the unseen ones without members, and those who are known."""
    texts = {*request.sensitive, *_codes_of(prior)}
    read = partial(
        read_records, forest=forest, target=request.target, person=request.person, texts=texts
    )
    train = None if request.train is None else read(request.train, origin="train")
    test, warnings = _read_unseen(forest, request, train, read, jobs)
    # Whose rows they are tells better who is a member, where it is known.
    has_persons = test is not None and request.person in test.frame.columns
    if train is not None and test is not None and not has_persons:
        test, members = without_members(train, test, request.seed)
        warnings += members
    return _Given(
        forest=forest,
        train=train,
        test=test,
        known=None if request.known is None else read(request.known, origin="known"),
        test_has_persons=has_persons,
        warnings=tuple(warnings),
    )


def _read_unseen(
    forest: Forest,
    request: Request,
    train: Records | None,
    read: Callable[..., Records],
    jobs: int | None,
) -> tuple[Records | None, list[str]]:
    """Read the unseen people: all rows, or counts of all and a sample of a large table."""
    if request.test is None:
        return None, []
    # Rows that are in the training data too are only found among rows in memory.
    large = None if train is not None else large_source(request.test)
    if isinstance(request.test, Tally):
        test = request.test.records("test")
    elif large is not None:
        test = stream_records(large, forest, target=request.target, jobs=jobs, seed=request.seed)
    else:
        test = read(request.test, origin="test")
    if test.whole is None:
        return test, []
    warnings = [_sampled(test, every=forest.n_trees == 1 and train is None)]
    return test if train is None else replace(test, whole=None), warnings


def _verified(given: _Given) -> _Given:
    """Compare the training people with the counts of the model; refuse others than its own."""
    train = given.train
    if train is None:
        return given
    forest, rounded = counted_if_rounded(given.forest, train)
    unverified = rounded or verify(forest, train)
    if forest.privacy is not None:
        forest = check_bounds(check_noise(forest, train), train)
    given = replace(given, forest=forest, unverified=unverified)
    told = train.labels is not None or train.members is not None or train.unlabelled
    if forest.schema.classes is not None and not told:
        note = f"{train.origin} has no labels, so none were checked: --target names their column"
        return replace(given, warnings=(*given.warnings, note))
    unlabelled = unverified_labels(forest, train)
    if not unlabelled:
        return given
    train = replace(train, labels=None, targets=None, members=None, unlabelled=unlabelled)
    return replace(given, train=train, warnings=(*given.warnings, unlabelled))


def _with_people(given: _Given) -> tuple[_Given, int]:
    """Count the training people in trees without sizes; return how many such trees there were."""
    if given.train is None:
        return given, 0
    forest, notes = as_trained(given.forest, given.train)
    sized = with_people(forest, given.train)
    silent = 0 if sized is forest else sum(tree.n_records is None for tree in forest.trees)
    return replace(given, forest=sized, warnings=(*given.warnings, *notes)), silent


def _table(given: _Given, silent: int, progress: Progress | None) -> tuple[Table, _Given]:
    """Measure the leaves; sizes and labels that the file lacks are those of the training people."""

    def step(done: int, total: int) -> None:
        if progress is not None:
            progress("reading leaves", done, total)

    forest, train = given.forest, given.train
    table = measure(forest, step)
    if train is not None and table.n_silent:
        silent = table.n_silent
        table = routed(table, train.node)
    if train is not None and train.labels is not None and not given.unverified:
        table = with_labels(table, train.node, train.labels)
    if not (table.tells_people and silent):
        return table, given
    warning = (
        f"{silent:,} of {forest.n_trees:,} trees do not tell how many people are in their "
        "leaves: the training people who end there are counted"
        + (", though some may have been left out" if table.n_silent else "")
    )
    return table, replace(given, warnings=(*given.warnings, warning))


def _in_units(given: _Given, request: Request, table: Table) -> Counted:
    """Count privacy units in place of records, and leave members out of the unseen people."""
    tables = {"train": given.train, "test": given.test, "known": given.known}
    one = _counted(request, given.forest, table.groups, tables)
    warnings = list(given.warnings)
    if one.table.labels_counted:
        warnings.append(
            "the file does not tell how many people have each label "
            f"({given.forest.counts_reason}): those of the training people are counted"
        )
    warnings += one.warnings
    train, test = one.tables["train"], one.tables["test"]
    if train is not None and test is not None and given.test_has_persons:
        # The same row under another name is no other person.
        test, members = without_members(train, test, request.seed)
        warnings += members
    return replace(one, tables={**one.tables, "test": test}, warnings=tuple(warnings))


def _codes_of(prior: Prior | None) -> tuple[str, ...]:
    """Return the column of the people that a prior names by its values, if there is one."""
    if prior is None or prior.column is None or not np.isnan(prior.low).all():
        return ()
    return (prior.column,)


def _sampled(people: Records, *, every: bool) -> str:
    """Say who was counted, and whom attacks see."""
    counted = (
        f"all {people.n_people:,} rows were counted in the leaves; what asks single people saw "
        if every
        else f"of {people.n_people:,} rows the control saw "
    )
    return f"{people.origin}: {counted}{len(people):,} of them, drawn with the seed"


def _guess(
    forest: Forest, test: Records | None, seed: int
) -> Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.float64]] | None:
    """Return the guess without the model, learnt when it is first asked for."""
    classes = forest.schema.classes
    if test is None or test.labels is None or classes is None:
        return None
    values, labels, n = test.values, test.labels, len(classes)

    @cache
    def learnt() -> CrossGuess:
        return CrossGuess(values, labels, n, seed=seed)

    return lambda asked: learnt()(asked)


def _check_request(request: Request, forest: Forest) -> None:
    """Refuse what says nothing, or two things, of persons."""
    person, most, repeats = request.person, request.rows_per_person, request.repeats
    if person is not None and request.train is None:
        raise DataError("--person names a column of --train: give the training data too")
    if person is not None and person == forest.schema.target:
        raise DataError(f"{person!r} cannot be both the person (--person) and the label (--target)")
    if person is not None and (most is not None or repeats is not None):
        other = "--rows-per-person" if most is not None else "--repeats"
        raise DataError(f"--person tells whose every row is; leave out {other}")
    if most is not None and repeats is not None:
        raise DataError("--rows-per-person tells how many rows a person has; leave out --repeats")
    if most is not None and most < 1:
        raise DataError(f"--rows-per-person {most}: a person has one record at least")
    if repeats is not None and request.train is None:
        raise DataError("--repeats is about the rows of --train: give the training data too")
    if repeats not in (None, "people", "copies"):
        raise DataError(f"--repeats is 'people' or 'copies', not {repeats!r}")


def _counted(request: Request, forest: Forest, table: Table, tables: Tables) -> Counted:
    """Return what the attacks are given, in persons as far as these are known."""
    train, most = tables["train"], request.rows_per_person
    said = [] if train is None or request.person is not None else _synthetic_note(train)
    unit = Unit(records=None if train is None else len(train))
    if most is not None:
        unit = Unit(by="rows-per-person", records=unit.records, rows_per_person=most)
        table = at_most(table, most)
    elif train is not None and request.person is not None:
        tables = named(tables, request.person)
    elif train is not None:
        repeats, leave = _repeats(request, forest, train)
        said += _said(repeats, request.repeats)
        if request.repeats == "copies" or (request.repeats is None and repeats.look_like_copies):
            tables = {**tables, **of_copies(train, tables["test"], leave)}
        elif request.repeats == "people":
            unit = Unit(by="people", records=len(train))
    train = tables["train"]
    if train is None or train.persons is None:
        return Counted(table=table, tables=tables, unit=unit, warnings=tuple(said))
    labels = None if forest.tree_classes is not None else train.labels
    times = np.bincount(train.persons)
    table = in_persons(table, train.node, train.persons, labels)
    unit = Unit(
        by="copies" if request.person is None else "person",
        persons=int(np.count_nonzero(times)),
        records=len(train),
        most_records=int(times.max()),
    )
    test = tables["test"]
    if test is not None:
        kept, inside = apart(train, test)
        tables = {**tables, "test": kept}
        if inside:
            said.append(
                f"{inside:,} of the {len(test):,} rows of {test.origin} belong to persons of "
                f"{train.origin} and were left out of the control"
            )
    return Counted(table=table, tables=tables, unit=unit, warnings=tuple(said))


def _repeats(request: Request, forest: Forest, train: Records) -> tuple[Repeats, tuple[str, ...]]:
    frame = train.frame
    label = None
    held = (train.labels, train.members, train.targets)
    if train.unlabelled or any(told is not None for told in held):
        paired = isinstance(request.train, tuple) or getattr(request.train, "paired", False)
        label = frame.columns[-1] if paired else target_of(frame, forest, request.target)
    leave = () if label is None else (str(label),)
    return repeats_in(frame, leave)[0], leave


def _said(found: Repeats, settled: str | None) -> list[str]:
    if settled is not None or not found.look_like_copies:
        return []
    return [
        f"{found.distinct:,} of {found.records:,} records are distinct: they look like copies, and "
        "each distinct record is counted as one person (--repeats people says that they are "
        "different people, --repeats copies that they are not)"
    ]


def _synthetic_note(train: Records) -> list[str]:
    columns = [] if train.labels is None else look_synthetic(train.frame, train.labels)
    if not columns:
        return []
    more = f" and {len(columns) - 3} more columns" if len(columns) > 3 else ""
    return [
        f"some records may be made up and no people (SMOTE and the like): the labels of "
        f"{train.origin} are balanced to the record, and {', '.join(columns[:3])}{more} has "
        "fractions among whole numbers for some labels only"
    ]
