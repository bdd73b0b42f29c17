"""``treeaudit diff OLD NEW``."""

from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import echo, page, progress_bar
from treeaudit.cli.options import protect_inputs
from treeaudit.errors import DataError
from treeaudit.files import same_file

_RELEASE = {"show_default": False}


def diff(
    old: Annotated[Path, typer.Argument(help="The model or report that came first.", **_RELEASE)],
    new: Annotated[Path, typer.Argument(help="The one that came after it.", **_RELEASE)],
    schema: Annotated[
        Path | None,
        typer.Option(
            help="Which values the columns can have (TOML).",
            metavar="TOML",
            rich_help_panel="Input",
            show_default=False,
        ),
    ] = None,
    seconds: opt.Seconds = 10.0,
    rows: Annotated[int, typer.Option(help="People to print.", min=1)] = 20,
    output: opt.Output = None,
    form: opt.Form = "text",
    exit_zero: opt.ExitZero = False,
    force: opt.Force = False,
) -> None:
    """Tell what changed: between two reports, or whose records two models give away together.

    Of two reports (JSON), exits with 0 if nothing is worse, with 1 if something is worse or new,
    with 3 if something is not looked at any more, or fails again by a number that rests on other
    options or another policy. Of two models, exits with 0 if nobody is named,
    with 1 if somebody is, with 3 if there was no time to tell.

    treeaudit diff november.json december.json -o changes.md

    treeaudit diff monday.pkl tuesday.pkl

    treeaudit diff model.pkl repaired.pkl -o people.csv -o report.json
    """
    from treeaudit.findings.report_file import is_report

    outputs = output or []
    for path in outputs:
        if same_file(path, old) or same_file(path, new):
            raise DataError(f"{path} is one of the two files; choose another name")
    protect_inputs(outputs, {"--schema": schema})
    for path in (old, new):
        if not path.exists():
            raise DataError(f"there is no file {path}")
    kinds = is_report(old), is_report(new)
    if kinds[0] != kinds[1]:
        report, model = (old, new) if kinds[0] else (new, old)
        raise DataError(
            f"{report} is a report and {model} is none: 'treeaudit scan {model} -o report.json' "
            "writes one to compare"
        )
    work = _reports if all(kinds) else _models
    code = work(
        old, new, outputs, form=form, force=force, schema=schema, seconds=seconds, rows=rows
    )
    raise typer.Exit(0 if exit_zero else code)


def _reports(
    old: Path, new: Path, outputs: list[Path], *, form: str, force: bool, **_: object
) -> int:
    from treeaudit.comparison.changes import changes
    from treeaudit.findings.report_file import read_report
    from treeaudit.reports.changes import check_output, dumps, lines

    for path in outputs:
        check_output(path, force=force)
    data = [read_report(path, "the report")[0] for path in (old, new)]
    try:
        found = changes(*data)
        told = dumps(found) if form == "json" else lines(found)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(
            f"{old} or {new} is no whole treeaudit report: scan the model again"
        ) from None
    written = [found.save(path, force=force) for path in outputs]
    if isinstance(told, str):
        page(told)
    else:
        for line in told:
            echo(line)
    for path in written if form == "text" else ():
        echo(f"written  {path}")
    return found.exit_code


def _models(
    old: Path,
    new: Path,
    outputs: list[Path],
    *,
    form: str,
    force: bool,
    schema: Path | None,
    seconds: float,
    rows: int,
) -> int:
    import treeaudit as ta
    from treeaudit.reports.difference import check_output, dumps, lines

    for path in outputs:
        check_output(path, force=force)
    with progress_bar(old) as progress:
        found = ta.difference(old, new, schema=schema, seconds=seconds, progress=progress)
    written = [found.save(path, force=force) for path in outputs]
    if form == "json":
        page(dumps(found))
    else:
        for line in lines(found, rows):
            echo(line)
        for path in written:
            echo(f"written  {path}")
    return 1 if found.gives_away else 0 if found.found.stopped is None else 3
