"""What boosters state, and why it could not be read, in a few words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from treeaudit.errors import ModelTooLargeError, ReadError, TreeauditError, UnsupportedModelError
from treeaudit.readers.limits import Most, clean, show

_Raw = TypeVar("_Raw")
_Tree = TypeVar("_Tree")


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say of whatever goes wrong inside what it happened to; of errors of Python not too much.

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

    Examples
    --------
    >>> whole({"num_trees": "3"}, "num_trees", 0, 10)
    3
    """
    value = stated.get(name, absent)
    if type(value) is int and least <= value <= most:
        return value
    try:
        number = int(value) if isinstance(value, str | int) else None
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        raise ReadError(f"its {name} is {show(value)}")
    return number


def check_number(n_trees: int, library: str) -> None:
    """Refuse a model without trees, or with too many."""
    if not n_trees:
        raise UnsupportedModelError(f"the {library} model has no trees: it was never trained")
    if n_trees > Most.trees:
        raise ModelTooLargeError(f"the {library} model has more than {Most.trees:,} trees")


def each_tree(stored: Iterable[_Raw], read: Callable[[_Raw], _Tree], first: int = 0) -> list[_Tree]:
    """Read one tree after the other; an error names the one that is damaged."""
    trees = []
    for i, raw in enumerate(stored, first):
        with reading(f"tree {i}"):
            trees.append(read(raw))
    return trees
