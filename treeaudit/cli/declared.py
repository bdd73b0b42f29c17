"""What the commands say of themselves, and a plain line read by it, without typer.

Commands write ``from treeaudit.cli import declared as typer`` and then what typer has
them write. A line that holds nothing but commands, options and values as declared is
read here, in a millisecond. Help, mistakes and rarer spellings are left to typer, whose
import costs half as much as numpy's.
"""

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

__all__ = ["Argument", "Declared", "Exit", "Interrupted", "Option", "echo", "page", "parsed"]

_SHOWN = {"help", "metavar", "show_default", "rich_help_panel", "hidden", "autocompletion"}
_READ = {*_SHOWN, "callback", "min", "max"}
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


class Exit(SystemExit):
    """Leave with a code."""


class Interrupted(BaseException):
    """Ctrl-C, out of the hands of typer, which ends without a word."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Declared:
    """An option or an argument, as typer takes it.

    Attributes
    ----------
    kind
        The name of what makes it in typer.
    names
        How an option is spelled; by its parameter where there are none.
    given
        Everything else.
    """

    kind: Literal["Option", "Argument"]
    names: tuple[str, ...] = ()
    given: dict[str, Any]


def Option(*names: str, **given: Any) -> Declared:  # noqa: ANN401  # as typer has it
    """Declare an option."""
    return Declared(kind="Option", names=names, given=given)


def Argument(**given: Any) -> Declared:  # noqa: ANN401  # as typer has it
    """Declare an argument."""
    return Declared(kind="Argument", given=given)


def echo(line: str, *, err: bool = False) -> None:
    """Print a line to stdout, or to stderr, at once.

    It stays one line and steers no terminal, whatever the names in it hold.
    """
    if not line.isprintable():
        from treeaudit.reports.plain_text import visible

        line = visible(line)
    page(f"{line}\n", err=err)


def page(text: str, *, err: bool = False) -> None:
    """Print whole lines at once, whose names were made safe one by one; none steers a terminal."""
    if not text.replace("\n", "").isprintable():
        from treeaudit.reports.plain_text import visible_lines

        text = visible_lines(text)
    print(text, end="", file=sys.stderr if err else sys.stdout, flush=True)


class _Otherwise(Exception):  # no error: typer's turn
    """The line is not for this reader."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Parameter:
    """An option or argument of a command, as its function states it."""

    name: str
    told: Declared
    of: Any
    many: bool
    default: Any

    @property
    def spelled(self) -> tuple[str, ...]:
        return self.told.names or (f"--{self.name.replace('_', '-')}",)

    def value(self, text: str) -> object:
        """Read one value."""
        low, high = (self.told.given.get(end) for end in ("min", "max"))
        read: Any = text
        if get_origin(self.of) is Literal and text in get_args(self.of):
            return text
        if self.of in (int, float):
            if not (_WHOLE if self.of is int else _NUMBER).fullmatch(text):
                raise _Otherwise
            read = self.of(text)
            if (low is not None and read < low) or (high is not None and read > high):
                raise _Otherwise
        elif self.of is Path:
            read = Path(text)
        elif self.of is not str:
            raise _Otherwise
        return read


def parsed(function: Callable[..., None], words: Sequence[str]) -> dict[str, Any] | None:
    """Return what a line gives to a command; None where typer has to read it.

    Parameters
    ----------
    words
        What stands behind the name of the command.

    Examples
    --------
    >>> def show(path: Annotated[Path, Argument()], rows: Annotated[int, Option()] = 20): ...
    >>> parsed(show, ["a.pkl", "--rows", "3"])["rows"], parsed(show, ["a.pkl", "--rows", "x"])
    (3, None)
    """
    try:
        parameters = [_parameter(one) for one in inspect.signature(function).parameters.values()]
        given = _read(parameters, words)
        for one in parameters:
            if one.name not in given and one.default is inspect.Parameter.empty:
                return None
    except _Otherwise:
        return None
    for one in parameters:
        check = one.told.given.get("callback")
        given[one.name] = given.get(one.name, one.default)
        if check is not None:
            given[one.name] = check(given[one.name])
    return given


def _parameter(one: inspect.Parameter) -> _Parameter:
    if get_origin(one.annotation) is not Annotated:
        raise _Otherwise
    of, *told = get_args(one.annotation)
    if len(told) != 1 or not isinstance(told[0], Declared) or told[0].given.keys() - _READ:
        raise _Otherwise
    if get_origin(of) in (Union, UnionType):
        of = next(part for part in get_args(of) if part is not type(None))
    many = get_origin(of) is list
    of = get_args(of)[0] if many else of
    if of is bool and (one.default or not told[0].names):
        raise _Otherwise
    return _Parameter(name=one.name, told=told[0], of=of, many=many, default=one.default)


def _read(parameters: Sequence[_Parameter], words: Sequence[str]) -> dict[str, Any]:
    options = {
        name: one
        for one in parameters
        if one.told.kind == "Option"
        for spelled in one.spelled
        for name in spelled.split("/")
    }
    places = [one for one in parameters if one.told.kind == "Argument"]
    given: dict[str, Any] = {}
    loose: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, text = word.partition("=") if word.startswith("--") else (word, "", "")
        if not word.startswith("-"):
            loose.append(word)
            continue
        if name not in options:
            raise _Otherwise
        one = options[name]
        if one.of is bool:
            if equals or one.name in given:
                raise _Otherwise
            given[one.name] = not any(spelled.endswith(f"/{name}") for spelled in one.spelled)
            continue
        text = text if equals else next(rest, "")
        if not text or text.startswith("-") or (one.name in given and not one.many):
            raise _Otherwise
        read = one.value(text)
        given[one.name] = [*given.get(one.name, ()), read] if one.many else read
    return given | _placed(places, loose)


def _placed(places: Sequence[_Parameter], loose: Sequence[str]) -> dict[str, Any]:
    """Give the words that belong to no option to the arguments."""
    if "" in loose:
        raise _Otherwise
    if len(places) == 1 and places[0].many and loose:
        return {places[0].name: [places[0].value(text) for text in loose]}
    if len(places) != len(loose) or any(one.many for one in places):
        raise _Otherwise
    return {one.name: one.value(text) for one, text in zip(places, loose, strict=True)}
