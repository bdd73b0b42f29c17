"""Files that smuggle a function under a harmless name or into a method's place.

Each hangs beside or inside a healthy tree, and most run the function under plain
`pickle.load` or when the model is used: `test_named` shows it for the shortest.
"""

import struct
from typing import Any

import numpy as np

from tests.hostile.build import (
    TOUCH,
    Code,
    built,
    call,
    dtype,
    joblib_array,
    late_array,
    model,
    named,
    new,
    push,
    stack_named,
    stored,
)
from tests.hostile.files import Hostile
from treeaudit import UnsafeModelError, UnsupportedModelError

__all__ = ["NAMED"]

RUNSTRING = named("numpy.testing._private.utils", "runstring")
LOAD = named("joblib.numpy_pickle", "load")
LISTED = named("numpy", "log1p")
PARTIAL = named("functools", "partial")
NAMESPACE = call(named("types", "SimpleNamespace"))
TRANSFORMER = new(named("sklearn.preprocessing._function_transformer", "FunctionTransformer"))
BUNCH = new(named("sklearn.utils._bunch", "Bunch"))
REPLACED = call(PARTIAL, LISTED, 1)


def _append_to(target: Code, function: Code) -> Code:
    """Return an object of which `append` is a function, and an append."""
    return Code(built(target, {"append": function}) + push("x") + b"a")


def _items(target: Code, **items: Any) -> Code:
    pairs = b"".join(push(key) + push(value) for key, value in items.items())
    return Code(target + b"(" + pairs + b"u")


def _with_names(target: Code, **keywords: Any) -> Code:
    return Code(target + push(()) + push(keywords) + b"\x92")


def _slots(target: Code, **state: Any) -> Code:
    return built(target, (None, state))


