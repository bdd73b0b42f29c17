"""Choose the privacy unit (record or person) and convert counts to it."""

from dataclasses import dataclass

import numpy as np

from treeaudit.errors import DataError
from treeaudit.findings.report import Unit
from treeaudit.findings.request import Request
from treeaudit.model.forest import Forest
from treeaudit.people.persons import (
    Repeats,
    Tables,
    apart,
    look_synthetic,
    named,
    of_copies,
    repeats_in,
)
from treeaudit.people.records import Records, target_of
from treeaudit.table.persons import at_most, in_persons
from treeaudit.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """The table and the people of an audit, and what is one in them.

    Attributes
    ----------
    tables
        The people by role, with their persons where these are known.
    warnings
        What a reader should know of the records, a sentence each.
    """

    table: Table
    tables: Tables
    unit: Unit
    warnings: tuple[str, ...] = ()


def check_request(request: Request, forest: Forest) -> None:
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


def counted(request: Request, forest: Forest, table: Table, tables: Tables) -> Counted:
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
