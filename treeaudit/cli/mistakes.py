"""What was mistyped, in one sentence with the next step, whatever words typer has for it."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from treeaudit.cli.declared import Declared
from treeaudit.errors import ReadError, UnsafeModelError, near

__all__ = ["USAGE", "told", "usage"]

USAGE: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""What typer raises where a line cannot be read; which module it is from changes with versions."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_IN_PYTHON = re.compile(r" \(\w+=\w*\)")
_MOST_FILES = 10_000
"""A folder may hold millions: so many names are looked at for one that may have been meant."""
_NUMBERS = {int: "a whole number", float: "a number"}


def told(error: Exception, words: Sequence[str]) -> str:
    """Return what an error of the library says to somebody at a terminal."""
    # What Python calls an option, the library says in brackets.
    said = _IN_PYTHON.sub("", str(error))
    if "there is no file" in said:
        for word in words:
            if _ADDRESS.match(word):
                return f"{word} is an address, and treeaudit reads files: download it first"
            if word == "-":
                return "standard input is not read: save the model to a file, and name that"
        return said + _beside(said)
    path = getattr(error, "path", None)
    if isinstance(error, ReadError) and not isinstance(error, UnsafeModelError) and path:
        name = Path(path).name
        said = said if name in said else f"{name}: {said}"
        if type(error) is ReadError and "damaged" in said:
            said += "; copy the file again"
        elif type(error) is ReadError and re.search(r"beyond|breaks off|ends|too short", said):
            said += "; the file is damaged or cut off: copy it again"
    return said


def _beside(said: str) -> str:
    """Return which file may have been meant by one that does not exist, or where it is gone."""
    found = re.search(r"there is no file ([^;]+)", said)
    meant = Path(found[1]) if found else Path()
    try:
        if meant.is_symlink():
            return f"; {meant.name} is a link to {meant.readlink()}, which is not there"
        beside = [one.name for one in islice(meant.parent.iterdir(), _MOST_FILES)]
    except OSError:
        return ""
    close = near(meant.name, beside, "known:")
    if "; did you mean " not in close:
        return ""
    return f"; did you mean {meant.parent / close[15:-1]}?"


def usage(
    error: Any,  # noqa: ANN401  # typer's own
    commands: Mapping[str, Callable[..., object]],
    words: Sequence[str],
) -> str:
    """Return in one sentence why a line cannot be read, and what helps.

    Parameters
    ----------
    error
        An exception of the type `USAGE`.
    commands
        The functions behind the commands, by name.
    words
        The line, behind the program.
    """
    context = getattr(error, "ctx", None)
    command = getattr(context, "command", None)
    named = next((word for word in words if not word.startswith("-")), "")
    name = str(getattr(command, "name", "") or named)
    inside = name in commands
    see = f"'treeaudit {name} --help'" if inside else "'treeaudit --help'"
    kind, message = type(error).__name__, str(getattr(error, "message", "") or error)
    if kind == "NoSuchOption":
        known = [
            opt for one in getattr(command, "params", ()) for opt in one.opts if opt[:2] == "--"
        ]
        meant = difflib.get_close_matches(error.option_name, known, 1, 0.7)
        close = f"; did you mean {meant[0]}?" if meant else ""
        return f"{_of(name, inside)} has no option {error.option_name}{close or f'; see {see}'}"
    if kind == "MissingParameter" and error.param is not None:
        lacking = str(error.param.opts[0])
        argument = getattr(error.param, "metavar", None) or lacking.upper()
        what = f"needs {argument}" if lacking[:1] != "-" else f"needs the option {lacking}"
        return f"{name} {what}; see {see}"
    if kind == "BadParameter" and getattr(error, "param", None) is not None and inside:
        takes = _takes(commands[name], str(error.param.name))
        if takes:
            return f"{error.param.opts[0]} takes {takes}; see {see}"
    if found := re.search(r"No such command '?(.+?)'?\.(?: |$)", message):
        if Path(found[1]).exists():
            return f"there is no command {found[1]}; did you mean 'treeaudit scan {found[1]}'?"
        close = near(found[1], commands, "commands are")
        return f"there is no command {found[1]}{close}"
    if found := re.search(r"unexpected extra argument(?:s|\(s\))? \((.*)\)", message):
        return f"{name} cannot take {found[1]} too; see {see}"
    if found := re.search(r"Option '?(--?[\w-]+)'? requires an argument", message):
        return f"{found[1]} needs a value behind it; see {see}"
    if found := re.search(r"Option '?(--?[\w-]+)'? does not take a value", message):
        return f"{found[1]} takes no value: write it alone"
    return f"{message.rstrip('.')}; see {see}"


def _of(name: str, inside: bool) -> str:
    return name if inside else "treeaudit"


def _takes(command: Callable[..., object], parameter: str) -> str:
    """Return what values a parameter takes, in words; nothing where any text will do."""
    hint: Any = get_type_hints(command, include_extras=True).get(parameter)
    least = None
    if hasattr(hint, "__metadata__"):
        told = (one.given for one in hint.__metadata__ if isinstance(one, Declared))
        least = next((given.get("min") for given in told), None)
        hint = get_args(hint)[0]
    for one in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(one) is Literal:
            return " or ".join(get_args(one))
        if one in _NUMBERS:
            return _NUMBERS[one] + ("" if least is None else f" of at least {least:g}")
    return ""
