"""``treeaudit scan PATH…``."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from treeaudit.cli import declared as typer
from treeaudit.cli.options import (
    AcceptedReport,
    Acro,
    Attacks,
    ExitZero,
    Fixing,
    Force,
    Form,
    Jobs,
    Known,
    MaxBytes,
    ModelName,
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
    policy: PolicyName = "default",
    baseline: AcceptedReport = None,
    model_name: ModelName = None,
    exit_zero: ExitZero = False,
    output: Output = None,
    acro: Acro = None,
    form: Form = "text",
    release_safe: ReleaseSafe = False,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    known: Known = None,
    prior: PriorShares = None,
    tolerance: Tolerance = None,
    attack: Attacks = None,
    seconds: Seconds = 10.0,
    seed: Seed = 0,
    person: Person = None,
    rows_per_person: RowsPerPerson = None,
    repeats: Repeats = None,
    sampling_fraction: SamplingFraction = None,
    select: Select = None,
    max_bytes: MaxBytes = None,
    jobs: Jobs = None,
    fix: Fixing = None,
) -> None:
    """Audit what a model file gives away about its training data.

    Reads the file without running code from it, rebuilds the table that it
    publishes, attacks that table and holds the findings against a policy.

    treeaudit scan model.pkl -o report.html

    treeaudit scan model.pkl --train people.csv --test others.csv

    treeaudit scan model.joblib --policy strict --format json

    treeaudit scan models/ --jobs 4 -o fleet.html -o results.sarif
    """
    from treeaudit.audit.paths import is_several
    from treeaudit.audit.scan import audit_all
    from treeaudit.cli.kept import check_kept
    from treeaudit.cli.progress import progress_bar
    from treeaudit.cli.way_out import shown
    from treeaudit.errors import DataError
    from treeaudit.findings.report import Reports
    from treeaudit.findings.request import Request
    from treeaudit.inference.budget import stop_on_interrupt

    path, several_files = model[0], len(model) > 1 or is_several(model[0])
    _check_outputs(path, output or [], force=force)
    read = {"--train": train, "--test": test, "--known": known, "--prior": prior}
    check_kept(output or [], read | {"--baseline": baseline}, policy)
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
        model_name=model_name,
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
    with progress_bar(path, quiet=quiet) as progress, stop_on_interrupt():
        audited = audit_all(request, progress, jobs)
    if acro is not None and len(audited) > 1:
        raise DataError("--acro takes one model: choose it with --select NAME")
    read_by_others = bool(output) or acro is not None or form == "json"
    reads = sys.stdout.isatty() and not quiet
    found = Reports(reports=audited)
    seek = None
    if not release_safe and ((read_by_others or reads) if fix is None else fix):
        from treeaudit.repair.suggestion import with_fix

        seek = partial(with_fix, train=train, test=test, target=target)
    found = shown(found, form, seek, safe=release_safe, quiet=quiet, verbose=verbose)
    written = [_save(found, path, force=force, safe=release_safe) for path in output or []]
    if acro is not None:
        written.append(write_acro(found.reports[0], acro, force=force, release_safe=release_safe))
    if form == "text" and not quiet and not release_safe:
        for path in written:
            typer.echo(f"report  {path}")
    raise typer.Exit(0 if exit_zero else found.worst.exit_code)


def _check_outputs(model: Path, output: list[Path], *, force: bool) -> None:
    """Refuse what cannot be written before a long audit begins."""
    from treeaudit.errors import DataError
    from treeaudit.output import same_file
    from treeaudit.reports import check_output

    for path in output:
        if same_file(path, model):
            raise DataError(f"{path} is the model itself; choose another name for the report")
        check_output(path, force=force)


def _save(found: "Reports", path: Path, *, force: bool, safe: bool) -> Path:
    if len(found.reports) > 1:
        from treeaudit.reports import several

        return several.save(found, path, force=force, release_safe=safe)
    from treeaudit.reports import save

    return save(found.reports[0], path, force=force, release_safe=safe)
