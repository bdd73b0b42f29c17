"""The record of an audit: when it was made, by whom, and on which files of people.

``SOURCE_DATE_EPOCH`` (seconds since 1970), as reproducible builds know it, takes the place of the
clock: the same question then gives the same report, byte for byte.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from treeaudit.errors import DataError
from treeaudit.files import open_regular
from treeaudit.findings.request import Request
from treeaudit.people.input.sources import files_of

LONGEST_LINE = 200
"""Characters of what people say of themselves."""

INPUTS = ("train", "test", "known", "prior")
"""The tables of an audit, in the order in which they are told."""


def is_line(text: object) -> bool:
    """Tell whether a text can be shown on a line as it stands."""
    return (
        isinstance(text, str)
        and bool(text.strip())
        and text.isprintable()
        and len(text) <= LONGEST_LINE
    )


def now() -> datetime:
    """Return the time of a record, in UTC: that of ``SOURCE_DATE_EPOCH`` where it is set."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told is None:
        return datetime.now(UTC).replace(microsecond=0)
    try:
        return datetime.fromtimestamp(int(told), UTC)
    except (ValueError, OverflowError, OSError):
        raise DataError(f"SOURCE_DATE_EPOCH={told}: it is a number of seconds since 1970") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """When an audit was made, by whom, and on which files.

    * ``at``: the time in UTC, in whole seconds.
    * ``by``: who made it, as they say themselves; None where nobody says.
    * ``inputs``: SHA-256 of each table that was read, by role; None where it was no local file.
    """

    at: datetime = field(default_factory=now)
    by: str | None = None
    inputs: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def time(self) -> str:
        """The time as ISO 8601 has it."""
        return f"{self.at:%Y-%m-%dT%H:%M:%S}Z"

    @property
    def day(self) -> str:
        """The day as a page tells it."""
        return f"{self.at.day} {self.at:%B %Y}"

    @property
    def in_words(self) -> str:
        """The time as a page tells it."""
        return f"{self.day}, {self.at:%H:%M} UTC"


def hashes_of(request: Request) -> dict[str, str | None]:
    """Return the hash of every table that an audit is given, by role."""
    given = {role: getattr(request, role) for role in INPUTS}
    return {role: sha256_of(one) for role, one in given.items() if one is not None}


def sha256_of(table: object) -> str | None:
    """Return the SHA-256 of a file; of several that of their lines ``HASH  NAME``, by name.

    None where it is no local file, or one that cannot be read: whoever reads it says why.
    """
    if not isinstance(table, str | os.PathLike):
        return None
    path = Path(table)
    try:
        files = files_of(path)
        if files == [path]:
            return sha256_of_file(path)
        below = path if path.is_dir() else path.parent
        named = sorted((_name_in(below, one), sha256_of_file(one)) for one in files)
    except (OSError, DataError):
        return None
    lines = "".join(f"{digest}  {name}\n" for name, digest in named)
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest() if named else None


def _name_in(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of the bytes of a file."""
    with os.fdopen(open_regular(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
