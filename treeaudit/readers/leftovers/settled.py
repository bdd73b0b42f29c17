"""Settings of many objects: an ensemble gives all its members the same ones."""

__all__ = ["Settled"]

_FEW = 16
"""So many different values of one setting the objects of a class may have in a file."""
_COUNTED = frozenset("max_features_ n_features_ n_features_in_ n_outputs_ n_classes_".split())


class Settled:
    """Tells the first few values of each setting from more than an ensemble gives its members.

    Parameters
    ----------
    few
        How many: 1 among the members of an ensemble.
    """

    def __init__(self, few: int = _FEW) -> None:
        self._few = few
        self._known: dict[tuple[str, str], set[object]] = {}

    def takes(self, kind: str, name: str, value: object) -> bool:
        """Tell whether a value is one of the first few.

        Parameters
        ----------
        kind, name
            The class and the attribute; what was learned may differ from object to object, and
            seeds are told of elsewhere.
        value
            None, a logical value, a number, or a text.

        Examples
        --------
        >>> settled = Settled()
        >>> [settled.takes("Tree", "alpha", i / 7) for i in range(17)].count(False)
        1
        >>> settled.takes("Tree", "alpha", 0.0), settled.takes("Tree", "a_", 0.5)
        (True, True)
        """
        known = self._known.setdefault((kind, name), set())
        one = (type(value), value if value == value else None)
        if one in known:
            return True
        learned = name[0] == "_" or (name[-1] == "_" and name not in _COUNTED)
        if learned or name == "random_state" or len(known) < self._few:
            known.add(one)
            return True
        return False
