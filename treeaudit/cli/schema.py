"""``treeaudit schema DATA``."""

from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli.options import Force

__all__ = ["schema"]


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
    force: Force = False,
) -> None:
    """Draft a schema file: the public bounds, categories and labels that training needs.

    treeaudit schema people.csv --target ill -o schema.toml
    """
    from treeaudit.model.schema import Schema
    from treeaudit.model.schema_file import schema_text
    from treeaudit.output import write_file
    from treeaudit.people.sheet import read_table
    from treeaudit.reports.plain_text import plain

    frame = read_table(data).frame
    table = frame.set_axis(frame.columns.astype(str), axis=1)
    draft = schema_text(Schema.from_public(table, target=target, categorical=categorical or ()))
    if output is None:
        typer.echo(draft, nl=False)
        return
    written = write_file(output, draft, force=force, private=True)
    typer.echo(plain(f"schema  {written}", 1000))
    typer.echo(
        "It was taken from the data. Replace what is not public knowledge, then set "
        "confirmed = true.",
        err=True,
    )
