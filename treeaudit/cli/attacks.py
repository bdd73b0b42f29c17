"""``treeaudit attacks``."""

__all__ = ["attacks"]


def attacks() -> None:
    """List the attacks that scan runs."""
    from rich.table import Table
    from rich.text import Text

    from treeaudit.attacks import all_attacks
    from treeaudit.cli.console import Console

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("id", no_wrap=True)
    table.add_column("attack", no_wrap=True)
    table.add_column("an attacker")
    for attack in all_attacks():
        first, stop, _ = attack.words.attacker.partition(". ")
        table.add_row(attack.id, Text(attack.title), Text(first + stop.strip()))
    Console().print(table)
