"""What a command reads is never written over, whatever ``--force`` says."""

import glob
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from treeaudit.errors import DataError
from treeaudit.output import same_file

__all__ = ["check_kept"]

_TABLES = frozenset((".csv", ".parquet", ".arrow", ".feather"))


def check_kept(
    output: Iterable[Path], read: Mapping[str, Path | str | None], policy: str | None = None
) -> None:
    """Refuse to write over a file that is read, by whatever name either is given.

    Parameters
    ----------
    output
        The files to be written.
    read
        The files that are read, and the folders and patterns of tables, by what names them on
        the line.
    policy
        A file where it is one; else a name.

    Raises
    ------
    DataError
        If a file is both.

    Examples
    --------
    >>> check_kept([Path("report.html")], {"--train": "people.csv", "--test": None})
    >>> check_kept([Path("people.csv")], {"--train": "people.csv"})
    Traceback (most recent call last):
    treeaudit.errors.DataError: people.csv is read, as --train; choose another name for the output
    """
    if policy is not None and policy.lower().endswith(".toml"):
        read = {**read, "--policy": policy}
    for path in output:
        for what, one in read.items():
            if one is not None and _is_read(path, Path(one)):
                how = "is the model itself" if what == "MODEL" else f"is read, as {what}"
                raise DataError(f"{path} {how}; choose another name for the output")


def _is_read(path: Path, one: Path) -> bool:
    if same_file(path, one):
        return True
    if not os.path.lexists(one):
        each = glob.iglob(str(one), recursive=True)  # noqa: PTH207  # as tables are found
        return any(same_file(path, table) for table in each)
    is_table = path.suffix.lower() in _TABLES and path.exists()
    return is_table and path.resolve().is_relative_to(one.resolve())
