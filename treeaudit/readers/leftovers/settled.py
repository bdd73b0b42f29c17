"""Settings of many objects: an ensemble gives all its members the same ones."""

from collections.abc import Hashable

__all__ = ["Settled"]

_FEW = 16
"""So many different values of one setting the objects of a class may have in a file."""
_ROUNDS = 4
"""So many the members of one ensemble: they may be changed between the rounds of a warm start."""
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

    def __len__(self) -> int:
        """How many values are known."""
        return sum(map(len, self._known.values()))

    def takes(self, kind: str, name: str, value: object, ensemble: Hashable = None) -> bool:
        """Tell whether a value is one of the first few.

        Parameters
        ----------
        kind, name
            The class and the attribute; what was learned may differ from object to object, and
            seeds are told of elsewhere.
        value
            None, a logical value, a number, or a text.
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
        """
        counted = name in _COUNTED
        learned = name[0] == "_" or (name[-1] == "_" and not counted)
        if learned or name == "random_state":
            return True
        one = (type(value), value if value == value else None)
        taken = self._adds((kind, name), one, self._few)
        if ensemble is None or (counted and name != "max_features_"):
            return taken
        return self._adds((kind, name, ensemble), one, _ROUNDS) and taken

    def _adds(self, key: Hashable, one: object, few: int) -> bool:
        known = self._known.setdefault(key, set())
        if one not in known and len(known) < few:
            known.add(one)
        return one in known
