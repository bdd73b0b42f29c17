"""What boosted models of all libraries hold beside their trees, and how their settings look."""

import re
from collections.abc import Iterable, Iterator, Sequence

from treeaudit.model.leftovers import Kind, Leftover
from treeaudit.readers.leftovers.documents import is_plain
from treeaudit.readers.leftovers.texts import reads_as_name
from treeaudit.readers.types import Wide

__all__ = [
    "NUMBER",
    "category_names",
    "is_name",
    "row_seed",
    "setting",
]

NUMBER = r"-?(?:[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?|inf|nan)"
"""A number as text."""

_LONGEST_NAME = 200
_SETTING = re.compile(rf"(?=.{{1,26}}\Z){NUMBER}")


def setting(value: object) -> bool:
    """Tell whether a value is a number, as text too, or a truth value.

    Examples
    --------
    >>> [setting(value) for value in (0.5, "0.5", True, "33;yes;54;no", [1])]
    [True, True, True, False, False]
    """
    if isinstance(value, str):
        return _SETTING.fullmatch(value) is not None
    return is_plain(value, 0)


def is_name(text: object) -> bool:
    """Tell whether a text is the name of a column, a class or a category, or a number.

    Examples
    --------
    >>> [is_name(text) for text in ("age", "20240101120000", 0.5, "c 0.13 -0.1 0.64")]
    [True, True, True, False]
    """
    return reads_as_name(str(text), _LONGEST_NAME) or setting(text)


def category_names(where: str, columns: Iterable[Sequence[object]]) -> Iterator[Leftover]:
    """Yield the lists of categories, which name all that occur in the training data."""
    sizes = [len(names) for names in columns if names]
    if sizes:
        says = f"every category that occurred in {len(sizes):,} columns is named"
        yield Leftover(kind="column-values", where=where, n=sum(sizes), says=says)


def targets_in(sizes: Iterable[Wide | None]) -> frozenset[Kind]:
    """Return what the steps of a model that predicts a number may tell of single people.

    Nothing where every tree tells the people of its leaves and nobody is alone.
    """
    told = all(size is not None and bool((size > 1).all()) for size in sizes)
    return frozenset() if told else frozenset({"targets"})


def row_seed(where: str, sampled: bool) -> Iterator[Leftover]:
    """Yield the seed of a model whose trees each saw a part of the rows."""
    if sampled:
        says = "the seed from which the rows of each tree were drawn; not drawn again"
        yield Leftover(kind="seeds", where=where, n=1, says=says)
