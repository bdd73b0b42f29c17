"""One gate for every name that a model file mentions.

Nothing behind a name is ever imported or called: the gate decides what is
*said*. Functions and classes are listed one by one, by their exact names
(`listed_names.txt`), wherever they stand. Of the rest:

* a function of the standard library or of a library that writes tree models
  makes the file unsafe;
* a function of any other library is never called; one that is only referred to is named;
* a class is inert data that nobody has explained, and is named.

The gate lists what is allowed. A list of forbidden names always misses one
(measured on published scanners: 9 to 11 of 35 working payloads not flagged). The
few forbidden names here (`_UNSAFE`, `_BORROWED`) only choose the words: what they
miss is named as a class that nobody has explained, and is no pass either.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from treeaudit.readers.limits import bare

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


def _in_full(section: str, former: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return every name of a section in full, under the former names of its module too."""
    return frozenset(
        f"{where}.{name}"
        for module, names in _LISTED[section].items()
        for where in (module, *former.get(module, ()))
        for name in names
    )


_LISTED = _listed()
CLASSES = _in_full("classes", _LISTED["former"])
"""Classes of which an instance is data: to make one, and to give it its state, runs no code."""
FUNCTIONS = _in_full("functions", _LISTED["former"])
"""Functions that models keep: whatever they are called with, they compute and touch no file."""
DATA_CALLS = _in_full("data calls", {})
"""Constructors of plain data that the interpreter carries out itself."""
BARE = _in_full("bare", {})
"""Classes of which a bare instance is made and no other."""
_PLAIN, _MENTIONED = _in_full("plain", {}), _in_full("mentioned", {})
_KEEPERS, _FETCHED = _in_full("keepers", {}), _in_full("fetched", {})
_INERT_CALLS = _in_full("inert calls", {})
_FILES_WITHIN = {
    name: library
    for library in ("PyTorch", "Keras")
    for name in _in_full(f"files of {library}", {})
}
# What the data libraries call the functions that put one of their objects together.
_PUTS_TOGETHER = re.compile(
    r"(pandas\.(_libs|core|tseries|indexes)\.[\w.]+"
    r"\.(_new_\w*Index|_unpickle_(timestamp|block)|unpickle_block|new_block(_2d)?)"
    r"|torch\._utils\._rebuild_\w+|torch\.(Size|device)"
    r"|pandas\.(core\.dtypes\.dtypes\.)?\w+Dtype"
    r"|pandas\.tseries\.offsets\.[A-Z]\w*"
    r"|statsmodels\.tsa\.statespace\._\w+\.[sdcz][A-Z]\w*)"
)
_KERAS_3 = re.compile(r"keras\.[\w.]+\._unpickle_model", re.ASCII)
_EXCEPTIONS = re.compile(
    r"(builtins|exceptions)\.[A-Z]\w*(Warning|Error)"
    r"|decimal\.(Clamped|Inexact|Rounded|Subnormal|Underflow|Overflow|FloatOperation"
    r"|Invalid\w*|Division\w*)"
)
# Where a class may be called with arguments. Not everywhere: pandas.HDFStore("x") makes a file,
# and pandas.core.computation.expr.Expr("…") evaluates its text.
_CALLED = (
    *("sklearn.", "_loss.", "numpy.random.", "scipy.sparse.", "imblearn.", "treeaudit."),
    *("xgboost.", "lightgbm.", "catboost."),
    *(f"pandas.core.{part}." for part in ("arrays", "internals", "indexes", "index", "dtypes")),
    *(f"pandas.core.{part}." for part in ("series", "frame", "sparse", "categorical", "flags")),
    *(f"pandas._libs.{part}." for part in ("tslibs", "tslib", "internals", "interval", "sparse")),
    *(f"pandas._libs.{part}." for part in ("arrays", "index", "missing", "hashtable", "period")),
)
# What makes folders, opens files or fetches pages there, if only under a borrowed name.
_NOT_CALLED = re.compile(
    r"sklearn\.(externals|datasets|utils\._?(joblib|testing|mocking|estimator_checks))\..*"
    r"|(sklearn|imblearn|treeaudit)\..*\.(Memory|Parallel|Path|Request|\w*Temp\w*)"
    r"|(xgboost|lightgbm|catboost)\..*(Booster|DMatrix|Dataset|Pool|Sequence|CatBoost\w*)"
)
_DATA_CLASS = re.compile(
    r"_{0,2}[A-Z]\w*|__pyx_unpickle_\w+"
    r"|(csr|csc|coo|bsr|dia|dok|lil)_(matrix|array)"
    r"|ndarray|matrix|recarray|record|chararray|poly1d|vectorize|busdaycalendar|float(16|32|64)|u?int(8|16|32|64)|bool_?|str_|bytes_|dtype|ufunc|void"
)
# Libraries whose names are listed one by one: what is not listed there is no data.
KNOWN = frozenset(
    (
        "sklearn numpy scipy pandas joblib xgboost lightgbm catboost imblearn treeaudit _loss "
        "cloudpickle mtrand"
    ).split()
)
# Classes there, and whole modules, that open files, start programs or evaluate text.
_UNSAFE = re.compile(
    r"joblib\..*|cloudpickle\..*|sklearn\.(externals|datasets)\..*|.*\.(testing|_testing|f2py|distutils)\..*"
    r"|numpy\.(ctypeslib|lib\._?(datasource|npyio|format|utils|user_array)|compat)\..*"
    r"|numpy\.(DataSource|memmap)|numpy\._?core\.memmap\.memmap"
    r"|scipy\.(io|datasets|_lib|weave)\..*"
    r"|pandas\.(io|util|plotting|compat)\..*|pandas\.core\.(computation|config_init)\..*"
    r"|pandas\._(config|libs\.(parsers|writers|json))\..*"
    r"|(pandas|numpy|scipy|sklearn|imblearn)\.(.*\.)?(HDFStore|Excel\w+|\w*(Path|Reader|Writer|Opener))"
    r"|xgboost\.(tracker|collective|spark|dask|testing|libpath|compat)\..*|lightgbm\.(dask|libpath)\..*",
    re.ASCII,
)
# Names of the standard library that any module may have borrowed: ``six.moves.map``.
_BORROWED = frozenset(_LISTED["borrowed"]["any"])
METHODS = frozenset(_LISTED["methods"]["any"])
"""Public methods of estimators, which no state may set."""
_CLASS = re.compile(r"_{0,2}[A-Z]\w*", re.ASCII)
# Methods that may be named: they compute from what their object holds.
_METHODS = re.compile(
    r"scipy\.interpolate\.(\w+\.)?interp1d\._call_\w+"
    r"|scipy\.stats\.\w+\.\w+\.[a-z]\w*|scipy\.stats\.\w+\.\w+_gen\._[a-z]\w*"
    r"|numpy\.random\.(_pickle\.__(generator|randomstate)_ctor|_?generator\.Generator"
    r"|mtrand\.RandomState)\.[a-z]\w*"
    r"|(sklearn|imblearn|xgboost\.sklearn|lightgbm\.sklearn)\.[\w.]+\."
    r"(transform|inverse_transform|predict|predict_proba|predict_log_proba|decision_function"
    r"|score|score_samples|apply|decision_path|staged_predict|staged_predict_proba"
    r"|kneighbors|get_feature_names_out|get_params|_raw_predict)"
    # Members of enumerations, by which Python 3.11.0 to 3.11.3 names them.
    r"|(re\.RegexFlag|http\.HTTPStatus)\.[A-Z][A-Z_]*",
    re.ASCII,
)
_PYTHON2 = frozenset(
    (
        "__builtin__ copy_reg cPickle commands popen2 os2 ce thread urllib2 urlparse "
        "exceptions new imp distutils dl"
    ).split()
)


