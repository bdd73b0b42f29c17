"""The whole command line as typer knows it: help, mistakes, and every way to spell a line."""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand

from treeaudit.cli.declared import Declared, Interrupted
from treeaudit.cli.methods import print_methods
from treeaudit.cli.mistakes import USAGE, usage
from treeaudit.cli.options import VERBOSE
from treeaudit.cli.registries import REGISTRIES
from treeaudit.errors import TreeauditError
from treeaudit.version import __version__

__all__ = ["command_line", "run"]

_INTERRUPTED = 130


class _Named(TyperCommand):
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


class _NamedWithMethods(_Named):
    """A command whose help ends with the methods of `DEFENSES`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # typer's own
        """Print the help."""
        super().format_help(ctx, formatter)
        print_methods()


def command_line(names: Sequence[str], asked: str | None = None) -> typer.Typer:
    """Return the commands.

    Parameters
    ----------
    names
        Of all of them, each a function in a module of its name.
    asked
        The only one whose options are needed; of all unless told.
    """
    app = typer.Typer(
        name="treeaudit",
        help="What does a decision tree give away about the people it was trained on? "
        "Reads the model file without running code from it.",
        epilog="Exit codes: 0 every check passed · 1 a check failed · 2 not audited · "
        "3 nothing failed, but a required check could not be made · 4 what fails was accepted by "
        "name.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        function = getattr(import_module(f"treeaudit.cli.{name}"), name)
        made = _typed(function) if asked in (None, name) else _named(function)
        app.command(name, cls=_NamedWithMethods if name == "defend" else _Named)(made)
    app.callback()(_options)
    return app


def run(app: typer.Typer, names: Sequence[str]) -> None:
    """Read the line, and leave with its exit code.

    Raises
    ------
    TreeauditError
        If the line cannot be read; says what helps.
    """
    try:
        code: object = app(prog_name="treeaudit", standalone_mode=False)
    except USAGE as error:
        functions = {name: getattr(import_module(f"treeaudit.cli.{name}"), name) for name in names}
        raise TreeauditError(usage(error, functions)) from None
    if code == _INTERRUPTED:
        raise Interrupted
    sys.exit(code if isinstance(code, int) else 0)


def _typed(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command with its parameters as typer declares them."""

    @wraps(function)
    def call(**given: Any) -> None:  # noqa: ANN401  # whatever it takes
        function(**given)

    found = inspect.signature(function)
    parameters = [
        one.replace(annotation=_annotation(one.annotation)) for one in found.parameters.values()
    ]
    call.__signature__ = found.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _annotation(told: Any) -> Any:  # noqa: ANN401  # any annotation
    if get_origin(told) is not Annotated:
        return told
    of, *rest = get_args(told)
    made = (
        getattr(typer, one.kind)(*one.names, **one.given) if isinstance(one, Declared) else one
        for one in rest
    )
    return Annotated[of, *made]


def _named(function: Callable[..., None]) -> Callable[..., None]:
    """Return what stands for a command where only its first sentence is shown."""

    def call() -> None: ...

    call.__doc__ = function.__doc__
    return call


def _version(value: bool) -> None:
    if value:
        typer.echo(f"treeaudit {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", help="Show the version and leave.", callback=_version, is_eager=True
    ),
    verbose: bool = typer.Option(False, "--verbose", "-v", hidden=True),
) -> None:
    """Parse what stands before the command."""
    VERBOSE.set(verbose)
