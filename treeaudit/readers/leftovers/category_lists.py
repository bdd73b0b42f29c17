"""Lists of categories that a file states twice: as they were given, and as they were learned."""

import math
import struct

import numpy as np

from treeaudit.readers.estimators.labels import text_of
from treeaudit.readers.leftovers.forms import is_sound
from treeaudit.readers.pickles.arrays import arrived

__all__ = ["list_of_categories"]

_NAN = (struct.pack("<d", math.nan), struct.pack("<d", -math.nan))


def list_of_categories(stored: object) -> tuple[str, ...] | None:
    """Return the categories of one column as texts; None where two lists of it may differ.

    Lists are the same where these are: all are texts or all are numbers of one type, beside
    what stands for missing values.

    Examples
    --------
    >>> list_of_categories(["a", "b", math.nan]), list_of_categories(np.array([1.0, 2.5]))
    (('a', 'b', 'missing'), ('1', '2.5'))
    >>> list_of_categories([1, 2.5]) is None, list_of_categories(["a", ["Ann"]]) is None
    (True, True)
    """
    if isinstance(stored, np.ndarray):
        usable = stored.ndim == 1 and (stored.dtype.kind in "OU" or is_sound(stored))
        stored = stored.tolist() if usable else None
    if not isinstance(stored, list | tuple):
        return None
    parts = [arrived(part) for part in stored]
    kinds: set[type] = set()
    for part in parts:
        if isinstance(part, float) and math.isnan(part):
            # Its other bits may say anything.
            if struct.pack("<d", part) not in _NAN:
                return None
        elif isinstance(part, str | int | float):
            kinds.add(type(part))
        elif part is not None:
            return None
    if len(kinds) > 1:
        return None
    return tuple(part if isinstance(part, str) else text_of(part) for part in parts)
