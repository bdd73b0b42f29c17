"""What boosters state, and why it could not be read, in a few words."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from treeaudit.errors import (
    ModelTooLargeError,
    ReadError,
    TreeauditError,
    UnsupportedModelError,
)
from treeaudit.readers.limits import clean, show

__all__ = ["reading", "whole"]


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say of whatever goes wrong inside what it happened to; of errors of Python not too much.

    Raises
    ------
    ReadError
        For every error that damaged numbers can lead to.

    Examples
    --------
    >>> with reading("tree 3"):
    ...     int("x")
    Traceback (most recent call last):
    treeaudit.errors.ReadError: tree 3: "invalid literal for int() with base 10: 'x'"
    """
    try:
        yield
    except (UnsupportedModelError, ModelTooLargeError):
        raise
    except (TreeauditError, ValueError, TypeError, OverflowError, RecursionError) as error:
        own = isinstance(error, TreeauditError)
        reason = clean(error) if own else show(str(error), 100)
        raise ReadError(f"{what}: {reason}") from None


def whole(
    stated: Mapping[str, object], name: str, least: int, most: int, absent: object = None
) -> int:
    """Return a whole number, which may be written as text.

    Raises
    ------
    ReadError
        If it is missing, none, or not between ``least`` and ``most``.

    Examples
    --------
    >>> whole({"num_trees": "3"}, "num_trees", 0, 10)
    3
    """
    value = stated.get(name, absent)
    try:
        number = int(value) if isinstance(value, str | int) else None
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        raise ReadError(f"its {name} is {show(value)}")
    return number