# Functions, and classes that open files or start programs, where a file may hold a value.
_CALLABLES = {
    "runstring": RUNSTRING,
    "old-runstring": named("numpy.testing.utils", "runstring"),
    "joblib-load": LOAD,
    "joblib-short": named("joblib", "load"),
    "joblib-compat": named("joblib.numpy_pickle_compat", "load_compatibility"),
    "joblib-memory": named("joblib.memory", "Memory"),
    "joblib-memorized": named("joblib.memory", "MemorizedFunc"),
    "joblib-parallel": named("joblib.parallel", "Parallel"),
    "joblib-loky": named("joblib.externals.loky.process_executor", "ProcessPoolExecutor"),
    "joblib-pickled": named("joblib.externals.cloudpickle", "loads"),
    "old-joblib": named("sklearn.externals.joblib", "load"),
    "pandas-eval": named("pandas", "eval"),
    "pandas-eval-core": named("pandas.core.computation.eval", "eval"),
    "pandas-read": named("pandas", "read_pickle"),
    "pandas-store": named("pandas", "HDFStore"),
    "pandas-excel": named("pandas", "ExcelFile"),
    "pandas-handle": named("pandas.io.common", "get_handle"),
    "pandas-method": stack_named("pandas", "DataFrame.eval"),
    "pandas-query": stack_named("pandas.core.frame", "DataFrame.query"),
    "pandas-pipe": stack_named("pandas.core.frame", "DataFrame.pipe"),
    "numpy-load": named("numpy", "load"),
    "numpy-source": named("numpy", "DataSource"),
    "numpy-archive": named("numpy.lib.npyio", "NpzFile"),
    "numpy-memmap": named("numpy", "memmap"),
    "numpy-save": named("numpy", "savetxt"),
    "numpy-from-file": named("numpy", "fromfile"),
    "numpy-compiler": named("numpy.f2py", "compile"),
    "numpy-shell": named("numpy.distutils.exec_command", "exec_command"),
    "numpy-library": named("numpy.ctypeslib", "load_library"),
    "numpy-along": named("numpy", "apply_along_axis"),
    "numpy-tofile": stack_named("numpy", "ndarray.tofile"),
    "scipy-load": named("scipy.io", "loadmat"),
    "scipy-inline": named("scipy.weave", "inline"),
    "scipy-root": named("scipy.optimize", "minimize"),
    "sklearn-data": named("sklearn.datasets", "load_svmlight_file"),
    "sklearn-fetch": named("sklearn.datasets._base", "_fetch_remote"),
    "sklearn-fit": stack_named("sklearn.pipeline", "Pipeline.fit"),
    "sklearn-discovery": named("sklearn.utils.discovery", "all_estimators"),
    "sklearn-folder": named("sklearn.utils.parallel", "TemporaryDirectory"),
    "xgboost-load": stack_named("xgboost.sklearn", "XGBClassifier.load_model"),
    "lightgbm-train": named("lightgbm.engine", "train"),
    "catboost-tool": named("catboost.utils", "eval_metric"),
    "six-map": named("six.moves", "map"),
    "six-exec": named("six", "exec_"),
    "cloudpickle-loads": named("cloudpickle.cloudpickle", "loads"),
    "cloudpickle-import": named("cloudpickle.cloudpickle", "subimport"),
    "Popen": named("subprocess", "Popen"),
    "borrowed-Popen": named("some_package.tools", "Popen"),
    "library": named("ctypes", "CDLL"),
    "import": named("importlib", "import_module"),
    "console": named("code", "InteractiveConsole"),
    "handler": named("logging", "FileHandler"),
    "timer": named("timeit", "Timer"),
    "function-type": named("types", "FunctionType"),
    "map": named("builtins", "map"),
    "filter": named("builtins", "filter"),
    "chain": named("itertools", "starmap"),
    "getter": named("operator", "attrgetter"),
    "pool": named("multiprocessing.pool", "Pool"),
    "runpy": named("runpy", "run_path"),
    "zip": named("zipimport", "zipimporter"),
}
# Where a file may hold it.
_PLACES = {
    "attribute": lambda f: model(extra=f),
    "in-a-list": lambda f: model(extra=[1, [f]]),
    "in-a-tuple": lambda f: model(extra=(1, (f,))),
    "value-of-a-dict": lambda f: model(extra={"a": {"b": f}}),
    "key-of-a-dict": lambda f: model(extra=Code(b"}(" + f + b"K\x01u")),
    "in-a-set": lambda f: model(extra=Code(b"\x8f(" + f + b"\x90")),
    "in-a-frozenset": lambda f: model(extra=Code(b"(" + f + b"\x91")),
    "class-weight": lambda f: model(class_weight=f),
    "class-label": lambda f: model(classes_=late_array((1,), dtype("O8"), [f])),
    "object-array": lambda f: model(extra=late_array((2,), dtype("O8"), [1, f])),
    "nested-pickle": lambda f: [joblib_array(stored([f]), dtype("O8"), (1,)), model()],
    "partial": lambda f: model(extra=call(PARTIAL, f, "x")),
    "partial-of-a-partial": lambda f: model(extra=call(PARTIAL, call(PARTIAL, f), "x")),
    "keyword-of-a-partial": lambda f: model(
        extra=built(call(PARTIAL, LISTED), (LISTED, (), {"key": f}, None))
    ),
    "state-of-a-partial": lambda f: model(extra=built(call(PARTIAL, LISTED), (f, ("x",), {}, {}))),
    "default-factory": lambda f: model(extra=call(named("collections", "defaultdict"), f)),
    "transformer": lambda f: model(extra=built(TRANSFORMER, {"func": f})),
    "inverse": lambda f: model(extra=built(TRANSFORMER, {"func": LISTED, "inverse_func": f})),
    "keyword-arguments": lambda f: model(
        extra=built(TRANSFORMER, {"func": LISTED, "kw_args": {"where": f}})
    ),
    "scorer": lambda f: model(
        extra=built(new(named("sklearn.metrics._scorer", "_PredictScorer")), {"_score_func": f})
    ),
    "bunch": lambda f: model(extra=_items(BUNCH, data=f)),
    "data-frame": lambda f: model(
        extra=built(new(named("pandas", "DataFrame")), {"_metadata": [f], "attrs": {}})
    ),
    "objective": lambda f: model(
        extra=built(new(named("xgboost.sklearn", "XGBClassifier")), {"objective": f})
    ),
    "slot": lambda f: model(extra=_slots(NAMESPACE, value=f)),
    "new-with-names": lambda f: model(
        extra=_with_names(named("sklearn.tree._classes", "DecisionTreeClassifier"), x=f)
    ),
    "index": lambda f: model(
        extra=call(
            named("pandas.core.indexes.base", "_new_Index"),
            named("pandas.core.indexes.base", "Index"),
            {"data": [f], "name": None},
        )
    ),
    "vectorize": lambda f: model(extra=built(new(named("numpy", "vectorize")), {"pyfunc": f})),
    "append": lambda f: [_append_to(NAMESPACE, call(PARTIAL, f, "x")), model()],
}

