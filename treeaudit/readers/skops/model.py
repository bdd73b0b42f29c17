"""Skops files: scikit-learn models, read without skops.

A zip archive of a JSON schema and of arrays. The schema becomes the same inert records as a
pickle (`nodes`), so that all that reads a scikit-learn model from a pickle reads it from here too.
Every name in the schema passes one gate before anything is built from it, wherever it stands: as a
class, as a function, in the ``content`` of an old function node, as a method, as a bit generator.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extras, Source
from treeaudit.readers.dispatch import read_model
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import LIMITS, Limits, Most, show
from treeaudit.readers.open import Content
from treeaudit.readers.pickle.inert import Global
from treeaudit.readers.pickle.names import (
    KNOWN,
    judge,
    may_call,
    may_create,
    may_fetch,
    may_mention,
    not_read,
)
from treeaudit.readers.residual.extra_content import extra, few
from treeaudit.readers.residual.search import find_extras
from treeaudit.readers.skops.archive import Archive, begins_archive, check_member, member_names
from treeaudit.readers.skops.nodes import Graph, Node

# The member that says what the others are.
_SCHEMA = "schema.json"
# Bytes of Python objects per character that begins one, measured on CPython 3.11 to 3.14.
_COSTS = (232, 88, 64)
_ADVICE = "do not load it with skops"
_CALLED = frozenset({"ConstructorFromReduceNode", "LossNode", "TreeNode", "PartialNode"})
# Plain containers and references; of whatever else there is, skops makes an instance.
_MENTIONED = frozenset(
    (
        "BytearrayNode BytesNode DTypeNode DefaultDictNode DictNode FunctionNode JsonNode ListNode "
        "MethodNode NdArrayNode SetNode SliceNode TupleNode TypeNode"
    ).split()
)
# Last parts of the modules of scikit-learn whose public classes are no estimators.
_NO_ESTIMATORS = frozenset(
    (
        "_ball_tree _bunch _dist_metrics _fast_dict _kd_tree _metadata_requests _split "
        "_stochastic_optimizers _tree _scorer kernels predictor"
    ).split()
)


def matches(content: Content) -> bool:
    """Tell whether the content is a skops file, or a zip archive too damaged to tell."""
    if not begins_archive(content.data):
        return False
    names = member_names(content.data)
    return names is None or _SCHEMA in names


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model in a skops file; see `treeaudit.readers.Reader`."""
    file = parse(content, limits)
    source = replace(source, format="sklearn-skops", trusted=to_trust(file.mentioned))
    root = file.root
    forest = read_model(root, select, source, len(content.data) + file.n_bytes)
    beside = find_extras(
        root,
        forest.n_records,
        file.mentioned,
        unread=file.unread,
        written_by=("skops", file.version),
    )
    unused = few(extra(f"the skops file: {where}", part) for where, part in file.unused if part)
    found = Extras(found=unused, looked_for=KINDS)
    return replace(forest, extras=forest.extras.beside(beside).beside(found))


def to_trust(mentioned: Iterable[Global]) -> tuple[str, ...]:
    """Return the types that ``skops.io.load`` of version 0.16 does not trust by itself.

    It trusts estimators of scikit-learn and losses; what else a file names has to be told.

    Examples
    --------
    >>> to_trust([Global("sklearn.tree._tree", "Tree", 0, True),
    ...           Global("sklearn.tree._classes", "DecisionTreeClassifier", 0, True)])
    ('sklearn.tree._tree.Tree',)
    """
    return tuple(sorted({str(name) for name in mentioned if not _is_trusted(name)}))


def _is_trusted(name: Global) -> bool:
    top, last = name.module.partition(".")[0], name.module.rpartition(".")[2]
    if top == "sklearn":
        public = name.name[:1].isupper() and last not in _NO_ESTIMATORS
        return public or name.name == "_BinMapper"
    plain = top in ("builtins", "numpy") or name.module.startswith("scipy.special")
    return (plain and name.name != "dtype") or name.name == "defaultdict"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parsed:
    """What a skops file holds, as inert data."""

    root: object  # The object
    mentioned: list[Global]  # Every name in the schema
    n_bytes: int  # How many bytes the members hold
    version: object  # Of the skops that wrote the file, as the schema tells it
    unread: tuple[str, ...] = ()  # Members of the archive that the schema does not name
    # Bytes of the archive that belong to no member, and where they stand
    unused: tuple[tuple[str, bytes], ...] = ()


def parse(content: Content, limits: Limits = LIMITS) -> Parsed:
    """Return what a skops file holds, as inert data."""
    archive = Archive(content.data, limits)
    left = limits.within(len(content.data), archive.n_unpacked)
    schema, nodes = _schema(archive.read(_SCHEMA), left.objects(len(content.data)))
    mentioned = _check_names(nodes)
    named = {_SCHEMA, *_files(nodes)}
    try:
        root = Graph(archive, left, schema.get("protocol")).build(schema)
    except RecursionError:
        raise ModelTooLargeError("the skops schema is nested too deeply") from None
    return Parsed(
        root=root,
        mentioned=mentioned,
        n_bytes=archive.n_bytes,
        version=schema.get("_skops_version"),
        unread=tuple(name for name in archive.names if name not in named),
        unused=tuple(archive.unused),
    )


def _schema(data: memoryview, most: int) -> tuple[Node, list[Node]]:
    """Return the schema, and every object in it, itself first."""
    what, nodes = "the schema.json of the skops file", list[Node]()

    def made(node: Node) -> Node:
        nodes.append(node)
        return node

    schema = parse_json(data, most, _COSTS, what=what, infinite=True, made=made)
    if not isinstance(schema, dict):
        raise ReadError("the schema.json of the skops file holds no model")
    # An object is whole once those in it are.
    return schema, nodes[::-1]


def _files(nodes: Iterable[Node]) -> list[str]:
    """Return the members that the schema names."""
    named = (node.get("file") for node in nodes if "__loader__" in node)
    return [check_member(name) for name in named if name is not None]


def _check_names(nodes: Iterable[Node]) -> list[Global]:
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
