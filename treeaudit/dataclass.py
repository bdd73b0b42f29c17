"""`dataclasses.dataclass`, but the methods of a class are not compiled at its import.

The standard library writes and compiles up to six functions for each class when it is
defined: for all the classes that one scan imports, that took longer than the scan. Here five
of the six are closures over the names of the fields, and objects are filled field by field;
nothing is compiled while a file is read. Of a class of which a model has thousands, a
`dataclass_of_many`, ``__init__`` is compiled at its import, and three times as fast. Fields and
slots are made by the standard library, so that its `fields`, `replace` and `asdict` know the
class. Type checkers see its decorator, which also makes every class that is without slots, or
that has such a method of its own.

Of a frozen class made here and one made by the standard library neither derives from the other.
"""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "dataclass_of_many"]

if TYPE_CHECKING:
    from dataclasses import dataclass
    from dataclasses import dataclass as dataclass_of_many
else:

    def dataclass(kind=None, /, **asked):  # noqa: ANN001, ANN003, ANN201  # as theirs
        """Return a class as `dataclasses.dataclass` makes it.

        Examples
        --------
        >>> @dataclass(frozen=True, slots=True)
        ... class Leaf:
        ...     people: int
        ...     label: str = "no"
        >>> Leaf(3), Leaf(3) == Leaf(3, "yes")
        (Leaf(people=3, label='no'), False)
        """

        def made(kind: type) -> type:
            return _made(kind, asked, _Written)

        return made if kind is None else made(kind)

    def dataclass_of_many(**asked):  # noqa: ANN003, ANN201  # as theirs
        """Return such a class, whose ``__init__`` is compiled here and now."""
        return lambda kind: _made(kind, asked, _init)


_ASKED = {"frozen", "slots", "kw_only", "eq", "repr"}
_METHODS = {
    *("__init__", "__eq__", "__hash__", "__setattr__", "__delattr__"),
    *("__getstate__", "__setstate__"),
}

Values = Callable[[object], tuple[object, ...]]


class _Written:
    """An ``__init__`` that fills objects field by field.

    It is compiled for whoever asks the class for its parameters, and where something is not as
    it should be, which the compiled one says.
    """

    __slots__ = ("kind", "must", "parts", "placed", "taken")

    def __init__(self, kind: type[Any]) -> None:
        self.kind, self.parts = kind, fields(kind)
        asked = [part for part in self.parts if part.init]
        self.taken = {part.name for part in asked}
        self.must = {part.name for part in asked if _is_missing(part)}
        self.placed = [part.name for part in asked if not part.kw_only]

    def __get__(self, one: object, kind: type | None = None) -> Any:  # noqa: ANN401  # a method
        # Who asks for the class, to tell its parameters, or Python 3.13 for it in the place of an
        # object, wants the function itself.
        if not isinstance(one, self.kind):
            return self.compiled().__get__(one, kind)
        return partial(self.fill, one)

    def compiled(self) -> Any:  # noqa: ANN401  # a function
        """Return the function, which is found in this place from now on."""
        made = _init(self.kind)
        type.__setattr__(self.kind, "__init__", made)
        return made

    def fill(self, one: Any, /, *placed: object, **named: object) -> None:  # noqa: ANN401
        """Do what the function does."""
        given = dict(zip(self.placed, placed, strict=False)) | named
        if len(given) < len(placed) + len(named) or not self.must <= given.keys() <= self.taken:
            self.compiled()(one, *placed, **named)
            return
        for part in self.parts:
            if part.name in given:
                object.__setattr__(one, part.name, given[part.name])
            elif part.default_factory is not MISSING:
                object.__setattr__(one, part.name, part.default_factory())
            elif part.default is not MISSING:
                object.__setattr__(one, part.name, part.default)
        if hasattr(one, "__post_init__"):
            one.__post_init__()


