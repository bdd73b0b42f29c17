"""What a call in the file makes: plain data, an inert record, or a refusal.

No function of the file is looked up or run. The constructors of
`names.DATA_CALLS` are written out below; everything else that the gate lets
pass becomes an `Inert`, and everything that it does not is refused by name.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.arrays import (
    ARRAY_CLASSES,
    DType,
    LateArray,
    Spend,
    array_from,
    arrived,
    axes_from,
    fill,
    scalar_from,
)
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.names import (
    BARE,
    DATA_CALLS,
    may_call,
    may_create,
    may_fetch,
    may_hand,
    may_import,
    may_mention,
)
from treeaudit.readers.pickle.states import check_items, check_state

ADVICE = "do not load it with pickle or joblib"
_LONGEST_CODE = 64
_LATIN = ("latin1", "latin-1", b"latin1")
_BASES = frozenset("object dict list set frozenset tuple str unicode int long float".split())
# Types that cloudpickle builds in the file; an instance of one is inert here, and
# the reader reports that the file carries code. Functions it builds stay uncallable.
_MADE_TYPES = {
    "cloudpickle.cloudpickle._builtin_type",
    "cloudpickle.cloudpickle._make_skeleton_class",
    "cloudpickle.cloudpickle._make_skeleton_enum",
    "cloudpickle.cloudpickle._rehydrate_skeleton_class",
}
# Functions that make something that can be called.
_CALLABLE = frozenset("partial itemgetter _make_function _make_skel_func _builtin_type".split())
# What is handed a state when it is called.
_WITH_STATE = ("__pyx_unpickle_", "SimpleNamespace")
# What numpy says of an array before it is filled: no element, of any type.
_ANNOUNCED = (((0,), b"b"), ((0,), "b"))
_EMPTY: dict[str, Callable[[], object]] = {
    "bytes": bytes,
    "bytearray": bytes,
    "set": set,
    "frozenset": frozenset,
    "list": list,
    "tuple": tuple,
    "dict": dict,
}

FETCHES = frozenset(
    (
        "builtins.getattr __builtin__.getattr builtins.type __builtin__.type "
        "cloudpickle.cloudpickle.subimport dill._dill._load_type jax._src.array._reconstruct_array "
        "numpy.core._ufunc_reconstruct numpy._core._ufunc_reconstruct"
    ).split()
)
"""What a file may call in the few forms that `_fetched` knows, and in no other."""

_RECONSTRUCT = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
_TYPES = {"Ellipsis": "ellipsis", "NotImplemented": "NotImplementedType"}
# The hash of a complex number is as easily forged as that of a tuple.
_NO_KEYS = (list, dict, set, frozenset, bytearray, memoryview, np.ndarray, complex)


def call(target: object, args: object, at: int, spend: Spend) -> object:
    """Return what calling ``target`` stands for (REDUCE, INST, OBJ)."""
    return _make(target, args, at, spend, may_call)


def create(target: object, args: object, at: int, spend: Spend) -> object:
    """Return what a bare instance of ``target`` stands for (NEWOBJ, NEWOBJ_EX).

    Parameters and errors are those of `call`.
    """
    return _make(target, args, at, spend, may_create)


def _make(
    target: object, args: object, at: int, spend: Spend, allowed: Callable[[str, str], bool]
) -> object:
    if not isinstance(args, tuple):
        raise ReadError(f"the arguments of a call at byte {at:,} are damaged")
    if isinstance(target, Inert) and str(target.cls) in _MADE_TYPES:
        spend(240)
        return Inert(_made_class(target), args)
    if not isinstance(target, Global):
        raise UnsafeModelError(
            f"the file calls something it computed ({show(target)}, byte {at:,}): {ADVICE}"
        )
    if str(target) in FETCHES and allowed is may_call:
        spend(240)
        member = _fetched(target, args)
        if member is None:
            raise _unsafe(target, args, at)
        return member
    if str(target) in DATA_CALLS:
        try:
            return _carry_out(target, args, at, spend)
        except (IndexError, ValueError, TypeError, OverflowError):
            raise ReadError(f"the arguments of {target} at byte {at:,} are damaged") from None
    bare = allowed is may_create and not args and str(target) in BARE
    if not bare and not (target.allowed and allowed(target.module, target.name)):
        raise _unsafe(target, args, at)
    if allowed is may_call and not all(may_hand(str(target), *_name(arg)) for arg in args):
        raise _unsafe(target, args, at)
    if target.name.startswith(_WITH_STATE):
        for state in args:
            # In front of the state: the class, and a number that stands for its layout.
            if not isinstance(state, Global | int):
                check_state(target, state, at)
    spend(240)
    return Inert(target, args)


def excused(target: object, args: object, made: object) -> Iterator[int]:
    """Yield the identity of each name that its place in a call makes harmless.

    A function like `getattr`, in the few forms that `_fetched` knows; a class whose bare
    instance is made (pickle asks it of a class only); the class of an array that is filled.
    """
    if isinstance(target, Global) and str(target) in FETCHES:
        yield id(target)
    first = args[0] if isinstance(args, tuple) and args else None
    if isinstance(made, LateArray) or (isinstance(made, Inert) and made.cls is first):
        yield id(first)


def is_array_class(value: object) -> bool:
    """Tell whether numpy fills an array of this class like any other."""
    return isinstance(value, Global) and str(value) in ARRAY_CLASSES


def _name(value: object) -> tuple[str, str]:
    """Name what an argument would be if it were called; nothing to fear where it is data."""
    match value:
        case Global() as named:
            return named.module, named.name
        case Inert(cls=named) if named.name in _CALLABLE or "." in named.name:
            return named.module, named.name
        case _:
            return "builtins", "object"


def _made_class(recipe: Inert) -> Global:
    """Name the class that cloudpickle would make from a recipe in the file."""
    name = recipe.args[1] if len(recipe.args) > 1 else None
    if not isinstance(name, str) or not name.isidentifier():
        return recipe.cls
    return Global(recipe.cls.module, name, recipe.cls.offset, True)


def _unsafe(target: Global, args: tuple[object, ...], at: int) -> UnsafeModelError:
    inner = ", ".join(show(a) for a in args[:3]) + (", …" if len(args) > 3 else "")
    return UnsafeModelError(
        f"loading the file would run {show(target)}({inner}) (byte {at:,}): {ADVICE}"
    )


def _carry_out(target: Global, args: tuple[object, ...], at: int, spend: Spend) -> object:
    """Return what one of the constructors of `names.DATA_CALLS` makes."""
    match target.name:
        case "dtype":
            code = args[0].decode("latin1") if isinstance(args[0], bytes) else args[0]
            code = "V8" if isinstance(code, Global) and code.name == "record" else code
            if not isinstance(code, str):
                raise UnsafeModelError("the file computes an array type instead of naming it")
            if len(code) > _LONGEST_CODE:
                raise ReadError(f"an array type of {len(code):,} characters is damaged")
            # Without a copy numpy ignores what the file adds to its own types.
            if args[1:] != (False, True) or code[:1] in ("<", ">"):
                raise ReadError(f"an array type at byte {at:,} is not made as numpy does")
            spend(120)
            return DType(code)
        case "_reconstruct":
            spend(240)
            plain = is_array_class(args[0])
            if plain and not (args[1:] in _ANNOUNCED and type(args[1]) is tuple):
                raise ReadError(f"an array at byte {at:,} is not announced as numpy does")
            return LateArray() if plain else Inert(target, args)
        case "_create_array":
            # What dill makes of the two steps of numpy; the last would be attributes.
            made = _make(args[0], args[1], at, spend, may_call)
            if not isinstance(made, LateArray) or len(args) != 4 or args[3] is not None:
                raise ReadError(f"an array at byte {at:,} is not made as dill does")
            return fill(args[2], at, spend)
        case "_frombuffer":
            data, dtype, shape, order = args[:4]
            usual = order in ("C", "F") and len(args) == 4
            if isinstance(data, str) or not (usual or (order == "K" and len(args) == 5)):
                raise ReadError(f"an array at byte {at:,} is not described as numpy does")
            spend(240)
            array = array_from(data, dtype, shape, order == "F")
            return array.transpose(axes_from(args[4], array.ndim)) if order == "K" else array
        case "scalar":
            dtype, data = args if len(args) > 1 else (*args, b"\0")
            return scalar_from(dtype, data)
        case "encode":
            text, codec = args[0], args[1] if len(args) == 2 else "utf-8"
            if not isinstance(text, str) or codec not in _LATIN:
                raise _unsafe(target, args, at)
            spend(len(text))
            return text.encode("latin1")
        case "_reconstructor":
            return _reconstructed(args, at, spend)
        case "__newobj__":
            return create(args[0], args[1:], at, spend)
        case _:
            return _container(target, args, at, spend)


def _reconstructed(args: tuple[object, ...], at: int, spend: Spend) -> object:
    """Make an object as protocols 0 and 1 do: on top of what it is a kind of, with its content."""
    cls, base, content = args
    made = create(cls, (), at, spend)
    plain = str(base).partition(".") if base.__class__ is Global else ("", "", "")
    named = plain[0] in ("builtins", "__builtin__") and plain[2] in _BASES
    if not named or not isinstance(made, Inert):
        raise ReadError(f"an object at byte {at:,} is a kind of {show(base)}")
    if isinstance(content, dict):
        check_items(made, content, at)
    match plain[2], content:
        case "object", None:
            pass
        case "dict", dict():
            made.pairs = content
        case "list", list():
            made.items = content
        case "object" | "dict" | "list", _:
            raise ReadError(f"the content of an object at byte {at:,} is damaged")
        case _:
            made.args = (content,)
    return made


def _container(target: Global, args: tuple[object, ...], at: int, spend: Spend) -> object:
    name = target.name
    if not args:
        spend(216)
        return _EMPTY[name]()
    source = args[0]
    if name in ("bytes", "bytearray"):
        if isinstance(source, bytes | memoryview) and len(args) == 1:
            return source
        spend(len(source) if isinstance(source, str | list) else 0)
        if isinstance(source, str) and args[1:] in (("latin-1",), ("latin1",)):
            return source.encode("latin1")
        if isinstance(source, list) and len(args) == 1:
            return bytes(source)
        raise _unsafe(target, args, at)
    if not isinstance(source, list | tuple) or len(args) != 1:
        raise _unsafe(target, args, at)
    spend(216 + 96 * len(source))
    if name == "dict":
        pairs = {hashable(k, i, spend): value for i, (k, value) in enumerate(source)}
        if len(pairs) != len(source):
            raise ReadError(f"a dictionary at byte {at:,} has one key twice")
        return pairs
    if name in ("set", "frozenset"):
        made = set[object]()
        if not add_all(made, source, spend):
            raise ReadError(f"a set at byte {at:,} has an element twice")
        return made if name == "set" else frozenset(made)
    return list(source) if name == "list" else tuple(source)


def _fetched(target: Global, args: tuple[object, ...]) -> Global | Inert | None:
    """Return what ``getattr(owner, name)`` or ``type(None)`` names, or None to refuse it."""
    match target.name, args:
        case "type", (None,):
            return Global("builtins", "NoneType", target.offset, True)
        case "type", (Global(module="builtins" | "__builtin__", name=name),) if name in _TYPES:
            return Global("builtins", _TYPES[name], target.offset, True)
        case "_load_type", (str(name),):
            # dill calls types of the standard library by names of its own.
            plain = name.islower() and may_mention("builtins", name)
            return Global("builtins" if plain else target.module, name, target.offset, True)
        case "subimport", (str(module),) if may_import(module):
            return Inert(target, args)
        case "_ufunc_reconstruct", (str(module), str(name)):
            if may_import(module) and may_mention(module, name):
                return Global(module, name, target.offset, True)
        case "_reconstruct_array", (Global() as function, *_) if str(function) in _RECONSTRUCT:
            return Inert(target, args)
        case "getattr", (Global(allowed=True) as owner, str(member)):
            if may_fetch(owner.module, owner.name, member):
                return Global(owner.module, f"{owner.name}.{member}", target.offset, True)
        case "getattr", (Inert(cls=Global(allowed=True) as owner) as instance, str(member)):
            if may_fetch(owner.module, owner.name, member):
                name = f"{owner.name}.{member}"
                return Inert(Global(owner.module, name, target.offset, True), (instance,))
    return None


def hashable(key: object, among: int, spend: Spend) -> object:
    """Return a key that can be hashed and compared quickly and without recursion."""
    if type(key) is str and len(key) < Most.key:
        return key
    key = arrived(key)
    if isinstance(key, tuple):
        spend(8 * among)
        return _hashable_tuple(key, spend, 4)
    return _hashable_part(key)


def add_all(target: set[object], items: Iterable[object], spend: Spend) -> bool:
    """Put elements into a set, and tell whether none of them was there."""
    new = True
    for item in items:
        n = len(target)
        target.add(hashable(item, n, spend))
        new &= len(target) > n
    return new


def _hashable_tuple(key: tuple[object, ...], spend: Spend, depth: int) -> object:
    if depth == 0 or len(key) > 16:
        raise ReadError("a dictionary key is nested too deeply")
    spend(64 * (1 + len(key)))
    parts = (arrived(part) for part in key)
    return tuple(
        _hashable_tuple(part, spend, depth - 1) if isinstance(part, tuple) else _hashable_part(part)
        for part in parts
    )


def _hashable_part(key: object) -> object:
    if isinstance(key, int) and key.bit_length() > 64:
        raise ReadError("a dictionary key is an integer that is too long")
    if isinstance(key, str | bytes | memoryview) and len(key) >= Most.key:
        raise ReadError(f"a dictionary key of {len(key):,} characters is too long")
    if isinstance(key, _NO_KEYS):
        raise ReadError(f"a dictionary key is {show(key)}, which cannot be one")
    return key
