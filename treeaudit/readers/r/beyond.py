"""What in an R file is no part of a model, of what wraps it, or of the training data (TA206)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from treeaudit.model.source import Extra
from treeaudit.readers.limits import bare
from treeaudit.readers.r.objects import NUMBERS, RObject, Short
from treeaudit.readers.r.walk import FORM, Place, model_class

_LONG = 200  # Values of a setting; bytes of a note
_ATTRIBUTES = FORM | frozenset(
    (
        "dimnames row.names variables factors term.labels order intercept response predvars "
        "dataClasses terms package xlevels ylevels .Environment lhs rhs Formula_with_dot dot "
        "Formula_without_dot ordered groups .drop ptype assign call tzone specials offset "
        "contrasts na.action early_stop metadata butcher_disabled params .internal.selfref"
    ).split()
)
# What a place is a part of, if no piece beyond the model: a setting, a tree, the training data.
_SMALL, _LARGE, _NAMED = -1, -2, -3


@cache
def _elements() -> dict[str, dict[str, int]]:
    """Return the elements of each class, and which of them may be large."""
    text = files("treeaudit.readers.r").joinpath("elements.txt").read_text(encoding="utf-8")
    lines = [line.partition(":") for line in text.splitlines() if not line.startswith("#")]
    known = {cls: names.split() for cls, _, names in lines}
    return {
        cls: {
            one.rstrip("*"): _LARGE if one[-1] == "*" else _SMALL for one in [*known["*"], *names]
        }
        for cls, names in known.items()
    }


def beyond(places: Sequence[Place], models: Sequence[Place], named: set[int]) -> Iterator[Extra]:
    """Yield the pieces beyond the models; what was named as training data is none."""
    on_the_way: set[int] = set()
    for model in models:
        place: Place | None = model
        while place is not None and id(place.value) not in on_the_way:
            on_the_way.add(id(place.value))
            place = place.above
    part_of: dict[int, int] = {}
    pieces: list[Place] = []
    sizes: dict[int, int] = defaultdict(int)
    inside: dict[int, str] = {}
    for place in places:
        part = _part_of(place, part_of, on_the_way, named)
        size = _size(place.value)
        many = place.value.kind in NUMBERS | {"string"} and len(place.value) > _LONG
        if part is None or (part == _SMALL and (many or size > 8 * _LONG)):
            part = len(pieces)
            pieces.append(place)
        part_of[id(place.value)] = part
        sizes[part] += size
        if part >= 0 and (name := model_class(place.value)) is not None:
            inside[part] = f", and in it a model ({name})"
    for i, place in enumerate(pieces):
        short = place.value.kind in NUMBERS | {"string"} and len(place.value) <= 1
        if sizes[i] and short and sizes[i] <= _LONG:
            says = f"a note beside the model: {form(place.value)}"
            yield Extra(kind="notes", where=place.path, n=sizes[i], says=says)
        elif sizes[i]:
            says = f"beyond the model: {form(place.value)}{inside.get(i, '')}"
            yield Extra(kind="extra", where=place.path, n=sizes[i], says=says)


def _part_of(
    place: Place, part_of: Mapping[int, int], on_the_way: set[int], named: set[int]
) -> int | None:
    """Return what a place is a part of; None for a piece of its own."""
    value, above = place.value, place.above
    if id(value) in named:
        return _NAMED
    if id(value) in on_the_way or above is None:
        return _SMALL
    part = part_of[id(above.value)]
    if part >= 0 and value.kind != "environment":
        return part
    if value.kind == "bytecode" or (place.before == "attr(" and place.name == "factors"):
        return _LARGE
    if value.kind == "environment" or (place.before == "attr(" and place.name not in _ATTRIBUTES):
        return None
    if id(above.value) not in on_the_way or not place.after.startswith(("$", "@", "[")):
        return part
    known = next((_elements()[one] for one in above.value.classes if one in _elements()), None)
    return None if known is None else known.get(place.name)


def _size(value: RObject) -> int:
    """Return how many bytes an object itself holds, without what is in it."""
    match value.kind:
        case kind if kind in NUMBERS:
            return int(value.values.nbytes)
        case "list" if isinstance(value.values, Short):
            return value.values.nbytes
        case "string":
            return sum(len(one.encode("utf-8", "replace")) + 1 for one in value.values if one)
        case "symbol" | "char":
            return len(value.values or "")
        case _:
            return 0


def form(value: RObject) -> str:
    """Say what an object is in a few words, such as ``300 × 2 values (double)``."""
    shown = f" of class {bare(value.classes[0], 40)}" if value.classes else ""
    if value.kind in NUMBERS | {"string"}:
        size = " × ".join(f"{n:,}" for n in value.dim or (len(value),))
        many = "" if size == "1" else "s"
        what = f"text{many}" if value.kind == "string" else f"value{many} ({value.kind})"
        return f"{size} {what}{shown}"
    held = "1 entry" if len(value) == 1 else f"{len(value):,} entries"
    of = f" of {held}" if isinstance(value.values, list | dict | Short) else ""
    kind = {"s4": "S4 object", "language": "call"}.get(value.kind, value.kind)
    return f"{'an' if kind[0] in 'eS' else 'a'} {kind}{shown}{of}"