_TREE = new(named("sklearn.tree._classes", "DecisionTreeClassifier"))
_PAIR = ("_parse_arg_template", "import os")
_FROZEN = new(named("scipy.stats._continuous_distns", "norm_gen"))
_TEMPLATE = """
def _parse_args(self,  loc=0, scale=1):
    return (), loc, scale

def _parse_args_rvs(self,  loc=0, scale=1, size=None):
    return self._argcheck_rvs( loc, scale, size=size)

def _parse_args_stats(self,  loc=0, scale=1, moments='mv'):
    return (), loc, scale, moments
"""
_STR = named("builtins", "str")
# A listed function in the place of a method, or text that a library would run.
_STATES: dict[str, Code] = {
    **{
        f"tree-{key}": model(**{key: REPLACED})
        for key in (
            "predict predict_proba predict_log_proba apply decision_path fit score get_params "
            "set_params get_depth append extend add update __setitem__ __setstate__ __reduce__ "
            "__class__ __dict__ __getattr__ __getattribute__ __array__ __array_function__ "
            "__sklearn_tags__ __iter__ _repr_html_ _repr_mimebundle_ _ipython_display_"
        ).split()
    },
    "value-is-a-number": model(predict=5),
    "value-is-none": model(__setstate__=None),
    "namespace-append": _append_to(NAMESPACE, REPLACED),
    "tree-append": _append_to(_TREE, REPLACED),
    "namespace-extend": built(NAMESPACE, {"extend": REPLACED}),
    "namespace-setstate": built(NAMESPACE, {"__setstate__": REPLACED}),
    "slot-append": _slots(NAMESPACE, append=REPLACED),
    "slot-predict": _slots(_TREE, predict=REPLACED),
    "partial-append": built(call(PARTIAL, LISTED), (LISTED, (), {}, {"append": REPLACED})),
    "namespace-by-position": call(named("types", "SimpleNamespace"), {"append": REPLACED}),
    "bunch-item": _items(BUNCH, append=REPLACED),
    "bunch-item-predict": _items(BUNCH, predict=REPLACED),
    "bunch-state": built(BUNCH, {"__setstate__": REPLACED}),
    "key-is-computed": built(NAMESPACE, Code(b"}(" + call(_STR, "append") + REPLACED + b"u")),
    "key-of-numpy": built(
        NAMESPACE,
        Code(
            b"}("
            + call(
                named("numpy._core.multiarray", "scalar"), dtype("U6"), "append".encode("utf-32-le")
            )
            + REPLACED
            + b"u"
        ),
    ),
    "state-is-computed": built(
        NAMESPACE, call(named("collections", "OrderedDict"), [["append", REPLACED]])
    ),
    "state-is-a-bunch": built(_TREE, _items(BUNCH, predict=REPLACED)),
    "request-append": built(
        new(named("sklearn.utils._metadata_requests", "MetadataRequest")), {"append": REPLACED}
    ),
    "cython-state": call(
        named("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"),
        named("pandas.core.arrays.datetimes", "DatetimeArray"),
        1,
        (np.arange(2), {"append": REPLACED}),
    ),
    "scipy-runs-its-template": built(_FROZEN, {"_parse_arg_template": "import os"}),
    "scipy-runs-more": built(_FROZEN, {"_parse_arg_template": _TEMPLATE + "import os\n"}),
    "scipy-runs-a-default": built(
        _FROZEN, {"_parse_arg_template": _TEMPLATE.replace("loc=0", "loc=print()")}
    ),
    "scipy-runs-a-list": built(_FROZEN, [["_parse_arg_template", "import os"]]),
    "scipy-runs-a-tuple": built(_FROZEN, (("_parse_arg_template", "import os"), ("x", 1))),
    "scipy-runs-a-set": built(_FROZEN, Code(b"(" + push(_PAIR) + b"\x91")),
    "scipy-runs-a-filled-set": built(_FROZEN, Code(b"\x8f(" + push(_PAIR) + b"\x90")),
    "scipy-runs-an-array": built(_FROZEN, np.array([["_parse_arg_template", "import os"]])),
    "scipy-runs-a-tuple-of-sets": built(_FROZEN, Code(b"(" + push(_PAIR) + b"\x91\x85")),
    "scipy-runs-an-array-in-a-tuple": built(
        _FROZEN, (np.array(["_parse_arg_template", "import os"]), ("x", 1))
    ),
    "scipy-runs-an-object-array-in-a-tuple": built(
        _FROZEN, (np.array(["_parse_arg_template", "import os"], dtype=object), ("x", 1))
    ),
    "array-in-a-tuple-for-a-learner": built(_TREE, (np.array([("predict", 1)], "O,O"), None)),
    "list-of-pairs-for-a-table": built(
        new(named("pandas.core.frame", "DataFrame")), [("predict", 1), ("append", 2)]
    ),
    "state-is-a-text": built(_TREE, "ab"),
    "state-is-a-set": built(_TREE, Code(b"(" + push(("predict", 1)) + b"\x91")),
    "slots-in-a-bunch": built(NAMESPACE, (None, _items(BUNCH, append=REPLACED))),
    "slots-in-an-ordered-dict": built(
        NAMESPACE, (None, call(named("collections", "OrderedDict"), [["append", REPLACED]]))
    ),
    "bunch-reconstructed": call(
        named("copyreg", "_reconstructor"),
        named("sklearn.utils._bunch", "Bunch"),
        named("builtins", "dict"),
        {"append": REPLACED},
    ),
    "template-of-another-class": built(NAMESPACE, {"_parse_arg_template": "import os"}),
    "module-changed": built(
        call(named("cloudpickle.cloudpickle", "subimport"), "numpy"), {"load": REPLACED}
    ),
    "logger-changed": built(call(named("logging", "getLogger"), "a"), {"handlers": [REPLACED]}),
    "old-setstate": built(_TREE, Code(b"}(" + b"U\x0c__setstate__" + REPLACED + b"u")),
    "key-protocol-0": built(_TREE, Code(b"(S'predict'\n" + REPLACED + b"d")),
    "memo-key": built(
        NAMESPACE, Code(b"}(" + push("append") + b"r" + struct.pack("<I", 99) + REPLACED + b"u")
    ),
}
_FOREIGN = {
    "constructor": new(named("some_package", "Model")),
}

