"""Commands: Ctrl-C ends in a sentence, and help names what the registries hold when asked."""

from typing import Any

import typer
from typer.core import TyperCommand

from treeaudit.cli.registries import REGISTRIES

__all__ = ["Interrupted", "Named", "NamedWithMethods", "listed"]


class Interrupted(BaseException):
    """Ctrl-C, out of the hands of typer, which ends without a word."""


class Named(TyperCommand):
    """A command in whose help ``{policies}`` and the like stand for what the registries hold."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  # typer's own
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # typer's own
        """Print the help."""
        for one in self.params:
            for place, names in REGISTRIES.items():
                if place in (text := getattr(one, "help", None) or ""):
                    one.help = text.replace(place, ", ".join(names()))  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


class NamedWithMethods(Named):
    """A command whose help ends with the methods of `DEFENSES`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # typer's own
        """Print the help."""
        super().format_help(ctx, formatter)
        _print_methods()


def listed(method: str | None) -> str | None:
    """Print the methods and leave where ``list`` is asked for."""
    if method != "list":
        return method
    _print_methods()
    raise typer.Exit


def _print_methods() -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from treeaudit.defenses import DEFENSES
    from treeaudit.defenses.parameters import parameters, takes_people

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
    Console(highlight=False, emoji=False).print(table)
