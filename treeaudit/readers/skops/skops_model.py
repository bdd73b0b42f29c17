"""Skops files: scikit-learn models, and what the archive and its schema hold beside them."""

from collections.abc import Iterator
from dataclasses import replace

from treeaudit.errors import ModelTooLargeError
from treeaudit.model.forest import Forest
from treeaudit.model.leftovers import KINDS, Leftovers
from treeaudit.model.source import Source
from treeaudit.readers.leftovers.extra import extra, few
from treeaudit.readers.leftovers.json_spelling import is_indented, length_of, with_spelling
from treeaudit.readers.leftovers.leftovers import leftovers
from treeaudit.readers.leftovers.nodes import Sound
from treeaudit.readers.leftovers.skops_parts import beside_schema
from treeaudit.readers.limits import Limits
from treeaudit.readers.skops.skops_file import SCHEMA, Parsed, matches, parse
from treeaudit.readers.stored import stored_model
from treeaudit.readers.unpack import Content

__all__ = ["matches", "read"]


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model in a skops file; see `treeaudit.readers.Reader`."""
    file = parse(content, limits)
    text = bytes(file.members[SCHEMA]())
    usual = is_indented(text)
    root, source = file.root, replace(source, format="sklearn-skops")
    sound = Sound()
    forest = stored_model(root, select, source, len(content.data) + file.n_bytes, sound)
    beside = leftovers(
        root,
        forest.n_records,
        file.mentioned,
        unread=file.unread,
        written_by=("skops", file.version),
        sound=sound,
    )
    spare = few(
        extra(f"the skops file: {where}", part) for where, part in _spare(file, usual=usual) if part
    )
    found = Leftovers(found=spare, looked_for=KINDS)
    forest = replace(forest, leftovers=forest.leftovers.beside(beside).beside(found))
    return forest if usual else with_spelling(forest, text)


def _spare(file: Parsed, *, usual: bool) -> Iterator[tuple[str, object]]:
    """Yield what is no part of the object, with its place."""
    yield from file.spare
    try:
        yield from beside_schema(file.schema, file.nodes, file.graph, file.members)
        blanks = 0 if usual else length_of(file.schema) - len(file.members[SCHEMA]())
    except RecursionError:
        raise ModelTooLargeError("the skops schema is nested too deeply") from None
    yield "the blanks of the schema", bytes(abs(blanks))
