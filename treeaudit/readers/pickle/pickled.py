"""Pickle and joblib files: scikit-learn models read as data."""

from collections.abc import Iterator
from dataclasses import replace

from treeaudit.errors import ReadError
from treeaudit.model.extras import KINDS, Extra, Extras
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.detect import looks_like_pickle, name_of
from treeaudit.readers.dispatch import read_model
from treeaudit.readers.limits import Limits
from treeaudit.readers.pickle.companions import Companions
from treeaudit.readers.pickle.gaps import between_columns
from treeaudit.readers.pickle.pickle_vm import Unpickled, read_pickle
from treeaudit.readers.residual.extra import few
from treeaudit.readers.residual.search import find_extras
from treeaudit.readers.unpack import Content


def matches(content: Content) -> bool:
    """Tell whether the content can be a pickle or a joblib file."""
    return looks_like_pickle(content.data)


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model in a pickle or joblib file; see `treeaudit.readers.Reader`."""
    try:
        unpickled = parse(content, limits)
    except ReadError as error:
        no_pickle = type(error) is ReadError and bytes(content.data[:1]) != b"\x80"
        if no_pickle and name_of(content.data) == "a text file":
            raise ReadError(
                f"the file is a text file, and no pickle that is whole: {error}"
            ) from None
        raise
    by_joblib = any(name.module.endswith("numpy_pickle") for name in unpickled.mentioned)
    source = replace(source, format="sklearn-joblib" if by_joblib else "sklearn-pickle")
    size = len(content.data) + sum(unpickled.companions.values())
    forest = read_model(unpickled.root, select, source, size)
    return replace(
        forest,
        warnings=(*forest.warnings, *_remarks(unpickled, len(content.data))),
        extras=forest.extras.beside(
            find_extras(
                unpickled.root,
                forest.n_records,
                unpickled.mentioned,
                boosted=None if forest.source.library == "scikit-learn" else forest,
            )
        ).beside(Extras(found=few(_unexplained(unpickled, len(content.data))), looked_for=KINDS)),
    )


def parse(content: Content, limits: Limits) -> Unpickled:
    """Return what a pickle holds, as inert data, with the files beside it that it names."""
    beside = None if content.folder is None else Companions(content.folder, limits)
    return read_pickle(content.data, limits=limits, companions=beside)


def _unexplained(unpickled: Unpickled, size: int) -> Iterator[Extra]:
    says = "bytes between the columns of a table, as numpy leaves them in a copy"
    for at, n in between_columns(unpickled.tables):
        yield Extra(kind="extra", where=f"byte {at:,}", n=n, says=says)
    if n := size - unpickled.end:
        where, says = f"byte {unpickled.end:,}", "bytes after the model, which were not read"
        yield Extra(kind="extra", where=where, n=n, says=says)


def _remarks(unpickled: Unpickled, size: int) -> list[str]:
    remarks = []
    if size > unpickled.end:
        remarks.append(
            f"{size - unpickled.end:,} bytes follow the model; they were not read, "
            "and pickle.load ignores them too"
        )
    if unpickled.companions:
        first, n = next(iter(unpickled.companions)), len(unpickled.companions)
        remarks.append(
            f"its arrays were read from {n:,} {'file' if n == 1 else 'files'} beside it "
            f"({first}{', …' if n > 1 else ''}), which the SHA-256 of the model does not cover"
        )
    if any(name.module.startswith("cloudpickle") for name in unpickled.mentioned):
        remarks.append(
            "the file carries program code of its own (cloudpickle): it was not read, "
            "and would become part of the model when loaded"
        )
    return remarks
