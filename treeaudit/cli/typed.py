"""The whole command line as typer knows it: help, mistakes, and every way to spell a line."""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand

from treeaudit.cli.declared import Declared, Interrupted
from treeaudit.cli.front import EPILOG, HELP
from treeaudit.cli.methods import print_methods
from treeaudit.cli.mistakes import USAGE, usage
from treeaudit.cli.options import VERBOSE
from treeaudit.cli.registries import REGISTRIES
from treeaudit.errors import TreeauditError
from treeaudit.version import __version__

__all__ = ["command_line", "run"]

_INTERRUPTED = 130
_WRITTEN = {"int": "N", "float": "NUMBER", "str": "TEXT", "path": "FILE"}


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
        self.help = _paragraphs(self.help or "")
        for one in self.get_params(ctx):
            _say_what_is_written(one)
            for place, names in REGISTRIES.items():
                if place in (text := getattr(one, "help", None) or ""):
                    one.help = text.replace(place, ", ".join(names()))  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _say_what_is_written(one: Any) -> None:  # noqa: ANN401  # typer's own
    """Have the help tell what to write for an option or argument, not what Python makes of it."""
    if one.param_type_name == "argument":
        # Its own name says that.
        one.display_type = lambda _: ""
    elif getattr(one, "is_flag", False):
        one.metavar = ""
    elif one.metavar is None:
        # Told apart by blanks, a narrow terminal breaks no word.
        shown = one.display_type(None).strip("<>").removesuffix(" range").replace("|", " | ")
        one.metavar = _WRITTEN.get(shown, shown)


def _paragraphs(text: str) -> str:
    """Return help whose lines are as long as the terminal has room."""
    return "\n\n".join(" ".join(one.split()) for one in text.split("\n\n"))


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
        help=HELP,
        epilog=EPILOG,
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
        if type(error).__name__ == "NoArgsIsHelpError":  # the help is printed by then
            sys.exit(2)
        functions = {name: getattr(import_module(f"treeaudit.cli.{name}"), name) for name in names}
        raise TreeauditError(usage(error, functions, sys.argv[1:])) from None
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
    # Path, list[Path], either or None.
    parts = (of, *get_args(of), *(part for one in get_args(of) for part in get_args(one)))
    read = {"parser": path} if Path in parts else {}
    made = (
        getattr(typer, one.kind)(*one.names, **one.given, **read)
        if isinstance(one, Declared)
        else one
        for one in rest
    )
    return Annotated[of, *made]


def path(text: str) -> Path:
    """Read a path: an empty one would be the current folder. Help calls it by this name."""
    if not text:
        raise TreeauditError(
            "a path is empty, and names no file: is a variable of the shell empty?"
        )
    return Path(text)


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
