"""The hostile files: each named by its trick, with the error it must end in."""

import io
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.hostile.build import (
    DUP,
    MARK,
    POP,
    PROTO,
    STOP,
    TOUCH,
    VALUES,
    Code,
    built,
    call,
    dtype,
    forest,
    from_buffer,
    get,
    joblib_array,
    late_array,
    model,
    named,
    new,
    push,
    put,
    record,
    stack_named,
    stored,
    stump,
    system,
    tree,
)
from treeaudit import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError

__all__ = ["BOMBS", "HOSTILE", "JSON_FORMS", "Hostile", "own_json"]


class Hostile(NamedTuple):
    """A file and what reading it must end in."""

    name: str
    data: bytes | Callable[[], bytes]
    error: type[ReadError]

    def bytes(self) -> bytes:
        return self.data if isinstance(self.data, bytes) else self.data()


def _line(text: str) -> bytes:
    return text.encode() + b"\n"


F8 = np.dtype("f8")
OBJECT = dtype("O8")
POPEN = named("subprocess", "Popen")
UNKNOWN = named("some_package", "run")
FAR = record({"x": (dtype("f8"), 1 << 30)}, 8)
PARTIAL = call(named("functools", "partial"), named("numpy", "ndarray"), 1)
CLOUD_FUNCTION = call(
    named("cloudpickle.cloudpickle", "_make_function"),
    call(named("cloudpickle.cloudpickle", "_builtin_type"), "CodeType"),
    {},
    None,
    None,
    None,
)

