"""What `treeaudit inspect` shows of a file of any format."""

from dataclasses import dataclass

from treeaudit.model.source import Extra


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something in the file: its name in its holder, its class, a few facts, and its parts."""

    name: str
    kind: str
    facts: tuple[str, ...] = ()
    parts: tuple["Part", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArray:
    """One array of numbers in the file."""

    where: str
    shape: tuple[int, ...]
    dtype: str
    n_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name that loading the file the usual way would import."""

    name: str
    n: int
    foreign: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a file holds.

    ``outline`` is None if its estimators were not reached; ``model`` is what an audit would look
    at, ``structure`` whether its trees hold together and how skops loads them, ``no_model`` why
    there is nothing to look at, ``refused`` what loading the file would run. ``names`` are those
    that the file mentions, foreign ones first.
    """

    path: str
    n_bytes: int
    sha256: str
    compression: str
    format: str
    protocol: int | None = None
    versions: tuple[str, ...] = ()
    outline: Part | None = None
    model: str | None = None
    structure: str | None = None
    no_model: str | None = None
    refused: str | None = None
    arrays: tuple[StoredArray, ...] = ()
    leftovers: tuple[Extra, ...] = ()
    names: tuple[Name, ...] = ()
