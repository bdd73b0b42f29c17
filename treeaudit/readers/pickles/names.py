"""One gate for every name that a model file mentions.

Nothing behind a name is ever imported or called: the gate decides what is
*said*. A name that could start a program makes the file unsafe, a class of a
data library is inert data, anything else is foreign and stays inert unless the
file calls it.

The gate lists what is allowed. A list of forbidden names always misses one
(measured on published scanners: 9 to 11 of 35 working payloads not flagged).
"""

import sys

from treeaudit.readers.pickles.known_names import (
    ANY_CLASS,
    CALLED,
    DATA_CALLS,
    DATA_CLASS,
    EXCEPTIONS,
    FETCHED,
    FILES_WITHIN,
    INERT_CALLS,
    KEEPERS,
    KERAS_3,
    LIBRARIES,
    MEMBER,
    MENTIONED,
    NOT_CALLED,
    OWNER,
    OWNERS,
    PLAIN,
    PUTS_TOGETHER,
    PYTHON2,
)

__all__ = [
    "DATA_CALLS",
    "file_within",
    "may_call",
    "may_create",
    "may_fetch",
    "may_hand",
    "may_import",
    "may_mention",
]


def _standard_library(module: str) -> bool:
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in PYTHON2 or top in sys.builtin_module_names


def _well_formed(module: str, name: str) -> bool:
    return name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def may_mention(module: str, name: str) -> bool:
    """Tell whether a file may refer to ``module.name`` without calling it.

    Dotted names are refused: ``numpy.lib`` + ``_datasource.os.system`` walks
    out of the library it starts in.

    Examples
    --------
    >>> may_mention("sklearn.tree._classes", "DecisionTreeClassifier")
    True
    >>> may_mention("posix", "system")
    False
    """
    full = f"{module}.{name}"
    if not _well_formed(module, name):
        return False
    if full in DATA_CALLS or full in PLAIN or full in INERT_CALLS or full in MENTIONED:
        return True
    if EXCEPTIONS.fullmatch(full):
        return True
    return not _standard_library(module)


def file_within(full: str) -> str | None:
    """Return the library whose whole file a function reads out of the pickle, if it does.

    What that file would run cannot be seen from here, so whatever else the pickle
    holds is not read as a model either.

    Examples
    --------
    >>> file_within("torch.storage._load_from_bytes")
    'PyTorch'
    """
    return "Keras" if KERAS_3.fullmatch(full) else FILES_WITHIN.get(full)


def may_import(module: str) -> bool:
    """Tell whether a file may refer to a whole module: of the known libraries, never on its own.

    Examples
    --------
    >>> may_import("numpy"), may_import("os")
    (True, False)
    """
    return _well_formed(module, "_") and module.partition(".")[0] in OWNERS


def may_fetch(module: str, owner: str, member: str) -> bool:
    """Tell whether a file may refer to a member of the class ``module.owner``.

    Classes of the known libraries only, never a module, a member of a member, or
    a name with two underscores in front: those lead out of a class. What is
    fetched can be called only where `may_call` lists it in full, for a method of
    a library can do more than put data together (``DataFrame.eval``).

    Examples
    --------
    >>> may_fetch("scipy.interpolate._interpolate", "interp1d", "_call_linear")
    True
    >>> may_fetch("numpy", "f2py", "os"), may_fetch("zoneinfo", "ZoneInfo", "__subclasses__")
    (False, False)
    """
    full = f"{module}.{owner}.{member}"
    if full in FETCHED or file_within(full):
        return True
    return (
        may_mention(module, owner)
        and module.partition(".")[0] in OWNERS
        and OWNER.fullmatch(owner) is not None
        and MEMBER.fullmatch(member) is not None
    )


def may_call(module: str, name: str) -> bool:
    """Tell whether a call of ``module.name`` only puts data together.

    Examples
    --------
    >>> may_call("numpy.random._pickle", "__randomstate_ctor")
    True
    >>> may_call("joblib.numpy_pickle", "load")
    False
    """
    full = f"{module}.{name}"
    if full in FETCHED & INERT_CALLS or file_within(full):
        return True
    if not may_mention(module, name):
        return False
    if full in INERT_CALLS or full in PLAIN:
        return True
    if EXCEPTIONS.fullmatch(full) or PUTS_TOGETHER.fullmatch(full):
        return True
    if not f"{module}.".startswith(CALLED) or NOT_CALLED.fullmatch(full):
        return False
    return DATA_CLASS.fullmatch(name) is not None


def may_hand(target: str, module: str, name: str) -> bool:
    """Tell whether a call of ``target`` may be handed ``module.name`` as an argument.

    A constructor may call what it is handed (numpy's ``__randomstate_ctor`` does), so
    that a name that may be mentioned would be called in the end.

    Examples
    --------
    >>> ctor = "numpy.random._pickle.__randomstate_ctor"
    >>> may_hand(ctor, "numpy.random._pickle", "__bit_generator_ctor")
    True
    >>> may_hand(ctor, "joblib", "load"), may_hand("functools.partial", "joblib", "load")
    (False, True)
    """
    if target in KEEPERS or target.startswith("cloudpickle."):
        return True
    full = f"{module}.{name}"
    if full in PLAIN or full in DATA_CALLS or full in INERT_CALLS or full in MENTIONED:
        return full not in KEEPERS
    if EXCEPTIONS.fullmatch(full):
        return True
    return may_mention(module, name) and _is_data_class(module, name)


def _is_data_class(module: str, name: str) -> bool:
    known = module.partition(".")[0] in LIBRARIES and not NOT_CALLED.fullmatch(f"{module}.{name}")
    return known and DATA_CLASS.fullmatch(name) is not None


def may_create(module: str, name: str) -> bool:
    """Tell whether ``module.name`` is a class whose bare instance is inert.

    Classes outside the known libraries (``__main__.MyTree``) pass: they stay
    inert here, and the reader reports them as foreign.
    """
    if may_call(module, name):
        return True
    if not may_mention(module, name) or _standard_library(module):
        return False
    library = module.partition(".")[0]
    free = library not in LIBRARIES or library in ANY_CLASS
    return free or DATA_CLASS.fullmatch(name) is not None
