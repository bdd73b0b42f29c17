"""A bundle with its models written again: the same container, its known steps and their names.

A bundle is a dictionary, a list or a tuple at the top of a record. Every model in it that was
audited is written with its repaired trees, the others as they are released. Beside them stay
a few entries: names of their columns and classes, and single numbers, such as a threshold.
Everything else is left out, since a note can hold people and a score is of the model before: an
entry of a dictionary is missing then, and None stands in its place in a list or a tuple. A column
index of pandas becomes a list of texts, as no two of its versions share a form.
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
from treeaudit.readers.sklearn.ensembles import SEARCHES
from treeaudit.readers.sklearn.model_ref import ModelRef
from treeaudit.writers.canonical_record import Change, Changes, RecordCopier, texts_of_index

_ENOUGH = 1 << 62
_DEEPEST = 8
_LONGEST = 40
"""Characters of a key."""
_MOST_NOTES = 8
"""Entries beside the models: each has a key, and keys are free."""
_MOST_ENTRIES = 4096
_CONTAINERS = ("collections.OrderedDict", "collections.defaultdict", "sklearn.utils.Bunch",
               "sklearn.utils._bunch.Bunch")  # fmt: skip
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
    words = _words_of(forest)
    for one in usual_models(found.root):
        # Another model is written as a release does; one that cannot be is left out.
        if one.estimator is not found.estimator:
            with suppress(ReadError):
                other = read_model(found.root, one.inside, Source(), _ENOUGH)
                words |= _words_of(other)
                _join(every, changes_of(without_extras(other)))
    copier = RecordCopier(every)
    made = _Bundle(copier, model, frozenset(words)).copied(found.root)
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


def _words_of(forest: Forest) -> set[object]:
    """Return the names of columns and classes of a model."""
    names = forest.schema.names if forest.schema.named else ()
    return {*names, *(forest.schema.classes or ())}


def _is_mapping(value: object) -> bool:
    return isinstance(value, Inert) and str(value.cls) in _CONTAINERS


class _Bundle:
    """Copies a container."""

    def __init__(self, copier: RecordCopier, model: Inert, words: frozenset[object]) -> None:
        self._copier = copier
        self._model = model
        self._words = words
        self._notes = 0
        self._stands: set[int] = set()

    def copied(self, value: object, depth: int = 0) -> object:
        """Return what is written for a value of the bundle, `_REMOVED` for nothing."""
        value = arrived(value)
        if depth > _DEEPEST:
            return _REMOVED
        own = _texts(value)
        if depth and (self._is_plain(own) or self._are_words(own)):
            self._notes += 1
            return own if self._notes <= _MOST_NOTES else _REMOVED
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

    def _is_plain(self, value: object) -> bool:
        """Tell whether a value is a name of the models, a number or nothing."""
        if isinstance(value, str):
            return not isinstance(value, Text) and value in self._words
        whole = isinstance(value, int) and value.bit_length() <= 64
        return whole or value is None or isinstance(value, float)

    def _are_words(self, value: object) -> bool:
        """Tell whether a list is one of names of the models, each once."""
        if not isinstance(value, list | tuple | np.ndarray) or len(value) > len(self._words):
            return False
        words = value.tolist() if isinstance(value, np.ndarray) else value
        plain = all(type(one) in (str, int, float, bool) and one in self._words for one in words)
        return plain and len(set(words)) == len(words) > 0

    def _object(self, value: Inert) -> object:
        """Return a fitted object, or `_REMOVED` for one that is not written back."""
        whole = value
        # What stands here again adds nothing but its key.
        self._notes += id(value) in self._stands
        if id(value) in self._stands and self._notes > _MOST_NOTES:
            return _REMOVED
        self._stands.add(id(value))
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
    every = [arrived(one) for one in list(parts)[:_MOST_ENTRIES]]  # type: ignore[call-overload]
    return any(
        (isinstance(one, Inert) and not _is_mapping(one)) or _holds_objects(one, depth + 1)
        for one in every
    )


def _texts(value: object) -> object:
    """Return the texts of an index of pandas; another value as it is."""
    own = texts_of_index(value) if isinstance(value, Inert) else None
    return value if own is None else own
