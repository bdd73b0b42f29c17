"""The outline of an R file for `treeaudit inspect`: classes and sizes, by their paths in R."""

from collections.abc import Sequence

from treeaudit.readers.parts import Part, StoredArray
from treeaudit.readers.r.beyond import form
from treeaudit.readers.r.contents import frames
from treeaudit.readers.r.objects import NUMBERS, RObject
from treeaudit.readers.r.walk import FORM, Place, children

_DEEPEST, _MOST_PARTS, _MOST = 5, 20, 120
_MOST_ALIKE = 2  # Elements without a name, such as trees
_SETTING = 4  # Up to so many numbers or texts are a setting, and not worth a line


def outline(root: RObject) -> Part:
    """Return what is in an R object, from the outside to the inside."""
    return _part(Place(root), _DEEPEST, set())


def _part(place: Place, deeper: int, visited: set[int]) -> Part:
    value, name = place.value, place.step
    if id(value) in visited:
        return Part(name=name, kind=form(value), facts=("as above",))
    visited.add(id(value))
    frame = next(frames([place]), None)
    if frame is not None:
        size = (f"{frame.rows:,} rows", f"{len(value):,} columns")
        return Part(name=name, kind=value.classes[0] if value.classes else "list", facts=size)
    below = [one for one in children(place) if _is_worth(one)]
    most = _MOST_PARTS if value.names or value.kind != "list" else _MOST_ALIKE
    some = below[:most] if deeper else []
    shown = [_part(one, deeper - 1, visited) for one in some if len(visited) < _MOST]
    if len(below) > len(shown):
        shown.append(Part(name="…", kind=f"{len(below) - len(shown):,} more"))
    return Part(name=name, kind=form(value), parts=tuple(shown))


def _is_worth(place: Place) -> bool:
    """Tell whether an object holds more than a setting."""
    value = place.value
    if value.kind in NUMBERS | {"string"}:
        return len(value) > _SETTING and place.name not in FORM
    if value.kind == "list":
        return len(value) > 0 and place.name != "dimnames"
    return value.kind in ("environment", "s4", "closure", "expression", "promise", "altrep")


def largest(places: Sequence[Place], most: int, least: int) -> tuple[StoredArray, ...]:
    """Return the largest vectors of numbers, of at least so many bytes."""
    held = [one for one in places if one.value.kind in NUMBERS]
    held = [one for one in held if one.value.values.nbytes >= least]
    held.sort(key=lambda one: -one.value.values.nbytes)
    return tuple(
        StoredArray(
            where=one.path or "the file itself",
            shape=one.value.dim or one.value.values.shape,
            dtype=one.value.kind,
            n_bytes=one.value.values.nbytes,
        )
        for one in held[:most]
    )
