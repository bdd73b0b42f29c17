"""What the schema of a skops file holds that skops does not write, or does not look at."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from treeaudit.readers.leftovers.extra import size_of

__all__ = ["beside_schema"]

Node = dict[str, Any]


class Built(Protocol):
    """What became of the nodes of a schema.

    Attributes
    ----------
    twice
        Nodes that nobody looks at, as an earlier one has their identity, and that one.
    seen
        What stands for each node that was looked at.
    dropped
        What was built and is no part of the object.
    """

    twice: list[tuple[Node, Node]]
    seen: set[int]
    dropped: list[object]


Members = Mapping[str, Callable[[], memoryview]]

# What a node of the schema may be made of, by what it stands for.
_NODE = frozenset("__class__ __module__ __loader__ __id__ content".split())
_KNOWN = {
    name: _NODE | more
    for name, more in {
        "JsonNode": {"is_json"},
        "DictNode": {"key_types"},
        "DefaultDictNode": {"key_types", "default_factory"},
        "NdArrayNode": {"type", "file", "shape"},
        **{name: {"__reduce__"} for name in ("TreeNode", "LossNode", "QuantileForestNode")},
        **{name: {"file"} for name in ("BytesNode", "BytearrayNode")},
        **{name: set[str]() for name in ("ListNode", "TupleNode", "SetNode", "ObjectNode")},
        **{name: set[str]() for name in ("TypeNode", "FunctionNode", "DTypeNode", "CachedNode")},
    }.items()
}
_ELSE = _NODE | frozenset(
    (
        "__reduce__ is_json type file key_types shape bit_generator default_factory attrs func "
        "args obj data mask namespace kwds start stop step"
    ).split()
)
_OF_TYPES = frozenset({"ListNode", "TypeNode", "CachedNode"})
_NOTHING = 8  # bytes of an empty list
_ROOT = {"protocol", "_skops_version"}
_TYPES, _TRUTHS = (None, "numpy", "json", "scipy"), (None, True, False)
_TEXTS, _ENDS = frozenset({"module_path", "function", "func"}), ("start", "stop", "step")
_NAMING = frozenset({"FunctionNode", "TypeNode", "MethodNode", "OperatorFuncNode", "SliceNode"})
# Numbers of objects in memory: nobody can tell what else they say.
_MOST_ID = 1 << 64
_VERSION = re.compile(r"[\w.+-]{0,40}")
_PLAIN = re.compile(r'null|true|false|0|-?[1-9][0-9]{0,17}|"[ !#-\[\]-~]*"')
_MEMBER = re.compile(r"schema\.json|\d{1,20}\.np[yz]|[0-9a-f-]{36}\.(bin|np[yz])")


def beside_schema(
    schema: Node,
    nodes: Iterable[Node],
    graph: Built,
    members: Members,
) -> Iterator[tuple[str, object]]:
    """Yield what is no part of the object, with its place.

    Parameters
    ----------
    schema
        The whole schema, decoded.
    nodes
        Every object of the JSON in it.
    graph
        What was built of it.
    members
        Gives the bytes of each member that the schema names.
    """
    nodes = [*nodes]
    # Most nodes are the same few, written again and again: those have one number.
    number: dict[object, int] = {}
    alike_as = [_number(node, number) for node in nodes]
    flat = dict(zip(map(id, nodes), alike_as, strict=True))
    seen = graph.seen.union(id(node) for node, _ in graph.twice)
    seen |= _inside(node for node, _ in graph.twice if flat[id(node)] is None)
    naming = {
        id(node.get("content"))
        for node, key in zip(nodes, alike_as, strict=True)
        if key is None and str(node.get("__loader__")) in _NAMING
    }
    known: dict[int, tuple[str, ...]] = {}
    for node, key in zip(nodes, alike_as, strict=True):
        loader = node.get("__loader__")
        if not isinstance(loader, str):
            odd = tuple(_loose(node, named=id(node) in naming))
        elif key is None or node is schema:
            odd = tuple(_odd(node, loader, node is schema))
        elif key in known:
            odd = known[key]
        else:
            odd = known[key] = tuple(_odd(node, loader, False))
        if isinstance(loader, str) and id(node) not in seen:
            yield "a node of the schema that no object holds", node
        for name in odd:
            yield "an entry of the schema", [name, node.get(name)]
    for name in _ROOT:
        if not _VERSION.fullmatch(str(schema.get(name, ""))):
            yield f"the {name} of the schema", schema[name]
    for part in graph.dropped:
        if size_of(part) > _NOTHING:
            yield "a part of the schema that no object holds", part
    alike: set[object] = set()
    for node, first in graph.twice:
        pair = flat[id(node)], id(first)
        if pair in alike or node.get("__loader__") == "CachedNode":
            continue
        if not _same(node, first, members):
            yield "a node of the schema that stands for another", node
        elif pair[0] is not None:
            alike.add(pair)
    for name in members:
        if not _MEMBER.fullmatch(name):
            yield "the name of a member", name


def _inside(nodes: Iterable[object]) -> set[int]:
    """Return what stands for each object of parts of the schema."""
    found: set[int] = set()
    todo = [*nodes]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            found.add(id(part))
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return found


def _number(node: Node, number: dict[object, int]) -> int | None:
    """Return what is the same for two nodes that are written alike; None of one that has parts."""
    values = node.values()
    try:
        return number.setdefault((*node, *values, *map(type, values)), len(number))
    except TypeError:  # an object or a list has no hash
        return None


def _odd(node: Node, loader: str, root: bool) -> Iterator[str]:
    known = _KNOWN.get(loader, _ELSE)
    if not node.keys() <= known:
        yield from (name for name in node if name not in known and not (root and name in _ROOT))
    key, file = node.get("__id__", 0), node.get("file")
    if type(key) is not int or not 0 <= key < _MOST_ID:
        yield "__id__"
    if node.get("type") not in _TYPES:
        yield "type"
    if node.get("is_json") not in _TRUTHS:
        yield "is_json"
    if isinstance(file, str) and file.split(".")[0].isdigit() and not file.startswith(f"{key}."):
        yield "file"
    if "key_types" in node and not _are_types(node["key_types"], node.get("content")):
        yield "key_types"
    if loader == "JsonNode" and not _is_plain(node.get("content")):
        yield "content"


def _are_types(part: object, keys: object) -> bool:
    """Tell whether a node is a list of types, one for each key."""
    each = part.get("content") if isinstance(part, dict) else None
    return (
        isinstance(each, list)
        and isinstance(keys, dict)
        and len(each) == len(keys)
        and all(isinstance(n, dict) and n.get("__loader__") in _OF_TYPES for n in (part, *each))
    )


def _is_plain(text: object) -> bool:
    """Tell whether a text is JSON as Python spells it."""
    if not isinstance(text, str):
        return False
    try:
        return _PLAIN.fullmatch(text) is not None or json.dumps(json.loads(text)) == text
    except ValueError:
        return False


def _loose(node: Node, *, named: bool) -> Iterator[str]:
    """Yield the parts of a content that are neither nodes nor what skops writes without one."""
    for name, part in node.items():
        if isinstance(part, list):
            known = all(isinstance(one, dict) for one in part)
        elif isinstance(part, str):
            known = named and name in _TEXTS
        else:
            known = isinstance(part, dict | bool | None) or (
                named and name in _ENDS and type(part) is int
            )
        if not known:
            yield name


def _same(one: object, other: object, members: Members) -> bool:
    """Tell whether two nodes are of the same content; states made anew have other numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.get("__loader__") == "CachedNode" or other.get("__loader__") == "CachedNode":
            return one.keys() <= _NODE and other.keys() <= _ELSE
        return one.keys() == other.keys() and all(
            _same(one[name], other[name], members)
            if name != "file"
            else one[name] in members
            and other[name] in members
            and members[one[name]]() == members[other[name]]()
            for name in one.keys() - {"__id__"}
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            _same(a, b, members) for a, b in zip(one, other, strict=True)
        )
    return type(one) is type(other) and one == other
