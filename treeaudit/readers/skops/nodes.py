"""The nodes of a skops schema as inert data: the same records that a pickle becomes.

What skops would look up or call becomes a `Global` or an `Inert` here, once all
names passed the gate of `model`. Nodes are visited in the order of skops:
the first node of an identity stands for all others.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import Allowance, Deepest, Limits, Most, show
from treeaudit.readers.pickle.arrays import DType, array_from, arrived, object_array
from treeaudit.readers.pickle.construct import hashable
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.states import check_items, check_state
from treeaudit.readers.skops.archive import Archive

Node = dict[str, Any]
_PENDING = object()
_MAGIC = b"\x93NUMPY"
_UNIT = re.compile(r"\[\d{0,6}[a-zA-Zμ]{1,7}\]")
_HEADER = re.compile(
    r"\{'descr': (?P<descr>'[^\s'\\]{1,64}'|\[(?:[^\s]+ )*[^\s]+\]), "
    r"'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>(?:[0-9]{1,20},|(?:[0-9]{1,20}, )+[0-9]{1,20})?)\), \} {0,127}\n?"
)
_FIELD = re.compile(r"\('(?P<name>[^'\\\n]{0,512})', '(?P<code>[^'\\\s]{1,64})'\)(?:, (?=\())?")
_BARE = Global("builtins", "object", 0, True)
_TEXT = Global("builtins", "str", 0, True)
_CONSTANTS = {("NoneType", "null"): None, ("bool", "true"): True, ("bool", "false"): False}


class Graph:
    """Builds inert records from nodes whose names passed the gate."""

    def __init__(self, archive: Archive, limits: Limits, protocol: object) -> None:
        self._archive = archive
        self.protocol = protocol
        self._memo: dict[int, object] = {}
        too_much = "the skops schema describes more than its size allows"
        self.spend = Allowance(limits.objects(0), too_much).take
        self._depth = 0

    def build(self, node: object) -> object:
        """Return what a node stands for; refuse an array that holds a pickle."""
        if not isinstance(node, dict):
            raise ReadError("the skops schema has something else where a node belongs")
        key = node.get("__id__")
        if isinstance(key, int) and key in self._memo:
            # skops too looks at the identity before it looks at the content.
            if self._memo[key] is _PENDING:
                raise ReadError("a node of the skops schema contains itself")
            return self._memo[key]
        loader = node.get("__loader__")
        if not isinstance(loader, str):
            raise ReadError("the skops schema has a node that does not say what it is")
        # What is not listed stays a bare record: pandas, scipy and later versions of skops.
        make = _MAKERS.get(loader, _bare)
        self._depth += 1
        if self._depth > Deepest.skops:
            raise ModelTooLargeError(f"the skops schema is nested deeper than {Deepest.skops}")
        self.keep(node, _PENDING)
        made = make(self, node)
        self.keep(node, made)
        self._depth -= 1
        return made

    def keep(self, node: Node, made: object) -> None:
        """Remember what a node became, for references to it."""
        key = node.get("__id__")
        if isinstance(key, int) and key:
            self._memo[key] = made

    def several(self, nodes: object) -> list[object]:
        """Return what the nodes of a list stand for."""
        if not isinstance(nodes, list):
            raise ReadError("a list of the skops schema is damaged")
        return [self.build(node) for node in nodes]

    def parts(self, content: object) -> object:
        """Return what a node holds that is a node itself, or has nodes by name."""
        if not isinstance(content, dict):
            return None
        if isinstance(content.get("__loader__"), str):
            return self.build(content)
        return {
            name: self.build(part)
            for name, part in content.items()
            if isinstance(part, dict) and isinstance(part.get("__loader__"), str)
        }

    def bytes_of(self, node: Node) -> memoryview:
        """Return the member of the archive that a node names."""
        name = node.get("file")
        if not isinstance(name, str):
            raise ReadError("a node of the skops schema names no file")
        return self._archive.read(name)


def _class(node: Node) -> Global:
    return Global(str(node["__module__"]), str(node["__class__"]), 0, True)


def _content(node: Node) -> Node:
    content = node.get("content")
    if not isinstance(content, dict):
        raise ReadError(f"a {show(node.get('__loader__'))} of the skops schema is damaged")
    return content


def _object(graph: Graph, node: Node) -> Inert:
    made = Inert(_class(node))
    graph.keep(node, made)
    if node.get("content") is not None:
        made.state = graph.build(node["content"])
        check_state(made.cls, made.state, 0)
    return made


def _reduced(graph: Graph, node: Node) -> object:
    made = _object(graph, node)
    reduce = node.get("__reduce__")
    made.args = _arguments(graph, reduce.get("args") if isinstance(reduce, dict) else None)
    return made


def _arguments(graph: Graph, node: object) -> tuple[object, ...]:
    args = graph.build(node)
    if not isinstance(args, tuple):
        raise ReadError("the arguments of a call in the skops schema are damaged")
    return args


def _mapping(graph: Graph, node: Node) -> object:
    made: dict[object, object] = {}
    cls = _class(node)
    plain = str(cls) in ("builtins.dict", "collections.OrderedDict")
    shell = made if plain else Inert(cls, pairs=made)
    graph.keep(node, shell)
    content = _content(node)
    kinds = graph.build(node["key_types"]) if "key_types" in node else [_TEXT] * len(content)
    # What has no type, skops drops.
    if not isinstance(kinds, list) or len(kinds) != len(content):
        raise ReadError("the skops schema does not tell the types of its keys")
    for (key, value), kind in zip(content.items(), kinds, strict=True):
        made[_key(key, kind)] = graph.build(value)
    if isinstance(shell, Inert):
        check_items(shell, made, 0)
    return shell


def _key(text: str, kind: object) -> object:
    """JSON has only text for keys; their types stand beside them."""
    plain = isinstance(kind, Global) and kind.module in ("builtins", "numpy")
    name = kind.name.rstrip("_") if isinstance(kind, Global) and plain else ""
    if name == "str":
        return text
    try:
        if name.startswith(("int", "uint", "float")):
            number = float(text) if name[0] == "f" else int(text[:64])
            return {repr(number): number}[text]
        return _CONSTANTS[name, text]
    except (ValueError, KeyError):
        raise ReadError(f"the key {show(text)} of the skops schema is none of its type") from None


def _default_mapping(graph: Graph, node: Node) -> object:
    content = _content(node)
    main = graph.build(content.get("main"))
    # Its other parts are built and dropped, as skops does.
    graph.several([part for name, part in content.items() if name != "main"])
    return main


def _list(graph: Graph, node: Node) -> object:
    made: list[object] = []
    plain = str(_class(node)) == "builtins.list"
    shell = made if plain else Inert(_class(node), items=made)
    graph.keep(node, shell)
    made.extend(graph.several(node.get("content")))
    return shell


def _tuple(graph: Graph, node: Node) -> object:
    items = tuple(graph.several(node.get("content")))
    return items if str(_class(node)) == "builtins.tuple" else Inert(_class(node), items)


def _set(graph: Graph, node: Node) -> object:
    items = graph.several(node.get("content"))
    return {hashable(item, i, graph.spend) for i, item in enumerate(items)}


def _value(graph: Graph, node: Node) -> object:
    try:
        return json.loads(node["content"])
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ReadError("a value of the skops schema is damaged") from None


def _named(graph: Graph, node: Node) -> object:
    # The first protocol told a function in the content, where later ones do not look.
    if node["__loader__"] == "FunctionNode" and graph.protocol == 0:
        content = _content(node)
        return Global(str(content.get("module_path")), str(content.get("function")), 0, True)
    if node.get("content") is not None:
        raise ReadError("a name of the skops schema is told in two ways")
    return _class(node)


def _method(graph: Graph, node: Node) -> object:
    content = _content(node)
    return Inert(_BARE, (graph.build(content.get("obj")), content.get("func")))


def _partial(graph: Graph, node: Node) -> object:
    content = _content(node)
    made = Inert(_class(node), (graph.build(content.get("func")),))
    made.args += _arguments(graph, content.get("args"))
    beside = graph.parts({name: content.get(name) for name in ("kwds", "namespace")})
    stated = beside if isinstance(beside, dict) else {}
    namespace = stated.get("namespace")
    check_state(made.cls, namespace, 0)
    made.state = (*made.args[:1], made.args[1:], stated.get("kwds"), namespace)  # as in a pickle
    made.args = made.args[:1]
    return made


def _slice(graph: Graph, node: Node) -> object:
    content = _content(node)
    parts = tuple(content.get(name) for name in ("start", "stop", "step"))
    # Numbers of columns, or the names of the first and the last.
    if not all(isinstance(part, int | str | None) for part in parts):
        raise ReadError("a slice of the skops schema is damaged")
    return Inert(_class(node), parts)


def _called(graph: Graph, node: Node) -> object:
    return Inert(_class(node), _arguments(graph, node.get("content")))


def _bare(graph: Graph, node: Node) -> object:
    made = Inert(_class(node))
    graph.keep(node, made)
    made.state = graph.parts(node.get("content"))
    return made


def _unknown(graph: Graph, node: Node) -> object:
    raise ReadError("the skops schema refers to a node that it does not hold")


def _masked(graph: Graph, node: Node) -> object:
    data, mask = (graph.build(_content(node).get(part)) for part in ("data", "mask"))
    return Inert(_class(node), state={"_data": data, "_mask": mask})


def _dtype(graph: Graph, node: Node) -> object:
    array = arrived(graph.build(node.get("content")))
    if not isinstance(array, np.ndarray) or array.size:
        raise ReadError("a type of the skops schema is damaged")
    return DType(array.dtype.str)


def _array(graph: Graph, node: Node) -> object:
    if node.get("type") == "json":
        return _array_of_objects(graph, node)
    array = read_npy(graph.bytes_of(node))
    if str(_class(node)) in ("numpy.ndarray", "numpy.matrix"):
        return array
    # skops turns what it reads into a number of the class.
    cls, own = np.dtype(np.sctypeDict.get(node["__class__"], object)), array.dtype
    if array.shape or (cls.kind, cls.itemsize or own.itemsize) != (own.kind, own.itemsize):
        raise ReadError("a number of the skops schema is not of its class")
    return array.item()


def _array_of_objects(graph: Graph, node: Node) -> object:
    items = graph.several(node.get("content"))
    shape = graph.build(node["shape"]) if "shape" in node else (len(items),)
    sizes = shape if isinstance(shape, tuple) and all(isinstance(n, int) for n in shape) else ()
    usable = bool(sizes)
    for n in sizes[1:]:
        # The rows of a table stand in the schema as lists within the list.
        if len(items) == math.prod(sizes) and not all(isinstance(item, list) for item in items):
            break
        # skops goes by the lists, whatever the shape.
        usable &= all(isinstance(item, list) and len(item) == n for item in items)
        items = [part for item in items if isinstance(item, list) for part in item]
    if not usable:
        raise ReadError("an array of the skops schema has no usable shape")
    return object_array(items, sizes)


# -- arrays: the .npy format of numpy, a header that is a Python literal, then raw bytes ----


def read_npy(data: memoryview | bytes) -> Array:
    """Return the array of a .npy file, without copying it.

    numpy hands the header to Python's own parser. Here it is read as numpy writes it.
    """
    head = bytes(data[:12])
    if head[:6] != _MAGIC or len(head) < 12 or head[6] not in (1, 2, 3):
        raise ReadError("an array file (.npy) does not begin like one")
    start = 10 if head[6] == 1 else 12
    size = int.from_bytes(head[8:start], "little")
    if size > Most.header or (end := start + size) > len(data):
        raise ReadError(f"an array file (.npy) announces a header of {size:,} bytes")
    text = bytes(data[start:end]).decode("utf-8" if head[6] == 3 else "latin1", "replace")
    header = _HEADER.fullmatch(text)
    if header is None:
        raise ReadError("the header of an array file (.npy) is damaged")
    dtype = _npy_dtype(header["descr"])
    if dtype.is_object:
        raise UnsafeModelError(
            "an array file (.npy) holds a pickle, which runs code when numpy loads it: "
            "treat the model as hostile"
        )
    shape = tuple(int(n) for n in header["shape"].split(",") if n)
    return array_from(memoryview(data)[end:], dtype, shape, header["fortran"] == "True")


@lru_cache(maxsize=64)  # arrays of a model share a few types
def _npy_dtype(descr: str) -> DType:
    """Return a plain type, or a record of its fields; numpy writes the gaps as nameless bytes."""
    if descr[0] == "'":
        return _plain_dtype(descr[1:-1])
    if _FIELD.sub("", descr) != "[]":
        raise UnsupportedModelError("an array of sub-arrays, or of records within, cannot be read")
    fields: dict[str, tuple[DType, int]] = {}
    offset = 0
    for match in _FIELD.finditer(descr):
        name, dtype = match["name"], _plain_dtype(match["code"])
        if name in fields:
            raise ReadError("the header of an array file (.npy) is damaged")
        if name or not dtype.code.startswith("|V"):
            fields[name or f"f{len(fields)}"] = (dtype, offset)
        offset += dtype.build().itemsize
    return DType(f"V{offset}", (3, "|", None, tuple(fields), fields, offset, 1, 0))


def _plain_dtype(code: str) -> DType:
    order = code[0] if code[:1] in ("<", ">", "|", "=") else "|"
    return DType(_UNIT.sub("", code), (3, order, None, None, None, -1, -1, 0))


_MAKERS: Mapping[str, Callable[[Graph, Node], object]] = {
    "ObjectNode": _object,
    "DictNode": _mapping,
    "DefaultDictNode": _default_mapping,
    "_DictWithDeprecatedKeysNode": _default_mapping,
    "ListNode": _list,
    "TupleNode": _tuple,
    "SetNode": _set,
    "JsonNode": _value,
    "TypeNode": _named,
    "FunctionNode": _named,
    "MethodNode": _method,
    "PartialNode": _partial,
    "SliceNode": _slice,
    "ConstructorFromReduceNode": _called,
    "CachedNode": _unknown,
    "BytesNode": lambda graph, node: bytes(graph.bytes_of(node)),
    "BytearrayNode": lambda graph, node: bytes(graph.bytes_of(node)),
    "NdArrayNode": _array,
    "MaskedArrayNode": _masked,
    "DTypeNode": _dtype,
    "TreeNode": _reduced,
    "LossNode": _reduced,
    "QuantileForestNode": _reduced,
}
