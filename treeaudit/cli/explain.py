"""``treeaudit attacks`` and ``treeaudit explain WORD``."""

from typing import Annotated

import typer

from treeaudit.cli.console import Console
from treeaudit.errors import PolicyError, near

_LISTED = 8


def attacks() -> None:
    """List the attacks: scan runs all of them but TA107, which is diff OLD NEW."""
    from rich.table import Table
    from rich.text import Text

    from treeaudit.attacks import all_attacks
    from treeaudit.attacks.case import Attack
    from treeaudit.attacks.differencing import Differencing

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("id", no_wrap=True)
    table.add_column("attack", no_wrap=True)
    table.add_column("an attacker")
    every: list[type[Attack | Differencing]] = [*all_attacks(), Differencing]
    for attack in sorted(every, key=lambda one: one.id):
        first, stop, _ = attack.words.attacker.partition(". ")
        table.add_row(attack.id, Text(attack.title), Text(first + stop.strip()))
    Console().print(table)


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="Such as TA101, min-leaf, REVIEW or labels-only.",
            metavar="WORD",
            show_default=False,
        ),
    ],
) -> None:
    """Explain a word of a report: an attack, a check, a verdict, a repair, a policy, an exit code.

    treeaudit explain TA101

    treeaudit explain min-leaf

    treeaudit explain REVIEW
    """
    from rich.table import Table
    from rich.text import Text

    from treeaudit.reports.explanations import explanations

    asked = " ".join(name.casefold().replace("-", " ").replace("_", " ").split())
    every = explanations()
    found = [one for one in every if asked.removeprefix("exit code ") == _plain(one.name)]
    found = found or [one for one in every if asked == _plain(one.title)]
    found = found or [one for one in every if asked and asked in _plain(one.title)]
    if len(found) != 1:
        known = [f"{one.name} ({one.title.lower()})" for one in found or every]
        more = "" if found else ", …; 'treeaudit attacks' lists all attacks"
        close = near(name, [one.name for one in every if not found], "known:")
        if "mean" not in close:
            close = f"; known: {', '.join(known[:_LISTED])}{more}"
        raise PolicyError(f"there is no word {name} in a report{close}")
    console = Console()
    console.print(Text(f"{found[0].name}  {found[0].title}", style="bold"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in found[0].parts.items():
        table.add_row(label, Text(text))
    console.print(table)


def _plain(name: str) -> str:
    """Return a name as it is compared: small letters, without hyphens."""
    return name.casefold().replace("-", " ")
