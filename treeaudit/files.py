"""Read regular files within limits; write atomically, never over another file by accident."""

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from treeaudit.errors import DataError, TreeauditError

CONFIG, BASELINE, TABLE = 1 << 20, 64 << 20, 8 << 30
"""Bytes that a policy or schema, an accepted report or account, and a table may have."""

# tomllib takes the square of the parts of a dotted key.
_DOTTED = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""", re.ASCII
)


def open_regular(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a regular file and return its descriptor; a pipe is not waited for."""
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "It is no regular file")
    return handle


def check_regular(path: Path, most: int, error: type[TreeauditError]) -> None:
    """Refuse what is no regular file, or larger than it may be, before others open it."""
    _ = _read(path, most, error, 0)


def read_bytes(
    path: str | os.PathLike[str], most: int, error: type[TreeauditError], what: str = ""
) -> bytes:
    """Return a file whole."""
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
    """Return a file of settings as plain values."""
    name, data = os.fspath(path), read_bytes(path, CONFIG, error)
    try:
        return parse_toml(data.decode())
    except ValueError as told:
        raise error(f"{name} cannot be read as TOML: {told}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return TOML text as plain values.

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


_LOCKED = 1 << 30
# What Python makes of a byte of a file's name that is no UTF-8.
_BYTE = re.compile("[\udc80-\udcff]")


def well_formed(data: Any) -> Any:  # noqa: ANN401  # plain data
    r"""Return plain data without half characters, which no strict reader of JSON takes.

    A byte of a file's name that is no UTF-8 is written as its number.

    Examples
    --------
    >>> print(well_formed({"path": b"a\xff.pkl".decode("utf-8", "surrogateescape")})["path"])
    a\xff.pkl
    """
    if isinstance(data, str):
        if data.isascii():
            return data
        told = _BYTE.sub(lambda half: f"\\x{ord(half[0]) - 0xDC00:02x}", data)
        return told.encode("utf-8", "backslashreplace").decode()
    if isinstance(data, Mapping):
        return {well_formed(key): well_formed(one) for key, one in data.items()}
    return [well_formed(one) for one in data] if isinstance(data, list | tuple) else data


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Tell whether two paths lead to one file, through links of any kind.

    Examples
    --------
    >>> same_file("nowhere/../a.csv", "a.csv"), same_file("a.csv", "b.csv")
    (True, False)
    """
    try:
        return Path(one).samefile(other)
    except OSError:  # one of them is not there yet
        return os.path.realpath(one) == os.path.realpath(other)


def check_new(path: Path, *, force: bool, how: str = "--force (force=True)") -> None:
    """Refuse to replace a file, or a link, unless that is asked for."""
    if not force and (path.exists() or path.is_symlink()):
        raise DataError(f"{path} exists already; use {how} to replace it")


def check_free(path: Path, *, force: bool) -> None:
    """Refuse what cannot be written, before long work begins."""
    check_new(path, force=force, how="--force")
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {path.parent} for {path.name}")
    if not os.access(path.parent, os.W_OK):
        raise DataError(f"{path} cannot be written: the folder is read-only, name another")


def suffix_of(path: str | os.PathLike[str], known: Iterable[str], what: str) -> str:
    """Return the format that a path asks for by its suffix.

    Examples
    --------
    >>> suffix_of("audit/report.HTML", ("html", "json"), "the report")
    'html'
    """
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in known:
        every = ", ".join(f".{name}" for name in known)
        raise DataError(f"{path}: {what} can be written as {every}")
    return suffix


def write_file(
    path: str | os.PathLike[str],
    content: str | bytes | Iterable[bytes],
    *,
    force: bool = False,
    private: bool = False,
) -> Path:
    """Write ``content`` to ``path`` so that it is there whole or not at all.

    Returns
    -------
    pathlib.Path
        The path.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write_file(f"{folder}/note.txt", "hello").read_text()
    'hello'
    """
    target = Path(path)
    with writing(target, force=force, private=private) as file:
        data = content.encode() if isinstance(content, str) else content
        file.writelines([data] if isinstance(data, bytes) else data)
    return target


@contextmanager
def writing(target: Path, *, force: bool = False, private: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write to piece by piece; `write_file` says what it takes and raises.

    What is written stands at its place when the end is reached, and nowhere before.
    """
    import tempfile

    check_new(target, force=force)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise DataError(f"{target} cannot be written: {reason}") from None
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        draft.chmod((0o600 if private else 0o666) & ~_umask())
        if force:
            draft.replace(target)
        else:
            # A hard link fails where the target has appeared meanwhile.
            _place_new(draft, target)
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise DataError(f"{target} cannot be written: {reason}") from None
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def alone(handle: int) -> Iterator[None]:
    """Keep other processes that ask for the same away from an open file meanwhile."""
    if sys.platform == "win32":
        import msvcrt

        for step in (msvcrt.LK_LOCK, msvcrt.LK_UNLCK):
            os.lseek(handle, _LOCKED, os.SEEK_SET)  # beyond all that others may read
            msvcrt.locking(handle, step, 1)
            if step == msvcrt.LK_LOCK:
                yield
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process at a time change the files of a folder."""
    path = folder / ".treeaudit.lock"
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        try:
            handle = os.open(path, flags, 0o666)
        except OSError as error:
            reason = (error.strerror or "").lower()
            raise DataError(f"{path} cannot be written: {reason}") from None
        try:
            with alone(handle):
                # Whoever held it before us took it away: then it keeps nobody out any more.
                if _is_at(handle, path):
                    try:
                        yield
                    finally:
                        with suppress(OSError):  # Windows keeps a file that others wait for
                            path.unlink()
                    return
        finally:
            os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _place_new(draft: Path, target: Path) -> None:
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:
        draft.replace(target)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
