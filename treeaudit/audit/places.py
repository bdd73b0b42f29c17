"""Places that are audited: a file each, or the reason why it is not even opened."""

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Found", "Place", "is_folder", "is_link", "why_not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file to audit.

    Attributes
    ----------
    path
        As it is shown.
    named
        Whether somebody said that it is a model; of others that are none only the name is told.
    wrong
        Why it is not even opened; empty where it is.
    """

    path: str
    named: bool = False
    wrong: str = ""


@dataclass(slots=True)
class Found:
    """The files to audit, and what was left aside: its path and what it is. Both by name."""

    places: list[Place] = field(default_factory=list)
    aside: list[tuple[str, str]] = field(default_factory=list)


def why_not(error: OSError) -> str:
    """Return the reason of the system, in the middle of a sentence.

    Examples
    --------
    >>> why_not(PermissionError(13, "Permission denied"))
    'permission denied'
    """
    return (error.strerror or "error").lower()


def is_folder(path: Path) -> bool:
    """Tell whether a path is a folder; what cannot be looked at is left to whoever opens it.

    Examples
    --------
    >>> is_folder(Path()), is_folder(Path("a" * 300))
    (True, False)
    """
    try:
        return path.is_dir()
    except OSError:
        return False


def is_link(path: Path) -> bool:
    """Tell whether a path is a link, as `is_folder` does.

    Examples
    --------
    >>> is_link(Path()), is_link(Path("a" * 300))
    (False, False)
    """
    try:
        return path.is_symlink()
    except OSError:
        return False
