"""What a failed or undecided audit can point to, tried on the model."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeaudit.audit.scan import scan
from treeaudit.errors import DataError, TreeauditError
from treeaudit.findings.findings import NOT_HELD
from treeaudit.findings.report import Fix, Report
from treeaudit.findings.request import Given
from treeaudit.model.forest import Forest
from treeaudit.people.predict.utility import Utility
from treeaudit.people.records import read_records
from treeaudit.people.streaming import sample_table
from treeaudit.readers import load
from treeaudit.repair.attempts import attempt, misses_of, with_spreads
from treeaudit.repair.defend import RepairRequest, repair
from treeaudit.repair.release import own_suffix, release
from treeaudit.repair.worth import measured, worth_on
from treeaudit.writers import repaired_suffix, save

_MOST_NODES = 300_000
"""Trees with more nodes in all are repaired only when asked: it takes seconds."""
_MOST_PAIRS = 200_000
"""People times trees: with more, trees are put together again only when asked."""
_People = tuple[object, object, str | None]


def with_fix(
    report: Report,
    *,
    train: object = None,
    test: object = None,
    target: str | None = None,
    seconds: float = 10.0,
) -> Report:
    """Return the report of an audit that did not pass with the mildest way out that was found.

    That is to write the file again, where its leftovers alone are in the way,
    and else a repair.
    """
    if report.verdict in ("pass", "accepted"):
        return report
    held = all(check.name != NOT_HELD for check in report.checks)
    if report.table.n_nodes > _MOST_NODES or not held:
        return replace(report, unrepaired=True)
    request, unit = report.request, report.unit
    test = sample_table(test, request.seed)
    by_people, trees = unit.persons is not None, report.forest.n_trees
    if by_people and train is None:
        return replace(report, unrepaired=True)
    together = train is not None and trees > 1
    if together and (unit.records or 0) * trees > _MOST_PAIRS:
        return replace(report, unrepaired=True)
    numbers = report.forest.schema.classes is None
    wanted = RepairRequest(
        policy=report.policy,
        train=train if by_people or together or numbers else None,
        test=test if together else None,
        target=target,
        person=request.person,
        rows_per_person=request.rows_per_person,
        repeats="copies" if unit.by == "copies" else None,
    )
    if report.verdict == "review":
        return _released(report, wanted, (train, test, target))
    try:
        done = repair(
            report.forest,
            wanted,
            known=_as_it_is(report),
            progress=_within(seconds),
            # Nothing but figures is kept, which are to be the same each time.
            trial=request.seed,
        )
    except (DataError, _OutOfTime):
        return replace(report, unrepaired=True)
    if not done.steps:
        return _released(report, wanted, (train, test, target))
    if done.by_file_alone and wanted.train is not None:
        # The people of the audit decide nothing about it, and judge what comes of it.
        counting = wanted.counting(report.forest)
        after = attempt(done.forest, done.after.defenses, report.policy, counting)
        done = replace(done, after=after)
    try:
        judged = _asked_the_same(
            report, with_spreads(done.forest, report.forest), (train, test, target)
        )
    except DataError:
        return replace(report, unrepaired=True)
    judged = done.after.report if judged is None else judged
    fix = Fix(
        steps=done.steps,
        passed=judged.verdict == "pass",
        works=judged.verdict != "fail" and _is_written(report.forest, done.forest),
        people=wanted.train is not None,
        misses=tuple(misses_of(judged)),
        leaves=(done.before.leaves, done.after.leaves),
        right=(done.before.accuracy, done.after.accuracy),
    )
    pairs, both = (unit.records or 0) * trees, (done.before.forest, done.after.forest)
    known = None
    if train is not None and pairs <= _MOST_PAIRS:
        known = read_records(train, report.forest, target=target, person=request.person)
    if known is not None and known.labels is not None and not _told_by_counts(report.forest):
        worths = [worth_on(one, known, known) for one in both]
        if worths[0] is not None and worths[1] is not None:
            fix = replace(fix, right=(worths[0].right, worths[1].right), answered=True)
    if test is not None and report.forest.schema.classes is not None:
        others = read_records(test, report.forest, target=target, person=request.person)
        try:
            uses = [measured(one, others, known) for one in both]
        except DataError:
            uses = []
        told = [one.accuracy for one in uses if isinstance(one, Utility)]
        if len(told) == 2:
            fix = replace(fix, unseen=(told[0], told[1]))
    return replace(report, fix=fix, frontier=done.frontier)


def _told_by_counts(forest: Forest) -> bool:
    """Tell whether the class counts of a model say for whom of its people it is right."""
    whole = forest.n_trees == 1 and forest.records_are == "all"
    return whole and forest.counts_are in ("exact", "likely")


class _OutOfTime(Exception):  # no error
    """The search took what it may take."""


def _within(seconds: float) -> Callable[[str, int, int], None]:
    # Of the processor: on a busy machine as much is tried as on an idle one.
    ends = time.process_time() + seconds

    def heed(_what: str, done: int, total: int) -> None:
        if done < total and time.process_time() > ends:
            raise _OutOfTime

    return heed


def _as_it_is(report: Report) -> Report | None:
    """Return the audit, if it is one of the file alone by all attacks."""
    request = report.request
    others = (request.train, request.test, request.baseline, request.attacks)
    nothing_else = all(one is None for one in others) and not request.beside_repairs
    return report if nothing_else else None


def _is_written(forest: Forest, repaired: Forest) -> bool:
    """Tell whether the file of the command that is printed can be written and read."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            load(save(repaired, Path(folder) / f"safer{repaired_suffix(forest)}"))
    except TreeauditError:
        return False
    return True


def _released(report: Report, wanted: RepairRequest, people: _People) -> Report:
    """Return the report with the promise of `release`, if the file that it writes fares better."""
    forest, policy = report.forest, report.policy
    if not forest.extras.found and forest.source.canonical is not False:
        return report
    counting = wanted.counting(forest)
    if _no_better(counting.audited(release(forest), policy), report):
        return report
    suffix = own_suffix(forest)
    if suffix is None:
        return report
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = save(release(forest), Path(folder) / f"clean{suffix}")
            after = attempt(load(path), (), policy, counting)
            again = with_spreads(after.forest, forest)
            judged = _asked_the_same(report, again, people) or after.report
    except TreeauditError:
        return report
    if _no_better(judged, report):
        return report
    fix = Fix(
        steps=("wrote the file again from its trees alone",),
        by="release",
        works=True,
        people=wanted.train is not None,
        suffix=suffix,
        passed=judged.verdict == "pass",
        misses=tuple(misses_of(judged)),
        leaves=(after.leaves, after.leaves),
    )
    return replace(report, fix=fix)


def _asked_the_same(report: Report, forest: Forest, people: _People) -> Report | None:
    """Return the audit of a repaired model by what repairs are not told, such as a column.

    None where the audit was asked nothing of that kind.
    """
    request, (train, test, target) = report.request, people
    options: dict[str, Any] = {**request.beside_repairs, "repeats": request.repeats}
    if not request.beside_repairs:
        return None
    if any(isinstance(one, Given) for one in options.values()):
        raise DataError("what was asked is no longer at hand")
    return scan(
        forest, train=train, test=test, target=target, policy=report.policy, person=request.person,
        rows_per_person=request.rows_per_person,
        seconds=request.seconds, seed=request.seed, **options,
    )  # fmt: skip


def _no_better(one: Report, other: Report) -> bool:
    order = ("pass", "accepted", "review", "fail")
    return order.index(one.verdict) >= order.index(other.verdict)
