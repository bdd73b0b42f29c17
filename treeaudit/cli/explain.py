"""``treeaudit attacks`` and ``treeaudit explain ID``."""

from dataclasses import fields
from typing import Annotated

import typer

from treeaudit.cli.console import Console
from treeaudit.errors import PolicyError

_LISTED = 8


def attacks() -> None:
    """List the attacks that scan runs."""
    from rich.table import Table
    from rich.text import Text

    from treeaudit.attacks import all_attacks

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("id", no_wrap=True)
    table.add_column("attack", no_wrap=True)
    table.add_column("an attacker")
    for attack in all_attacks():
        first, stop, _ = attack.words.attacker.partition(". ")
        table.add_row(attack.id, Text(attack.title), Text(first + stop.strip()))
    Console().print(table)


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="Such as TA101, singling or labels-only.", metavar="ID", show_default=False
        ),
    ],
) -> None:
    """Explain an attack or a repair: what it does, and what it leaves.

    treeaudit explain TA101
    """
    from rich.table import Table
    from rich.text import Text

    from treeaudit.attacks import Attack, all_attacks
    from treeaudit.attacks.differencing import Differencing
    from treeaudit.defenses import DEFENSES, Defense

    every: list[type[Attack] | type[Differencing] | type[Defense]]
    every = [*all_attacks(), Differencing, *DEFENSES]
    known = {one.id: one for one in every}
    found = known.get(name.upper()) or known.get(name.lower())
    if found is None:
        asked = name.casefold().replace("-", " ").strip()
        named = [one for one in every if asked and asked in one.title.casefold()]
        if len(named) != 1:
            among = {one.id: one for one in named} or known
            told = [f"{one.id} ({one.title.lower()})" for one in among.values()]
            more = "" if named else ", …; 'treeaudit attacks' lists all"
            raise PolicyError(
                f"there is no attack {name}; known: {', '.join(told[:_LISTED])}{more}"
            )
        found = named[0]
    console = Console()
    console.print(Text(f"{found.id}  {found.title}", style="bold"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for field in fields(found.words):
        said = "source" if field.name == "reference" else field.name
        table.add_row(said, Text(getattr(found.words, field.name)))
    console.print(table)
