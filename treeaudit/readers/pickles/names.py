"""One gate for every name that a model file mentions.

Nothing behind a name is ever imported or called: the gate decides what is
*said*. A name that could start a program makes the file unsafe, a class of a
data library is inert data, anything else is foreign and stays inert unless the
file calls it.

The gate lists what is allowed. A list of forbidden names always misses one
(measured on published scanners: 9 to 11 of 35 working payloads not flagged).
"""

import re
import sys

__all__ = [
    "DATA_CALLS",
    "file_within",
    "may_call",
    "may_create",
    "may_fetch",
    "may_import",
    "may_mention",
]

DATA_CALLS = {
    "numpy.dtype",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray._reconstruct",
    "numpy.core.numeric._frombuffer",
    "numpy._core.numeric._frombuffer",
    "numpy.core.multiarray.scalar",
    "numpy._core.multiarray.scalar",
    "_codecs.encode",
    "copyreg._reconstructor",
    "copyreg.__newobj__",
    "copy_reg._reconstructor",
    "copy_reg.__newobj__",
    "builtins.bytes",
    "builtins.bytearray",
    "builtins.set",
    "builtins.frozenset",
    "builtins.list",
    "builtins.tuple",
    "builtins.dict",
    "__builtin__.bytes",
    "__builtin__.bytearray",
    "__builtin__.set",
    "__builtin__.frozenset",
    "__builtin__.list",
    "__builtin__.tuple",
    "__builtin__.dict",
}
"""Constructors of plain data that the interpreter carries out itself."""

_PLAIN = {
    *(f"builtins.{name}" for name in ("object", "str", "int", "float", "bool", "complex", "slice")),
    *(f"__builtin__.{name}" for name in ("object", "str", "unicode", "int", "long", "float")),
    *(f"__builtin__.{name}" for name in ("bool", "complex", "slice")),
    *(f"builtins.{name}" for name in ("range", "Ellipsis", "NotImplemented", "NoneType")),
    *(f"__builtin__.{name}" for name in ("xrange", "Ellipsis", "NotImplemented")),
    "_collections._tuplegetter",
    *(f"builtins.{name}" for name in ("staticmethod", "classmethod", "property")),
    "abc.ABCMeta",
    "collections.ChainMap",
    "collections.OrderedDict",
    "collections.defaultdict",
    "collections.deque",
    "collections.Counter",
    "datetime.date",
    "datetime.datetime",
    "datetime.time",
    "datetime.timedelta",
    "datetime.timezone",
    "array.array",
    "array._array_reconstructor",
    "collections.UserDict",
    "collections.UserList",
    "decimal.Context",
    "decimal.Decimal",
    *(f"dataclasses.{name}" for name in ("Field", "_DataclassParams", "_MISSING_TYPE")),
    *(f"dataclasses.{name}" for name in ("_FIELD_BASE", "_HAS_DEFAULT_FACTORY_CLASS")),
    "fractions.Fraction",
    "functools.partial",
    "http.HTTPStatus",
    "_io.BytesIO",
    *(f"ipaddress.IPv{version}{kind}" for version in "46" for kind in ("Address", "Network")),
    "logging.getLogger",
    "operator.itemgetter",
    *(f"pathlib.{name}Path" for name in ("", "Posix", "PurePosix", "Windows", "PureWindows")),
    *(f"pathlib._local.{name}Path" for name in ("Posix", "PurePosix", "Windows", "PureWindows")),
    "random.Random",
    "re.RegexFlag",
    "types.SimpleNamespace",
    "uuid.UUID",
    "zoneinfo.ZoneInfo",
    "_weakrefset.WeakSet",
}
"""Names of the standard library that stay inert data when mentioned or made."""

_MENTIONED = {
    *(
        f"{module}.{name}"
        for module in ("builtins", "__builtin__")
        for name in "type len abs min max sum any all sorted round repr print".split()
    ),
    *(f"enum.{name}" for name in "Enum IntEnum StrEnum Flag IntFlag ReprEnum".split()),
    *(f"enum.{name}" for name in ("EnumType", "EnumMeta")),
    "dataclasses.MISSING",
}
"""Names of the standard library that models refer to and that may not be called."""

