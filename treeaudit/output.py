"""Write a file once and whole: atomically, and never over another by accident."""

import os
import tempfile
from pathlib import Path

from treeaudit.errors import DataError

__all__ = ["check_free", "check_new", "write_file"]


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


def write_file(path: str | os.PathLike[str], content: str | bytes, *, force: bool = False) -> Path:
    """Write ``content`` to ``path`` so that it is there whole or not at all.

    Parameters
    ----------
    path
        Where to write. A link at this place is replaced, not followed.
    content
        Text is written as UTF-8.
    force
        Replace a file that exists.

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
    data = content.encode() if isinstance(content, str) else content
    check_new(target, force=force)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise DataError(f"{target} cannot be written: {reason}") from None
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.chmod(0o666 & ~_umask())
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
    return target


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
