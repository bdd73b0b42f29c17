"""Every name in a skops schema passes one gate before anything is built from it.

Wherever it stands: as a class, as a function, in the ``content`` of an old
function node, as a method, as a bit generator.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from treeaudit.errors import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.inert import Global
from treeaudit.readers.pickle.known_names import KNOWN
from treeaudit.readers.pickle.names import (
    judge,
    may_call,
    may_create,
    may_fetch,
    may_mention,
    not_read,
)

Node = dict[str, Any]

_ADVICE = "do not load it with skops"
_CALLED = frozenset({"ConstructorFromReduceNode", "LossNode", "TreeNode", "PartialNode"})
# Plain containers and references; of whatever else there is, skops makes an instance.
_MENTIONED = frozenset(
    (
        "BytearrayNode BytesNode DTypeNode DefaultDictNode DictNode FunctionNode JsonNode ListNode "
        "MethodNode NdArrayNode SetNode SliceNode TupleNode TypeNode"
    ).split()
)


def check_names(nodes: Iterable[Node]) -> list[Global]:
    """Pass every name of the objects of a schema through the gate, and return them."""
    # Whatever `Graph` would build: a dictionary of the model may have such keys too.
    built = (node for node in nodes if isinstance(node.get("__loader__"), str))
    usual, mentioned = dict[object, list[Global]](), list[Global]()
    try:
        for node in built:
            inside = id(node) if isinstance(node.get("content"), dict) else 0
            key = node["__loader__"], node.get("__module__"), node.get("__class__"), inside
            if key not in usual:
                usual[key] = [*_gated(node)]
            mentioned += usual[key]
    except TypeError:  # a list, where a name belongs
        raise ReadError("the skops schema has a node without a name") from None
    for name in mentioned:
        if not name.allowed:
            raise UnsupportedModelError(not_read(name.module, name.name))
    return mentioned


def _gated(node: Node) -> Iterator[Global]:
    module, name, loader = node.get("__module__"), node.get("__class__"), node["__loader__"]
    if loader == "CachedNode" and module is None and name is None:
        return
    plain = may_mention if loader in _MENTIONED else may_create
    allowed = may_call if loader in _CALLED else plain
    yield _name(module, name, allowed, made=allowed is may_create)
    if not isinstance(content := node.get("content"), dict):
        return
    if loader == "FunctionNode":
        yield _name(content.get("module_path"), content.get("function"), may_mention)
    elif loader == "MethodNode":
        _check_method(node, content)
    elif loader == "RandomGeneratorNode":
        generator = content.get("bit_generator")
        inner = generator.get("content", generator) if isinstance(generator, dict) else None
        stored = inner.get("bit_generator") if isinstance(inner, dict) else None
        text = stored.get("content") if isinstance(stored, dict) else stored
        yield _name("numpy.random", text.strip('"') if isinstance(text, str) else text, may_call)


@lru_cache(maxsize=256)
def _name(
    module: object, name: object, allowed: Callable[[str, str], bool], *, made: bool = False
) -> Global:
    if not isinstance(module, str) or not isinstance(name, str):
        raise ReadError("the skops schema has a node without a name")
    if len(module) > Most.name or len(name) > Most.name:
        raise ReadError("a name in the skops schema is too long")
    kind = judge(module, name)
    # skops makes a bare instance of a class only, as pickle does.
    run = kind == "function" and not made
    run |= allowed is may_call and kind != "listed" and module.partition(".")[0] not in KNOWN
    found = Global(module, name, 0, not run)
    if not allowed(module, name):
        raise UnsafeModelError(
            f"the skops schema names {show(found)}, which no tree model needs and which can run "
            f"code: {_ADVICE}"
        )
    return found


def _check_method(node: Node, content: Node) -> None:
    function, owner = content.get("func"), content.get("obj")
    owner = owner if isinstance(owner, dict) else {}
    same = all(owner.get(key) == node.get(key) for key in ("__class__", "__module__"))
    cls = (str(node.get("__module__")), str(node.get("__class__")))
    if not same or not isinstance(function, str) or not may_fetch(*cls, function):
        raise UnsafeModelError(
            f"the skops schema asks for the method {show(function)} of "
            f"{show(node.get('__class__'))}, which could run code: {_ADVICE}"
        )
