"""`getattr` and its like in a file: names, never a look-up.

Everyday libraries store a method as ``getattr(Class, "method")`` (scipy's
`interp1d`, the time zones of `zoneinfo`, a bound method of a generator) and the
type of None as ``type(None)``; a few functions are handed a module to import or
a function to call. All of it stays text here. What it names passes `names`
first, and calling that is a call of the whole name.
"""

from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.names import may_fetch, may_import, may_mention

FETCHES = frozenset(
    (
        "builtins.getattr __builtin__.getattr builtins.type __builtin__.type "
        "cloudpickle.cloudpickle.subimport dill._dill._load_type jax._src.array._reconstruct_array "
        "numpy.core._ufunc_reconstruct numpy._core._ufunc_reconstruct"
    ).split()
)
"""What a file may call in the few forms that `fetched` knows, and in no other."""

_RECONSTRUCT = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
_TYPES = {"Ellipsis": "ellipsis", "NotImplemented": "NotImplementedType"}


def fetched(target: Global, args: tuple[object, ...]) -> Global | Inert | None:
    """Return what ``getattr(owner, name)`` or ``type(None)`` names, or None to refuse it.

    Examples
    --------
    >>> get = Global("builtins", "getattr", 0, False)
    >>> print(fetched(get, (Global("zoneinfo", "ZoneInfo", 0, True), "_unpickle")))
    zoneinfo.ZoneInfo._unpickle
    >>> fetched(get, (Global("posix", "environ", 0, False), "get")) is None
    True
    """
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
