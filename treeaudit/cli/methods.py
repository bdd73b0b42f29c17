"""The methods of `DEFENSES`, listed when asked for."""

from treeaudit.cli import declared as typer

__all__ = ["listed", "print_methods"]


def listed(method: str | None) -> str | None:
    """Print the methods and leave where ``list`` is asked for."""
    if method != "list":
        return method
    print_methods()
    raise typer.Exit


def print_methods() -> None:
    """Print every method with what can be set of it."""
    from rich.table import Table
    from rich.text import Text

    from treeaudit.cli.console import Console
    from treeaudit.defenses import DEFENSES
    from treeaudit.defenses.defense import parameters, takes_people

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("--method", no_wrap=True)
    table.add_column("what it does ('treeaudit explain NAME' tells more)")
    for defense in DEFENSES:
        table.add_row(Text(defense.id, style="bold"), Text(defense.title))
        for name, one in parameters(defense).items():
            told = f"--set {name}={one.default}  {one.help} Takes {one.asks}."
            table.add_row("", Text("--min-leaf K" if name == "min_leaf" else told, style="dim"))
        if takes_people(defense):
            table.add_row("", Text("--train DATA", style="dim"))
    Console().print(table)
