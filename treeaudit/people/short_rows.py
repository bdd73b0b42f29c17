"""Rows of a text that end too early, which pandas fills up with nothing."""

import csv
import io
from collections.abc import Sequence

from treeaudit.errors import DataError

__all__ = ["check_full"]


def check_full(file: io.RawIOBase, names: Sequence[str], between: str, origin: str) -> None:
    r"""Refuse a table in which a row has fewer fields than there are columns.

    Slower than pandas: for files in which some row has nothing in its last column.

    Parameters
    ----------
    file
        Its bytes, from the start.
    names
        Of its columns; those at the end that have none may be left out.
    between
        What stands between fields.

    Raises
    ------
    DataError
        Names the line.

    Examples
    --------
    >>> check_full(io.BytesIO(b"a,b\n1,\n"), ["a", "b"], ",", "people.csv")
    >>> check_full(io.BytesIO(b"a,b\n1\n"), ["a", "b"], ",", "people.csv")
    Traceback (most recent call last):
    ...
    treeaudit.errors.DataError: people.csv, line 2 has 1 of 2 fields; write the empty ones too
    """
    n = len(names)
    while n and names[n - 1].startswith("Unnamed: "):
        n -= 1
    text = io.TextIOWrapper(io.BufferedReader(file), "utf-8-sig", newline="")
    lines = csv.reader(text, delimiter=between, skipinitialspace=True)
    try:
        for fields in lines:
            if len(fields) < n and (len(fields) > 1 or any(map(str.strip, fields))):
                raise DataError(
                    f"{origin}, line {lines.line_num} has {len(fields)} of {n} fields; write the "
                    "empty ones too"
                )
    except csv.Error:
        # Longer fields than it takes: what pandas made of them is looked at, as in all rows.
        return
