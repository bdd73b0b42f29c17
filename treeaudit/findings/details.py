"""Numbers of people as types, and the typed details of findings as data and as JSON Schema.

A `People` is a whole number and a `Share` is a number like any other: they are added, compared
and written to JSON as such. What they add is that whoever renders them knows that they count
people, and their noun.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints


class Count(int):
    """A number of things that disclose nobody, such as features, with its noun.

    * ``one``, ``many``: the noun that follows it; empty where it stands alone.
    """

    one: str
    many: str

    def __new__(cls, n: int, one: str = "", many: str = "") -> Self:
        """Make the number."""
        made = super().__new__(cls, n)
        made.one, made.many = one, many
        return made

    @property
    def noun(self) -> str:
        """The noun in the form that agrees with the number."""
        return self.one if self == 1 else self.many

    def __getnewargs__(self) -> tuple[int, str, str]:  # type: ignore[override]
        return (int(self), self.one, self.many)


class People(Count):
    """A number of people, or of things that stand for people, such as small leaves."""

    def __new__(cls, n: int, one: str = "person", many: str = "people") -> Self:
        """Make the number."""
        return super().__new__(cls, n, one, many)

    @classmethod
    def alone(cls, n: int) -> Self:
        """Return the number without a noun."""
        return cls(n, "", "")

    @classmethod
    def leaves(cls, n: int) -> Self:
        """Return a number of leaves, which stand for people."""
        return cls(n, "leaf", "leaves")


class Agreeing(People):
    """Only the word that agrees with a number of people, such as a verb."""


class Share(float):
    """A share of people, between 0 and 1.

    * ``part``, ``whole``: the people it is the quotient of; None where there is no such pair, as
      for the worst of several trees.
    """

    part: int | None
    whole: int | None

    def __new__(cls, value: float, part: int | None = None, whole: int | None = None) -> Self:
        """Make the number."""
        made = super().__new__(cls, value)
        made.part, made.whole = part, whole
        return made

    @classmethod
    def of(cls, part: int, whole: int) -> Self:
        """Return the share that some people are of all; 0 of nobody."""
        return cls(part / whole if whole else 0.0, part, whole)

    def __getnewargs__(self) -> tuple[float, int | None, int | None]:  # type: ignore[override]
        return (float(self), self.part, self.whole)


class Strong(str):
    """A word that matters, in bold where there is any."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Score:
    """A number that is no share of people, such as an AUC, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence or a part of one whose numbers are still numbers."""

    template: str  # Text with a `{}` per part. Texts of a model are parts, never the template.
    # What goes in there: the types of this module and `Estimate` in words, other numbers and text
    # as they are
    parts: tuple[object, ...] = ()


def say(template: str, *parts: object) -> Phrase:
    """Return a phrase."""
    return Phrase(template, parts)


class Details(Mapping[str, Any]):
    """What one attack measured; a frozen dataclass per attack derives from it.

    By name it is what the JSON report holds, so that ``dict(finding.details)``
    and ``finding.details["min_leaf"]`` give plain data. It is none itself, so that a
    frozen dataclass of either making may derive from it.
    """

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # JSON
        """Return one entry as plain data."""
        return plain_data(self)[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the entries."""
        return iter(plain_data(self))

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(plain_data(self))

    def __eq__(self, other: object) -> bool:
        return True if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(())

    def __repr__(self) -> str:
        return f"{self.__class__.__qualname__}()"


def only_if_given() -> Any:  # noqa: ANN401  # what dataclasses.field returns
    """Return a field that is None unless given, and is not written where it is None."""
    return field(default=None, metadata={"only_if_given": True})


def called(name: str) -> Any:  # noqa: ANN401  # what dataclasses.field returns
    """Return a field that is written under another name, such as a word of Python."""
    return field(metadata={"name": name})


def plain_data(value: object) -> Any:  # noqa: ANN401  # JSON
    """Return dataclasses, mappings and sequences as what JSON has."""
    if type(value) is Details:
        return {}
    if is_dataclass(value) and not isinstance(value, type):
        named = ((one, getattr(value, one.name)) for one in fields(value))
        return {_name(one): plain_data(part) for one, part in named if not _left_out(one, part)}
    if isinstance(value, Mapping):
        return {str(name): plain_data(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_data(part) for part in value]
    return value


def _name(one: "Field[Any]") -> str:
    return str(one.metadata.get("name", one.name))


def _left_out(one: "Field[Any]", value: object) -> bool:
    return value is None and bool(one.metadata.get("only_if_given"))


def json_schema_of(form: Any) -> dict[str, Any]:  # noqa: ANN401  # any annotation
    """Return the JSON Schema of a type: dataclasses, numbers, texts, and what is made of them."""
    if is_dataclass(form):
        return _object(form)
    origin, parts = get_origin(form), get_args(form)
    if origin in (Union, types.UnionType):
        return {"anyOf": [json_schema_of(part) for part in parts]}
    if origin is Literal:
        return {"enum": list(parts)}
    if form is Any or form is object:
        return {}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": json_schema_of(parts[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        if origin is tuple and parts[-1] is not Ellipsis:
            items = [json_schema_of(part) for part in parts]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
        return {"type": "array", "items": json_schema_of(parts[0])}
    if isinstance(form, type) and issubclass(form, People):
        return {"type": "integer", "minimum": 0}
    for kind, name in _NAMES.items():
        if isinstance(form, type) and issubclass(form, kind):
            return {"type": name}
    raise TypeError(f"JSON has no type for {form!r}")


_NAMES: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
}


def _object(form: Any) -> dict[str, Any]:  # noqa: ANN401  # a dataclass
    hints = get_type_hints(form)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [_name(one) for one in fields(form) if not one.metadata.get("only_if_given")],
        "properties": {_name(one): json_schema_of(hints[one.name]) for one in fields(form)},
    }
