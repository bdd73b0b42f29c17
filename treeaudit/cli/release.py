"""``treeaudit release MODEL -o CLEAN``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from treeaudit.cli import declared as typer
from treeaudit.cli.options import (
    Force,
    Form,
    MaxBytes,
    Model,
    Person,
    PolicyName,
    Quiet,
    Repeats,
    RowsPerPerson,
    Select,
    Target,
    Train,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treeaudit.findings.report import Reports
    from treeaudit.model.forest import Forest

__all__ = ["release"]


def release(
    model: Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The model: .pkl, .joblib or .skops for scikit-learn, .json for any.",
            metavar="FILE",
            rich_help_panel="Output",
            show_default=False,
        ),
    ],
    policy: PolicyName = "default",
    train: Train = None,
    target: Target = None,
    person: Person = None,
    rows_per_person: RowsPerPerson = None,
    repeats: Repeats = None,
    select: Select = None,
    max_bytes: MaxBytes = None,
    form: Form = "text",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a model again from what was audited, and audit what was written.

    No leaf changes. Whatever no prediction needs is left out:
    notes, seeds, code. The model given is left as it is. A dictionary or a list
    of models stays one, with each of them written again.

    treeaudit release model.pkl -o clean.pkl

    treeaudit release bundle.pkl --select old -o old.json
    """
    import treeaudit as ta
    from treeaudit.audit.scan import audit_all
    from treeaudit.cli.kept import check_kept
    from treeaudit.errors import SeveralModelsError
    from treeaudit.findings.report import Reports
    from treeaudit.findings.request import Request
    from treeaudit.readers import load_all
    from treeaudit.repair.release import one_of
    from treeaudit.reports import render, several
    from treeaudit.writers import check_target

    every = None
    try:
        before = ta.load(model, select=select, max_bytes=max_bytes)
    except SeveralModelsError as error:
        before = one_of(model, error, output.suffix, max_bytes)
        every = load_all(model, max_bytes=max_bytes)
    check_target(before, output, force=force)
    check_kept([output], {"--train": train}, policy)
    written = ta.save(ta.release(before), output, force=force)
    found = Reports(
        reports=audit_all(
            Request(
                model=written,
                policy=policy,
                train=train,
                target=target,
                person=person,
                rows_per_person=rows_per_person,
                repeats=repeats,
            )
        )
    )
    if form == "text":
        _print(every or [before], found, written, quiet=quiet)
    elif len(found.reports) > 1:
        typer.page(several.dumps(found))
    else:
        typer.page(render(found.reports[0], "json"))
    raise typer.Exit(found.worst.exit_code)


def _print(before: "Sequence[Forest]", found: "Reports", written: Path, *, quiet: bool) -> None:
    from treeaudit.repair.release import left_out
    from treeaudit.reports.plain_text import plain, printed
    from treeaudit.reports.several import print_worst
    from treeaudit.reports.terminal import print_verdict

    gone = left_out(before, [one.forest for one in found.reports])
    lines = [] if quiet else [f"left out: {plain(gone, 2000)}"]
    lines.append(f"model  {plain(str(written), 1000)}")
    for line in lines:
        typer.echo(line)
    first, *others = found.reports
    if not others:
        typer.page(printed(lambda console: print_verdict(first, console, quiet=quiet), 80))
        return
    for one in () if quiet else found.reports:
        typer.echo(plain(one.forest.source.inside))
        typer.page(printed(partial(print_verdict, one), 80))
    typer.page(printed(lambda console: print_worst(found, console), 80))
