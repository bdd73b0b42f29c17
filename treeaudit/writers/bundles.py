"""A bundle with its models written again: the same container, its known steps and plain notes.

A bundle is a dictionary, a list or a tuple at the top of a record. Every model in it that was
audited is written with its repaired trees, the others as they are released. Everything else is
left out: an entry of a dictionary is missing then, and None stands in its place in a list or a
tuple. A column index of pandas becomes a list of texts, as no two of its versions share a form.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from treeaudit.defenses.strip import without_extras
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.boosters import StoredBooster
from treeaudit.readers.dispatch import read_model, usual_models
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert, Text
from treeaudit.readers.pickle.tables import index_names
from treeaudit.readers.sklearn.ensembles import SEARCHES
from treeaudit.readers.sklearn.model_ref import ModelRef
from treeaudit.writers.canonical_record import Change, Changes, RecordCopier, texts_of_index

_ENOUGH = 1 << 62
_DEEPEST = 8
_LONGEST, _MOST_BITS = 200, 64
_MOST_NOTES = 4096
"""Bytes of notes that a bundle keeps beside the names of the columns."""
_MOST_NUMBERS = 32
"""Numbers that stand in one list of notes, and in lists in it; more may be a table of people."""
_CONTAINERS = ("collections.OrderedDict", "collections.defaultdict", "sklearn.utils.Bunch",
               "sklearn.utils._bunch.Bunch")  # fmt: skip
_DATES = frozenset("date datetime time timedelta timezone".split())
_REMOVED = object()


def model_ref_of(forest: Forest) -> ModelRef | None:
    """Return the record that a model was read from, of whatever library; None without one."""
    stored = forest.source.stored
    stored = stored.found if isinstance(stored, StoredBooster) else stored
    return stored if isinstance(stored, ModelRef) else None


def is_bundle(root: object) -> bool:
    """Tell whether a record is a container that models stand in, and no model."""
    return isinstance(root, dict | list | tuple) or _is_mapping(root)


def record_of(forest: Forest, changes_of: Callable[[Forest], Changes]) -> object:
    """Return the record of a file with the repaired trees of a model."""
    found = model_ref_of(forest)
    if found is None:
        raise TypeError("no record to write into")
    model, changes = found.holder or found.estimator, changes_of(forest)
    if not is_bundle(found.root):
        return RecordCopier(changes)(model)
    every = {**changes}
    for one in usual_models(found.root):
        # Another model is written as a release does; one that cannot be is left out.
        if one.estimator is not found.estimator:
            with suppress(ReadError):
                other = read_model(found.root, one.inside, Source(), _ENOUGH)
                _join(every, changes_of(without_extras(other)))
    names = forest.schema.names if forest.schema.named else ()
    copier = RecordCopier(every)
    made = _Bundle(copier, model, tuple(map(str, names))).copied(found.root)
    # Inside of a class that is not written back, it is written alone.
    return made if copier.has(changes) else copier(model)


def _join(every: dict[int, Change], more: Changes) -> None:
    """Add the changes of another model; an object of both is written as the first has it."""
    for record, change in more.items():
        first = every.setdefault(record, change)
        if first is not change and isinstance(change, Inert):
            tree = first.get("tree_") if first is not None else None
            if isinstance(change.state, dict) and tree is not None:
                change.state["tree_"] = tree
            if isinstance(first, Mapping):
                every[record] = change


def _is_mapping(value: object) -> bool:
    return isinstance(value, Inert) and str(value.cls) in _CONTAINERS


class _Bundle:
    """Copies a container."""

    def __init__(self, copier: RecordCopier, model: Inert, names: tuple[str, ...]) -> None:
        self._copier = copier
        self._model = model
        self._names = names
        self._room = _MOST_NOTES

    def copied(self, value: object, depth: int = 0) -> object:
        """Return what is written for a value of the bundle, `_REMOVED` for nothing."""
        value = arrived(value)
        if depth > _DEEPEST:
            return _REMOVED
        if depth and (size := _size_of_note(value)) is not None:
            own = texts_of_index(value) if isinstance(value, Inert) else value
            if self._names and tuple(index_names(own) or ()) == self._names:
                return own
            if size > self._room:
                return _REMOVED
            self._room -= size
            return own if own is not None else value
        if isinstance(value, Inert) and not _is_mapping(value):
            return self._object(value)
        if depth and not _holds_objects(value):
            return _REMOVED
        if isinstance(value, list | tuple):
            parts = [self.copied(one, depth + 1) for one in value]
            parts = [None if one is _REMOVED else one for one in parts]
            return parts if isinstance(value, list) else tuple(parts)
        pairs = value.pairs if isinstance(value, Inert) else value
        if not isinstance(pairs, dict):
            return _REMOVED
        made = {key: self.copied(one, depth + 1) for key, one in pairs.items()
                if _is_key(key)}  # fmt: skip
        made = {key: one for key, one in made.items() if one is not _REMOVED}
        if isinstance(value, Inert) and not value.kind.startswith("default"):
            return replace(value, args=(), state=None, items=[], pairs=made)
        return made

    def _object(self, value: Inert) -> object:
        """Return a fitted object, or `_REMOVED` for one that is not written back."""
        whole = value
        while isinstance(value, Inert) and value.kind in SEARCHES:
            # A search answers as what it chose.
            value = arrived(value.get("best_estimator_"))  # type: ignore[assignment]
        try:
            made = self._copier(value)
            return _REMOVED if made is None else made
        except UnsupportedModelError:
            if self._model in (whole, value):
                raise
            return _REMOVED


def _is_key(key: object) -> bool:
    return isinstance(key, int) or (isinstance(key, str) and len(key) <= _LONGEST)


def _holds_objects(value: object, depth: int = 0) -> bool:
    """Tell whether fitted objects stand in a container of notes."""
    pairs = value.pairs if isinstance(value, Inert) else value
    parts = pairs.values() if isinstance(pairs, dict) else pairs
    if depth > _DEEPEST or not isinstance(pairs, dict | list | tuple):
        return False
    every = [arrived(one) for one in list(parts)[:_MOST_NOTES]]  # type: ignore[call-overload]
    return any(
        (isinstance(one, Inert) and not _is_mapping(one)) or _holds_objects(one, depth + 1)
        for one in every
    )


def _numbers_in(value: object, depth: int = 0) -> int:
    """Return how many numbers stand in a list and in what it holds."""
    parts = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list | tuple) or depth > _DEEPEST:
        return isinstance(value, int | float)
    every = [arrived(one) for one in list(parts)[:_MOST_NOTES]]  # type: ignore[call-overload]
    return sum(_numbers_in(one, depth + 1) for one in every)


def _size_of_note(value: object, depth: int = 0) -> int | None:
    """Return how many bytes a plain note has; None where a value is none."""
    value = arrived(value)
    match value:
        case None | bool() | float():
            return 8
        case int():
            return 8 if value.bit_length() <= _MOST_BITS else None
        case Text():
            return None
        case str():
            return len(value.encode("utf-8", "replace")) if len(value) <= _LONGEST else None
        case Inert() if value.cls.module == "datetime" and value.kind in _DATES:
            plain = all(isinstance(one, bytes | int) or one is None for one in value.args)
            return 16 if plain and value.state is None else None
        case Inert() if (names := texts_of_index(value)) is not None:
            return _size_of_note(names)
        case np.ndarray() if value.ndim == 1 and value.dtype.kind in "OU":
            return _size_of_note(value.tolist())
        case list() | tuple() if depth <= _DEEPEST:
            if _numbers_in(value) > _MOST_NUMBERS:
                return None
            sizes = [_size_of_note(one, depth + 1) for one in value[: _MOST_NOTES + 1]]
        case dict() if depth <= _DEEPEST and all(map(_is_key, value)):
            sizes = [_size_of_note(one, depth + 1) for one in [*value.values()][: _MOST_NOTES + 1]]
            sizes += [len(str(key)) for key in value]
        case _:
            return None
    known = [size for size in sizes if size is not None]
    return 8 + sum(known) if len(known) == len(sizes) else None
