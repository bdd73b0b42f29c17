"""Which way columns have to go, and which may meet: settings as long as a model is wide."""

from collections.abc import Set

from treeaudit.readers.pickles.arrays import arrived

__all__ = ["is_constraint"]

_MOST_GROUPS_OF_ONE = 4
_LONGEST = 1 << 16


def is_constraint(value: object, width: int, names: Set[str]) -> bool:
    """Tell whether a value constrains columns, and says no more.

    Parameters
    ----------
    value
        A direction for each column (-1, 0 or 1; by name too), or groups of columns; as text too.
    width
        How many columns there are.
    names
        What they may be called.

    Examples
    --------
    >>> is_constraint((1, 0, -1), 3, set()), is_constraint("(1,0,-1)", 3, set())
    (True, True)
    >>> is_constraint([[0, 1], ["age"]], 2, {"age"}), is_constraint([[33, 54]], 3, {"age"})
    (True, False)
    """
    if isinstance(value, str):
        value = _read(value)
    if isinstance(value, dict):
        named = all(isinstance(name, str) and name in names for name in value)
        return named and all(map(_is_direction, value.values()))
    if not isinstance(value, list | tuple) or len(value) > width:
        return False
    parts = [arrived(part) for part in value]
    if all(map(_is_direction, parts)):
        return True
    left = _MOST_GROUPS_OF_ONE * width
    for group in parts:
        if not isinstance(group, list | tuple | set | frozenset) or len(group) > left:
            return False
        left -= len(group)
        members = [arrived(one) for one in group]
        if not all(_is_column(one, width, names) for one in members):
            return False
        if len(set(members)) < len(members):
            return False
    return True


def _read(text: str) -> object:
    """Return the list that a text spells in one way: another at each place would say something."""
    import json  # hardly any model has such a text

    plain = text.replace("(", "[").replace(")", "]").replace("'", '"')
    both = any(one in text and other in text for one, other in ("([", ")]", "'\""))
    if len(text) > _LONGEST or both:
        return None
    try:
        read = json.loads(plain)
    except (ValueError, RecursionError):
        return None
    ways = (json.dumps(read), json.dumps(read, separators=(",", ":")))
    return read if plain in ways else None


def _is_direction(part: object) -> bool:
    return type(part) is int and part in (-1, 0, 1)


def _is_column(part: object, width: int, names: Set[str]) -> bool:
    if isinstance(part, str):
        return part in names
    return type(part) is int and 0 <= part < width