def _is_missing(one: "Field[Any]") -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _made(kind: type, asked: dict[str, bool], init: Callable[[type], Any]) -> type:
    usual = asked.get("slots") and asked.keys() <= _ASKED
    if not usual or vars(kind).keys() & _METHODS:
        return dataclasses.dataclass(**asked)(kind)
    bare = {**asked, "frozen": False, "eq": False, "repr": False}
    made: Any = dataclasses.dataclass(init=False, **bare)(kind)
    parts, frozen = fields(made), asked.get("frozen", False)
    methods: dict[str, Any] = {}
    if frozen:
        methods = _only_read(made, {one.name for one in parts})
        made.__getstate__, made.__setstate__ = _state, _set_state
    if asked.get("eq", True):
        counts = [one.name for one in parts if (one.compare if one.hash is None else one.hash)]
        methods["__eq__"] = _equal(_values_of([one.name for one in parts if one.compare]))
        made.__hash__ = None
        if frozen:
            methods["__hash__"] = _hash(_values_of(counts))
    if asked.get("repr", True) and "__repr__" not in vars(kind):
        methods["__repr__"] = _shown([one.name for one in parts if one.repr])
    for name, method in methods.items():
        method.__qualname__ = f"{made.__qualname__}.{name}"
        setattr(made, name, method)
    made.__init__ = init(made)
    return made  # type: ignore[no-any-return]


def _only_read(kind: type[Any], names: set[str]) -> dict[str, Any]:
    """Return the methods that let nobody change a field."""

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _equal(same: Values) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:
        return same(self) == same(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(counts: Values) -> Callable[[object], int]:
    def __hash__(self: object) -> int:
        return hash(counts(self))

    return __hash__


def _values_of(names: Sequence[str]) -> Values:
    """Return what gives the values of some fields."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _shown(names: Sequence[str]) -> Callable[[object], str]:
    @recursive_repr()
    def __repr__(self: object) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({told})"

    return __repr__


def _state(self: Any) -> list[object]:  # noqa: ANN401  # any dataclass
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: Sequence[object]) -> None:  # noqa: ANN401  # any dataclass
    for one, value in zip(fields(self), state, strict=False):
        object.__setattr__(self, one.name, value)


class _Factory:
    """What stands for the value of a factory where parameters are told."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _init(kind: type) -> Any:  # noqa: ANN401  # a function
    """Return ``__init__``, compiled in the module of the class, as the standard library does."""
    parts: tuple[Field[Any], ...] = fields(kind)
    known: dict[str, Any] = {"__put": object.__setattr__, "__factory": _FACTORY}
    for one in parts:
        if one.default is not MISSING:
            known[f"__of_{one.name}"] = one.default
        elif one.default_factory is not MISSING:
            known[f"__make_{one.name}"] = one.default_factory
    asked = [one for one in parts if one.init]
    taken = ["self", *(_parameter(one) for one in asked if not one.kw_only)]
    if named := [_parameter(one) for one in asked if one.kw_only]:
        taken += ["*", *named]
    # Only of a frozen class does the plain way lead to a method that refuses.
    form = "__put(self, {!r}, {})" if "__setattr__" in vars(kind) else "self.{} = {}"
    lines = [form.format(one.name, value) for one in parts if (value := _value(one))]
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n  ".join(lines or ["pass"])
    text = f"def __made({', '.join(known)}):\n def __init__({', '.join(taken)}):\n  {body}\n"
    space: dict[str, Any] = {}
    # The text is made of the names of our own fields alone.
    exec(f"{text} return __init__", vars(sys.modules[kind.__module__]), space)  # noqa: S102
    made = space["__made"](**known)
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    made.__annotations__ = {**{one.name: one.type for one in asked}, "return": None}
    return made


def _parameter(one: "Field[Any]") -> str:
    if one.default is not MISSING:
        return f"{one.name}=__of_{one.name}"
    return one.name if _is_missing(one) else f"{one.name}=__factory"


def _value(one: "Field[Any]") -> str:
    """Return what a field becomes; nothing where only the class itself says it, later."""
    if one.default_factory is not MISSING:
        made = f"__make_{one.name}()"
        return f"{made} if {one.name} is __factory else {one.name}" if one.init else made
    if one.init:
        return one.name
    return "" if one.default is MISSING else f"__of_{one.name}"
