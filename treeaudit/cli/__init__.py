"""The command line: parse, call the library, print. No logic of the audit.

stdout carries the result; stderr progress, warnings and errors. Exit codes:
0 every check passed, 1 a check failed, 2 not audited, 3 nothing failed but a
required check was skipped, 4 a named person accepted what fails.
"""

import difflib
import io
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

from treeaudit.cli.compare import compare, diff
from treeaudit.cli.console import echo, page
from treeaudit.cli.defend import defend, print_methods
from treeaudit.cli.explain import attacks, explain
from treeaudit.cli.inspect import inspect
from treeaudit.cli.limits import limited
from treeaudit.cli.options import REGISTRIES, VERBOSE
from treeaudit.cli.reconstruct import reconstruct
from treeaudit.cli.release import release
from treeaudit.cli.scan import demo, scan
from treeaudit.cli.train import budget, schema, train
from treeaudit.cli.verify import accept, verify
from treeaudit.errors import MalformedModelError, ReadError, TreeauditError, UnsafeModelError, near
from treeaudit.reports.plain_text import plain
from treeaudit.version import __version__

__all__ = ["COMMANDS", "app", "main"]

_HELP = (
    "What does a decision tree give away about the people it was trained on? "
    "Reads the model file without running code from it."
)
_EPILOG = (
    "Exit codes: 0 every check passed · 1 a check failed · 2 not audited · "
    "3 nothing failed, but a required check could not be made · 4 what fails was accepted by name."
)
_FUNCTIONS = (
    *(scan, accept, reconstruct, verify, inspect, compare, diff, release, defend),
    *(train, schema, budget, explain, attacks, demo),
)
COMMANDS = {command.__name__: command for command in _FUNCTIONS}
"""Every command, in the order of the help."""

_METAVARS = {"int": "N", "float": "NUMBER", "str": "TEXT", "path": "FILE"}


