"""``treeaudit scan PATH…``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treeaudit.cli.options import (
    AcceptedReport,
    Acro,
    Attacks,
    ExitZero,
    Force,
    Form,
    Jobs,
    Known,
    MaxBytes,
    Models,
    Output,
    Person,
    PolicyName,
    PriorShares,
    Quiet,
    ReleaseSafe,
    Repeats,
    RowsPerPerson,
    SamplingFraction,
    Seconds,
    Seed,
    Select,
    Sensitive,
    Target,
    Test,
    Tolerance,
    Train,
    Verbose,
)

if TYPE_CHECKING:
    from treeaudit.findings.report import Reports

__all__ = ["scan"]


def scan(
    model: Models,
    train: Train = None,
    test: Test = None,
    target: Target = None,
    sensitive: Sensitive = None,
    known: Known = None,
    prior: PriorShares = None,
    tolerance: Tolerance = None,
    sampling_fraction: SamplingFraction = None,
    person: Person = None,
    rows_per_person: RowsPerPerson = None,
    repeats: Repeats = None,
    policy: PolicyName = "default",
    baseline: AcceptedReport = None,
    attack: Attacks = None,
    select: Select = None,
    max_bytes: MaxBytes = None,
    output: Output = None,
    acro: Acro = None,
    form: Form = "text",
    release_safe: ReleaseSafe = False,
    seconds: Seconds = 10.0,
    seed: Seed = 0,
    jobs: Jobs = None,
    exit_zero: ExitZero = False,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Audit what a model file gives away about its training data.

    Reads the file without running code from it, rebuilds the table that it
    publishes, attacks that table and holds the findings against a policy.

    treeaudit scan model.pkl -o report.html

    treeaudit scan model.pkl --train people.csv --test others.csv

    treeaudit scan model.joblib --policy strict --format json

    treeaudit scan models/ --jobs 4 -o fleet.html -o results.sarif
    """
    from treeaudit.audit.fleet import is_several
    from treeaudit.audit.scan import audit_all
    from treeaudit.cli.progress import progress_bar
    from treeaudit.errors import DataError
    from treeaudit.findings.report import Reports
    from treeaudit.findings.request import Request
    from treeaudit.reconstruction.budget import heeding_interrupts
    from treeaudit.repair.fix import with_fix
    from treeaudit.reports import render, save, several

    path, several_files = model[0], len(model) > 1 or is_several(model[0])
    _check_outputs(path, output or [], force=force, release_safe=release_safe)
    if acro is not None:
        from treeaudit.reports.acro import check_folder, write_acro

        if several_files:
            raise DataError("--acro takes one model: name one file")
        check_folder(str(path), acro, force=force)
    request = Request(
        model=path,
        select=select,
        max_bytes=max_bytes,
        train=train,
        test=test,
        target=target,
        sensitive=tuple(sensitive or ()),
        known=known,
        prior=prior,
        tolerance=tolerance,
        fraction=sampling_fraction,
        person=person,
        rows_per_person=rows_per_person,
        repeats=repeats,
        policy=policy,
        baseline=baseline,
        attacks=tuple(attack) if attack else None,
        seconds=seconds,
        seed=seed,
    )
    if several_files:
        from treeaudit.cli.fleet import scan_all

        code = scan_all(
            model,
            request,
            output or [],
            jobs=jobs,
            form=form,
            release_safe=release_safe,
            force=force,
            quiet=quiet,
            verbose=verbose,
        )
        raise typer.Exit(0 if exit_zero else code)
    with progress_bar(path, quiet=quiet) as progress:
        with heeding_interrupts():
            audited = audit_all(request, progress)
        reports = [with_fix(one, train=train, test=test, target=target) for one in audited]
    found = Reports(reports=tuple(reports))
    write = partial(save, reports[0]) if len(reports) == 1 else partial(several.save, found)
    if acro is not None and len(reports) > 1:
        raise DataError("--acro takes one model: choose it with --select NAME")
    written = [write(path, force=force, release_safe=release_safe) for path in output or []]
    if acro is not None:
        written.append(write_acro(reports[0], acro, force=force))
    if form == "json":
        one = len(reports) == 1
        typer.echo(render(reports[0], "json") if one else several.dumps(found), nl=False)
    else:
        _print(found, written, quiet=quiet, verbose=verbose)
    raise typer.Exit(0 if exit_zero else found.worst.exit_code)


def _check_outputs(model: Path, output: list[Path], *, force: bool, release_safe: bool) -> None:
    """Refuse what cannot be written before a long audit begins."""
    from treeaudit.errors import DataError
    from treeaudit.output import check_free
    from treeaudit.reports import MASKED, suffix_of

    for path in output:
        if suffix_of(path) not in MASKED and release_safe:
            raise DataError(f"{path}: only the HTML report can be made release-safe, SARIF and XML")
        if path.resolve() == model.resolve():
            raise DataError(f"{path} is the model itself; choose another name for the report")
        check_free(path, force=force)


def _print(found: "Reports", written: list[Path], *, quiet: bool, verbose: bool) -> None:
    from rich.console import Console

    from treeaudit.reports import several
    from treeaudit.reports.terminal import print_report, print_verdict, to_text

    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=False)
    first, *others = found.reports
    if quiet:
        several.print_worst(found, console) if others else print_verdict(first, console, quiet=True)
        return
    if console.is_terminal:
        show = partial(several.print_reports, found) if others else partial(print_report, first)
        show(console, verbose=verbose)
    else:
        text = partial(several.to_text, found) if others else partial(to_text, first)
        typer.echo(text(console.width, verbose=verbose), nl=False)
    for path in written:
        console.print(f"report  {path}", soft_wrap=True)
