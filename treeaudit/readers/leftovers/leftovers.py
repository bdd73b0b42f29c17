"""What a pickle says about people beside its trees.

One walk over the inert record of the file. Attributes that are known to hold
training data are named; beyond them any array with a row per training record
counts, wherever it is. Nothing that is part of the trees themselves, and
nothing that is the same for everybody.
"""

from collections.abc import Sequence

import numpy as np

from treeaudit.readers.leftovers.leftover_code import calls
from treeaudit.readers.leftovers.leftover_columns import columns
from treeaudit.readers.leftovers.leftover_draws import seeds
from treeaudit.readers.leftovers.leftover_rounds import first_round
from treeaudit.readers.leftovers.leftover_rows import named_rows, rows
from treeaudit.readers.leftovers.leftover_targets import targets
from treeaudit.readers.leftovers.walk import Place, Walk
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.tree import Leftover

__all__ = ["leftovers"]

_MOST = 200
"""Beyond so many of a kind the rest is counted, not listed."""


def leftovers(
    root: object, n_records: int | None, mentioned: Sequence[Global]
) -> tuple[Leftover, ...]:
    """Return what else a file gives away, with the way to it.

    Parameters
    ----------
    root
        What the file holds, as inert data.
    n_records
        Training records of the model, where known.
    mentioned
        Every name in the file.

    Examples
    --------
    >>> import pickle
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from treeaudit.readers.pickles.pickle_vm import read_pickle
    >>> forest = RandomForestClassifier(10, random_state=0).fit(*load_iris(return_X_y=True))
    >>> file = read_pickle(pickle.dumps(forest))
    >>> [(found.kind, found.where) for found in leftovers(file.root, 150, file.mentioned)]
    [('seeds', 'estimators_[*].random_state'), ('seeds', 'random_state')]
    """
    # Numbers of a doctored file may overflow; what follows from them fails its check.
    with np.errstate(all="ignore"):
        found = _find(root, n_records, mentioned)
    return _few(list(dict.fromkeys(found)))


def _find(root: object, n_records: int | None, mentioned: Sequence[Global]) -> list[Leftover]:
    walk = Walk(root)
    found: list[Leftover] = []
    trees: list[Place] = []
    claimed: set[int] = set()
    nested = 0
    for place in walk:
        value = place.value
        nested += isinstance(value, np.ndarray) and value.dtype == object
        if isinstance(value, Inert):
            found += named_rows(place, claimed)
            found += columns(place, n_records)
            found += seeds(place, n_records)
            found += first_round(place)
            if isinstance(arrived(value.get("tree_")), Inert):
                trees.append(place)
        if n_records is not None and id(value) not in claimed:
            found += rows(place, n_records)
    found += targets(trees)
    found += calls(mentioned, nested)
    if walk.cut is not None:
        says = "the file holds more objects than are looked at: what lies behind was not seen"
        found.append(Leftover(kind="unseen", where=walk.cut, n=0, says=says))
    return found


def _few(found: list[Leftover]) -> tuple[Leftover, ...]:
    """Keep the first of each kind and count the others."""
    kept: list[Leftover] = []
    for kind in dict.fromkeys(one.kind for one in found):
        alike = [one for one in found if one.kind == kind]
        kept += alike[:_MOST]
        if len(alike) > _MOST:
            says = f"{len(alike) - _MOST:,} more of this kind"
            n = sum(one.n for one in alike[_MOST:])
            kept.append(Leftover(kind=kind, where="…", n=n, says=says))
    return tuple(kept)
