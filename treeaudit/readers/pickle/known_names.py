"""The names that model files mention, and what they may do with them; see `names`.

Tables only: what is not in one of them is refused, or stays a foreign name.
"""

import re

DATA_CALLS = {
    "numpy.dtype",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray._reconstruct",
    "numpy.core.numeric._frombuffer",
    "numpy._core.numeric._frombuffer",
    "numpy.core.multiarray.scalar",
    "numpy._core.multiarray.scalar",
    "dill._dill._create_array",
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

PLAIN = {
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

MENTIONED = {
    *(
        f"{module}.{name}"
        for module in ("builtins", "__builtin__")
        for name in "type len abs min max sum any all sorted round repr print".split()
    ),
    *(
        f"{module}.{name}"
        for module in ("operator", "_operator")
        for name in "add sub mul truediv mod neg eq ne lt le gt ge getitem contains".split()
    ),
    *(f"enum.{name}" for name in "Enum IntEnum StrEnum Flag IntFlag ReprEnum".split()),
    *(f"enum.{name}" for name in ("EnumType", "EnumMeta")),
    "dataclasses.MISSING",
}
"""Names of the standard library that models refer to and that may not be called."""

KEEPERS = {
    *(f"builtins.{name}" for name in ("staticmethod", "classmethod", "property")),
    "collections.defaultdict",
    "functools.partial",
    "operator.itemgetter",
}
"""What only keeps what it is handed, and can be called itself."""

INERT_CALLS = {
    "numpy.random._pickle.__bit_generator_ctor",
    "numpy.random._pickle.__generator_ctor",
    "numpy.random._pickle.__randomstate_ctor",
    "numpy.random.__RandomState_ctor",
    "numpy.ma.core._mareconstruct",
    "numpy.ma.core.MaskedConstant",
    "pandas.Interval",
    "pandas.Period",
    "numpy.core._multiarray_umath._reconstruct",
    "numpy._core._multiarray_umath._reconstruct",
    "sklearn.neighbors._ball_tree.newObj",
    "sklearn.neighbors._kd_tree.newObj",
    "sklearn.neighbors.ball_tree.newObj",
    "sklearn.neighbors.kd_tree.newObj",
    "sklearn.neighbors.dist_metrics.newObj",
    "sklearn.neighbors._dist_metrics.newObj",
    "sklearn.metrics._dist_metrics.newObj",
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
PUTS_TOGETHER = re.compile(
    r"(pandas\.(_libs|core|tseries|indexes)\.[\w.]+"
    r"\.(_new_\w*Index|_unpickle_(timestamp|block)|unpickle_block|new_block(_2d)?)"
    r"|torch\._utils\._rebuild_\w+|torch\.(Size|device)"
    r"|pandas\.(core\.dtypes\.dtypes\.)?\w+Dtype"
    r"|pandas\.tseries\.offsets\.[A-Z]\w*"
    r"|statsmodels\.tsa\.statespace\._\w+\.[sdcz][A-Z]\w*)"
)

FILES_WITHIN = {
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

KERAS_3 = re.compile(r"keras\.[\w.]+\._unpickle_model", re.ASCII)
EXCEPTIONS = re.compile(
    r"(builtins|exceptions)\.[A-Z]\w*(Warning|Error)"
    r"|decimal\.(Clamped|Inexact|Rounded|Subnormal|Underflow|Overflow|FloatOperation"
    r"|Invalid\w*|Division\w*)"
)
# Where a class may be called with arguments. Not everywhere: pandas.HDFStore("x") makes a file,
# and pandas.core.computation.expr.Expr("…") evaluates its text.
CALLED = (
    *("sklearn.", "_loss.", "numpy.random.", "scipy.sparse.", "imblearn.", "treeaudit."),
    *("xgboost.", "lightgbm.", "catboost."),
    *(f"pandas.core.{part}." for part in ("arrays", "internals", "indexes", "index", "dtypes")),
    *(f"pandas.core.{part}." for part in ("series", "frame", "sparse", "categorical", "flags")),
    *(f"pandas._libs.{part}." for part in ("tslibs", "tslib", "internals", "interval", "sparse")),
    *(f"pandas._libs.{part}." for part in ("arrays", "index", "missing", "hashtable", "period")),
)
# What makes folders, opens files or fetches pages there, if only under a borrowed name.
NOT_CALLED = re.compile(
    r"sklearn\.(externals|datasets|utils\._?(joblib|testing|mocking|estimator_checks))\..*"
    r"|(sklearn|imblearn|treeaudit)\..*\.(Memory|Parallel|Path|Request|\w*Temp\w*)"
    r"|(xgboost|lightgbm|catboost)\..*(Booster|DMatrix|Dataset|Pool|Sequence|CatBoost\w*)"
)
DATA_CLASS = re.compile(
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
UNSAFE = re.compile(
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
# A bare instance says where results are kept, and is a setting of estimators; a call makes folders.
BARE = frozenset(("joblib.memory.Memory", "joblib._store_backends.FileSystemStoreBackend"))
# Names of the standard library that any module may have borrowed: ``six.moves.map``.
BORROWED = frozenset(
    (
        "eval exec exec_ execfile compile system popen popen2 Popen getattr setattr delattr "
        "__import__ "
        "import_module run_module runpy map filter imap ifilter starmap reduce attrgetter "
        "methodcaller check_output check_call getoutput getstatusoutput spawn breakpoint globals "
        "CDLL PyDLL WinDLL OleDLL LibraryLoader CFUNCTYPE FileHandler RotatingFileHandler "
        "TemporaryDirectory NamedTemporaryFile TemporaryFile SpooledTemporaryFile FileIO "
        "InteractiveConsole InteractiveInterpreter FunctionType CodeType LambdaType ModuleType "
        "ThreadPoolExecutor ProcessPoolExecutor SourceFileLoader SourcelessFileLoader "
        "ExtensionFileLoader zipimporter Unpickler ZipFile TarFile Timer Thread"
    ).split()
)
CLASS = re.compile(r"_{0,2}[A-Z]\w*", re.ASCII)
# Methods that may be named: they compute from what their object holds.
METHODS = re.compile(
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
FETCHED = {
    "builtins.object.__new__",
    "builtins.tuple.__new__",
    "zoneinfo.ZoneInfo._unpickle",
    *(f"builtins.str.{name}" for name in ("lower", "upper", "strip", "title", "split", "casefold")),
    *(f"__builtin__.unicode.{name}" for name in ("lower", "upper", "strip", "title", "split")),
}
PYTHON2 = frozenset(
    (
        "__builtin__ copy_reg cPickle commands popen2 os2 ce thread urllib2 urlparse "
        "exceptions new imp distutils dl"
    ).split()
)
