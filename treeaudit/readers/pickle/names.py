"""One gate for every name that a model file mentions.

Nothing behind a name is ever imported or called: the gate decides what is
*said*. Functions and classes are listed one by one, by their exact names
(`listed_names.txt`, `known_names`), wherever they stand. Of the rest:

* a function of the standard library or of a library that writes tree models
  makes the file unsafe;
* a function of any other library is never called; one that is only referred to is named;
* a class is inert data that nobody has explained, and is named.

The gate lists what is allowed. A list of forbidden names always misses one
(measured on published scanners: 9 to 11 of 35 working payloads not flagged). The
few forbidden names here (`UNSAFE`, `BORROWED`) only choose the words: what they
miss is named as a class that nobody has explained, and is no pass either.
"""

import sys
from functools import lru_cache
from pathlib import Path
from typing import Literal

from treeaudit.readers.limits import bare
from treeaudit.readers.pickle.known_names import (
    BORROWED,
    CALLED,
    CLASS,
    DATA_CALLS,
    DATA_CLASS,
    EXCEPTIONS,
    FETCHED,
    FILES_WITHIN,
    INERT_CALLS,
    KEEPERS,
    KERAS_3,
    KNOWN,
    MENTIONED,
    METHODS,
    NOT_CALLED,
    PLAIN,
    PUTS_TOGETHER,
    PYTHON2,
    UNSAFE,
)

Kind = Literal["listed", "class", "function", "unsafe"]
"""What a name is: on a list; a class that nobody listed; a function of a library that is not
read; or what could run code."""
_PYX = "__pyx_unpickle_"


