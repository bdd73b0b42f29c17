"""Walk through R objects: each once, the shortest way first, with paths in R syntax."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treeaudit.errors import ModelTooLargeError
from treeaudit.readers.limits import Most, clean
from treeaudit.readers.r.objects import CALLS, NUMBERS, RObject

_SYNTACTIC = re.compile(r"[A-Za-z.][\w.]*|\.\.\.")
_PLAIN = NUMBERS | {"string", "symbol", "null"}
_HOLD = CALLS | {"list", "expression", "bytecode"}
_LONGEST_PATH, _LONGEST_NAME = 200, 80
# What says how the values of an object are arranged, and holds nothing else.
FORM = frozenset("names class levels dim tsp".split())
MODEL_CLASSES = frozenset(
    (
        "rpart randomForest ranger party cforest gbm C5.0 tree xgb.Booster lgb.Booster "
        "BinaryTree RandomForest classbagg regbagg survbagg"
    ).split()
)
"""Classes of models with trees. What wraps one (caret, parsnip, workflows, mlr3) is looked into."""
_AS_PARTS = {
    "enclosure": "parent.env(",
    "environment": "environment(",
    "body": "body(",
    "formals": "formals(",
}


@dataclass(slots=True, eq=False)
class Place:
    """An object and the way to it."""

    value: RObject
    above: "Place | None" = None
    before: str = ""  # What the path of the place above stands between
    after: str = ""
    plain: bool = True  # Whether list elements, slots and environments alone lead to it
    name: str = ""

    @property
    def step(self) -> str:
        """The last step of the way, such as ``$frame``."""
        return f"{self.before}…{self.after}" if self.before else self.after

    @property
    def path(self) -> str:
        """The way in R syntax, such as ``attr($terms,".Environment")$train``; empty at the top."""
        head, tail, size = deque[str](), deque[str](), 0
        place: Place | None = self
        while place is not None and size < _LONGEST_PATH:
            head.append(place.before)
            tail.appendleft(place.after)
            size += len(place.before) + len(place.after)
            place = place.above
        text = ("…" if place is not None else "") + "".join((*head, *tail))
        return text if len(text) <= _LONGEST_PATH else text[: _LONGEST_PATH - 1] + "…"


def walk(root: RObject) -> Iterator[Place]:
    """Yield the root and all that it holds."""
    seen = {id(root)}
    todo = deque([Place(root)])
    while todo:
        place = todo.popleft()
        yield place
        value = place.value
        if value.kind in _PLAIN and not value.attributes:
            continue
        for below in children(place):
            if id(below.value) not in seen:
                seen.add(id(below.value))
                todo.append(below)
        if len(seen) > Most.objects:
            raise ModelTooLargeError(f"the file holds more than {Most.objects:,} R objects")


def children(place: Place) -> Iterator[Place]:
    """Yield what an object holds; numbers and texts hold nothing but attributes."""
    value, plain = place.value, place.plain
    if value.kind == "environment":
        for name, one in value.values.items():
            yield Place(one, place, "", f"${_quoted(name)}", plain, name)
    elif value.kind in _HOLD and isinstance(value.values, list):
        names = value.names
        for i, one in enumerate(value.values):
            name = names[i] if i < len(names) else ""
            step = f"${_quoted(name)}" if name else f"[[{i + 1}]]"
            yield Place(one, place, "", step, plain, name)
    for name, one in value.parts.items():
        before = _AS_PARTS.get(name, "")
        yield Place(one, place, before, ")" if before else "", False, name)
    for name, one in value.attributes.items():
        if value.kind == "s4" and name != "class":
            yield Place(one, place, "", f"@{_quoted(name)}", plain, name)
        elif name not in FORM or one.attributes:
            yield Place(one, place, "attr(", f',"{clean(name[:_LONGEST_NAME])}")', False, name)


def _quoted(name: str) -> str:
    name = clean(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")
    return name if _SYNTACTIC.fullmatch(name) else f"`{name}`"


def model_class(value: RObject) -> str | None:
    """Return the class by which an object is a tree model."""
    return next((name for name in value.classes if name in MODEL_CLASSES), None)


def model_places(places: Sequence[Place]) -> tuple[list[Place], list[Place]]:
    """Return the models that elements and slots lead to, and those in what functions captured.

    The members of a model are parts of it.
    """
    usual: list[Place] = []
    elsewhere: list[Place] = []
    members: set[int] = set()
    for place in places:
        above = place.above
        if above is not None and id(above.value) in members and place.plain == above.plain:
            members.add(id(place.value))
        elif model_class(place.value) is not None:
            members.add(id(place.value))
            (usual if place.plain else elsewhere).append(place)
    return usual, elsewhere
