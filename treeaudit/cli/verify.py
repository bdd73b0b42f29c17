"""``treeaudit verify PROOF MODEL``."""

from pathlib import Path
from typing import Annotated

from treeaudit.cli import declared as typer
from treeaudit.cli.options import MaxBytes, Model, Select

__all__ = ["verify"]


def verify(
    proof: Annotated[Path, typer.Argument(help="What reconstruct --people -o proof.json wrote.")],
    model: Model,
    select: Select = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Follow a proof that people were in the training data, step by step.

    treeaudit verify proof.json model.pkl
    """
    import json

    import treeaudit as ta
    from treeaudit.errors import DataError
    from treeaudit.reconstruction.checker import check_proof

    try:
        content = json.loads(proof.read_text(encoding="utf-8"))
    except ValueError:
        raise DataError(
            f"{proof} is no JSON: reconstruct --people -o proof.json writes one"
        ) from None
    forest = ta.load(model, select=select, max_bytes=max_bytes)
    try:
        people = check_proof(content, forest)
    except DataError as error:
        typer.echo(f"REFUSED  {error}")
        raise typer.Exit(1) from None
    noun = "person" if people == 1 else "people"
    typer.echo(f"HOLDS  {people:,} {noun} for certain, where this holds:")
    for line in content["assumptions"]:
        typer.echo(f"  {line}")
