"""``treeaudit release MODEL -o CLEAN``."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import echo, page, progress_bar
from treeaudit.cli.options import protect_inputs
from treeaudit.errors import SeveralModelsError
from treeaudit.reports.plain_text import plain, printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treeaudit.findings.report import Reports
    from treeaudit.model.forest import Forest


def release(
    model: opt.Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The model: .pkl, .joblib or .skops for scikit-learn, .rds for R, .json for any.",
            metavar="FILE",
            rich_help_panel="Output",
            show_default=False,
        ),
    ],
    policy: opt.PolicyName = "default",
    train: opt.Train = None,
    target: opt.Target = None,
    person: opt.Person = None,
    rows_per_person: opt.RowsPerPerson = None,
    repeats: opt.Repeats = None,
    select: opt.Select = None,
    max_bytes: opt.MaxBytes = None,
    form: opt.Form = "text",
    force: opt.Force = False,
    quiet: opt.VerdictOnly = False,
) -> None:
    """Write a model again from what was audited, and audit what was written.

    No leaf changes. Whatever no prediction needs is left out:
    notes, seeds, code. The model given is left as it is. A dictionary or a list
    of models stays one, each written again; of an R file, --select takes one.

    treeaudit release model.pkl -o clean.pkl

    treeaudit release bundle.pkl --select old -o old.json
    """
    import treeaudit as ta
    from treeaudit.audit.scan import audit, audit_all
    from treeaudit.findings.policy import read_policy
    from treeaudit.findings.report import Reports
    from treeaudit.findings.request import Request
    from treeaudit.readers import load_all
    from treeaudit.repair.attempts import with_spreads
    from treeaudit.repair.release import one_of
    from treeaudit.reports import several
    from treeaudit.reports.formats import render
    from treeaudit.writers import check_target

    every = None
    try:
        before = ta.load(model, select=select, max_bytes=max_bytes)
    except SeveralModelsError as error:
        before = one_of(model, error, output.suffix, max_bytes)
        every = load_all(model, max_bytes=max_bytes)
    read_policy(policy)  # before a file is written
    check_target(before, output, force=force)
    protect_inputs([output], {"--train": train}, policy)
    with progress_bar("writing and auditing", quiet=quiet) as progress:
        written = ta.save(ta.release(before), output, force=force)
        request = Request(
            model=written,
            policy=policy,
            train=train,
            target=target,
            person=person,
            rows_per_person=rows_per_person,
            repeats=repeats,
        )
        if every is None and before.schema.classes is None:
            # What the file that was read told of its leaves, the written one tells no more.
            again = with_spreads(ta.load(written), before)
            report = audit(replace(request, model=again), progress)
            found = Reports(reports=(replace(report, request=request.kept()),))
        else:
            found = Reports(reports=audit_all(request, progress))
    if form == "text":
        _print(every or [before], found, written, quiet=quiet)
    elif len(found.reports) > 1:
        page(several.dumps(found))
    else:
        page(render(found.reports[0], "json"))
    raise typer.Exit(found.worst.exit_code)


def _print(before: "Sequence[Forest]", found: "Reports", written: Path, *, quiet: bool) -> None:
    from treeaudit.repair.attempts import SPREADS
    from treeaudit.repair.release import left_out
    from treeaudit.reports.several import print_worst
    from treeaudit.reports.terminal import print_verdict

    gone = left_out(before, [one.forest for one in found.reports])
    lines = [] if quiet else [f"left out: {plain(gone, 2000)}"]
    lines.append(f"model  {plain(str(written), 1000)}")
    for line in lines:
        echo(line)
    first, *others = found.reports
    if not others:
        page(printed(lambda console: print_verdict(first, console, quiet=quiet), 80))
        if SPREADS in first.forest.warnings and not quiet:
            echo(SPREADS)
        return
    for one in () if quiet else found.reports:
        echo(plain(one.forest.source.inside))
        page(printed(partial(print_verdict, one), 80))
    page(printed(lambda console: print_worst(found, console), 80))
