"""A frozen class is what the standard library would make of it."""

import dataclasses
import inspect
import pickle
import pkgutil
from copy import copy, deepcopy
from importlib import import_module
from typing import Any, ClassVar, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit
from treeaudit.dataclass import dataclass, dataclass_of_many

ASKED = {"frozen": True, "slots": True}


def body() -> dict[str, Any]:
    """Return the inside of a class with every kind of field."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.people)

    return {
        "__module__": __name__,
        "__qualname__": "Leaf",
        "__doc__": "A leaf.",
        "__annotations__": {
            "people": int,
            "title": ClassVar[str],
            "label": "str | None",
            "rows": list[int],
            "hidden": float,
            "other": int,
            "twice": int,
            "made": dict,
            "kind": str,
        },
        "title": "leaf",
        "label": None,
        "rows": dataclasses.field(default_factory=list, hash=False),
        "hidden": dataclasses.field(default=0.5, repr=False),
        "other": dataclasses.field(default=1, compare=False, metadata={"name": "else"}),
        "twice": dataclasses.field(init=False),
        "made": dataclasses.field(init=False, default_factory=dict, hash=False),
        "kind": dataclasses.field(init=False, default="plain"),
        "__post_init__": __post_init__,
    }


def both(ours: Any = dataclass, **asked: bool) -> tuple[type, type]:
    return tuple(
        make(**{**ASKED, **asked})(type("Leaf", (), body()))
        for make in (ours, dataclasses.dataclass)
    )


OURS = pytest.mark.parametrize("ours", [dataclass, dataclass_of_many])
OPTIONS = st.dictionaries(st.sampled_from(["frozen", "kw_only", "eq", "repr"]), st.booleans())
GIVEN = st.fixed_dictionaries(
    {"people": st.integers(0, 3)},
    optional={
        "label": st.sampled_from(["yes", None]),
        "rows": st.lists(st.integers(0, 1), max_size=1),
        "hidden": st.sampled_from([0.5, 1.5]),
        "other": st.integers(0, 1),
    },
)


def outcome(call: Any) -> object:
    try:
        return call()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)


@OURS
@given(OPTIONS, GIVEN, GIVEN)
def test_it_does_what_that_of_the_standard_library_does(ours, asked, first, second) -> None:
    told = []
    for kind in both(ours, **asked):
        one, two = kind(**first), kind(**second)
        identity = object.__repr__(one)
        told.append(
            {
                "repr": repr(one).replace(identity, "it"),
                "equal": (one == two, one == copy(one), one == deepcopy(one), one == 1),
                "hash": kind.__hash__ is object.__hash__ or outcome(lambda one=one: hash(one)),
                "state": one.__reduce_ex__(5)[2],
                "data": dataclasses.asdict(one),
                "replaced": dataclasses.asdict(dataclasses.replace(one, people=7)),
                "wrong": outcome(lambda kind=kind: kind(**first, colour=1)),
                "lacking": outcome(kind),
                "placed": outcome(lambda kind=kind: dataclasses.asdict(kind(3, "no"))),
                "assigned": outcome(lambda one=one: setattr(one, "people", 3)),
                "deleted": outcome(lambda one=one: delattr(one, "people")),
                "undone": outcome(lambda one=one: dataclasses.replace(one, twice=1)),
            }
        )
    assert told[0] == told[1]


@OURS
@given(OPTIONS)
def test_it_is_formed_as_that_of_the_standard_library(ours, asked) -> None:
    forms = []
    for kind in both(ours, **asked):
        parts = dataclasses.fields(kind)
        forms.append(
            {
                "parameters": str(inspect.signature(kind)),
                "types": kind.__init__.__annotations__,
                "hints": get_type_hints(kind),
                "slots": kind.__slots__,
                "matched": kind.__match_args__,
                "fields": [(one.name, one.type, one.init, one.kw_only) for one in parts],
                "metadata": [dict(one.metadata) for one in parts],
                "names": sorted(name for name in dir(kind) if name != "__dataclass_params__"),
                "called": kind.__init__.__qualname__,
            }
        )
    assert forms[0] == forms[1]


@dataclass(frozen=True, slots=True)
class Tree:
    leaves: int
    title: str = "tree"


@dataclass(frozen=True, slots=True, eq=False)
class Forest(Tree):
    trees: int = 1

    def __repr__(self) -> str:
        return f"{self.trees} trees"


class Loose(Tree):
    """Derived without a decorator."""


def test_it_can_be_derived_from() -> None:
    forest = Forest(3, trees=2)
    assert (forest.leaves, repr(forest), str(inspect.signature(Forest))) == (
        *(3, "2 trees"),
        "(leaves: int, title: str = 'tree', trees: int = 1) -> None",
    )
    # What it does not say itself, the class before it says: equal are those with equal leaves.
    assert forest == Forest(3, trees=5)
    assert forest != Tree(3)
    loose = Loose(4)
    loose.colour = "green"
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'leaves'"):
        loose.leaves = 5
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'colour'"):
        Tree(4).colour = "green"
    assert repr(loose) == "Loose(leaves=4, title='tree')"


def test_it_is_pickled_by_its_fields() -> None:
    tree = Tree(3, "oak")
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.__getstate__() == [3, "oak"]


def test_objects_are_filled_field_by_field() -> None:
    kind, _ = both()
    told = {(repr(kind(people=1)), repr(kind(2, "no", hidden=1.5))) for _ in range(40)}
    assert len(told) == 1
    assert kind(people=1).rows is not kind(people=1).rows
    # Whatever watches the reading of a file sees that nothing is compiled.
    assert not inspect.isfunction(vars(kind)["__init__"])
    assert inspect.isfunction(kind.__init__)
    assert {(repr(kind(people=1)), repr(kind(2, "no", hidden=1.5)))} == told


@pytest.mark.parametrize("wrong", [{}, {"people": 1, "twice": 2}, {"people": 1, "self": 2}])
def test_what_is_wrong_is_said_in_the_same_words_at_first(wrong) -> None:
    ours, theirs = both()
    assert not inspect.isfunction(vars(ours)["__init__"])
    assert outcome(lambda: ours(**wrong)) == outcome(lambda: theirs(**wrong))
    ours, theirs = both()
    assert outcome(lambda: ours(1, **wrong)) == outcome(lambda: theirs(1, **wrong)) or not wrong
    ours, theirs = both()
    assert outcome(lambda: ours(*range(9))) == outcome(lambda: theirs(*range(9)))


def test_whoever_asks_for_the_parameters_is_given_the_function() -> None:
    for asked in (None, type):
        kind, _ = both()
        # Python 3.13 asks with the class in the place of an object.
        one = kind if asked is type else None
        found = vars(kind)["__init__"].__get__(one, asked or kind)
        assert list(inspect.signature(found).parameters)[-1] == "other"


def test_a_class_that_is_used_seldom_is_not_compiled() -> None:
    kind, _ = both()
    assert kind(people=1).twice == 2
    assert not inspect.isfunction(vars(kind)["__init__"])
    assert str(inspect.signature(kind)).startswith("(people: int, label:")
    assert inspect.isfunction(vars(kind)["__init__"])


def test_of_many_is_compiled_when_it_is_defined() -> None:
    kind, _ = both(dataclass_of_many)
    assert inspect.isfunction(vars(kind)["__init__"])


@OURS
@pytest.mark.parametrize("asked", [{}, {"frozen": True}, {**ASKED, "order": True}])
def test_what_asks_for_something_else_is_made_by_the_standard_library(ours, asked) -> None:
    kind = ours(**asked)(type("Leaf", (), {"__annotations__": {"people": int}}))
    assert inspect.isfunction(vars(kind)["__init__"])
    assert kind(1) == kind(1)


def test_what_has_a_method_of_its_own_keeps_it() -> None:
    @dataclass(frozen=True, slots=True)
    class Same:
        people: int

        def __eq__(self, other: object) -> bool:
            return True

    assert Same(1) == Same(2)
    assert hash(Same(1)) != hash(Same(2))


def classes() -> list[type]:
    names = [one.name for one in pkgutil.walk_packages(treeaudit.__path__, "treeaudit.")]
    modules = (import_module(name) for name in names if not name.endswith("__main__"))
    return [
        one
        for module in modules
        for one in vars(module).values()
        if inspect.isclass(one)
        and one.__module__ == module.__name__
        and dataclasses.is_dataclass(one)
        and "__slots__" in vars(one)
    ]


def test_every_class_of_the_package_takes_what_it_would_take() -> None:
    """Of all that are frozen: the parameters, held against classes of the same fields."""
    found = classes()
    assert len(found) > 300
    for kind in found:
        parts = [
            (
                one.name,
                one.type,
                dataclasses.field(
                    default=one.default,
                    default_factory=one.default_factory,
                    init=one.init,
                    kw_only=one.kw_only,
                ),
            )
            for one in dataclasses.fields(kind)
        ]
        theirs = dataclasses.make_dataclass(kind.__name__, parts)
        assert str(inspect.signature(kind)) == str(inspect.signature(theirs)), kind
        assert not kind.__doc__.startswith(f"{kind.__name__}("), f"{kind} says nothing"