class _Command(TyperCommand):
    """A command in whose help ``{policies}`` and the like stand for the names in a registry."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # typer's own
        """Print the help; a registry is imported only if its names are shown."""
        # Paragraphs as wide as the terminal, not as the docstring.
        self.help = "\n\n".join(" ".join(one.split()) for one in (self.help or "").split("\n\n"))
        for parameter in self.get_params(ctx):
            _set_metavar(parameter)
            for place, names in REGISTRIES.items():
                if place in (text := getattr(parameter, "help", None) or ""):
                    parameter.help = text.replace(place, ", ".join(names()))  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
        if self.name == "defend":
            print_methods()


def _set_metavar(parameter: Any) -> None:  # noqa: ANN401  # typer's own
    """Show what to write for an option, not its Python type."""
    if parameter.param_type_name == "argument":
        parameter.display_type = lambda _: ""
    elif getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    elif parameter.metavar is None:
        # With blanks between the choices, a narrow terminal breaks no word.
        shown = parameter.display_type(None).strip("<>").removesuffix(" range").replace("|", " | ")
        parameter.metavar = _METAVARS.get(shown, shown)


app = typer.Typer(
    name="treeaudit",
    help=_HELP,
    epilog=_EPILOG,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _function in _FUNCTIONS:
    app.command(cls=_Command)(_function)


def _print_version(value: bool) -> None:
    if value:
        echo(f"treeaudit {__version__}")
        raise typer.Exit


@app.callback()
def _before_the_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", hidden=True)] = False,
) -> None:
    VERBOSE.set(verbose)


def main() -> None:
    """Run the command line; every failure ends in one sentence and exit code 2, Ctrl-C in 130."""
    _write_utf8()
    # No command multiplies matrices that are worth a thread a core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:]
    VERBOSE.set(False)
    try:
        with limited(words):
            code = _run(words)
    except TreeauditError as error:
        _fail(_library_error(error, words))
    except BrokenPipeError:
        # The reader of our output has closed it: not an error, not a verdict.
        sys.stderr.close()
        sys.exit(2)
    except KeyboardInterrupt:
        _fail(_INTERRUPTED, 130)
    except OSError as error:
        named = isinstance(error.filename, str | bytes | os.PathLike)
        which = os.fsdecode(error.filename) if named else "a file"
        reason = (error.strerror or str(error)).lower()
        _fail(f"{which} could not be read or written: {reason}")
    except MemoryError:
        _fail("the model needs more memory than there is")
    except Exception as error:  # noqa: BLE001  # a bug must not look like a verdict
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            _fail(_INTERRUPTED, 130)  # as C code raises it
        _fail(
            f"internal error ({type(error).__name__}: {error}): this is a bug of treeaudit; "
            "run 'treeaudit --verbose …' and report it at https://github.com/treeaudit/treeaudit/issues"
        )
    else:
        sys.exit(code)


def _run(words: Sequence[str]) -> int:
    """Run one command and return its exit code.

    Typer's own entry point turns Ctrl-C, a closed pipe and mistakes into exits
    without our sentences, so it serves completion alone.
    """
    if "_TREEAUDIT_COMPLETE" in os.environ:
        app(prog_name="treeaudit")
    if any(word == "" or (word.startswith("--") and word.endswith("=")) for word in words):
        raise TreeauditError("an argument is empty: is a variable of the shell empty?")
    if found := _HUGE.search(" ".join(words)):
        raise TreeauditError(f"{found[1]} {found[2]} is too large a number")
    command = get_command(app)
    try:
        with command.make_context("treeaudit", list(words or ["--help"])) as context:
            command.invoke(context)
    except typer.Exit as stopped:
        return stopped.exit_code if words else 2
    except _USAGE as error:
        raise TreeauditError(_usage_error(error, COMMANDS, words)) from None
    return 0


def _write_utf8() -> None:
    # A pipe has the code page of the machine, on Windows one without ≤ or most people's names.
    # If the user chose another, characters that it lacks are escaped.
    for stream in (sys.stdout, sys.stderr):
        chosen = stream.isatty() or "PYTHONIOENCODING" in os.environ
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if not chosen:
            # Names of files may hold bytes that are no text.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        elif stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str, code: int = 2) -> None:
    if VERBOSE.get():
        import traceback

        for part in traceback.format_exception(*sys.exc_info()):
            if part.startswith("  File "):
                page(part, err=True)
            else:
                echo(part.strip("\n"), err=True)
    echo(f"treeaudit: {plain(message, 2000)}", err=True)
    sys.exit(code)


_HUGE = re.compile(r"(--[\w-]+)[ =](\d{19,})(?= |$)")
_INTERRUPTED = "interrupted: nothing was decided"
_USAGE: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""The base of typer's usage errors; its module differs between versions of typer."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_IN_PYTHON = re.compile(r" \(\w+=\w*\)")
_MOST_FILES = 10_000
"""A folder may hold millions of names: only so many are compared."""
_NUMBERS = {int: "a whole number", float: "a number"}


def _library_error(error: Exception, words: Sequence[str]) -> str:
    """Return the message of a library error as a terminal shows it."""
    # The library gives an argument's Python name in brackets.
    message = _IN_PYTHON.sub("", str(error))
    if "there is no file" in message:
        for word in words:
            if _ADDRESS.match(word):
                return f"{word} is an address, and treeaudit reads files: download it first"
            if word == "-":
                return "standard input is not read: save the model to a file, and name that"
        return message + _similar_file(message)
    path = getattr(error, "path", None)
    if isinstance(error, ReadError) and not isinstance(error, UnsafeModelError) and path:
        name = Path(path).name
        message = message if name in message else f"{name}: {message}"
        if type(error) is ReadError and "damaged" in message:
            message += "; copy the file again"
        elif type(error) is ReadError and re.search(r"beyond|breaks off|ends|too short", message):
            message += "; the file is damaged or cut off: copy it again"
        elif isinstance(error, MalformedModelError):
            message += ": do not load it, copy it again from where it was trained"
    return message


def _similar_file(message: str) -> str:
    """Suggest a file with a similar name, or say where a broken link points."""
    found = re.search(r"there is no file ([^;]+)", message)
    missing = Path(found[1]) if found else Path()
    try:
        if missing.is_symlink():
            return f"; {missing.name} is a link to {missing.readlink()}, which is not there"
        names = [one.name for one in islice(missing.parent.iterdir(), _MOST_FILES)]
    except OSError:
        return ""
    close = near(missing.name, names, "known:")
    if "; did you mean " not in close:
        return ""
    return f"; did you mean {missing.parent / close[15:-1]}?"


def _usage_error(
    error: Any,  # noqa: ANN401  # typer's own
    commands: Mapping[str, Callable[..., object]],
    words: Sequence[str],
) -> str:
    """Return in one sentence why a command line cannot be parsed, and what helps."""
    command = getattr(getattr(error, "ctx", None), "command", None)
    first = next((word for word in words if not word.startswith("-")), "")
    name = str(getattr(command, "name", "") or first)
    inside = name in commands
    see = f"'treeaudit {name} --help'" if inside else "'treeaudit --help'"
    kind, message = type(error).__name__, str(getattr(error, "message", "") or error)
    parameter = getattr(error, "param", None)
    if kind == "NoSuchOption":
        known = [
            opt for one in getattr(command, "params", ()) for opt in one.opts if opt[:2] == "--"
        ]
        close = difflib.get_close_matches(error.option_name, known, 1, 0.7)
        help_ = f"; did you mean {close[0]}?" if close else f"; see {see}"
        return f"{name if inside else 'treeaudit'} has no option {error.option_name}{help_}"
    if kind == "MissingParameter" and parameter is not None:
        option = str(parameter.opts[0])
        argument = getattr(parameter, "metavar", None) or option.upper()
        what = f"needs {argument}" if option[:1] != "-" else f"needs the option {option}"
        return f"{name} {what}; see {see}"
    function, parameter_name = commands.get(name), str(getattr(parameter, "name", ""))
    if kind == "BadParameter" and function and (values := _values(function, parameter_name)):
        return f"{error.param.opts[0]} takes {values}; see {see}"
    if found := re.search(r"No such command '?(.+?)'?\.(?: |$)", message):
        if Path(found[1]).exists():
            return f"there is no command {found[1]}; did you mean 'treeaudit scan {found[1]}'?"
        close_to = near(found[1], commands, "commands are")
        return f"there is no command {found[1]}{close_to}"
    if found := re.search(r"unexpected extra argument(?:s|\(s\))? \((.*)\)", message):
        return f"{name} cannot take {found[1]} too; see {see}"
    if found := re.search(r"Option '?(--?[\w-]+)'? requires an argument", message):
        return f"{found[1]} needs a value behind it; see {see}"
    if found := re.search(r"Option '?(--?[\w-]+)'? does not take a value", message):
        return f"{found[1]} takes no value: write it alone"
    if found := re.search(r"ath '(.+)' is not readable", message):
        return f"{found[1]} cannot be read: permission denied, ask its owner or name another file"
    return f"{message.rstrip('.')}; see {see}"


def _values(command: Callable[..., object], parameter: str) -> str:
    """Return in words which values a parameter takes; nothing if any text will do."""
    hint: Any = get_type_hints(command, include_extras=True).get(parameter)
    least = None
    if get_origin(hint) is Annotated:
        hint, option = get_args(hint)
        least = getattr(option, "min", None)
    for kind in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(kind) is Literal:
            return " or ".join(get_args(kind))
        if kind in _NUMBERS:
            return _NUMBERS[kind] + ("" if least is None else f" of at least {least:g}")
    return ""