_INERT_CALLS = {
    "numpy.random._pickle.__bit_generator_ctor",
    "numpy.random._pickle.__generator_ctor",
    "numpy.random._pickle.__randomstate_ctor",
    "numpy.random.__RandomState_ctor",
    "numpy.ma.core._mareconstruct",
    "numpy.core._multiarray_umath._reconstruct",
    "numpy._core._multiarray_umath._reconstruct",
    "numpy.core._ufunc_reconstruct",
    "numpy._core._ufunc_reconstruct",
    "sklearn.neighbors._ball_tree.newObj",
    "sklearn.neighbors._kd_tree.newObj",
    "sklearn.neighbors.ball_tree.newObj",
    "sklearn.neighbors.kd_tree.newObj",
    "sklearn.neighbors.dist_metrics.newObj",
    "sklearn.neighbors._dist_metrics.newObj",
    "sklearn.metrics._dist_metrics.newObj",
    "jax._src.array._reconstruct_array",
    "numpy._core._internal._convert_to_stringdtype_kwargs",
    "re._compile",
    "zoneinfo.ZoneInfo._unpickle",
    "pandas.core.indexes.base._new_Index",
    "pandas.indexes.base._new_Index",
    "pandas.core.index._new_Index",
    "pandas._libs.tslibs.timedeltas._timedelta_unpickle",
    "pandas._libs.tslibs.nattype._nat_unpickle",
    "pandas._libs.tslibs.nattype.__nat_unpickle",
    "polars.schema.Schema",
    "sympy.polys.matrices.domainmatrix.DomainMatrix",
    "lifelines.utils.CensoringType",
    *(f"matplotlib._enums.{name}" for name in ("CapStyle", "JoinStyle")),
    "pandas.tslib._nat_unpickle",
    "pytz._p",
    "pytz._UTC",
    *(f"dateutil.tz.tz.{name}" for name in ("tzutc", "tzlocal", "tzoffset")),
    "pyarrow.lib.type_for_alias",
    "pyarrow.lib.chunked_array",
    "pyarrow.lib.py_buffer",
    "pyarrow.lib._restore_array",
    "pyarrow.lib._reconstruct_table",
    "pyarrow.lib._reconstruct_record_batch",
    *(f"pyarrow.lib.{name}" for name in ("field", "schema", "list_", "struct", "dictionary")),
    "cloudpickle.cloudpickle._builtin_type",
    "cloudpickle.cloudpickle._make_empty_cell",
    "cloudpickle.cloudpickle._make_cell",
    "cloudpickle.cloudpickle._make_function",
    "cloudpickle.cloudpickle._make_skel_func",
    "cloudpickle.cloudpickle._make_skeleton_class",
    "cloudpickle.cloudpickle._get_dataclass_field_type_sentinel",
    "cloudpickle.cloudpickle._make_skeleton_enum",
    "cloudpickle.cloudpickle._rehydrate_skeleton_class",
    "cloudpickle.cloudpickle._fill_function",
    "cloudpickle.cloudpickle._function_setstate",
    "cloudpickle.cloudpickle._class_setstate",
    "cloudpickle.cloudpickle_fast._function_setstate",
    "cloudpickle.cloudpickle_fast._class_setstate",
}
"""Functions of data libraries that only put an object together."""

# What the data libraries call the functions that put one of their objects together.
_PUTS_TOGETHER = re.compile(
    r"(pandas\.(_libs|core|tseries)\.[\w.]+\._?(new|unpickle)_\w+"
    r"|torch\._utils\._rebuild_\w+|torch\.(Size|device)"
    r"|pandas\.(core\.dtypes\.dtypes\.)?\w+Dtype"
    r"|pandas\.tseries\.offsets\.[A-Z]\w*"
    r"|statsmodels\.tsa\.statespace\._\w+\.[sdcz][A-Z]\w*)"
)

_FILES_WITHIN = {
    "torch.storage._load_from_bytes": "PyTorch",
    "torch.jit._pickle.build_tensor_from_id": "PyTorch",
    **{
        f"{package}.pickle_utils.deserialize_model_from_bytecode": "Keras"
        for package in (
            "keras.saving",
            "keras.src.saving",
            "keras.saving.legacy",
            "tensorflow.python.keras.saving",
        )
    },
    "scikeras._saving_utils.unpack_keras_model": "Keras",
    **{
        f"numba.core.serialize.{name}": "numba"
        for name in ("_unpickle__CustomPickled", "_rebuild_reduction", "custom_rebuild")
    },
}

