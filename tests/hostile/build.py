"""Assemble pickles instruction by instruction, as an attacker would."""

import io
import pickle
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

NODE = np.dtype(
    [
        ("left_child", "<i8"),
        ("right_child", "<i8"),
        ("feature", "<i8"),
        ("threshold", "<f8"),
        ("impurity", "<f8"),
        ("n_node_samples", "<i8"),
        ("weighted_n_node_samples", "<f8"),
        ("missing_go_to_left", "u1"),
    ],
    align=True,
)
# The payload of every hostile file. Nothing may ever create the file it names.
TOUCH = 'touch "$TREEAUDIT_MARKER"'
MARK, STOP, POP, DUP = b"(", b".", b"0", b"2"
PROTO = b"\x80\x02"


class Code(bytes):
    """Instructions that leave one value on the stack."""


class _WithoutMemo(pickle._Pickler):
    def memoize(self, obj: object) -> None:
        """Store nothing, so that what is dumped can be put into another pickle."""


def _dumped(value: object) -> bytes:
    sink = io.BytesIO()
    _WithoutMemo(sink, 2).dump(value)
    return sink.getvalue()


def _sized(short: bytes, long: bytes, n: int) -> bytes:
    """Return the shorter of two instructions that can tell a size or a number, with it."""
    return short + bytes([n]) if n < 256 else long + struct.pack("<I", n)


def push(value: Any) -> Code:
    """Return the instructions that put a value on the stack."""
    match value:
        case Code():
            return value
        case None | bool():
            return Code({None: b"N", True: b"\x88", False: b"\x89"}[value])
        case int() if 0 <= value < 1 << 16:
            return Code(b"K" + bytes([value]) if value < 256 else b"M" + struct.pack("<H", value))
        case int() if -(2**31) <= value < 2**31:
            return Code(b"J" + struct.pack("<i", value))
        case int():
            raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            return Code(_sized(b"\x8a", b"\x8b", len(raw)) + raw)
        case float():
            return Code(b"G" + struct.pack(">d", value))
        case str():
            raw = value.encode("utf-8", "surrogatepass")
            return Code(b"X" + struct.pack("<I", len(raw)) + raw)
        case bytes():
            return Code(_sized(b"C", b"B", len(value)) + value)
        case tuple():
            return Code(MARK + b"".join(map(push, value)) + b"t")
        case list():
            return Code(b"](" + b"".join(map(push, value)) + b"e")
        case dict():
            pairs = b"".join(push(k) + push(v) for k, v in value.items())
            return Code(b"}(" + pairs + b"u")
        case np.ndarray() | np.dtype() | np.generic():
            return Code(_dumped(value)[2:-1])
    raise TypeError(type(value))


def named(module: str, name: str) -> Code:
    return Code(b"c" + module.encode() + b"\n" + name.encode() + b"\n")


def stack_named(module: Any, name: Any) -> Code:
    return Code(push(module) + push(name) + b"\x93")


def call(target: Code, *args: Any) -> Code:
    return Code(target + push(args) + b"R")


def new(target: Code, *args: Any) -> Code:
    return Code(target + push(args) + b"\x81")


def built(target: Code, state: Any) -> Code:
    return Code(target + push(state) + b"b")


def put(value: Any, index: int) -> Code:
    return Code(push(value) + _sized(b"q", b"r", index))


def get(index: int) -> Code:
    return Code(_sized(b"h", b"j", index))


def stored(value: Any) -> bytes:
    """Return a whole pickle."""
    return PROTO + push(value) + STOP


def system() -> Code:
    """Return the classic: os.system called on the payload."""
    return call(named("posix", "system"), TOUCH)


def stump(**columns: Any) -> npt.NDArray[np.void]:
    """Return the node table of a root with two leaves, some columns replaced."""
    nodes = np.zeros(3, dtype=NODE)
    plain = {
        "left_child": [1, -1, -1],
        "right_child": [2, -1, -1],
        "feature": [0, -2, -2],
        "threshold": [0.5, -2, -2],
        "impurity": [0.48, 0, 0],
        "n_node_samples": [5, 2, 3],
        "weighted_n_node_samples": [5, 2, 3],
    }
    for name, column in (plain | columns).items():
        nodes[name] = column
    return nodes


VALUES = np.array([[[0.4, 0.6]], [[1.0, 0.0]], [[0.0, 1.0]]])


def tree(
    nodes: Any = None, values: Any = None, n_features: Any = 2, count: Any = 3, **state: Any
) -> Code:
    """Return a stored sklearn.tree._tree.Tree."""
    width = values.shape[-1] if isinstance(values, np.ndarray) and values.ndim else 2
    made = call(named("sklearn.tree._tree", "Tree"), n_features, np.array([width]), 1)
    full = {
        "max_depth": 1,
        "node_count": count,
        "nodes": stump() if nodes is None else nodes,
        "values": VALUES if values is None else values,
    }
    return built(made, full | state)


def model(tree_: Any = None, **attributes: Any) -> Code:
    """Return a fitted DecisionTreeClassifier."""
    state = {
        "criterion": "gini",
        "n_features_in_": 2,
        "n_outputs_": 1,
        "classes_": np.array([0, 1]),
        "tree_": tree() if tree_ is None else tree_,
        "_sklearn_version": "1.9.1",
    }
    return built(new(named("sklearn.tree._classes", "DecisionTreeClassifier")), state | attributes)


def forest(members: Any, **attributes: Any) -> Code:
    """Return a fitted RandomForestClassifier."""
    state = {
        "estimators_": members,
        "n_outputs_": 1,
        "classes_": np.array([0, 1]),
        "bootstrap": False,
    }
    return built(
        new(named("sklearn.ensemble._forest", "RandomForestClassifier")), state | attributes
    )


def joblib_array(raw: bytes, dtype: Any, shape: Any, order: Any = "C") -> Code:
    """Return a joblib wrapper and the raw bytes that follow it."""
    wrapper = new(named("joblib.numpy_pickle", "NumpyArrayWrapper"))
    state = {"subclass": None, "shape": shape, "order": order, "dtype": dtype, "allow_mmap": True}
    return Code(built(wrapper, state) + raw)


def late_array(shape: Any, dtype: Any, data: Any, fortran: Any = False) -> Code:
    """Return an array as numpy's __reduce__ writes it."""
    empty = call(
        named("numpy._core.multiarray", "_reconstruct"), named("numpy", "ndarray"), (0,), b"b"
    )
    return built(empty, (1, shape, dtype, fortran, data))


def from_buffer(data: Any, dtype: Any, shape: Any, order: Any = "C") -> Code:
    """Return an array as protocol 5 writes it."""
    return call(named("numpy._core.numeric", "_frombuffer"), data, dtype, shape, order)


def dtype(code: Any, state: Any = None) -> Code:
    """Return a dtype, with a state if one is given."""
    made = call(named("numpy", "dtype"), code, False, True)
    return made if state is None else built(made, state)


def record(fields: dict[str, tuple[Any, ...]], size: int) -> Code:
    """Return a structured dtype whose offsets nobody checked."""
    names = tuple(fields)
    return dtype("V8", (3, "|", None, names, fields, size, 1, 16))
