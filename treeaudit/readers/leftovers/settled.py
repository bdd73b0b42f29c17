"""Settings of many objects: an ensemble gives all its members the same ones."""

from collections.abc import Hashable

import numpy as np

from treeaudit.readers.pickles.dtypes import DType
from treeaudit.readers.pickles.inert import Global

__all__ = ["Settled"]

_FEW = 16
"""So many different values of one setting the objects of a class may have in a file."""
_ROUNDS = 4
"""So many the members of one ensemble, one after the other: they may be changed between the rounds
of a warm start, and which of them each member has would be a text."""
_COUNTED = frozenset("max_features_ n_features_ n_features_in_ n_outputs_ n_classes_".split())


class Settled:
    """Tells the first few values of each setting from more than an ensemble gives its members.

    Parameters
    ----------
    few
        How many in all: 1 among the members of an ensemble that is written anew.
    """

    def __init__(self, few: int = _FEW) -> None:
        self._few = few
        self._known: dict[Hashable, set[object]] = {}
        # Of each setting of an ensemble: its last value, and the how many-th that is.
        self._last: dict[Hashable, tuple[object, int]] = {}

    def takes(self, kind: str, name: str, value: object, ensemble: Hashable = None) -> bool:
        """Tell whether a value is one of the first few.

        Parameters
        ----------
        kind, name
            The class and the attribute; what was learned may differ from object to object, and
            seeds are told of elsewhere.
        value
            None, a logical value, a number, a text, a class or a type of numbers.
        ensemble
            Of which ensemble the object is a member, a copy of one estimator; None of none.

        Examples
        --------
        >>> settled = Settled()
        >>> [settled.takes("Tree", "alpha", i / 7) for i in range(17)].count(False)
        1
        >>> settled.takes("Tree", "alpha", 0.0), settled.takes("Tree", "a_", 0.5)
        (True, True)
        >>> [settled.takes("Tree", "beta", i / 7, "forest") for i in range(17)].count(False)
        13
        >>> [settled.takes("Tree", "gamma", i % 2, "grove") for i in range(17)].count(False)
        13
        """
        counted, named = name in _COUNTED, isinstance(value, Global | DType)
        learned = name[0] == "_" or (name[-1] == "_" and not counted)
        if (learned or name == "random_state") and not (named or isinstance(value, str)):
            return True
        part = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
        # Zeros of two signs are equal, and a number that is none to nothing.
        one = (type(part), str(part) if named or isinstance(part, float) else part)
        taken = self._adds((kind, name), one, self._few)
        if ensemble is None or (counted and name != "max_features_"):
            return taken
        last, n = self._last.get((kind, name, ensemble), (None, 0))
        if last != one:
            n += 1
            self._last[kind, name, ensemble] = one, n
        return n <= _ROUNDS and taken

    def _adds(self, key: Hashable, one: object, few: int) -> bool:
        known = self._known.setdefault(key, set())
        if one not in known and len(known) < few:
            known.add(one)
        return one in known
