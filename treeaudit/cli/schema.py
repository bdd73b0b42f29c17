"""``treeaudit schema DATA``."""

from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import echo, page
from treeaudit.cli.options import protect_inputs
from treeaudit.errors import DataError
from treeaudit.files import write_file
from treeaudit.reports.plain_text import plain


def schema(
    data: Annotated[Path, typer.Argument(help="A table: CSV or Parquet.", show_default=False)],
    target: Annotated[
        str, typer.Option(help="The column with the labels.", metavar="COLUMN", show_default=False)
    ],
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            help="A column of numbers that are names of things. Can be repeated.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    target_low: Annotated[
        float | None,
        typer.Option(
            help="The least that a target can be that is a number, not a class.",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None,
    target_high: Annotated[
        float | None,
        typer.Option(help="The most that it can be.", metavar="NUMBER", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write FILE instead of printing.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Draft a schema file: the public bounds, categories and labels that training needs.

    treeaudit schema people.csv --target ill -o schema.toml
    """
    from treeaudit.model.schema import Schema
    from treeaudit.model.schema_file import schema_text
    from treeaudit.people.input.table_input import read_table

    protect_inputs([] if output is None else [output], {"DATA": data})
    bounds = None
    if target_low is not None and target_high is not None:
        bounds = target_low, target_high
    elif target_low is not None or target_high is not None:
        raise DataError("a target that is a number needs both --target-low and --target-high")
    frame = read_table(data).frame
    table = frame.set_axis(frame.columns.astype(str), axis=1)
    public = Schema.from_public(table, target=target, categorical=categorical or (), bounds=bounds)
    draft = schema_text(public)
    if output is None:
        page(draft)
        return
    written = write_file(output, draft, force=force, private=True)
    echo(plain(f"schema  {written}", 1000))
    echo(
        "It was taken from the data. Replace what is not public knowledge, then set "
        "confirmed = true.",
        err=True,
    )
