"""What a skops schema holds that skops does not read."""

from collections.abc import Iterator, Mapping

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.weights import mask, not_explained, weigh
from treeaudit.readers.skops.skops_names import dictionaries

__all__ = ["not_read"]

_KEYS = frozenset(
    "__class__ __module__ __loader__ __id__ __reduce__ content type file shape key_types "
    "is_json".split()
)
_OF_ALL = ("_skops_version", "protocol")
_LONGEST = 20
_TEXTS = frozenset({"module_path", "function", "func"})


def not_read(schema: Mapping[str, object], room: int = 0) -> Iterator[Leftover]:
    """Yield the entries of a schema that belong to no node, and what the archive has beside.

    Parameters
    ----------
    schema
        The whole of it, decoded.
    room
        How many bytes of the archive belong to no member.

    Examples
    --------
    >>> node = {"__loader__": "JsonNode", "content": "1", "rows": "33;yes"}
    >>> [(one.where, one.n) for one in not_read(node)]
    [("'aaaa' in the schema", 10)]
    """
    if room:
        says = "no audited model accounts for it: bytes between or behind the members"
        yield Leftover(kind="unexplained", where="the zip archive", n=room, says=says)
    for node in dictionaries(schema):
        for key, part in node.items():
            if "__loader__" not in node:
                strange = isinstance(part, str) and key not in _TEXTS
            elif node is schema and key in _OF_ALL:
                strange = len(str(part)) > _LONGEST
            else:
                strange = key not in _KEYS
            if strange:
                n = weigh((key, part), set())
                yield not_explained(f"'{mask(key)}' in the schema", part, n)