UNSAFE: dict[str, bytes] = {
    "INST-unknown-function": PROTO + MARK + push(TOUCH) + b"isome_package\nrun\n" + STOP,
    "OBJ-unknown-function": PROTO + MARK + UNKNOWN + push(TOUCH) + b"o" + STOP,
    "REDUCE-unknown-function": stored(model(extra=call(UNKNOWN, TOUCH))),
    "payload-behind-an-unusual-first-opcode": b"N0cposix\nsystem\n(S'x'\ntR.",
    "GLOBAL-REDUCE-protocol-0": b"cposix\nsystem\n(S'" + TOUCH.encode() + b"'\ntR.",
    "GLOBAL-REDUCE-after-a-mark": b"(S'" + TOUCH.encode() + b"'\ntcposix\nsystem\n2R.",
    "GLOBAL-REDUCE-protocol-4": stored(system()),
    "GLOBAL-python-2-name": stored(call(named("__builtin__", "eval"), "1")),
    "GLOBAL-only-mentioned": stored(model(extra=named("posix", "system"))),
    "GLOBAL-default-factory": stored(call(named("collections", "defaultdict"), POPEN)),
    "GLOBAL-dotted-name": stored(call(named("numpy.lib", "_datasource.os.system"), TOUCH)),
    "GLOBAL-name-with-blank": stored(named("numpy lib", "x")),
    "GLOBAL-empty-name": stored(named("numpy", "")),
    "STACK_GLOBAL": stored(call(stack_named("os", "system"), TOUCH)),
    "STACK_GLOBAL-dotted-module": stored(call(stack_named("os", "path.os.system"), TOUCH)),
    "STACK_GLOBAL-from-memo": PROTO
    + MARK
    + put("system", 7)
    + put("posix", 9)
    + call(Code(get(9) + get(7) + b"\x93"), TOUCH)
    + b"t"
    + STOP,
    "STACK_GLOBAL-computed-name": stored(
        call(stack_named(call(named("_codecs", "encode"), "posix", "latin1"), "system"), TOUCH)
    ),
    "STACK_GLOBAL-name-is-no-text": stored(stack_named(5, "system")),
    "INST": PROTO + MARK + push(TOUCH) + b"iposix\nsystem\n" + STOP,
    "OBJ": PROTO + MARK + named("posix", "system") + push(TOUCH) + b"o" + STOP,
    "REDUCE-file-class-of-a-library": stored(
        model(extra=call(named("pandas", "HDFStore"), "x.h5", "w"))
    ),
    "REDUCE-function-of-a-library": stored(call(named("joblib.numpy_pickle", "load"), "x")),
    "REDUCE-memmap": stored(call(named("numpy", "memmap"), "x")),
    "REDUCE-getattr": stored(call(named("builtins", "getattr"), named("numpy", "ndarray"), "x")),
    "getattr-of-a-module": stored(call(named("builtins", "getattr"), named("numpy", "f2py"), "os")),
    "getattr-of-a-module-protocol-0": b"c__builtin__\ngetattr\n(cos\npath\nS'os'\ntR.",
    "getattr-of-the-standard-library": stored(
        call(call(named("builtins", "getattr"), named("os", "environ"), "get"), "HOME")
    ),
    "getattr-subclasses": stored(
        call(call(named("builtins", "getattr"), named("zoneinfo", "ZoneInfo"), "__subclasses__"))
    ),
    "getattr-two-underscores": stored(
        call(named("builtins", "getattr"), named("scipy.stats", "norm_gen"), "__globals__")
    ),
    "getattr-in-getattr": stored(
        call(
            named("builtins", "getattr"),
            call(named("builtins", "getattr"), named("pandas", "DataFrame"), "eval"),
            "func_globals",
        )
    ),
    "getattr-of-a-bound-method": stored(
        call(
            named("builtins", "getattr"),
            call(named("builtins", "getattr"), new(named("pandas", "DataFrame")), "eval"),
            "func_globals",
        )
    ),
    "getattr-dotted": stored(
        call(named("builtins", "getattr"), named("pandas", "DataFrame"), "eval.os.system")
    ),
    "getattr-name-is-no-text": stored(
        call(named("builtins", "getattr"), named("pandas", "DataFrame"), 5)
    ),
    "getattr-name-is-bytes": stored(
        call(named("builtins", "getattr"), named("pandas", "DataFrame"), b"eval")
    ),
    "getattr-name-is-computed": stored(
        call(named("builtins", "getattr"), named("pandas", "DataFrame"), named("numpy", "X"))
    ),
    "getattr-of-three": stored(
        call(named("builtins", "getattr"), named("pandas", "DataFrame"), "eval", None)
    ),
    "getattr-of-getattr": stored(
        call(named("builtins", "getattr"), named("builtins", "getattr"), "x")
    ),
    "getattr-of-an-array": stored(call(named("builtins", "getattr"), np.zeros(2), "tofile")),
    "getattr-only-mentioned": stored(model(extra=named("builtins", "getattr"))),
    "getattr-as-a-class": stored(
        new(named("builtins", "getattr"), named("pandas", "DataFrame"), "eval")
    ),
    "getattr-method-called": stored(
        call(call(named("builtins", "getattr"), named("pandas", "DataFrame"), "eval"), TOUCH)
    ),
    "getattr-bound-method-called": stored(
        call(call(named("builtins", "getattr"), new(named("pandas", "DataFrame")), "eval"), TOUCH)
    ),
    "getattr-method-made": stored(
        new(call(named("builtins", "getattr"), named("pandas", "DataFrame"), "eval"), TOUCH)
    ),
    "getattr-method-built-on": stored(
        built(call(named("builtins", "getattr"), named("pandas", "DataFrame"), "x"), {"y": 1})
    ),
    "getattr-from-INST": PROTO
    + MARK
    + named("os", "path")
    + push("os")
    + b"ibuiltins\ngetattr\n"
    + STOP,
    "STACK_GLOBAL-method-called": stored(call(stack_named("pandas", "DataFrame.eval"), TOUCH)),
    "STACK_GLOBAL-two-dots": stored(stack_named("pandas", "DataFrame.eval.os")),
    "STACK_GLOBAL-member-of-a-module": stored(stack_named("numpy", "f2py.os")),
    "STACK_GLOBAL-member-with-underscores": stored(stack_named("pandas", "DataFrame.__init__")),
    "type-makes-a-class": stored(call(named("builtins", "type"), "X", (), {})),
    "type-of-an-object": stored(call(named("builtins", "type"), new(named("numpy", "ndarray")))),
    "type-as-a-class": stored(new(named("builtins", "type"), "X", (), {})),
    "subimport-of-the-standard-library": stored(
        call(named("cloudpickle.cloudpickle", "subimport"), "os")
    ),
    "subimport-computed": stored(
        call(named("cloudpickle.cloudpickle", "subimport"), named("numpy", "X"))
    ),
    "subimport-called": stored(
        call(call(named("cloudpickle.cloudpickle", "subimport"), "numpy"), TOUCH)
    ),
    "REDUCE-constructor-handed-a-function": stored(
        call(named("numpy.random._pickle", "__randomstate_ctor"), "x", named("joblib", "load"))
    ),
    "REDUCE-constructor-handed-a-foreign-class": stored(
        call(named("numpy.random._pickle", "__bit_generator_ctor"), named("my_package", "Thing"))
    ),
    "REDUCE-constructor-handed-a-partial": stored(
        call(
            named("numpy.random._pickle", "__generator_ctor"),
            "x",
            call(named("functools", "partial"), named("joblib", "load"), "x"),
        )
    ),
    "REDUCE-constructor-handed-a-method": stored(
        call(
            named("numpy.random._pickle", "__randomstate_ctor"),
            "@x",
            call(named("builtins", "getattr"), new(named("pandas", "DataFrame")), "eval"),
        )
    ),
    "REDUCE-constructor-handed-a-method-by-name": stored(
        call(
            named("numpy.random._pickle", "__randomstate_ctor"),
            "@x",
            stack_named("pandas", "DataFrame.eval"),
        )
    ),
    "REDUCE-jax-array-of-a-function": stored(
        call(named("jax._src.array", "_reconstruct_array"), UNKNOWN, (TOUCH,), (), ())
    ),
    "REDUCE-ufunc-of-a-module": stored(
        call(named("numpy._core", "_ufunc_reconstruct"), "os", "system")
    ),
    "REDUCE-expression-of-pandas": stored(
        call(named("pandas.core.computation.expr", "Expr"), "@x.system('id')")
    ),
    "REDUCE-reader-of-pandas": stored(
        call(named("pandas._libs.parsers", "TextReader"), "/etc/passwd")
    ),
    "REDUCE-memory-of-scikit-learn": stored(
        call(named("sklearn.externals.joblib", "Memory"), "folder")
    ),
    "REDUCE-path-borrowed": stored(call(named("sklearn.datasets._base", "Path"), "/etc/passwd")),
    "REDUCE-folder-borrowed": stored(
        call(named("sklearn.utils.parallel", "TemporaryDirectory"), TOUCH)
    ),
    "REDUCE-booster-from-a-file": stored(
        call(named("xgboost.core", "Booster"), None, None, "/etc/passwd")
    ),
    "REDUCE-matrix-from-a-file": stored(call(named("xgboost.core", "DMatrix"), "/etc/passwd")),
    "REDUCE-lightgbm-from-a-file": stored(
        call(named("lightgbm.basic", "Booster"), None, None, "/etc/passwd")
    ),
    "REDUCE-print": stored(call(named("builtins", "print"), "x")),
    "REDUCE-iter": stored(call(named("builtins", "iter"), named("my_package", "run"), 1)),
    "REDUCE-attrgetter": stored(call(named("operator", "attrgetter"), "system")),
    "REDUCE-methodcaller": stored(call(named("operator", "methodcaller"), "system", TOUCH)),
    "REDUCE-of-a-partial": stored(call(PARTIAL, 1)),
    "REDUCE-of-a-bound-argument": stored(call(Code(push("text")), 1)),
    "REDUCE-cloudpickle-function": stored(call(CLOUD_FUNCTION, 1)),
    "REDUCE-codecs-decode": stored(call(named("_codecs", "decode"), b"x", "zlib")),
    "REDUCE-codecs-encode-other-codec": stored(call(named("_codecs", "encode"), "x", "rot13")),
    "REDUCE-add-extension": stored(call(named("copyreg", "add_extension"), "posix", "system", 1)),
    "REDUCE-reconstructor-of-Popen": stored(
        call(named("copyreg", "_reconstructor"), POPEN, named("builtins", "object"), None)
    ),
    "REDUCE-newobj-function-of-Popen": stored(call(named("copyreg", "__newobj__"), POPEN, TOUCH)),
    "REDUCE-bytes-of-a-number": stored(call(named("builtins", "bytearray"), 1 << 40)),
    "REDUCE-pickle-loads": stored(call(named("_pickle", "loads"), stored(system()))),
    "NEWOBJ": stored(new(POPEN, TOUCH)),
    "NEWOBJ-map-fed-to-deque": stored(
        new(named("collections", "deque"), new(named("builtins", "map"), system(), [1]))
    ),
    "NEWOBJ_EX": stored(Code(POPEN + push(()) + push({"args": TOUCH}) + b"\x92")),
    "BUILD-on-a-class": stored(built(named("sklearn.tree._classes", "X"), {"fit": 1})),
    "BUILD-state-runs": stored(model(tree_=system())),
    "SETITEM-on-a-class": stored(Code(named("numpy", "ndarray") + push("x") + push(1) + b"s")),
    "APPEND-to-a-class": stored(Code(named("numpy", "ndarray") + push(1) + b"a")),
    "EXT1": PROTO + b"\x82\x01" + STOP,
    "EXT2": PROTO + b"\x83\x01\x00" + STOP,
    "EXT4": PROTO + b"\x84\x01\x00\x00\x00" + STOP,
    "PERSID": PROTO + b"P" + _line("1") + STOP,
    "BINPERSID": PROTO + push("1") + b"Q" + STOP,
    "NEXT_BUFFER": PROTO + b"\x97" + STOP,
    "READONLY_BUFFER": PROTO + push(b"x") + b"\x98" + STOP,
    "memo-overwritten": PROTO
    + MARK
    + put(named("numpy", "ndarray"), 1)
    + put(named("posix", "system"), 1)
    + call(get(1), TOUCH)
    + b"t"
    + STOP,
    "memo-holds-the-target-twice": PROTO
    + named("posix", "system")
    + DUP
    + b"0"
    + push((TOUCH,))
    + b"R"
    + STOP,
    "payload-dropped-by-POP": PROTO + system() + POP + model() + STOP,
    "payload-dropped-by-POP_MARK": PROTO + MARK + system() + b"1" + model() + STOP,
    "payload-before-damage": PROTO + put(named("posix", "system"), 0) + b"\xff",
    "payload-in-a-dictionary-key": stored(Code(b"}(" + system() + b"Nu")),
    "payload-after-a-raw-array": stored(
        Code(MARK + joblib_array(np.arange(3.0).tobytes(), F8, (3,)) + system() + b"t")
    ),
    "payload-in-object-array": stored(joblib_array(stored([system()]), OBJECT, (1,))),
    "payload-in-object-array-zlib": zlib.compress(
        stored(joblib_array(stored([system()]), OBJECT, (1,)))
    ),
    "payload-in-object-array-twice": stored(
        joblib_array(stored(joblib_array(stored([system()]), OBJECT, (1,))), OBJECT, (1,))
    ),
    "payload-in-class-labels": stored(model(classes_=late_array((1,), OBJECT, [system()]))),
    "objects-from-raw-bytes": stored(from_buffer(bytes(8), OBJECT, (1,))),
    "objects-from-raw-bytes-in-a-record": stored(
        from_buffer(bytes(8), record({"x": (OBJECT, 0)}, 8), (1,))
    ),
    "object-scalar-from-raw-bytes": stored(
        call(named("numpy._core.multiarray", "scalar"), OBJECT, bytes(8))
    ),
    "dtype-computed": stored(dtype(named("numpy", "float64"))),
}

