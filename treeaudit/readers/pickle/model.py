"""Pickle and joblib files: scikit-learn models read as data."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from treeaudit.arrays import Array, Flag
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extra, Extras, Source
from treeaudit.readers.detect import may_be_pickle, name_of
from treeaudit.readers.dispatch import read_model
from treeaudit.readers.limits import Limits
from treeaudit.readers.open import Content
from treeaudit.readers.pickle.pickle_vm import Unpickled, read_pickle
from treeaudit.readers.residual.extra_content import few
from treeaudit.readers.residual.search import find_extras


def matches(content: Content) -> bool:
    """Tell whether the content can be a pickle or a joblib file."""
    return may_be_pickle(content.data)


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
    forest = read_model(unpickled.root, select, source, len(content.data))
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
    """Return what a pickle holds, as inert data."""
    return read_pickle(content.data, limits=limits)


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
    if any(name.module.startswith("cloudpickle") for name in unpickled.mentioned):
        remarks.append(
            "the file carries program code of its own (cloudpickle): it was not read, "
            "and would become part of the model when loaded"
        )
    return remarks


def between_columns(tables: Sequence[tuple[int, Array]]) -> Iterator[tuple[int, int]]:
    """Yield where bytes belong to no column and are not zero, which nearly always are none."""
    for at, table in tables:
        if n := gaps(table):
            yield at - n, n


def gaps(table: Array) -> int:
    """Count the bytes that belong to no column and are not zero."""
    free = _free(table.dtype)
    if not table.size or not free.any():
        return 0
    # In the order of the file: of a copy numpy leaves these bytes out.
    axes = sorted(range(table.ndim), key=lambda i: -table.strides[i])
    flat = table.transpose(axes).reshape(-1)
    return int(np.count_nonzero(flat.view(np.uint8).reshape(len(flat), -1)[:, free]))


@lru_cache(64)
def _free(record: np.dtype[Any]) -> Flag:
    """Return which bytes of a record no column takes."""
    free = np.ones(record.itemsize, dtype=np.bool_)
    for column, at, *_ in (record.fields or {}).values():
        free[at : at + column.itemsize] = False
    return free
