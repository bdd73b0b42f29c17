"""What is inside a model file, without auditing it and without running it."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from treeaudit.errors import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.model.extras import Extra
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers import read
from treeaudit.readers.detect import name_of
from treeaudit.readers.limits import Limits, clean
from treeaudit.readers.open import Content, open_file
from treeaudit.readers.outline import Part, of_forest, outline
from treeaudit.readers.pickle import pickled
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.pickle_vm import Unpickled
from treeaudit.readers.residual.code import is_foreign
from treeaudit.readers.residual.search import find_extras
from treeaudit.readers.skops import skops_file
from treeaudit.readers.types import Array
from treeaudit.readers.walk import Place, Walk

_LARGEST = 10
_WORTH_LISTING = 1024
_VERSIONS: Mapping[str, str] = {
    "_sklearn_version": "scikit-learn",
    "_xgboost_version": "xgboost",
    "_lightgbm_version": "lightgbm",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArray:
    """One array of numbers in the file."""

    where: str
    shape: tuple[int, ...]
    dtype: str
    n_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name that loading the file the usual way would import."""

    name: str
    n: int
    foreign: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a file holds.

    Attributes
    ----------
    path, n_bytes, sha256, compression
        Of the file as stored.
    format, protocol
        What kind of file it is; the pickle protocol, where it is one.
    versions
        Versions of the libraries that wrote it, as far as it tells.
    outline
        The estimators in it, None where they were not reached.
    model
        What an audit would look at, or None.
    no_model
        Why an audit would look at nothing, in one sentence.
    refused
        What loading it the usual way would run, in one sentence.
    arrays
        The largest arrays.
    leftovers
        What it gives away beside its trees.
    names
        What it mentions, foreign names first.
    """

    path: str
    n_bytes: int
    sha256: str
    compression: str
    format: str
    protocol: int | None = None
    versions: tuple[str, ...] = ()
    outline: Part | None = None
    model: str | None = None
    no_model: str | None = None
    refused: str | None = None
    arrays: tuple[StoredArray, ...] = ()
    leftovers: tuple[Extra, ...] = ()
    names: tuple[Name, ...] = ()


def describe(
    path: str | os.PathLike[str], *, select: str | None = None, max_bytes: int | None = None
) -> Contents:
    """Return what a file holds, whether or not it can be audited."""
    limits = Limits.up_to(max_bytes)
    content = open_file(path, limits)
    is_pickle = pickled.matches(content)
    contents = Contents(
        path=str(Path(path)),
        n_bytes=content.n_bytes,
        sha256=content.digest(),
        compression=content.compression,
        format="pickle" if is_pickle else re.split(r" \(|[:,]", name_of(content.data))[0],
        protocol=_protocol(content) if is_pickle else None,
    )
    forest: Forest | None = None
    limits = content.within(limits)
    try:
        source = Source(path=str(Path(path)), digest=content.digest, n_bytes=content.n_bytes)
        forest = read(content, source, select, limits)
        contents = replace(contents, format=forest.source.format, model=_model(forest))
    except UnsafeModelError as error:
        return replace(contents, refused=str(error))
    except UnsupportedModelError as error:
        contents = replace(contents, no_model=str(error))
    except ReadError as error:
        if contents.format != "a text file":
            raise
        return replace(contents, no_model=str(error))
    n_records = None if forest is None else forest.n_records
    if skops_file.matches(content):
        file = skops_file.parse(content, limits)
        root, mentioned = file.root, file.mentioned
        return _of_pickle(contents, Unpickled(root, content.n_bytes, mentioned), n_records)
    if not is_pickle:
        return contents if forest is None else _of_model(contents, forest)
    try:
        unpickled = pickled.parse(content, limits)
    except UnsupportedModelError:
        return contents if forest is None else _of_model(contents, forest)
    return _of_pickle(contents, unpickled, n_records)


def _protocol(content: Content) -> int:
    head = bytes(content.data[:2])
    return head[1] if head[:1] == b"\x80" and len(head) > 1 else 0


def _model(forest: Forest) -> str:
    """Say what an audit would look at."""
    where = f" at {forest.source.inside}" if forest.source.inside else ""
    trees = "1 tree" if forest.n_trees == 1 else f"{forest.n_trees:,} trees"
    people = "" if forest.n_records is None else f", {forest.n_records:,} people"
    reason = f" ({forest.counts_reason})" if forest.counts_reason else ""
    counts = f"class counts are {forest.counts_are}{reason}"
    return f"{forest.source.estimator}{where}: {trees}{people}; {counts}"


def _of_model(contents: Contents, forest: Forest) -> Contents:
    version = forest.source.library_version
    # Our own form keeps the version of the library that trained the model.
    library = forest.source.format.partition("-")[0].replace("treeaudit", "version")
    return replace(
        contents,
        versions=() if version is None else (f"{library} {version}".strip(),),
        outline=of_forest(forest),
        leftovers=forest.extras.found,
    )


def _of_pickle(contents: Contents, unpickled: Unpickled, n_records: int | None) -> Contents:
    by_joblib = any("numpy_pickle" in name.module for name in unpickled.mentioned)
    form = contents.format
    return replace(
        contents,
        format="joblib" if by_joblib and form == "pickle" else form,
        versions=_versions(unpickled.root),
        outline=outline(unpickled.root),
        arrays=_arrays(unpickled.root),
        leftovers=find_extras(unpickled.root, n_records, unpickled.mentioned).found,
        names=_names(unpickled.mentioned),
    )


def _versions(root: object) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place in Walk(root):
        if isinstance(place.value, Inert):
            for attribute, library in _VERSIONS.items():
                version = place.value.get(attribute)
                if isinstance(version, str):
                    found[f"{library} {clean(version[:40])}"] = None
    return tuple(found)[:_LARGEST]


def _arrays(root: object) -> tuple[StoredArray, ...]:
    """Return the largest arrays; those of all trees of a forest count as one."""
    sizes: Counter[tuple[str, str]] = Counter()
    shapes: dict[tuple[str, str], tuple[int, ...]] = {}
    for where, array in _all_arrays(root):
        dtype = "record" if array.dtype.names else array.dtype.name
        key = (where, dtype)
        many = key in shapes
        shapes[key] = (len(array) + shapes[key][0], *array.shape[1:]) if many else array.shape
        sizes[key] += array.nbytes
    return tuple(
        StoredArray(where=key[0], shape=shapes[key], dtype=key[1], n_bytes=n)
        for key, n in sizes.most_common(_LARGEST)
        if n >= _WORTH_LISTING
    )


def _all_arrays(root: object) -> Iterator[tuple[str, Array]]:
    for place in Walk(root):
        value = place.value
        if isinstance(value, Inert) and value.kind in ("Tree", "TreePredictor"):
            family = _family(place)
            for name in ("nodes", "values"):
                array = arrived(value.get(name))
                if isinstance(array, np.ndarray) and array.ndim:
                    yield f"{family}.{name}", array
        elif isinstance(value, np.ndarray) and value.dtype != object and value.ndim:
            yield place.path or "the file itself", value


def _family(place: Place) -> str:
    """Name a stored tree, or all trees of its list at once."""
    member = place if place.step.startswith("[") else place.above
    if member is None or not member.step.startswith("[") or member.above is None:
        return place.path
    return member.above.at("[*]") + ("" if member is place else ".tree_")


def _names(mentioned: Sequence[Global]) -> tuple[Name, ...]:
    times = Counter((name.module, name.name) for name in mentioned)
    foreign = {(n.module, n.name) for n in mentioned if is_foreign(n)}
    found = [
        Name(name=clean(f"{module}.{name}"), n=n, foreign=(module, name) in foreign)
        for (module, name), n in times.most_common()
    ]
    return tuple(sorted(found, key=lambda one: (not one.foreign, -one.n, one.name)))