# Refused too, as what it is: code of a library that nobody here knows.
NOT_READ: dict[str, bytes] = {
    "REDUCE-ufunc-of-a-foreign-module": stored(
        call(named("numpy.core", "_ufunc_reconstruct"), "my_package", "run")
    ),
    "getattr-of-a-foreign-class": stored(
        call(named("builtins", "getattr"), named("some_package", "Thing"), "run")
    ),
    "getattr-of-a-foreign-object": stored(
        call(named("builtins", "getattr"), new(named("__main__", "Thing")), "run")
    ),
    "STACK_GLOBAL-member-of-a-foreign-class": stored(stack_named("some_package", "Thing.run")),
}


def _chain(n: int, *orphans: bool) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return a tree as deep as it can be; every inner node has a leaf on its left."""
    nodes = np.zeros(2 * n + 1, dtype=stump().dtype)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"] = -2
    inner = np.arange(n) * 2
    nodes["left_child"][inner], nodes["right_child"][inner] = inner + 1, inner + 2
    nodes["feature"][inner] = 0
    nodes["n_node_samples"][::2] = np.arange(n, -1, -1) + 1
    nodes["n_node_samples"][1::2] = 1
    nodes["weighted_n_node_samples"] = nodes["n_node_samples"]
    return np.concatenate([nodes, stump()[2:]]) if orphans else nodes


BROKEN_TREES: dict[str, bytes] = {
    "tree-cycle": stored(model(tree(stump(left_child=[1, 0, -1], right_child=[2, 2, -1])))),
    "tree-own-child": stored(model(tree(stump(left_child=[0, -1, -1])))),
    "tree-two-parents": stored(model(tree(stump(left_child=[2, -1, -1])))),
    "tree-one-child": stored(model(tree(stump(right_child=[-1, -1, -1])))),
    "tree-child-out-of-range": stored(model(tree(stump(left_child=[9, -1, -1])))),
    "tree-child-huge": stored(model(tree(stump(left_child=[2**62, -1, -1])))),
    "tree-feature-out-of-range": stored(model(tree(stump(feature=[2, -2, -2])))),
    "tree-feature-negative": stored(model(tree(stump(feature=[-2, -2, -2])))),
    "tree-nan-threshold": stored(model(tree(stump(threshold=[np.nan, -2, -2])))),
    "tree-negative-people": stored(model(tree(stump(n_node_samples=[1, -2, 3])))),
    "tree-people-overflow": stored(model(tree(stump(n_node_samples=[-2, 2**63 - 1, 2**63 - 1])))),
    "tree-negative-weight": stored(model(tree(stump(weighted_n_node_samples=[1, -2, 3])))),
    "tree-nan-weight": stored(model(tree(stump(weighted_n_node_samples=[np.nan, 2, 3])))),
    "tree-infinite-weight": stored(model(tree(stump(weighted_n_node_samples=[np.inf, 2, np.inf])))),
    "tree-huge-weight": stored(model(tree(stump(weighted_n_node_samples=[1e308, 1e308, 1e308])))),
    "tree-people-do-not-add-up": stored(model(tree(stump(n_node_samples=[6, 2, 3])))),
    "tree-weights-do-not-add-up": stored(model(tree(stump(weighted_n_node_samples=[6, 2, 3])))),
    "tree-negative-class": stored(
        model(tree(values=np.array([[[0.4, 0.6]], [[1.5, -0.5]], [[0.0, 1.0]]])))
    ),
    "tree-classes-neither-counts-nor-fractions": stored(model(tree(values=VALUES * 7))),
    "tree-value-nan": stored(model(tree(values=np.full((3, 1, 2), np.nan)))),
    "tree-value-overflow": stored(model(tree(values=np.full((3, 1, 2), 1e308)))),
    "tree-values-short": stored(model(tree(values=VALUES[:2]))),
    "tree-values-flat": stored(model(tree(values=VALUES[:, 0, 0]))),
    "tree-values-single-precision": stored(model(tree(values=VALUES.astype("f4")))),
    "tree-values-no-class": stored(model(tree(values=np.zeros((3, 1, 0))))),
    "tree-values-no-output": stored(model(tree(values=np.zeros((3, 0, 2))))),
    "tree-nodes-short": stored(model(tree(stump()[:2]))),
    "tree-nodes-square": stored(model(tree(np.stack([stump(), stump()])))),
    "tree-nodes-missing": stored(model(tree(nodes=5))),
    "tree-nodes-plain-numbers": stored(model(tree(np.zeros(3)))),
    "tree-columns-missing": stored(model(tree(stump()[["left_child", "right_child"]].copy()))),
    "tree-column-of-text": stored(
        model(tree(np.zeros(3, [(n, "S8") for n in stump().dtype.names or ()])))
    ),
    "tree-column-of-fractions": stored(
        model(tree(np.zeros(3, [(n, "f8") for n in stump().dtype.names or ()])))
    ),
    "tree-count-huge": stored(model(tree(count=10**9))),
    "tree-count-is-text": stored(model(tree(count="3"))),
    "tree-no-features": stored(model(tree(n_features=0))),
    "tree-features-huge": stored(model(tree(n_features=2**24 - 1))),
    "tree-is-missing": stored(forest([new(named("sklearn.tree._classes", "X"))])),
    "model-too-many-labels": stored(model(classes_=np.arange(3))),
    "model-label-beyond-unicode": stored(
        model(classes_=from_buffer(b"\xff" * 16, dtype("U2"), (2,)))
    ),
    "forest-trees-differ": stored(forest([model(), model(tree(n_features=3))])),
}

ARRAYS: dict[str, bytes] = {
    "dtype-offset-outside-record": stored(from_buffer(bytes(8), FAR, (1,))),
    "dtype-negative-offset": stored(from_buffer(bytes(8), record({"x": (dtype("f8"), -8)}, 8), 1)),
    "dtype-fields-overlap": stored(
        from_buffer(bytes(8), record({"x": (dtype("f8"), 0), "y": (dtype("f8"), 0)}, 8), (1,))
    ),
    "dtype-field-name-is-no-text": stored(
        from_buffer(bytes(8), dtype("V8", (3, "|", None, ([1],), {}, 8, 1, 16)), (1,))
    ),
    "dtype-record-in-itself": stored(
        Code(
            put(dtype("V8"), 5)
            + push((3, "|", None, ("x",), {"x": (get(5), 0)}, 8, 1, 16))
            + b"b"
            + b"0"
            + from_buffer(bytes(8), get(5), (1,))
        )
    ),
    "dtype-byte-order-is-an-array": stored(
        from_buffer(bytes(8), dtype("f8", (3, np.arange(2), None, None, None, 8, 8, 0)), (1,))
    ),
    "dtype-sub-array": stored(
        from_buffer(bytes(8), dtype("V8", (3, "|", (dtype("f4"), (2,)), None, None, 8, 1, 0)), (1,))
    ),
    "dtype-huge-element": stored(from_buffer(b"", dtype("V99999999"), (0,))),
    "dtype-huge-element-in-state": stored(
        from_buffer(b"", dtype("V8", (3, "|", None, None, None, 1 << 40, 1, 0)), (0,))
    ),
    "dtype-unknown": stored(from_buffer(bytes(8), dtype("Q8"), (1,))),
    "dtype-long-code": stored(dtype("<" * 5000 + "O8")),
    "array-zero-itemsize": stored(from_buffer(b"", dtype("V0"), (1 << 33,))),
    "array-negative-shape": stored(from_buffer(bytes(8), F8, (-1,))),
    "array-shape-is-text": stored(from_buffer(bytes(8), F8, ("1",))),
    "array-shape-overflows": stored(from_buffer(bytes(8), F8, (1 << 62, 4))),
    "array-empty-and-endless": stored(from_buffer(b"", F8, (0, 1 << 63))),
    "array-of-40-dimensions": stored(from_buffer(bytes(8), F8, (1,) * 40)),
    "array-short": stored(from_buffer(bytes(8), F8, (1000,))),
    "array-text-beyond-latin1": stored(late_array((1,), F8, "\u4e00" * 8)),
    "array-order-is-an-array": stored(late_array((2,), F8, bytes(8), np.arange(2))),
    "array-of-fewer-objects": stored(late_array((3,), OBJECT, [1])),
    "array-state-short": stored(built(late_array((1,), F8, bytes(8)), (1, 2))),
    "joblib-array-short": stored(joblib_array(bytes(8), F8, (1000,))),
    "joblib-array-negative-shape": stored(joblib_array(bytes(8), F8, (-1,))),
    "joblib-array-endless-shape": stored(joblib_array(b"", F8, (1 << 8000,) * 30)),
    "joblib-array-no-dtype": stored(joblib_array(bytes(8), "f8", (1,))),
    "joblib-array-inside-a-frame": PROTO
    + b"\x95"
    + struct.pack("<Q", 300)
    + joblib_array(bytes(400), F8, (50,))
    + STOP,
    "joblib-array-objects-are-none": stored(joblib_array(stored(5), OBJECT, (1,))),
}

DAMAGED: dict[str, bytes] = {
    "BINBYTES8-of-a-tebibyte": PROTO + b"\x8e" + struct.pack("<Q", 1 << 40) + b"x.",
    "BINUNICODE8-of-an-exbibyte": PROTO + b"\x8d" + struct.pack("<Q", 1 << 60) + b"x.",
    "BYTEARRAY8-of-a-tebibyte": PROTO + b"\x96" + struct.pack("<Q", 1 << 40) + b"x.",
    "BINSTRING-negative": PROTO + b"T" + struct.pack("<i", -1) + STOP,
    "FRAME-of-a-pebibyte": PROTO + b"\x95" + struct.pack("<Q", 1 << 50) + STOP,
    "LONG4-of-a-gibibyte": PROTO + b"\x8b" + struct.pack("<i", 1 << 30) + STOP,
    "LONG4-negative": PROTO + b"\x8b" + struct.pack("<i", -1) + STOP,
    "LONG-of-a-million-digits": PROTO + b"L" + b"9" * 1_000_000 + b"L\n.",
    "INT-is-text": PROTO + _line("Ione") + STOP,
    "FLOAT-is-text": PROTO + _line("Fone") + STOP,
    "STRING-unquoted": PROTO + _line("Sone") + STOP,
    "UNICODE-never-ends": PROTO + b"Vabc",
    "BINUNICODE-broken-text": PROTO + b"X\x01\x00\x00\x00\xff.",
    "PUT-huge-index": PROTO + b"N" + _line("p" + "9" * 40) + STOP,
    "GET-never-stored": PROTO + b"j\xff\xff\xff\xff.",
    "PROTO-99": b"\x80\x63N.",
    "STOP-on-nothing": PROTO + STOP,
    "STOP-on-a-mark": PROTO + MARK + STOP,
    "POP-on-nothing": PROTO + POP + b"N.",
    "DUP-on-nothing": PROTO + DUP + STOP,
    "TUPLE-without-mark": PROTO + b"t.",
    "SETITEMS-odd": PROTO + b"}(K\x01u.",
    "APPEND-to-a-number": PROTO + b"K\x01K\x02a.",
    "BUILD-on-a-number": PROTO + b"K\x01K\x02b.",
    "REDUCE-arguments-are-no-tuple": PROTO + named("numpy", "dtype") + b"K\x01R.",
    "REDUCE-arguments-missing": stored(call(named("numpy", "dtype"))),
    "key-is-a-list": stored(Code(b"}(]Nu")),
    "key-is-a-deep-tuple": PROTO + b"})" + b"\x85" * 300_000 + b"Ns.",
    "key-is-a-wide-tuple": PROTO + b"}" + push((0,) * 1000) + b"Ns.",
    "key-is-a-long-integer": stored({1 << 900: None}),
    "key-is-a-long-text": stored({"x" * 5000: None}),
    "key-is-long-bytes": stored({b"x" * 5000: None}),
    "key-is-complex": stored(Code(b"}" + push(np.complex128(1)) + b"Ns")),
    "name-is-long": stored(stack_named("numpy", "x" * 5000)),
    "instruction-unknown": PROTO + b"\xff.",
    "ends-early": PROTO + b"(K\x01",
    "zlib-cut": zlib.compress(stored(model()))[:-9],
    "xz-header-only": b"\xfd7zXZ\0" + bytes(20),
    "lz4-header-only": b"\x04\x22\x4d\x18" + bytes(20),
}


def _self_list() -> bytes:
    return PROTO + b"]" + b"q\x00" + b"h\x00a."


def _pipeline_in_itself() -> bytes:
    pipe = new(named("sklearn.pipeline", "Pipeline"))
    step = Code(b"](" + push("clf") + get(3) + b"\x86e")
    return PROTO + put(pipe, 3) + push({"steps": step}) + b"b."


def _laughs() -> bytes:
    level = b"(]q\x00"
    for i in range(60):
        again = bytes([0x68, i]) * 10
        level += b"](" + again + b"eq" + bytes([i + 1])
    return PROTO + level + b"l" + STOP


NO_MODELS: dict[str, bytes] = {
    "list-in-itself": _self_list(),
    "pipeline-in-itself": _pipeline_in_itself(),
    "pipeline-step-alone": stored(
        built(new(named("sklearn.pipeline", "Pipeline")), {"steps": [(1,)]})
    ),
    "billion-laughs": _laughs(),
    "list-500000-deep": PROTO + b"]" * 500_000 + b"a" * 499_999 + STOP,
    "forest-of-nothing": stored(forest([])),
    "tree-of-nothing": stored(model(tree(stump()[:0], VALUES[:0], count=0))),
}

TEXTS: dict[str, bytes] = {
    "text-that-begins-like-a-pickle": b"(c) 2020 Nobody, all rights reserved\n",
}


def _colliding_tuples() -> bytes:
    """Pairs whose hashes are all equal: 60 000 of them take minutes in a plain dict."""
    first, second = np.uint64(11400714785074694791), np.uint64(14029467366897019727)
    inverse1, inverse2 = (np.uint64(pow(int(p), -1, 1 << 64)) for p in (first, second))
    start = np.uint64(2870177450012600261)
    goal = np.uint64(12345)
    out = io.BytesIO()
    with np.errstate(over="ignore"):
        a = np.arange(1, 300_000, dtype=np.uint64)
        acc = start + a * second
        acc = ((acc << np.uint64(31)) | (acc >> np.uint64(33))) * first
        want = goal * inverse1
        want = (want >> np.uint64(31)) | (want << np.uint64(33))
        b = (want - acc) * inverse2
    fits = b < np.uint64((1 << 61) - 1)
    for x, y in zip(a[fits].tolist(), b[fits].tolist(), strict=True):
        out.write(push(x) + b"\x8a\x08" + struct.pack("<Q", y) + b"\x86N")
    return PROTO + b"}(" + out.getvalue() + b"u."


def _many_copies(body: bytes, times: int) -> bytes:
    return zlib.compress(PROTO + body * times + b"N.", 9)


def _text(n: int) -> Code:
    return Code(b"X" + struct.pack("<I", n) + b"a" * n)


def _repeated(first: bytes, body: bytes, times: int = 400_000) -> Callable[[], bytes]:
    """Keep a large value in the memo and use it again and again."""
    return lambda: zlib.compress(PROTO + MARK + first + body.removesuffix(POP) * times + b"t.", 1)


def _wide_dictionary(n: int) -> Code:
    return Code(b"}(" + b"".join(push(f"k{i}") + b"N" for i in range(n)) + b"u")


def _wide_search() -> bytes:
    """Lists in lists, each wide: naming every member at once would fill the memory."""
    level = b"N"
    for _ in range(400):
        level = b"](" + level + b"h\x00" * 3000 + b"e"
    return zlib.compress(PROTO + b"]q\x00" + level + b"\x86" + STOP, 1)


def _orphaned_chain() -> bytes:
    nodes = _chain(300_000, True)
    values = np.ones((len(nodes), 1, 1))
    made = model(tree(nodes, values, count=len(nodes)), classes_=None)
    return zlib.compress(stored(made), 1)


def _same_tree(n: int) -> bytes:
    nodes = _chain(50_000)
    values = np.ones((len(nodes), 1, 1))
    shared = put(tree(nodes, values, count=len(nodes)), 900)
    again = model(get(900), classes_=None)
    members = forest(Code(b"](" + again * n + b"e"), classes_=None)
    return PROTO + shared + members + b"\x86" + STOP


def _fields(n: int) -> Code:
    fields = {f"f{i}": (get(700), i) for i in range(n)}
    return Code(push((3, "|", None, tuple(fields), fields, n, 1, 16)))


def _xz_bomb() -> bytes:
    import lzma

    return lzma.compress(bytes(1 << 30), preset=1)


def _bz2_bomb() -> bytes:
    import bz2

    return bz2.compress(bytes(1 << 29))


BOMBS: tuple[Hostile, ...] = (
    Hostile("bomb-zlib", lambda: zlib.compress(bytes(400 << 20), 9), ModelTooLargeError),
    Hostile("bomb-bz2", _bz2_bomb, ModelTooLargeError),
    Hostile("bomb-xz", _xz_bomb, ModelTooLargeError),
    Hostile(
        "bomb-gzip-of-many-streams",
        lambda: bytes.fromhex("1f8b080000000000020303000000000000000000") * 300_000,
        ModelTooLargeError,
    ),
    Hostile("bomb-empty-lists", lambda: _many_copies(b"]", 30_000_000), ModelTooLargeError),
    Hostile("bomb-sets", lambda: _many_copies(b"\x8f", 4_900_000), ModelTooLargeError),
    Hostile("bomb-none", lambda: _many_copies(b"N", 6_000_000), ModelTooLargeError),
    Hostile("bomb-colliding-tuples", _colliding_tuples, ModelTooLargeError),
    Hostile(
        "bomb-colliding-integers",
        lambda: stored(
            {k * ((1 << 61) - 1) + j: None for k in range(-8, 8) for j in range(20_000)}
        ),
        UnsupportedModelError,
    ),
    Hostile(
        "bomb-long-name-repeated",
        _repeated(put(_text(50 << 20), 0), b"\x8c\x01ah\x00\x930"),
        ReadError,
    ),
    Hostile("bomb-long-key-repeated", _repeated(put(_text(50 << 20), 0), b"}h\x00Ns0"), ReadError),
    Hostile(
        "bomb-long-bytes-as-key",
        _repeated(put(b"a" * (50 << 20), 0), b"}h\x00Ns0"),
        ReadError,
    ),
    Hostile(
        "bomb-array-from-text-repeated",
        _repeated(
            put(_text(8 << 20), 0) + put(F8, 1) + put(((1 << 20),), 2),
            Code(
                named("numpy._core.numeric", "_frombuffer") + MARK + b"h\x00h\x01h\x02\x8c\x01CtR"
            ),
        ),
        ReadError,
    ),
    Hostile(
        "bomb-objects-repeated",
        _repeated(
            put(Code(b"](" + b"N" * 1_000_000 + b"e"), 0) + put(np.dtype("O"), 1),
            late_array((1_000_000,), Code(b"h\x01"), Code(b"h\x00")),
            20_000,
        ),
        ModelTooLargeError,
    ),
    Hostile(
        "bomb-state-merged-repeatedly",
        _repeated(
            put(_wide_dictionary(100_000), 0),
            Code(new(named("numpy", "ndarray")) + b"h\x00bh\x00bh\x00b0"),
            100_000,
        ),
        ReadError,
    ),
    Hostile(
        "bomb-NEWOBJ_EX-repeated",
        _repeated(
            put(_wide_dictionary(100_000), 0),
            Code(named("numpy", "ndarray") + b")h\x00\x92"),
            100_000,
        ),
        ReadError,
    ),
    Hostile(
        "bomb-records-repeated",
        _repeated(
            put(np.dtype("u1"), 700) + put(_fields(256), 1),
            Code(
                named("numpy._core.numeric", "_frombuffer")
                + MARK
                + b"C\x00"
                + dtype("V8")
                + b"h\x01b"
                + b"K\x00\x8c\x01CtR0"
            ),
            80_000,
        ),
        ModelTooLargeError,
    ),
    Hostile("bomb-wide-search", _wide_search, UnsupportedModelError),
    Hostile("bomb-same-tree-3000-times", lambda: _same_tree(3000), ModelTooLargeError),
    Hostile("bomb-nested-pickles", lambda: _nested(40), UnsafeModelError),
    Hostile(
        "bomb-json-lists",
        lambda: zlib.compress(b'{"format":"treeaudit-model","x":[' + b"[]," * 40_000_000 + b"[]]}"),
        ModelTooLargeError,
    ),
)


def _nested(depth: int) -> bytes:
    inner = stored([1])
    for _ in range(depth):
        inner = stored(joblib_array(inner, OBJECT, (1,)))
    return inner


def own_json(**changes: Any) -> dict[str, Any]:
    """Return a good model in treeaudit's JSON form, some members replaced."""
    tree_: dict[str, Any] = {
        "parent": [-1, 0, 0],
        "feature": [-1, 0, 0],
        "low": [None, None, 0.5],
        "high": [None, 0.5, None],
        "n_records": [5, 2, 3],
        "counts": [[2, 3], [2, 0], [0, 3]],
    }
    whole: dict[str, Any] = {
        "format": "treeaudit-model",
        "version": 1,
        "schema": {
            "features": [{"name": "age"}, {"name": "city", "categories": ["a", "b"]}],
            "classes": ["no", "yes"],
        },
        "counts_are": "exact",
        "records_are": "all",
    }
    for name in list(changes):
        if name in (
            "parent",
            "feature",
            "low",
            "high",
            "n_records",
            "counts",
            "categories",
            "missing",
            "label",
            "value",
        ):
            tree_[name] = changes.pop(name)
    return whole | {"trees": [tree_]} | changes