def _listed() -> dict[str, dict[str, list[str]]]:
    """Return the names of each module by section; a line without a colon goes on with the last."""
    sections: dict[str, dict[str, list[str]]] = {}
    text = Path(__file__).with_name("listed_names.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            section = sections[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            module, colon, rest = line.partition(":")
            if colon:
                names = section.setdefault(module, [])
            names += (rest if colon else line).split()
    return sections


def _in_full(modules: dict[str, list[str]]) -> frozenset[str]:
    """Return every name in full, under the former names of its module too."""
    return frozenset(
        f"{where}.{name}"
        for module, names in modules.items()
        for where in (module, *_LISTED["former"].get(module, ()))
        for name in names
    )


_LISTED = _listed()
CLASSES = _in_full(_LISTED["classes"])
"""Classes of which an instance is data: to make one, and to give it its state, runs no code."""
FUNCTIONS = _in_full(_LISTED["functions"])
"""Functions that models keep: whatever they are called with, they compute and touch no file."""


def is_standard(module: str) -> bool:
    """Tell whether a module belongs to the standard library, of Python 2 too."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in PYTHON2 or top in sys.builtin_module_names


def _well_formed(module: str, name: str) -> bool:
    return name.isidentifier() and all(part.isidentifier() for part in module.split("."))


@lru_cache(maxsize=4096)
def judge(module: str, name: str) -> Kind:
    """Return what ``module.name`` is; a member of a class has a dot in its name.

    Examples
    --------
    >>> judge("sklearn.tree._classes", "DecisionTreeClassifier"), judge("numpy", "log1p")
    ('listed', 'listed')
    >>> judge("numpy.testing._private.utils", "runstring"), judge("posix", "system")
    ('unsafe', 'unsafe')
    >>> judge("river.tree", "HoeffdingTreeClassifier"), judge("river.utils", "make")
    ('class', 'function')
    """
    owner, dot, member = name.partition(".")
    if dot:
        return _judge_member(module, owner, member)
    if not _well_formed(module, name):
        return "unsafe"
    full = f"{module}.{name}"
    if full in CLASSES or full in FUNCTIONS or _is_constructor(full, module, name):
        return "listed"
    if is_standard(module) or name in BORROWED or UNSAFE.fullmatch(full):
        return "unsafe"
    if module.partition(".")[0] in KNOWN:
        return "class" if DATA_CLASS.fullmatch(name) else "unsafe"
    return "class" if CLASS.fullmatch(name) else "function"


_WITH_PATTERNS = ("builtins.", "exceptions.", "decimal.", "pandas.", "torch.", "statsmodels.")


def _is_constructor(full: str, module: str, name: str) -> bool:
    if full in DATA_CALLS or full in PLAIN or full in INERT_CALLS or full in MENTIONED:
        return True
    if name.startswith(_PYX):
        return f"{module}.{name.removeprefix(_PYX)}" in CLASSES
    # Patterns are only made where one may fit.
    if full.startswith(_WITH_PATTERNS) and (
        EXCEPTIONS.fullmatch(full) or PUTS_TOGETHER.fullmatch(full)
    ):
        return True
    return file_within(full) is not None


def _judge_member(module: str, owner: str, member: str) -> Kind:
    """Judge a member of a class: never of a module, and no member of a member."""
    full = f"{module}.{owner}.{member}"
    if full in FETCHED or file_within(full):
        return "listed"
    if not member.isidentifier() or member.startswith("__") or member in BORROWED:
        return "unsafe"
    kind = judge(module, owner)
    if module.partition(".")[0] in KNOWN or is_standard(module):
        return kind if METHODS.fullmatch(full) else "unsafe"
    if kind not in ("class", "listed") or not CLASS.fullmatch(owner):
        return "unsafe"
    return "class" if CLASS.fullmatch(member) else "function"


def may_mention(module: str, name: str) -> bool:
    """Tell whether naming ``module.name`` alone does not make a file unsafe.

    Dotted names are refused: ``numpy.lib`` + ``_datasource.os.system`` walks
    out of the library it starts in.

    Examples
    --------
    >>> may_mention("sklearn.tree._classes", "DecisionTreeClassifier")
    True
    >>> may_mention("posix", "system")
    False
    """
    return "." not in name and judge(module, name) != "unsafe"


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


def not_read(module: str, name: str) -> str:
    """Say that code of a library that treeaudit does not read would run.

    Examples
    --------
    >>> not_read("river.utils", "make").partition(",")[0]
    'treeaudit does not read river: the file names river.utils.make'
    """
    library = bare(module.partition(".")[0])
    if library == "__main__":
        library = "code of the program that wrote a file (__main__)"
    return (
        f"treeaudit does not read {library}: the file names {bare(f'{module}.{name}', 200)}, which "
        "loading imports and may run; save the estimator alone, or its booster by save_model"
    )


def may_import(module: str) -> bool:
    """Tell whether a file may refer to a whole module: of the known libraries, never on its own.

    Examples
    --------
    >>> may_import("numpy"), may_import("os")
    (True, False)
    """
    return _well_formed(module, "_") and module.partition(".")[0] in KNOWN


def may_fetch(module: str, owner: str, member: str) -> bool:
    """Tell whether a file may refer to a member of the class ``module.owner``.

    Of the known libraries the methods that only compute, one by one; of others any
    that is no module's and has no two underscores in front, for they are not read
    in the end. What is fetched can be called only where `may_call` lists it in full.

    Examples
    --------
    >>> may_fetch("scipy.interpolate._interpolate", "interp1d", "_call_linear")
    True
    >>> may_fetch("pandas", "DataFrame", "eval"), may_fetch("numpy", "f2py", "os")
    (False, False)
    """
    return judge(module, f"{owner}.{member}") != "unsafe"


@lru_cache(maxsize=4096)
def may_call(module: str, name: str) -> bool:
    """Tell whether a call of ``module.name`` only puts data together, or makes a foreign object.

    Examples
    --------
    >>> may_call("numpy.random._pickle", "__randomstate_ctor"), may_call("river.tree", "Node")
    (True, True)
    >>> may_call("joblib.numpy_pickle", "load"), may_call("river.utils", "make")
    (False, False)
    """
    full = f"{module}.{name}"
    if full in FETCHED & INERT_CALLS or file_within(full):
        return True
    kind = judge(module, name)
    if kind == "unsafe" or full in MENTIONED or full in FUNCTIONS:
        return False
    if module.partition(".")[0] not in KNOWN or _is_constructor(full, module, name):
        # What a library that is not read does when it is called, nobody can tell.
        return kind == "class" or (kind == "listed" and "." not in name)
    if not f"{module}.".startswith(CALLED) or NOT_CALLED.fullmatch(full):
        return False
    return DATA_CLASS.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def may_hand(target: str, module: str, name: str) -> bool:
    """Tell whether a call of ``target`` may be handed ``module.name`` as an argument.

    A constructor may call what it is handed (numpy's ``__randomstate_ctor`` does), so
    that a name that may be mentioned would be called in the end.

    Examples
    --------
    >>> ctor = "numpy.random._pickle.__randomstate_ctor"
    >>> may_hand(ctor, "numpy.random._pickle", "__bit_generator_ctor")
    True
    >>> may_hand(ctor, "numpy", "log1p"), may_hand("functools.partial", "numpy", "log1p")
    (False, True)
    """
    library = target.partition(".")[0]
    if library == "cloudpickle" or (library not in KNOWN and not is_standard(target)):
        return True
    full = f"{module}.{name}"
    if target in KEEPERS:
        return judge(module, name) != "unsafe" and not NOT_CALLED.fullmatch(full)
    if full in KEEPERS or full in FUNCTIONS:
        return False
    if _is_constructor(full, module, name):
        return True
    return full in CLASSES and not NOT_CALLED.fullmatch(full)


@lru_cache(maxsize=4096)
def may_create(module: str, name: str) -> bool:
    """Tell whether ``module.name`` is a class whose bare instance is inert.

    A bare instance is asked of a class only: pickle refuses to ask it of a function.
    So a name of a library that is not known passes: it is a class, stays inert here,
    and the reader reports it.
    """
    if may_call(module, name):
        return True
    full, own = f"{module}.{name}", module.partition(".")[0] in KNOWN or is_standard(module)
    listed = full in FUNCTIONS or full in MENTIONED or (own and "." in name)
    return judge(module, name) != "unsafe" and not listed
