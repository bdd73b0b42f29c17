"""Read a small file that an audit was given beside the model, whoever wrote it.

A policy, a schema, an accepted report, the account of a budget: what stands in a
folder may be a pipe that nobody writes to, a gigabyte, or brackets without end.
"""

import os
import re
import stat
from pathlib import Path
from typing import Any

from treeaudit.errors import TreeauditError

__all__ = ["BASELINE", "CONFIG", "TABLE", "check_regular", "open_regular", "parse_toml"]
__all__ += ["read_bytes", "read_toml"]

CONFIG, BASELINE, TABLE = 1 << 20, 64 << 20, 8 << 30
"""Bytes that a policy or schema, an accepted report or account, and a table may have."""

# tomllib takes the square of the parts of a dotted key.
_DOTTED = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""", re.ASCII
)


def open_regular(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a regular file and return its descriptor; a pipe is not waited for.

    Raises
    ------
    OSError
        If it cannot be opened, or is a folder, a pipe or a device.
    """
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "It is no regular file")
    return handle


def check_regular(path: Path, most: int, error: type[TreeauditError]) -> None:
    """Refuse what is no regular file, or larger than it may be, before others open it.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    _ = _read(path, most, error, 0)


def read_bytes(
    path: str | os.PathLike[str], most: int, error: type[TreeauditError], what: str = ""
) -> bytes:
    """Return a file whole.

    Parameters
    ----------
    most
        How many bytes it may have.
    error
        What is raised where it cannot be read, or holds more.
    what
        What to call it in messages before its path, such as ``the baseline``.

    Raises
    ------
    FileNotFoundError
        If there is no such file: what to do then depends on what it is for.
    """
    return _read(path, most, error, most + 1, f"{what} " if what else "")


def _read(
    path: str | os.PathLike[str], most: int, error: type[TreeauditError], n: int, what: str = ""
) -> bytes:
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            size, data = os.fstat(file.fileno()).st_size, file.read(n)
    except FileNotFoundError:
        raise
    except OSError as told:
        reason = (told.strerror or "error").lower()
        raise error(f"{what}{os.fspath(path)} cannot be read: {reason}") from None
    if max(size, len(data)) > most:
        raise error(f"{what}{os.fspath(path)} is larger than the {most:,} bytes that it may have")
    return data


def read_toml(path: str | os.PathLike[str], error: type[TreeauditError]) -> dict[str, Any]:
    """Return a file of settings as plain values.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    name, data = os.fspath(path), read_bytes(path, CONFIG, error)
    try:
        return parse_toml(data.decode())
    except ValueError as told:
        raise error(f"{name} cannot be read as TOML: {told}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return TOML text as plain values.

    Raises
    ------
    ValueError
        If it is no TOML, or nested too deeply.

    Examples
    --------
    >>> parse_toml("a.b = 1")
    {'a': {'b': 1}}
    """
    if _DOTTED.search(text):
        raise ValueError("a name has too many parts")
    import tomllib  # which readers of models never need

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
