"""The parameters of a defense: its fields, for help texts, and checked where they are given."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import getdoc
from numbers import Integral, Real
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from treeaudit.defenses.defense import Bounds, Defense
from treeaudit.errors import DataError
from treeaudit.people.records import Records

__all__ = ["Parameter", "made", "parameters", "takes_people"]

_PEOPLE = ("values", "labels", "targets")
"""Fields that are filled from `Records`."""
_WORKED_OUT = ("newton", "trial")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A field of a defense that can be set; ``help`` is what its docstring says of it."""

    kind: Any
    bounds: Bounds
    default: object
    help: str

    @property
    def asks(self) -> str:
        """What a value must be, in words."""
        if get_origin(self.kind) is Literal:
            return " or ".join(get_args(self.kind))
        if self.kind not in (int, float):
            return "numbers by name, such as {age = 5}"
        least, most = self.bounds.least, self.bounds.most
        span = f", {least:g} or more" if math.isinf(most) else f" from {least:g} to {most:g}"
        return f"a {'whole ' if self.kind is int else ''}number{span}"

    def takes(self, value: Any) -> bool:  # noqa: ANN401  # whatever somebody gave
        """Whether a value is one that it can be."""
        if get_origin(self.kind) is Literal:
            return value in get_args(self.kind)
        if self.kind not in (int, float):
            return isinstance(value, Mapping) and all(_is(one, Real) for one in value.values())
        number = _is(value, Integral if self.kind is int else Real)
        return number and bool(self.bounds.least <= value <= self.bounds.most)


def parameters(defense: type[Defense]) -> dict[str, Parameter]:
    """Return the parameters of a defense by name.

    Examples
    --------
    >>> from treeaudit.defenses import MergeClose
    >>> [(name, one.default, one.asks) for name, one in parameters(MergeClose).items()]
    [('t', 0.5, 'a number from 0 to 1')]
    """
    hints = get_type_hints(defense, include_extras=True)
    told = _told(getdoc(defense) or "")
    found = {}
    for field in fields(defense):
        kind, bounds = hints[field.name], Bounds(-math.inf)
        if get_origin(kind) is Annotated:
            kind, bounds = get_args(kind)
        new = field.default_factory
        default = field.default if new is MISSING else new()
        found[field.name] = Parameter(
            kind=kind, bounds=bounds, default=default, help=told.get(field.name, "")
        )
    return {name: one for name, one in found.items() if name not in (*_PEOPLE, *_WORKED_OUT)}


def takes_people(defense: type[Defense]) -> bool:
    """Whether a defense needs the training data, which are its fields ``values`` and ``labels``."""
    return any(field.name in _PEOPLE for field in fields(defense))


def made(
    defense: type[Defense],
    given: Mapping[str, object],
    people: Records | None = None,
) -> Defense:
    """Return a defense with its parameters set.

    Raises
    ------
    DataError
        If it has no such parameter, or a value cannot be.
    """
    known = parameters(defense)
    for name, value in given.items():
        if name not in known:
            takes = ", ".join(known) or "no parameters"
            raise DataError(f"{defense.id} takes no {name!r}; it takes {takes}")
        if not known[name].takes(value):
            raise DataError(f"{defense.id}: {name} is {value!r}: it must be {known[name].asks}")
    taken = {field.name for field in fields(defense)} & {*_PEOPLE}
    return defense(**given, **({} if people is None else {n: getattr(people, n) for n in taken}))


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _told(doc: str) -> dict[str, str]:
    """Read what a numpydoc docstring says of each attribute."""
    told: dict[str, str] = {}
    for line in doc.partition("Attributes\n----------\n")[2].splitlines():
        if line.strip() and not line.startswith(" "):
            name, told[line] = line, ""
        elif line.strip():
            told[name] = f"{told[name]} {line.strip()}".strip().replace("``", "")
    return told
