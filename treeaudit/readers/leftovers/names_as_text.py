"""Whether the name of a column, a class or a category is a name, or content in its place."""

import re

__all__ = ["looks_like_content"]

_LONGEST = 200
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_FIELDS = re.compile(r"[;|\t\n,]")
_MOST_NUMBERS, _MOST_FRACTIONS, _MOST_DIGITS, _MOST_FIELDS = 7, 2, 24, 2


def looks_like_content(name: str) -> bool:
    """Tell whether a text holds what a name of a column or a category does not: a row of values.

    Examples
    --------
    >>> names = ("mean radius (mm)", "2021-01-01 00:00:00", "(0.12, 0.5]", "Tech, senior (IT, web)")
    >>> [looks_like_content(name) for name in names]
    [False, False, False, False]
    >>> rows = ("c 0.13 -0.1 0.64", "c0_0.13_0.10_0.2_1", "Ann;33;yes;1", "3" * 40, "x" * 400)
    >>> [looks_like_content(name) for name in rows]
    [True, True, True, True, True]
    """
    if len(name) > _LONGEST:
        return True
    if len(name) < 4:
        return False
    numbers = _NUMBER.findall(name)
    return (
        len(numbers) > _MOST_NUMBERS
        or sum("." in one or "e" in one.lower() for one in numbers) > _MOST_FRACTIONS
        or sum(map(str.isdigit, name)) > _MOST_DIGITS
        or (len(_FIELDS.findall(name)) > _MOST_FIELDS and len(numbers) > 1)
    )