_KERAS_3 = re.compile(r"keras\.[\w.]+\._unpickle_model", re.ASCII)
_EXCEPTIONS = re.compile(
    r"(builtins|exceptions)\.[A-Z]\w*(Warning|Error)"
    r"|decimal\.(Clamped|Inexact|Rounded|Subnormal|Underflow|Overflow|FloatOperation"
    r"|Invalid\w*|Division\w*)"
)
_LIBRARIES = frozenset(
    (
        "sklearn numpy scipy pandas joblib _loss xgboost lightgbm catboost imblearn skopt "
        "torch keras tensorflow cloudpickle category_encoders feature_engine "
        "sklearn_pandas mlxtend statsmodels pyarrow polars networkx treeaudit"
    ).split()
)
# Libraries with classes in small letters. A bare instance is asked of a class only:
# pickle refuses to ask it of a function.
_ANY_CLASS = frozenset("scipy statsmodels".split())
# Where a class may be called with arguments. Not everywhere: pandas.HDFStore("x") makes a file.
_CALLED = (
    *("sklearn.", "_loss.", "numpy.random.", "scipy.sparse.", "pandas.core.", "pandas._libs."),
    *("xgboost.", "lightgbm.", "catboost.", "imblearn.", "treeaudit."),
)
_DATA_CLASS = re.compile(
    r"_{0,2}[A-Z]\w*|__pyx_unpickle_\w+"
    r"|(csr|csc|coo|bsr|dia|dok|lil)_(matrix|array)"
    r"|ndarray|matrix|recarray|record|chararray|poly1d|vectorize|busdaycalendar|float(16|32|64)|u?int(8|16|32|64)|bool_?|str_|bytes_|dtype|ufunc|void"
)
# Members of classes that may be named: of libraries whose classes are data, and a few more.
_OWNERS = frozenset(
    (
        "sklearn numpy scipy pandas imblearn statsmodels polars matplotlib "
        "xgboost lightgbm catboost treeaudit"
    ).split()
)
_OWNER = re.compile(
    r"_?[A-Z]\w*|interp1d|rv_\w+|\w+_gen|gaussian_kde|__(generator|randomstate)_ctor", re.ASCII
)
_MEMBER = re.compile(r"_?[A-Za-z]\w{0,80}", re.ASCII)
_FETCHED = {
    "builtins.object.__new__",
    "builtins.tuple.__new__",
    "zoneinfo.ZoneInfo._unpickle",
    *(f"builtins.str.{name}" for name in ("lower", "upper", "strip", "title", "split", "casefold")),
    *(f"__builtin__.unicode.{name}" for name in ("lower", "upper", "strip", "title", "split")),
}
_PYTHON2 = frozenset(
    (
        "__builtin__ copy_reg cPickle commands popen2 os2 ce thread urllib2 urlparse "
        "exceptions new imp distutils dl"
    ).split()
)


def _standard_library(module: str) -> bool:
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in _PYTHON2 or top in sys.builtin_module_names


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
    if full in DATA_CALLS or full in _PLAIN or full in _INERT_CALLS or full in _MENTIONED:
        return True
    if _EXCEPTIONS.fullmatch(full):
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
    return "Keras" if _KERAS_3.fullmatch(full) else _FILES_WITHIN.get(full)


def may_import(module: str) -> bool:
    """Tell whether a file may refer to a whole module: of the known libraries, never on its own.

    Examples
    --------
    >>> may_import("numpy"), may_import("os")
    (True, False)
    """
    return _well_formed(module, "_") and module.partition(".")[0] in _OWNERS


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
    if full in _FETCHED or file_within(full):
        return True
    return (
        may_mention(module, owner)
        and module.partition(".")[0] in _OWNERS
        and _OWNER.fullmatch(owner) is not None
        and _MEMBER.fullmatch(member) is not None
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
    if full in _FETCHED & _INERT_CALLS or file_within(full):
        return True
    if not may_mention(module, name):
        return False
    if full in _INERT_CALLS or full in _PLAIN:
        return True
    if _EXCEPTIONS.fullmatch(full) or _PUTS_TOGETHER.fullmatch(full):
        return True
    return f"{module}.".startswith(_CALLED) and _DATA_CLASS.fullmatch(name) is not None


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
    free = library not in _LIBRARIES or library in _ANY_CLASS
    return free or _DATA_CLASS.fullmatch(name) is not None
