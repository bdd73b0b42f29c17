"""Error messages of the command line: one sentence, with the next step."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from treeaudit.errors import ReadError, UnsafeModelError, near

USAGE: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""The base of typer's usage errors; its module differs between versions of typer."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_IN_PYTHON = re.compile(r" \(\w+=\w*\)")
_MOST_FILES = 10_000
"""A folder may hold millions of names: only so many are compared."""
_NUMBERS = {int: "a whole number", float: "a number"}


def library_error(error: Exception, words: Sequence[str]) -> str:
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


def usage_error(
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
