"""What `treeaudit inspect` shows of a file of any format."""

from dataclasses import dataclass


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
