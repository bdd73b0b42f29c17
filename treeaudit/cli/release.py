"""``treeaudit release MODEL -o CLEAN``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import echo, page
from treeaudit.cli.options import check_kept

if TYPE_CHECKING:
    from treeaudit.findings.report import Report
    from treeaudit.model.forest import Forest


__all__ = ["release"]


def release(
    model: opt.Model,
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
    quiet: opt.Quiet = False,
) -> None:
    """Write a model again from what was audited, and audit what was written.

    No leaf changes. Whatever no prediction needs is left out: other models,
    notes, seeds, code. The model given is left as it is.

    treeaudit release model.pkl -o clean.pkl

    treeaudit release bundle.pkl --select old -o old.json
    """
    import treeaudit as ta
    from treeaudit.audit.scan import audit
    from treeaudit.findings.request import Request
    from treeaudit.reports.formats import render
    from treeaudit.writers import check_target

    before = ta.load(model, select=select, max_bytes=max_bytes)
    check_target(before, output, force=force)
    check_kept([output], {"--train": train}, policy)
    written = ta.save(ta.release(before), output, force=force)
    report = audit(
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
    if form == "json":
        page(render(report, "json"))
    else:
        _print(before, report, written, quiet=quiet)
    raise typer.Exit(report.exit_code)


def _print(before: "Forest", report: "Report", written: Path, *, quiet: bool) -> None:
    from treeaudit.repair.release import left_out
    from treeaudit.reports.plain_text import plain, printed
    from treeaudit.reports.terminal import print_verdict

    lines = [] if quiet else [f"left out: {plain(left_out(before, report.forest), 2000)}"]
    lines.append(f"model  {plain(str(written), 1000)}")
    for line in lines:
        echo(line)
    page(printed(lambda console: print_verdict(report, console, quiet=quiet), 80))
