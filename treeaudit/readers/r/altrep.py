"""Vectors that R stores in a shorter way (ALTREP): sequences, wrapped vectors, late texts."""

import numpy as np

from treeaudit.readers.limits import Allowance
from treeaudit.readers.r.objects import CALLS, NA_INTEGER, VECTORS, RObject
from treeaudit.readers.r.streams import refuse

_TEXT = 80  # Bytes of a number as a text, and of its entry


def expanded(info: RObject, state: RObject, room: Allowance) -> RObject:
    """Return the vector of a class and a state; of a class that is not known, the state."""
    parts = info.values[:2] if info.kind in CALLS else []
    names = [one.values for one in parts if one.kind == "symbol"]
    name = names[0] if names else ""
    inner = state.values[0] if state.kind in CALLS | {"list"} and state.values else None
    if name in ("compact_intseq", "compact_realseq") and state.kind == "double":
        return _sequence(state, room, whole=name == "compact_intseq")
    if name.startswith("wrap_") and inner is not None and inner.kind in VECTORS:
        return RObject(inner.kind, inner.values, inner.attributes)
    if name == "deferred_string" and inner is not None and inner.kind in ("integer", "double"):
        room.take(len(inner) * _TEXT)
        numbers = inner.values.tolist()
        texts = [None if n == NA_INTEGER or n != n else f"{n:.15g}" for n in numbers]
        return RObject("string", texts)
    return RObject("altrep", names, parts={"state": state})


def _sequence(state: RObject, room: Allowance, *, whole: bool) -> RObject:
    """Return a sequence of which a file says length, first and step."""
    if len(state) != 3 or not np.all(np.abs(state.values) < 2**52):
        refuse("a sequence has no length, first and step")
    n, first, step = state.values.tolist()
    if n < 0 or not n.is_integer():
        refuse(f"a sequence of {n:g} elements")
    room.take(int(n) * 8)
    made = first + step * np.arange(int(n), dtype=np.float64)
    if not whole:
        return RObject("double", made)
    if np.any(np.abs(made[[0, -1]] if len(made) else made) >= 2**31):
        refuse("a sequence of whole numbers goes beyond 2,147,483,647")
    return RObject("integer", made.astype(np.int32))
