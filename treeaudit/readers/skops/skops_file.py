"""Skops files: a zip archive of a JSON schema and of arrays, read without skops.

The schema becomes the same inert records as a pickle, so that all that reads a
scikit-learn model from a pickle reads it from here too.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import LIMITS, Limits, show
from treeaudit.readers.open import Content
from treeaudit.readers.pickle.companions import is_plain
from treeaudit.readers.pickle.inert import Global
from treeaudit.readers.skops.skops_names import Node, check_names
from treeaudit.readers.skops.skops_nodes import Graph
from treeaudit.readers.skops.zip_archive import Archive, begins_archive, member_names

SCHEMA = "schema.json"
"""The member that says what the others are."""
# Bytes of Python objects per character that begins one, measured on CPython 3.11 to 3.14.
_COSTS = (232, 88, 64)


def matches(content: Content) -> bool:
    """Tell whether the content is a skops file, or a zip archive too damaged to tell."""
    if not begins_archive(content.data):
        return False
    names = member_names(content.data)
    return names is None or SCHEMA in names


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parsed:
    """What a skops file holds, as inert data.

    Attributes
    ----------
    root
        The object.
    mentioned
        Every name in the schema.
    n_bytes
        How many bytes the members hold.
    version
        Of the skops that wrote the file, as the schema tells it.
    unread
        Members of the archive that the schema does not name.
    spare
        Bytes of the archive that belong to no member, and where they stand.
    """

    root: object
    mentioned: list[Global]
    n_bytes: int
    version: object
    unread: tuple[str, ...] = ()
    spare: tuple[tuple[str, bytes], ...] = ()


def parse(content: Content, limits: Limits = LIMITS) -> Parsed:
    """Return what a skops file holds, as inert data."""
    archive = Archive(content.data, limits)
    archive.open([SCHEMA])
    packed = len(content.data)
    left = limits.within(packed, archive.n_unpacked)
    schema, nodes = _schema(archive.read(SCHEMA), left.objects(packed))
    mentioned = check_names(nodes)
    read = dict.fromkeys((SCHEMA, *_files(nodes)))
    archive.open(read)
    graph = Graph(archive, limits.within(packed, archive.n_unpacked), schema.get("protocol"))
    try:
        root = graph.build(schema)
    except RecursionError:
        raise ModelTooLargeError("the skops schema is nested too deeply") from None
    return Parsed(
        root=root,
        mentioned=mentioned,
        n_bytes=archive.n_bytes,
        version=schema.get("_skops_version"),
        unread=tuple(name for name in archive.names if name not in read),
        spare=tuple(archive.spare()),
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
    """Return the members that the schema names: plain names, nothing with a path."""
    named = (node.get("file") for node in nodes if "__loader__" in node)
    names = [name for name in named if name is not None]
    for name in names:
        if not isinstance(name, str) or not is_plain(name):
            raise UnsafeModelError(
                f"the skops schema names the file {show(name)}, which is no plain name: "
                "treat it as hostile"
            )
    return names
