"""Paths to audit: files, folders, and patterns with what they match.

A folder that a pattern could reach and nobody can enter is reported. `pathlib.Path.glob` passes
such a folder over, and ends at the depth at which Python does.
"""

import errno
import fnmatch
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from treeaudit.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file to audit."""

    path: str  # As it is shown
    # Whether somebody said that it is a model; of others that are none only the name is told
    named: bool = False
    wrong: str = ""  # Why it is not even opened; empty where it is


@dataclass(slots=True)
class MatchedFiles:
    """The files to audit, and what was left aside: its path and what it is. Both by name."""

    places: list[Place] = field(default_factory=list)
    aside: list[tuple[str, str]] = field(default_factory=list)


def why_not(error: OSError) -> str:
    """Return the reason of the system, in the middle of a sentence."""
    return (error.strerror or "error").lower()


def is_folder(path: Path) -> bool:
    """Tell whether a path is a folder; what cannot be looked at is left to whoever opens it."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_link(path: Path) -> bool:
    """Tell whether a path is a link, as `is_folder` does."""
    try:
        return path.is_symlink()
    except OSError:
        return False


_GLOB = re.compile(r"[*?\[]")

_ANY = "**"

_CASE = re.IGNORECASE if os.name == "nt" else 0

_Part = str | re.Pattern[str]
"""A name that stands in full, `_ANY`, or what names have to look like."""


def is_pattern(path: Path) -> bool:
    """Tell whether a path is a pattern: it looks like one, and is no file by that name."""
    return not os.path.lexists(path) and _GLOB.search(str(path)) is not None


def is_several(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path stands for any number of files: a folder or a pattern."""
    return is_folder(Path(path)) or is_pattern(Path(path))


def matched(path: Path) -> list[tuple[str, str]]:
    """Return what a pattern matches by name, with why it cannot be looked into, if so."""
    first = next(i for i, part in enumerate(path.parts) if _GLOB.search(part))
    if any(_ANY in part and part != _ANY for part in path.parts):
        raise DataError(f"{path} is no pattern: ** stands alone between slashes")
    found = sorted(set(_walk(str(Path(*path.parts[:first])), path.parts[first:])))
    if not found:
        raise DataError(f"nothing matches {path}")
    return found


def _walk(start: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what is matched below a folder: each folder is listed once, however deep it lies."""
    parts = [_part(name) for name in names]
    states = _with_skipped({0}, parts)
    if len(parts) in states and is_folder(Path(start)):
        yield start, ""
    todo = [(start, states)]
    while todo:
        here, states = todo.pop()
        try:
            inside = _inside(here, states - {len(parts)}, parts)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield here, f"the folder cannot be opened: {why_not(error)}"
            continue
        for name, then in inside.items():
            path = _join(here, name)
            if len(parts) in then:
                yield path, ""
            if then - {len(parts)} and _may_be_folder(path):
                todo.append((path, then))


def _inside(here: str, states: set[int], parts: Sequence[_Part]) -> dict[str, set[int]]:
    """Return the names in a folder that parts of the pattern match, with the parts that follow."""
    found: dict[str, set[int]] = {}
    anywhere = {state for state in states if parts[state] == _ANY}
    alike = {state: one for state in states if isinstance(one := parts[state], re.Pattern)}
    for state in states - anywhere - alike.keys():
        name = str(parts[state])
        with suppress(FileNotFoundError):
            os.lstat(_join(here, name))
            found.setdefault(name, set()).add(state + 1)
    if anywhere or alike:
        with os.scandir(here) as entries:
            for entry in entries:
                then = {state + 1 for state, one in alike.items() if one.match(entry.name)}
                if anywhere and entry.is_dir(follow_symlinks=False):
                    then |= anywhere
                if then:
                    found.setdefault(entry.name, set()).update(then)
    return {name: _with_skipped(then, parts) for name, then in found.items()}


def _with_skipped(states: set[int], parts: Sequence[_Part]) -> set[int]:
    """Add the parts that follow where ``**`` stands for no folder at all."""
    found = set(states)
    for state in states:
        while state < len(parts) and parts[state] == _ANY:
            state += 1
            found.add(state)
    return found


def _part(name: str) -> _Part:
    if name == _ANY or not _GLOB.search(name):
        return name
    return re.compile(fnmatch.translate(name), _CASE)


def _may_be_folder(path: str) -> bool:
    """Tell whether a path is a folder, or nobody knows: listing it will tell why."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        return error.errno != errno.ELOOP


def _join(folder: str, name: str) -> str:
    return name if folder == os.curdir else os.path.join(folder, name)  # noqa: PTH118  # a text