def _json(**changes: Any) -> bytes:
    return json.dumps(own_json(**changes)).encode()


_HEAD = b'{"format":"treeaudit-model","version":1,'

JSON_FORMS: dict[str, bytes] = {
    "json-deep-lists": _HEAD + b'"trees":' + b"[" * 200_000,
    "json-deep-objects": _HEAD + b'"trees":' + b'{"a":' * 200_000,
    "json-cut": _json()[:-5],
    "json-not-utf8": _HEAD + b'"x":"\xff"}',
    "json-nan": _json(low=[None, None, 0.5]).replace(b"0.5", b"NaN"),
    "json-infinity": _json(counts=[[2, 3], [2, 0], [0, 3.5]]).replace(b"3.5", b"Infinity"),
    "json-overflowing-count": _json(counts=[[2, 3], [2, 0], [0, 3.5]]).replace(b"3.5", b"1e999"),
    "json-integer-of-5000-digits": _json(n_records=[5, 2, 7]).replace(b"7", b"7" * 5000),
    "json-integer-beyond-64-bits": _json(n_records=[5, 2, 1 << 70]),
    "json-parent-wraps-around": _json(parent=[-1, 1 << 32, 0]),
    "json-parent-smallest-integer": _json(parent=[-1, -(1 << 63), 0]),
    "json-parent-cycle": _json(parent=[-1, 2, 1]),
    "json-parent-itself": _json(parent=[-1, 1, 0]),
    "json-parent-out-of-range": _json(parent=[-1, 0, 99]),
    "json-two-roots": _json(parent=[-1, -1, 0]),
    "json-parent-is-text": _json(parent=["-1", "0", "0"]),
    "json-parent-is-fraction": _json(parent=[-1, 0, 0.5]),
    "json-parent-ragged": _json(parent=[-1, [0], 0]),
    "json-feature-out-of-range": _json(feature=[-1, 2, 2]),
    "json-feature-missing": _json(feature=[-1, -1, 0]),
    "json-bound-is-an-object": _json(low=[None, {}, None]),
    "json-bound-is-nan-text": _json(low=[None, "nan", None]),
    "json-lengths-differ": _json(n_records=[5, 2]),
    "json-counts-of-three-classes": _json(counts=[[2, 3, 0], [2, 0, 0], [0, 3, 0]]),
    "json-counts-flat": _json(counts=[5, 2, 3]),
    "json-counts-ragged": _json(counts=[[2, 3], [2], [0, 3]]),
    "json-counts-of-text": _json(counts=[["2", "3"], ["2", "0"], ["0", "3"]]),
    "json-counts-negative": _json(counts=[[2, 3], [2, 4], [0, -1]]),
    "json-people-negative": _json(n_records=[5, 8, -3]),
    "json-label-out-of-range": _json(label=[0, 1, 2]),
    "json-missing-is-text": _json(missing=["no", "yes", "no"]),
    "json-value-of-lists": _json(value=[[1], [2], [3]]),
    "json-category-out-of-range": _json(feature=[-1, 1, 1], categories=[None, [0], [7]]),
    "json-category-at-the-root": _json(categories=[[0], [0], [1]]),
    "json-categories-short": _json(categories=[None, [0]]),
    "json-no-trees": _json(trees=[]),
    "json-trees-is-a-number": _json(trees=7),
    "json-tree-is-text": _json(trees=["tree"]),
    "json-schema-is-a-list": _json(schema=[]),
    "json-classes-are-lists": _json(schema={"features": [{"name": "a"}], "classes": [[1], [2]]}),
    "json-classes-is-text": _json(schema={"features": [{"name": "a"}], "classes": "ab"}),
    "json-counts-are-what": _json(counts_are="perfect"),
    "json-counts-are-a-list": _json(counts_are=["exact"]),
    "json-records-are-what": _json(records_are=None),
    "json-n-records-is-text": _json(n_records_=1) and json.dumps(
        own_json() | {"n_records": "many"}).encode(),
    "json-n-records-negative": json.dumps(own_json() | {"n_records": -1}).encode(),
    "json-privacy-is-text": _json(privacy="epsilon"),
    "json-source-is-a-list": _json(source=[1]),
    "json-parameters-are-a-number": _json(source={"parameters": 5}),
    "json-version-from-the-future": _json(version=2),
    "json-version-is-a-list": _json(version=["\n"] * 1000),
    "json-format-is-a-lie": json.dumps(
        {"format": "other", "note": "treeaudit-model"}).encode(),
}  # fmt: skip


def _all() -> tuple[Hostile, ...]:
    kinds: tuple[tuple[dict[str, bytes], type[ReadError]], ...] = (
        (UNSAFE, UnsafeModelError),
        (NOT_READ, UnsupportedModelError),
        (BROKEN_TREES, ReadError),
        (ARRAYS, ReadError),
        (DAMAGED, ReadError),
        (NO_MODELS, UnsupportedModelError),
        (TEXTS, ReadError),
        (JSON_FORMS, ReadError),
    )
    return tuple(
        Hostile(name, data, error) for files, error in kinds for name, data in files.items()
    )


HOSTILE = _all()
