"""What the columns that a tree sees were before the steps of its pipeline.

Each stored step is taken at its word: a scaler by its numbers, an encoder by
its categories. What cannot be undone is named after the step that made it.
`treeaudit.readers.sklearn.undo` applies the result to a tree.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import ReadError
from treeaudit.model.schema import Feature
from treeaudit.readers.limits import Deepest, Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.column import Column
from treeaudit.readers.sklearn.encoders import CannotUndoError, affine
from treeaudit.readers.sklearn.functions import made
from treeaudit.readers.sklearn.model_ref import elements, names_in, text_of
from treeaudit.readers.sklearn.steps import UNDO


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to undo a pipeline."""

    columns: tuple[Column, ...]  # one per column that the tree sees
    features: tuple[Feature, ...]  # the original columns, and those that could not be undone
    home: tuple[int, ...]  # for each of ``columns``, its place in ``features``
    made: tuple[str, ...]  # kinds of the steps that could not be undone
    named: bool = True  # whether the names come from the file

    @property
    def scales(self) -> bool:
        """Whether the tree sees a column in other units."""
        return any(c.scale != 1 or c.shift != 0 or c.kind == "bins" for c in self.columns)

    def n_codes(self, tested: Wide) -> int:
        """Bound the category codes that edges on these columns need."""
        width = np.array([len(column.known) for column in self.columns], dtype=np.int64)
        return int(width[tested].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """What every step on the way is told."""

    names: Sequence[str]  # of the original columns
    made: list[str]  # takes the kinds of the steps that cannot be undone
    guessed: list[str]  # takes those of which the number of columns is not told
    depth: int = Deepest.models  # how many pipelines may still stand in one another

    def inside(self) -> "_Way":
        if self.depth == 0:
            raise _TooMuchError
        return replace(self, depth=self.depth - 1)


def plan_of(
    steps: Sequence[object],
    n_seen: int,
    names: Sequence[str] | None = None,
    given_out: Sequence[str] | None = None,
) -> Plan | None:
    """Return how to undo some fitted steps; None if they do not lead to ``n_seen`` columns.

    Names are those of the columns before all steps, and of those given out, where that is told.
    """
    width = width_in(steps, n_seen)
    if width is None or width > Most.features:
        return None
    first = _first(steps)
    stored = None if first is None else names_in(first)
    if stored is not None and len(stored) == width:
        known: Sequence[str] | None = [text_of(name) for name in stored.tolist()]
    else:
        known = names if names is not None and len(names) == width else None
    names = known or [f"x{i}" for i in range(width)]
    made_by: list[str] = []
    try:
        way = _Way(names=names, made=made_by, guessed=[])
        first_columns = [Column(feature=i, name=name) for i, name in enumerate(names)]
        told = _Output(width=n_seen, names=None if given_out is None else tuple(given_out))
        columns = _chain(steps, first_columns, way, told)
    except (*_UNREAD, _TooMuchError):
        return None
    if len(columns) != n_seen or len(names) != width:
        return None
    features, home = _features(columns, named=known is not None)
    return Plan(
        columns=tuple(columns),
        features=features,
        home=home,
        made=tuple(dict.fromkeys(made_by)),
        named=known is not None or any(f.derived or f.made_by for f in features),
    )


def width_in(steps: Sequence[object], n_seen: int) -> int | None:
    """Return how many columns the first step says that it takes; None where it cannot be."""
    first = _first(steps)
    # A selection by a model takes what that takes.
    stated = None if first is None else first.get("n_features_in_")
    by = None if first is None else arrived(first.get("estimator_"))
    stated = by.get("n_features_in_") if stated is None and isinstance(by, Inert) else stated
    if isinstance(stated, int):
        return stated if stated > 0 else None
    return n_seen


def _first(steps: Sequence[object]) -> Inert | None:
    """Return the first step that is given the columns of the data, inside others that are."""
    step = None
    for _ in range(Deepest.models):
        step = next((step for step in steps if isinstance(step, Inert)), None)
        held = None if step is None else _HOLDS.get(step.kind)
        if step is None or held is None or isinstance(step.get("n_features_in_"), int):
            break
        steps = _members(step.get(held), 1)
    return step


def _members(pairs: object, place: int) -> list[object]:
    """Return one element of every tuple in a list of tuples."""
    if not isinstance(pairs, list):
        return []
    return [pair[place] for pair in pairs if isinstance(pair, tuple) and len(pair) > place]


_Key = tuple[int, int, tuple[str, ...], str, str]


def _key(c: Column) -> _Key:
    """Tell features apart, in the order in which they come."""
    numeric = c.kind in ("number", "bins", "missing")
    return c.feature, 0 if numeric else 1, c.known, c.name, c.derived.key if c.derived else ""


def _features(
    columns: Sequence[Column], *, named: bool
) -> tuple[tuple[Feature, ...], tuple[int, ...]]:
    """Give every original column, and every made one, one feature."""
    by_key = {_key(column): column for column in columns}
    features: list[Feature] = []
    taken: set[str] = set()
    keys = sorted(by_key, key=lambda key: key[:3])
    for key in keys:
        found = by_key[key].source
        name = found.name
        while name in taken:
            name += " (encoded)"
        taken.add(name)
        derived = found.derived and replace(found.derived, named=named)
        features.append(replace(found, name=name, derived=derived))
    home = {key: place for place, key in enumerate(keys)}
    return tuple(features), tuple(home[_key(c)] for c in columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Output:
    """What a file tells of the columns that a step gives out."""

    width: int | None = None
    names: tuple[str, ...] | None = None

    def part(self, label: object, at: object) -> "_Output":
        """Return the same of some columns, without the name of the transformer before each."""
        bounds = at.args[:2] if isinstance(at, Inert) and at.kind == "slice" else ()
        start, stop = (at.start, at.stop) if isinstance(at, slice) else bounds or (None, None)
        if not isinstance(start, int) or not isinstance(stop, int) or not 0 <= start <= stop:
            return _Output()
        if self.names is None or len(self.names) < stop:
            return _Output(width=stop - start)
        names, before = self.names[start:stop], f"{label}__"
        if all(name.startswith(before) for name in names):
            names = tuple(name.removeprefix(before) for name in names)
        return _Output(width=stop - start, names=names)


def _taken_by(step: object) -> _Output:
    """Return what a step tells of the columns that it was given."""
    width = width_in([step], 0) if isinstance(step, Inert) else 0
    first = _first([step])
    names = None if first is None else names_in(first)
    return _Output(
        width=width or None,
        names=tuple(map(text_of, names.tolist())) if names is not None else None,
    )


def _chain(
    steps: Sequence[object], columns: list[Column], way: _Way, told: _Output
) -> list[Column]:
    real = [s for s in steps if s is not None and not (isinstance(s, str) and s == "passthrough")]
    for i, step in enumerate(real):
        if isinstance(step, str) and step == "drop":
            return []
        if not isinstance(step, Inert):
            raise CannotUndoError
        columns = _after(
            step, columns, way.inside(), _taken_by(real[i + 1]) if real[i + 1 :] else told
        )
        if len(columns) > Most.features:
            raise _TooMuchError
    return columns


_UNREAD = (CannotUndoError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class _TooMuchError(Exception):
    """Steps stand in too many others, or give out too many columns."""


def _after(step: Inert, columns: list[Column], way: _Way, told: _Output) -> list[Column]:
    attributes = {name: arrived(value) for name, value in step.attributes.items()}
    undone = None
    with suppress(*_UNREAD):
        if step.kind == "Pipeline":
            undone = _chain(_members(attributes.get("steps"), 1), columns, way, told)
        elif step.kind in ("FeatureUnion", "ColumnTransformer"):
            undone = _side_by_side(step.kind, attributes, columns, way, told)
        elif step.kind in UNDO:
            undone = UNDO[step.kind](attributes, columns)
    if undone is not None and told.width in (None, len(undone)):
        return undone
    if step.kind in (*_HOLDS, "ColumnTransformer") and told.names is None:
        raise CannotUndoError  # it may turn columns around
    if "sampling_strategy" in attributes:
        return columns  # drops or adds rows while a model is trained
    way.made.append(step.kind)
    return made(step.kind, columns, _names_made(step.kind, attributes, columns, way, told))


def _side_by_side(
    kind: str, attributes: Mapping[str, object], columns: list[Column], way: _Way, told: _Output
) -> list[Column]:
    """Undo steps that are given the same columns, or some each."""
    stored = attributes.get("transformer_list" if kind == "FeatureUnion" else "transformers_")
    labels, steps = _members(stored, 0), _members(stored, 1)
    given = [columns] * len(steps)
    if kind == "ColumnTransformer":
        given = _given(attributes, columns, labels, _members(stored, 2))
    weights, places = (
        found if isinstance(found := attributes.get(name), dict) else {}
        for name in ("transformer_weights", "output_indices_")
    )
    parts: list[list[Column]] = []
    unsure: list[int] = []
    for i, (label, step) in enumerate(zip(labels, steps, strict=True)):
        before = len(way.guessed)
        parts.append(_chain([step], given[i], way, told.part(label, places.get(label))))
        unsure += [i] if len(way.guessed) > before else []
        if sum(map(len, parts)) > Most.features:
            raise _TooMuchError
    if told.width is not None and len(unsure) == 1:
        # What the others do not give out is of the one that does not tell its width.
        i, start = unsure[0], sum(map(len, parts[: unsure[0]]))
        at = slice(start, start + told.width - sum(map(len, parts)) + len(parts[i]))
        parts[i] = _chain([steps[i]], given[i], way, told.part(labels[i], at))
    for i, label in enumerate(labels):
        if isinstance(weight := weights.get(label), int | float):
            n = len(parts[i])
            parts[i] = affine(parts[i], np.full(n, 1 / weight), np.zeros(n)) or []
    return list(chain.from_iterable(parts))


def _given(
    attributes: Mapping[str, object],
    columns: list[Column],
    labels: Sequence[object],
    stated: Sequence[object],
) -> list[list[Column]]:
    """Return the columns that each step of a ColumnTransformer is given."""
    given = attributes.get("_transformer_to_input_indices")
    given = given if isinstance(given, dict) else {}
    names = attributes.get("feature_names_in_")
    own = [c.label for c in columns]
    if isinstance(names, np.ndarray) and names.shape == (len(own),):
        own = [text_of(arrived(name)) for name in names.tolist()]
    numbers = [arrived(given.get(label)) for label in labels]
    return [
        [columns[i] for i in _agreed(_places_of(each, own), each, at, own)]
        for each, at in zip(stated, numbers, strict=True)
    ]


_NAMES = ("feature_names_out_", "_feature_names_out")
"""What classes of users call the names of the columns that they give out."""


def _names_made(
    kind: str, attributes: Mapping[str, object], columns: list[Column], way: _Way, told: _Output
) -> list[str]:
    """Name the columns that a step made and that cannot be undone."""
    width, vocabulary = told.width, attributes.get("vocabulary_")
    stated = [attributes.get(name) for name in ("_n_features_out", "n_output_features_")]
    stated.append(len(vocabulary) if isinstance(vocabulary, dict) else None)
    width = next((n for n in (width, *stated) if isinstance(n, int)), None)
    if width is None:
        width = len(columns)
        way.guessed.append(kind)
    if not 0 <= width <= Most.features:
        raise _TooMuchError
    every = [told.names, *(elements(attributes.get(name)) for name in _NAMES)]
    own = next((n for n in every if n and len(n) == width and _are_texts(n)), None)
    func = attributes.get("func")
    called = func.name if isinstance(func, Global) else kind
    if own is not None and len(set(own)) == width:
        known = {c.name for c in columns} | set(way.names)
        return [f"{called}({n})" if n in known else str(n) for n in own]
    if width == len(columns):
        return [f"{called}({c.label})" for c in columns]
    return [f"{called} {i + 1}" for i in range(width)]


def _are_texts(names: Sequence[object]) -> bool:
    return all(isinstance(name, str) for name in names)


_HOLDS = {"Pipeline": "steps", "FeatureUnion": "transformer_list"}


def _agreed(places: list[int], chosen: object, numbers: object, own: Sequence[str]) -> list[int]:
    """Return the columns of a step, which a file may state twice: a table goes by the second."""
    numbers = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
    if numbers is None or numbers == [place % len(own) for place in places]:
        return places
    chosen = chosen.tolist() if isinstance(chosen := arrived(chosen), np.ndarray) else chosen
    each = chosen if isinstance(chosen, list | tuple) else [chosen]
    if any(isinstance(one, str) for one in each) and len(set(own)) < len(own):
        raise CannotUndoError
    raise ReadError(
        "the ColumnTransformer is inconsistent: it gives a step other columns than it states"
    )


def _places_of(chosen: object, own: Sequence[str]) -> list[int]:
    """Return the positions that a column selection of scikit-learn means."""
    chosen = arrived(chosen)
    if isinstance(chosen, Inert) and chosen.kind == "slice":
        return _slice(chosen, own)
    if isinstance(chosen, np.ndarray):
        chosen = chosen.tolist()
    if isinstance(chosen, str | int):
        chosen = [chosen]
    if not isinstance(chosen, list | tuple):
        raise CannotUndoError
    if chosen and all(isinstance(c, bool) for c in chosen):
        return [i for i, wanted in enumerate(chosen) if wanted]
    return [own.index(c) if isinstance(c, str) else int(c) for c in chosen]


def _slice(chosen: Inert, own: Sequence[str]) -> list[int]:
    start, stop, step = chosen.args
    start = own.index(start) if isinstance(start, str) else start
    stop = own.index(stop) + 1 if isinstance(stop, str) else stop
    bounds = [part if isinstance(part, int) else None for part in (start, stop, step)]
    if bounds != [start, stop, step]:
        raise CannotUndoError
    return list(range(len(own))[slice(*bounds)])
