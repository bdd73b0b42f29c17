"""A file or a fitted estimator in, a `Forest` out. No code of the file runs.

Adding a format: one module with the two functions of `Reader`, and a line in `READERS`.
"""

import gc
import mmap
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from pickle import PicklingError, dumps
from typing import Protocol

from treeaudit.errors import (
    MalformedModelError,
    ModelTooLargeError,
    ReadError,
    SeveralModelsError,
    UnsafeModelError,
    UnsupportedModelError,
)
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.source import KINDS, Extra, Extras, Source
from treeaudit.model.tree import Tree
from treeaudit.readers import native_json
from treeaudit.readers.catboost import model as catboost
from treeaudit.readers.detect import name_of
from treeaudit.readers.lightgbm import model as lightgbm
from treeaudit.readers.limits import Limits, show
from treeaudit.readers.onnx import model as onnx
from treeaudit.readers.open import Content, open_file, unpack
from treeaudit.readers.pickle import model as pickle
from treeaudit.readers.pmml import model as pmml
from treeaudit.readers.r import model as r
from treeaudit.readers.residual.extra_content import extra, few
from treeaudit.readers.skops import model as skops
from treeaudit.readers.xgboost import model as xgboost

__all__ = ["FORMATS", "READERS", "Format", "Reader", "load", "load_all", "read"]

_MOST_MODELS = 200
_UNCHECKED = "scikit-learn up to 1.9"  # its pull request 34558 checks the tables


