"""Write a file once and whole: atomically, and never over another by accident."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from treeaudit.errors import DataError

__all__ = ["alone", "alone_in", "check_free", "check_new", "same_file", "suffix_of"]
__all__ += ["well_formed", "write_file", "writing"]

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
    """Refuse what cannot be written, before long work begins.

    Raises
    ------
    DataError
        If the file exists and ``force`` is false, or there is no such folder.
    """
    check_new(path, force=force, how="--force")
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {path.parent} for {path.name}")


def suffix_of(path: str | os.PathLike[str], known: Iterable[str], what: str) -> str:
    """Return the format that a path asks for by its suffix.

    Raises
    ------
    DataError
        If it is none of those that are known; ``what`` is what could be written there.

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

    Parameters
    ----------
    path
        Where to write. A link at this place is replaced, not followed.
    content
        Text is written as UTF-8, what is no text or bytes piece by piece.
    force
        Replace a file that exists.
    private
        Nobody but the owner may read it: it tells of single people.

    Returns
    -------
    pathlib.Path
        The path.

    Raises
    ------
    DataError
        If the file exists and ``force`` is false, or its folder cannot be
        written to.

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
    """Let one process at a time change the files of a folder.

    Raises
    ------
    DataError
        If the folder cannot be written to.
    """
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