_MODULES = frozenset(
    "collections copy datetime functools itertools json math pickle re time".split()
)


def is_standard(module: str) -> bool:
    """Tell whether a module belongs to the standard library, of Python 2 too."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in _PYTHON2 or top in sys.builtin_module_names


def _well_formed(module: str, name: str) -> bool:
    return name.isidentifier() and all(part.isidentifier() for part in module.split("."))


@lru_cache(maxsize=4096)
def judge(module: str, name: str) -> Kind:
    """Return what ``module.name`` is; a member of a class has a dot in its name."""
    owner, dot, member = name.partition(".")
    if dot:
        return _judge_member(module, owner, member)
    if not _well_formed(module, name):
        return "unsafe"
    full = f"{module}.{name}"
    if full in CLASSES or full in FUNCTIONS or _is_constructor(full, module, name):
        return "listed"
    if is_standard(module) or name in _BORROWED or _UNSAFE.fullmatch(full):
        return "unsafe"
    if module.partition(".")[0] in KNOWN:
        return "class" if _DATA_CLASS.fullmatch(name) else "unsafe"
    return "class" if _CLASS.fullmatch(name) else "function"


_WITH_PATTERNS = ("builtins.", "exceptions.", "decimal.", "pandas.", "torch.", "statsmodels.")


def _is_constructor(full: str, module: str, name: str) -> bool:
    if full in DATA_CALLS or full in _PLAIN or full in _INERT_CALLS or full in _MENTIONED:
        return True
    if name.startswith(_PYX):
        return f"{module}.{name.removeprefix(_PYX)}" in CLASSES
    # Patterns are only made where one may fit.
    if full.startswith(_WITH_PATTERNS) and (
        _EXCEPTIONS.fullmatch(full) or _PUTS_TOGETHER.fullmatch(full)
    ):
        return True
    return file_within(full) is not None


def _judge_member(module: str, owner: str, member: str) -> Kind:
    """Judge a member of a class: never of a module, and no member of a member."""
    full = f"{module}.{owner}.{member}"
    if full in _FETCHED or file_within(full):
        return "listed"
    if not member.isidentifier() or member.startswith("__") or member in _BORROWED:
        return "unsafe"
    kind = judge(module, owner)
    if module.partition(".")[0] in KNOWN or is_standard(module):
        return kind if _METHODS.fullmatch(full) else "unsafe"
    if kind not in ("class", "listed") or not _CLASS.fullmatch(owner):
        return "unsafe"
    return "class" if _CLASS.fullmatch(member) else "function"


def may_mention(module: str, name: str) -> bool:
    """Tell whether naming ``module.name`` alone does not make a file unsafe.

    Dotted names are refused: ``numpy.lib`` + ``_datasource.os.system`` walks
    out of the library it starts in.
    """
    return "." not in name and judge(module, name) != "unsafe"


def file_within(full: str) -> str | None:
    """Return the library whose whole file a function reads out of the pickle, if it does.

    What that file would run cannot be seen from here, so whatever else the pickle
    holds is not read as a model either.
    """
    return "Keras" if _KERAS_3.fullmatch(full) else _FILES_WITHIN.get(full)


def not_read(module: str, name: str) -> str:
    """Say that code of a library that treeaudit does not read would run."""
    library = bare(module.partition(".")[0])
    if library == "__main__":
        library = "code of the program that wrote a file (__main__)"
    return (
        f"treeaudit does not read {library}: the file names {bare(f'{module}.{name}', 200)}, which "
        "loading imports and may run; save the estimator alone, or its booster by save_model"
    )


def may_import(module: str) -> bool:
    """Tell whether a file may refer to a whole module, never on its own.

    Of the standard library only those whose import does nothing; of others any, as with a class.
    """
    return _well_formed(module, "_") and (not is_standard(module) or module in _MODULES)


def may_fetch(module: str, owner: str, member: str) -> bool:
    """Tell whether a file may refer to a member of the class ``module.owner``.

    Of the known libraries the methods that only compute, one by one; of others any
    that is no module's and has no two underscores in front, for they are not read
    in the end. What is fetched can be called only where `may_call` lists it in full.
    """
    return judge(module, f"{owner}.{member}") != "unsafe"


@lru_cache(maxsize=4096)
def may_call(module: str, name: str) -> bool:
    """Tell whether a call of ``module.name`` only puts data together, or makes a foreign object."""
    full = f"{module}.{name}"
    if full in _FETCHED & _INERT_CALLS or file_within(full):
        return True
    kind = judge(module, name)
    if kind == "unsafe" or full in _MENTIONED or full in FUNCTIONS:
        return False
    if module.partition(".")[0] not in KNOWN or _is_constructor(full, module, name):
        # What a library that is not read does when it is called, nobody can tell.
        return kind == "class" or (kind == "listed" and "." not in name)
    if not f"{module}.".startswith(_CALLED) or _NOT_CALLED.fullmatch(full):
        return False
    return _DATA_CLASS.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def may_hand(target: str, module: str, name: str) -> bool:
    """Tell whether a call of ``target`` may be handed ``module.name`` as an argument.

    A constructor may call what it is handed (numpy's ``__randomstate_ctor`` does), so
    that a name that may be mentioned would be called in the end.
    """
    library = target.partition(".")[0]
    if library == "cloudpickle" or (library not in KNOWN and not is_standard(target)):
        return True
    full = f"{module}.{name}"
    if target in _KEEPERS:
        return judge(module, name) != "unsafe" and not _NOT_CALLED.fullmatch(full)
    if full in _KEEPERS or full in FUNCTIONS:
        return False
    if _is_constructor(full, module, name):
        return True
    return full in CLASSES and not _NOT_CALLED.fullmatch(full)


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
    listed = full in FUNCTIONS or full in _MENTIONED or (own and "." in name)
    return judge(module, name) != "unsafe" and not listed