class Reader(Protocol):
    """What a module has to offer to read files of one kind."""

    def matches(self, content: Content) -> bool:
        """Return whether the content is of this kind, by how it begins."""

    def read(self, content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
        """Return the model in the file, or the one of several that ``select`` names.

        ``source`` is what is known of the file; format, estimator and version are added. The
        errors are those of `load`.
        """


@dataclass(frozen=True, slots=True)
class Format:
    """Files of one kind: the module that reads them, values of `Source.format`, and a title."""

    reader: Reader
    names: tuple[str, ...]
    title: str
    counts: bool = False  # Whether the reader itself counts the bytes of the objects it makes

    def matches(self, content: Content) -> bool:
        """Return whether the content is of this kind, see `Reader.matches`."""
        return self.reader.matches(content)


READERS: tuple[Format, ...] = (
    Format(
        pickle, ("sklearn-pickle", "sklearn-joblib", "treeaudit-pickle"), "pickle, joblib", True
    ),
    Format(native_json, ("treeaudit-json",), "treeaudit's own JSON"),
    Format(skops, ("sklearn-skops",), "skops"),
    Format(xgboost, ("xgboost-json", "xgboost-ubjson", "xgboost-binary"), "XGBoost"),
    Format(lightgbm, ("lightgbm-text", "lightgbm-json"), "LightGBM"),
    Format(catboost, ("catboost-json",), "CatBoost"),
    Format(pmml, ("pmml",), "PMML"),
    Format(onnx, ("onnx",), "ONNX"),
    Format(r, ("r-rds", "r-rdata"), "R", True),
)
"""Every kind of file, in the order in which they are asked."""

FORMATS: tuple[str, ...] = (*(name for one in READERS for name in one.names), "memory")
"""What `treeaudit.Source.format` may be."""


def load(model: object, *, select: str | None = None, max_bytes: int | None = None) -> Forest:
    """Read a model file, or a fitted estimator, as a forest.

    Parameters
    ----------
    model
        The path of a file (pickle, joblib, skops, XGBoost, LightGBM, CatBoost
        JSON, ONNX, PMML, R, treeaudit JSON), or a fitted estimator. An estimator
        is pickled in memory and read through the same door as a file. A
        `Forest` is returned as it is.
    select
        Which model to take from a bundle of several, by the name that the
        error lists, or a plain key of it. Other models of the file are named as
        extra content, not audited.
    max_bytes
        Largest file, packed, unpacked or as Python objects. Unless told a file may have
        8 GiB, and unpack to four times its size and 256 MiB more.

    Returns
    -------
    Forest
        Its trees are built from the mapped file when they are asked for.

    Raises
    ------
    UnsafeModelError
        If loading the file the usual way would run code.
    UnsupportedModelError
        If it holds no tree model; names what it holds.
    ModelTooLargeError
        If it goes over a limit.
    ReadError
        If it cannot be opened or is damaged.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> forest = load(DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True)))
    >>> forest.n_trees, forest.counts_are, forest.schema.classes
    (1, 'exact', (0, 1, 2))
    """
    if isinstance(model, Forest):
        return model
    return _with_others(_read(model, select, max_bytes), {})


def load_all(
    model: str | os.PathLike[str], *, select: str | None = None, max_bytes: int | None = None
) -> list[Forest]:
    """Read every model of a file, or the one that is chosen.

    A model that cannot be read is named, with the reason, as extra content of
    the others. Parameters and errors are those of `load`.
    """
    if select is not None:
        return [load(model, select=select, max_bytes=max_bytes)]
    read: dict[str, Forest] = {}
    failed: dict[str, str] = {}
    try:
        first = _read(model, None, max_bytes)
        read[first.source.inside] = first
        todo = list(first.others)
    except SeveralModelsError as error:
        todo = list(error.names)
    known = {*read, *todo}
    for name in todo:
        if len(read) == _MOST_MODELS:
            break
        try:
            read[name] = _read(model, name, max_bytes)
        except UnsafeModelError:
            raise
        except ReadError as error:
            failed[name] = f"another model, which could not be read: {error}"
            continue
        todo += [one for one in read[name].others if one not in known]
        known.update(todo)
    if not read:
        return [load(model, select=todo[0], max_bytes=max_bytes)]
    left = {n: w for one in read.values() for n, w in one.others.items() if n not in read}
    return [_with_others(replace(one, others=left), failed) for one in read.values()]


def _with_others(forest: Forest, reasons: Mapping[str, str]) -> Forest:
    """List the other models of the file that were not audited, with the reasons."""

    def left(name: str, where: str) -> Extra:
        how = f"with --select {show(name, 80)}" if name else "without --select"
        says = reasons.get(name, f"another model, which was not audited: scan it {how}")
        return Extra(kind="unseen", where=where, n=1, says=says)

    if not forest.others:
        return forest
    found = few(left(name, where) for name, where in forest.others.items())
    return _with_extras(forest, found)


def _with_extras(forest: Forest, found: tuple[Extra, ...]) -> Forest:
    return replace(forest, extras=forest.extras.beside(Extras(found=found, looked_for=KINDS)))


def _read(model: object, select: str | None, max_bytes: int | None) -> Forest:
    limits = Limits.up_to(max_bytes)
    if not isinstance(model, str | os.PathLike):
        content = unpack(_pickled(model), limits)
        return read(content, Source(n_bytes=content.n_bytes), select, limits)
    try:
        content = open_file(model, limits)
        content.digest.begin()
        source = Source(path=str(Path(model)), digest=content.digest, n_bytes=content.n_bytes)
        return read(content, source, select, limits)
    except ReadError as error:
        error.path = str(model)
        raise


def _let_go(content: Content) -> None:
    """Give back the memory of mapped pages; what is needed again is read again."""
    for one in (content.packed, content.data):
        if isinstance(one, mmap.mmap) and sys.platform == "linux":
            one.madvise(mmap.MADV_DONTNEED)


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector of cycles from walking a million parts of a file, over and over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@uncollected()
def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Read the model in a file that is open already; see `load`."""
    limits = content.within(limits)
    for one in READERS:
        if one.matches(content):
            _check_unpacked(one, content, limits)
            try:
                forest = one.reader.read(content, source, select, limits)
            except MalformedModelError as error:
                if error.library is None and one.reader in (pickle, skops):
                    error.library = _UNCHECKED
                raise
            if isinstance(forest.trees, LazyTrees):
                forest.trees.let_go = partial(_let_go, content)
            end = content.streams[-1] if content.streams else len(content.packed)
            if rest := content.packed[end:]:
                left = extra(f"what follows the {content.compression} stream", rest)
                forest = _with_extras(forest, (left,))
            if source.path is None:
                in_memory = replace(forest.source, format="memory", digest=None, n_bytes=None)
                return replace(forest, source=in_memory)
            return forest
    what = name_of(content.data)
    kind = ReadError if what == "a text file" else UnsupportedModelError
    # What is behind a colon says already what helps.
    step = "" if ":" in what else "; name the model that was saved"
    name = Path(source.path or "the model").name
    where = f"{name} (inside {content.compression})" if content.compression else name
    raise kind(f"{where} is {what}{step}")


# What text becomes at worst: a text and a copy of it, of four bytes a character each.
_TEXT_TIMES = 8


def _check_unpacked(form: Format, content: Content, limits: Limits) -> None:
    """Refuse text and numbers packed so tightly that their objects would be far larger."""
    n = len(content.data)
    if content.compression and not form.counts and limits.objects(n) < _TEXT_TIMES * n:
        raise ModelTooLargeError(
            f"{content.n_bytes:,} bytes unpack to {n:,}, more than treeaudit takes in of a "
            f"compressed {form.names[0]} file: unpack it first, or allow more with --max-bytes"
        )


def _pickled(model: object) -> bytes:
    if model is None or isinstance(model, int | float | complex | bytes):
        raise UnsupportedModelError(
            f"{model!r:.60} is no model: give the path of a file, a fitted estimator or a Forest"
        )
    if isinstance(model, Tree):
        raise UnsupportedModelError(
            "a Tree alone does not say what its columns are: wrap it in a Forest with a Schema"
        )
    try:
        return dumps(model, protocol=5)
    except (PicklingError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(model, list | tuple) or type(model).__module__.startswith("treeaudit."):
            raise UnsupportedModelError(
                f"a {type(model).__name__} is no model: give one path, fitted estimator or Forest"
            ) from None
        raise UnsupportedModelError(
            f"a {type(model).__name__} cannot be read as a model: {error}"
        ) from None
