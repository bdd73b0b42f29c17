"""``treeaudit explain ID``."""

from typing import Annotated

import typer

__all__ = ["explain"]


def explain(
    attack: Annotated[str, typer.Argument(help="Such as TA101.", metavar="ID", show_default=False)],
) -> None:
    """Explain an attack: what it does, assumes and finds, and what removes it.

    treeaudit explain TA101
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from treeaudit.attacks import all_attacks
    from treeaudit.errors import PolicyError

    known = {a.id: a for a in all_attacks()}
    found = known.get(attack.upper())
    if found is None:
        raise PolicyError(f"there is no attack {attack}; known: {', '.join(known)}")
    words = found.words
    console = Console(highlight=False, emoji=False)
    console.print(Text(f"{found.id}  {found.title}", style="bold"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, text in (
        ("attacker", words.attacker),
        ("assumes", words.assumes),
        ("remedy", words.remedy),
        ("limit", words.limit),
        ("source", words.reference),
    ):
        table.add_row(name, Text(text))
    console.print(table)
