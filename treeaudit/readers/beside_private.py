"""Numbers beside a private model: no ledger accounts for them, whatever they count."""

from collections.abc import Container, Iterator

import numpy as np

from treeaudit.later import pattern
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.readers.leftovers.forms import DATE
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.walk import Walk

__all__ = ["holds_scores", "tells_numbers"]

_MOST_PARTS = 100_000
_PRIVATE_SEARCH = ("treeaudit.trainers.private_search", "PrivateSearch")
_SETTINGS = {"n_jobs": 256, "verbose": 100, "_training_dim": 2}
"""How large a setting of an object around the model is, at most."""
_RELEASE = pattern(r"v?\d{1,4}(\.\d{1,4}){2}((rc|a|b|\.dev|\.post)\d{1,2})?|v\d{1,2}(\.\d{1,2})?")
_WORD = pattern(r"(\D+(\d\D*){0,2})?")
"""Two digits at most, as in ``model_2``."""


def tells_numbers(root: object, forest: Forest, models: Container[int]) -> bool:
    """Tell whether a file holds numbers that belong to none of its models.

    Parameters
    ----------
    root
        What the file holds, as inert data.
    forest
        The private model: what its schema states is public.
    models
        Models of the file by identity: each is looked at on its own.
    """
    texts, labels = _texts(forest), forest.schema.classes or ()
    todo, seen = [(arrived(root), True)], set[int]()
    while todo:
        value, entry = todo.pop()
        if id(value) in models or id(value) in seen:
            continue
        if isinstance(value, Inert | dict | list | tuple | np.ndarray):
            seen.add(id(value))
        if _is_number(value, entry=entry) or (isinstance(value, str) and _counts(value, texts)):
            return True
        if isinstance(value, np.ndarray) and value.dtype.kind not in "OUST" and value.size:
            if value.ndim != 1 or not _are(labels, value.tolist()):
                return True
        elif not (isinstance(value, list) and labels and _are(labels, value)):
            todo += ((arrived(part), entry) for part, entry in _parts(value, forest))
        if len(seen) > _MOST_PARTS:
            return True
    return False


def holds_scores(root: object) -> bool:
    """Tell whether a file holds a search that keeps the scores of what it tried.

    A `treeaudit.trainers.PrivateSearch` keeps none: that it chose is in the ledger of its winner.
    """
    holding = (place.value for place in Walk(root) if isinstance(place.value, Inert))
    return any(
        arrived(one.get("best_estimator_")) is not None
        and (one.cls.module, one.kind) != _PRIVATE_SEARCH
        for one in holding
    )


def _parts(value: object, forest: Forest) -> Iterator[tuple[object, bool]]:
    """Yield what a value holds, and whether as an entry: settings of objects are none."""
    if isinstance(value, dict):
        # Keys that only number what they lead to.
        yield from ((key, True) for i, key in enumerate(value) if key != i)
        yield from ((part, True) for part in value.values())
    elif isinstance(value, list | tuple):
        yield from ((part, True) for part in value)
    elif isinstance(value, np.ndarray):
        yield from ((part, True) for part in value.ravel().tolist())
    elif isinstance(value, Inert) and value.cls.module == "treeaudit.model.schema":
        public = _numbers_of(forest.schema)
        yield from ((p, True) for p in _plain(value) if isinstance(p, str) or p not in public)
    elif isinstance(value, Inert) and value.cls.module != "datetime":
        yield from ((part, True) for part in (*value.args, *value.items, value.pairs))
        for state in value.state if isinstance(value.state, tuple) else (value.state,):
            held = state if isinstance(state, dict) else {"": state}
            for name, part in held.items():
                if not _is_setting(name, part, len(forest.schema.features)):
                    yield part, False


def _is_setting(name: str, value: object, n_features: int) -> bool:
    """Tell whether an attribute of an object around the model is a small public number."""
    if type(value) is float:
        return name == "threshold" and value.hex() == "0x0.0p+0"
    if type(value) is not int:
        return False
    return (
        value == n_features if name == "n_features_in_" else abs(value) <= _SETTINGS.get(name, -1)
    )


def _numbers_of(schema: Schema) -> set[object]:
    bounds = {one for feature in schema.features for one in (feature.low, feature.high)}
    ends = {schema.target_low, schema.target_high}
    return {*bounds, *ends, *(schema.classes or ()), True, False}


def _is_number(value: object, *, entry: bool) -> bool:
    if isinstance(value, bool):
        return entry
    return isinstance(value, int | float | complex | bytes | bytearray | memoryview)


def _texts(forest: Forest) -> set[str]:
    """Return the words that the schema of a model states."""
    schema = forest.schema
    known = {schema.target, forest.source.estimator, *map(str, schema.classes or ())}
    for feature in schema.features:
        known |= {feature.name, *(feature.categories or ())}
    return known


def _counts(text: str, known: Container[str]) -> bool:
    """Tell whether a text holds numbers, and is no date, release or numbered word.

    Examples
    --------
    >>> [_counts(text, ()) for text in ("income", "model_2", "2024-05-01", "1.2.0")]
    [False, False, False, False]
    >>> [_counts(text, ()) for text in ("300", "0.8733", "n_300", "12")]
    [True, True, True, True]
    """
    if text in known or DATE.fullmatch(text) or _RELEASE.fullmatch(text):
        return False
    return _WORD.fullmatch(text) is None


def _are(labels: tuple[object, ...], values: list[object]) -> bool:
    return len(labels) == len(values) and list(labels) == values


def _plain(value: object) -> Iterator[object]:
    """Yield the numbers and texts in an object of ours."""
    todo = [value]
    while todo:
        part = arrived(todo.pop())
        if isinstance(part, Inert):
            todo += [part.state, *part.args, *part.items, part.pairs]
        elif isinstance(part, dict):
            todo += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            todo += part
        elif part is not None:
            yield part
