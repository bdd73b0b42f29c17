"""``treeaudit budget FILE``."""

import os
from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli.console import echo
from treeaudit.errors import PrivacyError
from treeaudit.reports.plain_text import plain


def budget(
    file: Annotated[Path, typer.Argument(help="The account.", show_default=False)],
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Open the account: the most that all models of these people may cost together.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Open an account of epsilon for some people, or show what it has left.

    treeaudit budget people.budget --epsilon 2
    """
    from treeaudit.dp.budget import Budget

    if epsilon is not None and os.path.lexists(file):
        raise PrivacyError(
            f"{file} exists already: an account is opened once, or what was spent is forgotten"
        )
    account = Budget.at(file) if epsilon is None else Budget(epsilon, file)
    for what, cost, neighbours, unit in account.to_frame().itertuples(index=False):
        echo(plain(f"  {cost:g}  {what} ({neighbours} of a {unit})", 300))
    echo(plain(account.statement, 1000))
