"""Walk through what a file holds: every object once, within bounds, no recursion."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from treeaudit.readers.limits import Deepest, Most, clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert

_T = TypeVar("_T")
_SETTINGS = frozenset({type(None), bool, int, float, str})
_CONTAINERS = (Inert, dict, list, tuple, set, frozenset, np.ndarray)
_LONGEST_PATH = 200
_LONGEST_NAME = 80
# Their insides are numbers without names: node tables, generator states, search trees.
_CLOSED = frozenset({"Tree", "TreePredictor"})
_CLOSED_MODULES = (
    "numpy.random",
    *(f"sklearn.neighbors.{name}" for name in ("_kd_tree", "_ball_tree", "kd_tree", "ball_tree")),
)


def walk(
    first: _T,
    value_of: Callable[[_T], object],
    parts: Callable[[_T], Iterator[_T]],
    deepest: int = Deepest.walk,
    cut: Callable[[_T], None] = lambda place: None,
    seen: set[int] | None = None,
) -> Iterator[_T]:
    """Yield a place and all below it, depth first; what is no container is passed over."""
    seen = set() if seen is None else seen
    todo = [iter((first,))]
    while todo:
        place = next(todo[-1], None)
        if place is None:
            todo.pop()
            continue
        value = value_of(place)
        if not isinstance(value, _CONTAINERS) or id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > Most.objects:
            cut(place)
            return
        yield place
        if len(todo) < deepest:
            todo.append(parts(place))
        elif not isinstance(value, np.ndarray):
            cut(place)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A value in the file and the way to it."""

    value: object  # the value, late arrays resolved
    step: str = ""  # the last step of the way: an attribute, or an index in brackets
    above: "Place | None" = None  # the place that holds it

    @property
    def path(self) -> str:
        """The way from the top, such as ``steps['tree'].estimators_[3]``."""
        steps: list[str] = []
        place: Place | None = self
        while place is not None:
            steps.append(place.step)
            place = place.above
        text = ""
        for step in reversed(steps):
            text += f".{step}" if text and step and step[0] not in "[(" else step
        return text if len(text) <= _LONGEST_PATH else text[: _LONGEST_PATH - 1] + "…"

    def owners(self) -> Iterator[Inert]:
        """Yield the objects on the way to this place, nearest first, without itself."""
        place = self.above
        while place is not None:
            if isinstance(place.value, Inert):
                yield place.value
            place = place.above

    def at(self, step: str) -> str:
        """Return the way to a part of this place."""
        return Place(None, step, self).path


class Walk:
    """Every container and array in a file, once; parents before their parts.

    Attributes
    ----------
    cut
        Where the walk was first cut off because there was too much, or None.
    """

    def __init__(self, root: object) -> None:
        self._root = root
        self.cut: str | None = None

    def __iter__(self) -> Iterator[Place]:
        """Yield the places depth first."""
        first = Place(arrived(self._root))
        return walk(first, lambda place: place.value, _parts, cut=self._note)

    def _note(self, place: Place) -> None:
        self.cut = self.cut or place.path


def is_closed(value: Inert) -> bool:
    """Tell whether the insides of an object are numbers without names, at which no walk looks."""
    module = value.cls.module
    if module.startswith(_CLOSED_MODULES):
        return True
    return value.kind in _CLOSED and module.startswith("sklearn.")


def _parts(place: Place) -> Iterator[Place]:
    value = place.value
    match value:
        case Inert():
            yield from _parts_of_object(place, value)
        case dict():
            held = ((k, v) for k, v in value.items() if type(v) not in _SETTINGS)
            yield from (Place(arrived(v), f"[{show(k)}]", place) for k, v in held)
        case list() | tuple():
            for i, element in enumerate(value):
                yield from _element(place, i, arrived(element))
        case set() | frozenset():
            yield from (Place(arrived(part), f"{{{i}}}", place) for i, part in enumerate(value))
        case np.ndarray() if value.dtype == object:
            for index, element in np.ndenumerate(value):
                step = ", ".join(map(str, index))
                yield Place(arrived(element), f"[{step}]", place)


def _element(place: Place, i: int, element: object) -> Iterator[Place]:
    """Yield an element of a list; a named one, as the step of a pipeline, by its name."""
    if isinstance(place.value, list) and isinstance(element, tuple) and len(element) > 1:
        name, first = element[0], arrived(element[1])
        if isinstance(name, str) and isinstance(first, Inert | str):
            for part in element[1:]:
                yield Place(arrived(part), f"[{show(name)}]", place)
            return
    yield Place(element, f"[{i}]", place)


def _parts_of_object(place: Place, value: Inert) -> Iterator[Place]:
    if is_closed(value):
        return
    attributes = value.attributes
    for name, part in attributes.items():
        if type(part) not in _SETTINGS:
            yield Place(arrived(part), clean(name[:_LONGEST_NAME]), place)
    if not attributes and value.state is not None:
        yield Place(arrived(value.state), "__state__", place)
    for i, part in enumerate(value.args):
        yield Place(arrived(part), f"({i})", place)
    for i, part in enumerate(value.items):
        yield Place(arrived(part), f"[{i}]", place)
    for key, part in value.pairs.items():
        yield Place(arrived(part), f"[{show(key)}]", place)
