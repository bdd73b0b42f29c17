"""``treeaudit diff OLD NEW``."""

from pathlib import Path
from typing import Annotated

from treeaudit.cli import declared as typer
from treeaudit.cli.options import ExitZero, Force, Form, Output, Seconds

__all__ = ["diff"]

_RELEASE = {"show_default": False}


def diff(
    old: Annotated[Path, typer.Argument(help="The model that was released first.", **_RELEASE)],
    new: Annotated[Path, typer.Argument(help="The one that was released after it.", **_RELEASE)],
    schema: Annotated[
        Path | None,
        typer.Option(
            help="Which values the columns can have (TOML).",
            metavar="TOML",
            rich_help_panel="Input",
            show_default=False,
        ),
    ] = None,
    seconds: Seconds = 10.0,
    rows: Annotated[int, typer.Option(help="People to print.", min=1)] = 20,
    output: Output = None,
    form: Form = "text",
    exit_zero: ExitZero = False,
    force: Force = False,
) -> None:
    """Tell whose records two releases of a model give away beside each other.

    Exits with 0 if nobody is named, with 1 if somebody is, with 3 if there was no time to tell.

    treeaudit diff monday.pkl tuesday.pkl

    treeaudit diff model.pkl repaired.pkl -o people.csv -o report.json
    """
    import treeaudit as ta
    from treeaudit.cli.progress import progress_bar
    from treeaudit.errors import DataError
    from treeaudit.reports.difference import check_output, dumps, lines

    for path in output or []:
        if path.resolve() in (old.resolve(), new.resolve()):
            raise DataError(f"{path} is one of the models; choose another name")
        check_output(path, force=force)
    with progress_bar(old) as progress:
        found = ta.difference(old, new, schema=schema, seconds=seconds, progress=progress)
    written = [found.save(path, force=force) for path in output or []]
    if form == "json":
        typer.echo(dumps(found), nl=False)
    else:
        for line in lines(found, rows):
            typer.echo(line)
        for path in written:
            typer.echo(f"written  {path}")
    code = 1 if found.gives_away else 0 if found.found.stopped is None else 3
    raise typer.Exit(0 if exit_zero else code)
