"""What a call in the file makes: plain data, an inert record, or a refusal.

No function of the file is looked up or run. The constructors of
`names.DATA_CALLS` are written out below; everything else that the gate lets
pass becomes an `Inert`, and everything that it does not is refused by name.
"""

from collections.abc import Callable, Iterator

import numpy as np

from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickles.arrays import DType, LateArray, array_from, arrived, scalar_from
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.readers.pickles.members import FETCHES, fetched
from treeaudit.readers.pickles.names import DATA_CALLS, may_call, may_create, may_hand
from treeaudit.readers.pickles.states import check_state

__all__ = ["ADVICE", "call", "create", "excused", "hashable", "is_array_class"]

ADVICE = "do not load it with pickle or joblib"
_LONGEST_CODE = 64
# The hash of a complex number is as easily forged as that of a tuple.
_NO_KEYS = (list, dict, set, frozenset, bytearray, memoryview, np.ndarray, complex)
Spend = Callable[[int], None]

# Subclasses that numpy fills like any array; to rebuild a memmap opens no file.
_ARRAY_CLASSES = {
    *(f"numpy.{name}" for name in ("ndarray", "matrix", "memmap", "recarray", "chararray")),
    *(f"numpy.{core}.memmap.memmap" for core in ("core", "_core")),
    *(f"numpy.{core}.recarray" for core in ("core.records", "_core.records", "rec")),
    *(f"numpy.{core}.chararray" for core in ("core.defchararray", "_core.defchararray", "char")),
    *(f"numpy.{core}.defmatrix.matrix" for core in ("matrixlib", "core")),
}
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
_EMPTY: dict[str, Callable[[], object]] = {
    "bytes": bytes,
    "bytearray": bytes,
    "set": set,
    "frozenset": frozenset,
    "list": list,
    "tuple": tuple,
    "dict": dict,
}


def call(target: object, args: object, at: int, spend: Spend) -> object:
    """Return what calling ``target`` stands for (REDUCE, INST, OBJ).

    Parameters
    ----------
    target
        What the file calls.
    args
        The arguments, as the file gives them.
    at
        Offset of the instruction, for messages.
    spend
        Takes the number of bytes that are about to be created.

    Raises
    ------
    UnsafeModelError
        If the call could run code.
    ReadError
        If target or arguments are damaged.
    """
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
        member = fetched(target, args)
        if member is None:
            raise _unsafe(target, args, at)
        return member
    if str(target) in DATA_CALLS:
        try:
            return _carry_out(target, args, at, spend)
        except (IndexError, ValueError, TypeError, OverflowError):
            raise ReadError(f"the arguments of {target} at byte {at:,} are damaged") from None
    if not target.allowed or not allowed(target.module, target.name):
        raise _unsafe(target, args, at)
    if allowed is may_call and not all(may_hand(str(target), *_name(arg)) for arg in args):
        raise _unsafe(target, args, at)
    if target.name.startswith(("__pyx_unpickle_", "SimpleNamespace")):
        for state in args:
            check_state(target, state, at)
    spend(240)
    return Inert(target, args)


def excused(target: object, args: object, made: object) -> Iterator[int]:
    """Yield the identity of each name that its place in a call makes harmless.

    A function like `getattr`, in the few forms that `members` knows; a class whose bare
    instance is made (pickle asks it of a class only); the class of an array that is filled.
    """
    if isinstance(target, Global) and str(target) in FETCHES:
        yield id(target)
    first = args[0] if isinstance(args, tuple) and args else None
    if isinstance(made, LateArray) or (isinstance(made, Inert) and made.cls is first):
        yield id(first)


def is_array_class(value: object) -> bool:
    """Tell whether numpy fills an array of this class like any other."""
    return isinstance(value, Global) and str(value) in _ARRAY_CLASSES


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
    match target.name:
        case "dtype":
            code = args[0].decode("latin1") if isinstance(args[0], bytes) else args[0]
            code = "V8" if isinstance(code, Global) and code.name == "record" else code
            if not isinstance(code, str):
                raise UnsafeModelError("the file computes an array type instead of naming it")
            if len(code) > _LONGEST_CODE:
                raise ReadError(f"an array type of {len(code):,} characters is damaged")
            spend(120)
            return DType(code)
        case "_reconstruct":
            spend(240)
            return LateArray() if is_array_class(args[0]) else Inert(target, args)
        case "_frombuffer":
            data, dtype, shape, order = args[:4]
            spend(240 + (len(data) if isinstance(data, str) else 0))
            return array_from(data, dtype, shape, isinstance(order, str) and order == "F")
        case "scalar":
            return scalar_from(args[0], args[1] if len(args) > 1 else b"\0")
        case "encode":
            text, codec = args[0], args[1] if len(args) > 1 else "utf-8"
            if not isinstance(text, str) or codec not in ("latin1", "latin-1", b"latin1"):
                raise _unsafe(target, args, at)
            spend(len(text))
            return text.encode("latin1")
        case "_reconstructor":
            made = create(args[0], (), at, spend)
            if isinstance(made, Inert) and len(args) > 2 and isinstance(args[2], dict | tuple):
                check_state(made.cls, args[2], at)
            return made
        case "__newobj__":
            return create(args[0], args[1:], at, spend)
        case _:
            return _container(target, args, at, spend)


def _container(target: Global, args: tuple[object, ...], at: int, spend: Spend) -> object:
    name = target.name
    if not args:
        spend(216)
        return _EMPTY[name]()
    source = args[0]
    if name in ("bytes", "bytearray"):
        if isinstance(source, bytes | memoryview):
            return source
        if isinstance(source, str | list):
            spend(len(source))
            return source.encode("latin1") if isinstance(source, str) else bytes(source)
        raise _unsafe(target, args, at)
    if not isinstance(source, list | tuple):
        raise _unsafe(target, args, at)
    spend(216 + 96 * len(source))
    if name == "dict":
        return {hashable(k, i, spend): value for i, (k, value) in enumerate(source)}
    if name in ("set", "frozenset"):
        made = {hashable(item, i, spend) for i, item in enumerate(source)}
        return made if name == "set" else frozenset(made)
    return list(source) if name == "list" else tuple(source)


def hashable(key: object, among: int, spend: Spend) -> object:
    """Return a key that can be hashed and compared quickly and without recursion.

    Parameters
    ----------
    key
        What the file uses as a key.
    among
        How many keys are there already. Python's hash of a tuple has no secret:
        a forged one collides with all of them, and that cost is charged.
    spend
        Takes the cost.

    Raises
    ------
    ReadError
        For keys that no model file has: long texts or integers, deep tuples, arrays.
    """
    key = arrived(key)
    if isinstance(key, tuple):
        spend(8 * among)
        return _hashable_tuple(key, spend, 4)
    return _hashable_part(key)


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
