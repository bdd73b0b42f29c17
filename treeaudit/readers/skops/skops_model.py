"""Skops files: scikit-learn models, and what the archive and its schema hold beside them."""

from dataclasses import replace

from treeaudit.model.extras import KINDS, Extras
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.dispatch import read_model
from treeaudit.readers.limits import Limits
from treeaudit.readers.residual.extra import extra, few
from treeaudit.readers.residual.search import find_extras
from treeaudit.readers.skops.skops_file import matches as matches
from treeaudit.readers.skops.skops_file import parse
from treeaudit.readers.unpack import Content


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model in a skops file; see `treeaudit.readers.Reader`."""
    file = parse(content, limits)
    root, source = file.root, replace(source, format="sklearn-skops")
    forest = read_model(root, select, source, len(content.data) + file.n_bytes)
    beside = find_extras(
        root,
        forest.n_records,
        file.mentioned,
        unread=file.unread,
        written_by=("skops", file.version),
    )
    spare = few(extra(f"the skops file: {where}", part) for where, part in file.spare if part)
    found = Extras(found=spare, looked_for=KINDS)
    return replace(forest, extras=forest.extras.beside(beside).beside(found))