REFERRED = {
    "function": model(extra=named("some_package", "run")),
    "own-function": model(extra=named("__main__", "run")),
    "transformer": model(extra=built(TRANSFORMER, {"func": named("my_module", "clean")})),
    "method": model(extra=stack_named("some_package", "Thing.run")),
}
"""Functions of others that a file refers to and does not call."""

_LIBRARIES = (
    *("torch.utils.collect_env.run", "mlflow.projects.backend.local._run_entry_point"),
    *("some_package.run", "__main__.run", "my_module.clean", "tensorflow.io.read_file"),
    *("pip._internal.main", "IPython.core.page.page", "river.utils.make", "dill._dill._eval_repr"),
)


def _called(full: str) -> dict[str, Code]:
    """Call a function of a library in each of the ways of a pickle."""
    module, _, name = full.rpartition(".")
    target, lines = named(module, name), f"{module}\n{name}\n".encode()
    return {
        f"{full}-reduce": model(extra=call(target, TOUCH)),
        f"{full}-object": model(extra=Code(b"(" + target + push(TOUCH) + b"o")),
        f"{full}-instance": model(extra=Code(b"(" + push(TOUCH) + b"i" + lines)),
        f"{full}-within": model(extra=[{"a": (call(target, TOUCH), 1)}]),
    }


def _all() -> tuple[Hostile, ...]:
    # Every place with one function, and every function in one place.
    unsafe = {f"{name}-runstring": place(RUNSTRING) for name, place in _PLACES.items()}
    unsafe |= {f"{name}-load": place(LOAD) for name, place in _PLACES.items()}
    unsafe |= {f"attribute-{name}": model(extra=f) for name, f in _CALLABLES.items()}
    unsafe |= {f"partial-{name}": _PLACES["partial"](f) for name, f in _CALLABLES.items()}
    unsafe |= {f"call-{name}": c for full in _LIBRARIES for name, c in _called(full).items()}
    unsafe |= {f"state-{name}": model(extra=state) for name, state in _STATES.items()}
    return (
        *(Hostile(f"named-{name}", stored(value), UnsafeModelError)
          for name, value in unsafe.items()),
        *(Hostile(f"foreign-{name}", stored(value), UnsupportedModelError)
          for name, value in _FOREIGN.items()),
    )  # fmt: skip


NAMED = _all()
