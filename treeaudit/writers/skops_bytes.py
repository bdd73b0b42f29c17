"""Inert data as a skops file: a zip archive of one schema and of arrays, without skops.

Everything has one place and one spelling: members stand in the order of the
schema, without times, and identities are numbers in that order.
"""

import json
import zipfile
from io import BytesIO
from typing import Any

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.arrays import DType, arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.writers.pickle_bytes import type_alone

Node = dict[str, Any]
_PROTOCOL, _VERSION = 2, "0.16.0"
_SCHEMA = "schema.json"


def dumps(root: object) -> bytes:
    """Return the skops file of inert data that was read from one."""
    writer = _Writer()
    schema = {**writer.node(root), "protocol": _PROTOCOL, "_skops_version": _VERSION}
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in writer.members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.writestr(zipfile.ZipInfo(_SCHEMA), json.dumps(schema, indent=2))
    return file.getvalue()


class _Writer:
    """Makes nodes, and keeps the arrays that they name."""

    def __init__(self) -> None:
        self.members: dict[str, bytes] = {}
        self._known: dict[int, int] = {}
        self._alive: list[object] = []
        self._n = 0

    def node(self, value: object) -> Node:
        """Return the node of a value; one that was written before is referred to."""
        value = arrived(value)
        shared = isinstance(value, Inert)
        if shared and id(value) in self._known:
            known = self._known[id(value)]
            return {"__class__": None, "__module__": None, "__loader__": "CachedNode",
                    "__id__": known}  # fmt: skip
        self._n += 1
        number = self._n
        if shared:
            self._known[id(value)] = number
            self._alive.append(value)
        return {**self._made(value, number), "__id__": number}

    def _made(self, value: object, number: int) -> Node:
        match value:
            case None | bool() | int() | float() | str():
                text = json.dumps(value)
                return {**_loaded("str", "builtins", "JsonNode"), "content": text, "is_json": True}
            case list():
                return self._several("list", "builtins", "ListNode", value)
            case tuple():
                return self._several("tuple", "builtins", "TupleNode", value)
            case dict():
                return self._mapping("dict", "builtins", value)
            case np.ndarray():
                return self._array(value, number)
            case DType():
                content = self.node(np.empty(0, dtype=type_alone(value)))
                return {**_loaded("dtype", "numpy", "DTypeNode"), "content": content}
            case Global():
                made = _is_type(value)
                return _loaded(value.name, value.module, "TypeNode" if made else "FunctionNode")
            case Inert():
                return self._object(value)
        raise UnsupportedModelError(f"{show(value)} cannot be written in a skops file")

    def _several(
        self, name: str, module: str, loader: str, parts: list[object] | tuple[object, ...]
    ) -> Node:
        return {**_loaded(name, module, loader), "content": [self.node(one) for one in parts]}

    def _mapping(self, name: str, module: str, pairs: dict[object, object]) -> Node:
        if not all(type(key) in (str, int) for key in pairs):
            raise UnsupportedModelError("a skops file takes texts and whole numbers for keys")
        kinds = self.node([Global("builtins", type(key).__name__, 0, True) for key in pairs])
        content = {str(key): self.node(part) for key, part in pairs.items()}
        return {**_loaded(name, module, "DictNode"), "content": content, "key_types": kinds}

    def _array(self, array: Array, number: int) -> Node:
        named = _loaded("ndarray", "numpy", "NdArrayNode")
        if array.dtype == object:
            content = [self.node(part) for part in array.tolist()]
            return {**named, "content": content, "type": "json", "shape": self.node(array.shape)}
        data, file = BytesIO(), f"{number}.npy"
        np.save(data, array, allow_pickle=False)
        self.members[file] = data.getvalue()
        return {**named, "type": "numpy", "file": file}

    def _object(self, value: Inert) -> Node:
        name, module = value.cls.name, value.cls.module
        if name == "slice":
            names = ("start", "stop", "step")
            content = dict(zip(names, value.args, strict=True))
            return {**_loaded(name, module, "SliceNode"), "content": content}
        if name == "partial" and isinstance(value.state, tuple):
            parts = zip(("func", "args", "kwds", "namespace"), value.state, strict=True)
            content = {key: self.node(part) for key, part in parts}
            return {**_loaded(name, module, "PartialNode"), "content": content}
        if value.pairs:
            return self._mapping(name, module, value.pairs)
        if value.items:
            return self._several(name, module, "ListNode", value.items)
        if name == "Tree" or (value.args and module.endswith("._loss")) or name.startswith("Cy"):
            node = _loaded(name, module, "TreeNode" if name == "Tree" else "LossNode")
            content = self.node({} if value.state is None else value.state)
            return {**node, "content": content, "__reduce__": {"args": self.node(value.args)}}
        if value.args:
            node = _loaded(name, module, "ConstructorFromReduceNode")
            return {**node, "content": self.node(value.args)}
        node = _loaded(name, module, "ObjectNode")
        return node if value.state is None else {**node, "content": self.node(value.state)}


def _loaded(name: str, module: str, loader: str) -> Node:
    return {"__class__": name, "__module__": module, "__loader__": loader}


def _is_type(name: Global) -> bool:
    """Tell whether this is a class, and no function, of numpy or Python."""
    return name.module == "builtins" or isinstance(getattr(np, name.name, None), type)
