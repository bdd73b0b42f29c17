"""Which columns a step of a ColumnTransformer is given."""

from collections.abc import Sequence

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.column import CannotUndoError


def agreed(places: list[int], chosen: object, numbers: object, own: Sequence[str]) -> list[int]:
    """Return the columns of a step, which a file may state twice: a table goes by the second."""
    numbers = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
    if numbers is None or numbers == [place % len(own) for place in places]:
        return places
    chosen = chosen.tolist() if isinstance(chosen := arrived(chosen), np.ndarray) else chosen
    each = chosen if isinstance(chosen, list | tuple) else [chosen]
    if any(isinstance(one, str) for one in each) and len(set(own)) < len(own):
        raise CannotUndoError
    raise ReadError(
        "the ColumnTransformer is inconsistent: it gives a step other columns than it states"
    )


def places_of(chosen: object, own: Sequence[str]) -> list[int]:
    """Return the positions that a column selection of scikit-learn means."""
    chosen = arrived(chosen)
    if isinstance(chosen, Inert) and chosen.kind == "slice":
        return _slice(chosen, own)
    if isinstance(chosen, np.ndarray):
        chosen = chosen.tolist()
    if isinstance(chosen, str | int):
        chosen = [chosen]
    if not isinstance(chosen, list | tuple):
        raise CannotUndoError
    if chosen and all(isinstance(c, bool) for c in chosen):
        return [i for i, wanted in enumerate(chosen) if wanted]
    return [own.index(c) if isinstance(c, str) else int(c) for c in chosen]


def _slice(chosen: Inert, own: Sequence[str]) -> list[int]:
    start, stop, step = chosen.args
    start = own.index(start) if isinstance(start, str) else start
    stop = own.index(stop) + 1 if isinstance(stop, str) else stop
    bounds = [part if isinstance(part, int) else None for part in (start, stop, step)]
    if bounds != [start, stop, step]:
        raise CannotUndoError
    return list(range(len(own))[slice(*bounds)])
