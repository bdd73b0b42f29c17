"""What the columns that a tree sees were before the steps of its pipeline.

Each stored step is taken at its word: a scaler by its numbers, an encoder by
its categories. What cannot be undone is named after the step that made it.
`treeaudit.readers.sklearn.undo` applies the result to a tree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import ReadError
from treeaudit.model.schema import Feature
from treeaudit.readers.limits import Deepest, Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.encoders import CannotUndoError, Column
from treeaudit.readers.sklearn.model_ref import names_in, text_of
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
        return any(column.scale != 1 or column.shift != 0 for column in self.columns)

    def n_codes(self, tested: Wide) -> int:
        """Bound the category codes that edges on these columns need."""
        width = np.array([len(column.known) for column in self.columns], dtype=np.int64)
        return int(width[tested].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """What every step on the way is told."""

    names: Sequence[str]  # of the original columns
    made: list[str]  # takes the kinds of the steps that cannot be undone
    depth: int = Deepest.models  # how many pipelines may still stand in one another

    def inside(self) -> "_Way":
        if self.depth == 0:
            raise CannotUndoError
        return replace(self, depth=self.depth - 1)


def plan_of(
    steps: Sequence[object], n_seen: int, names: Sequence[str] | None = None
) -> Plan | None:
    """Return how to undo some fitted steps; None if they do not lead to ``n_seen`` columns."""
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
    made: list[str] = []
    try:
        way = _Way(names=names, made=made)
        columns = _chain(steps, [Column(feature=i) for i in range(width)], way)
    except (CannotUndoError, TypeError, ValueError, IndexError, KeyError, OverflowError):
        return None
    if len(columns) != n_seen or len(names) != width:
        return None
    features, home = _features(columns, names)
    return Plan(
        columns=tuple(columns),
        features=features,
        home=home,
        made=tuple(dict.fromkeys(made)),
        named=known is not None or bool(made),
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


def _features(
    columns: Sequence[Column], names: Sequence[str]
) -> tuple[tuple[Feature, ...], tuple[int, ...]]:
    """Give every original column, and every made one, one feature."""
    keys: dict[tuple[int, int, tuple[str, ...], str], int] = {}
    for column in columns:
        numeric = column.kind in ("number", "bins")
        keys[(column.feature, 0 if numeric else 1, column.known, column.name)] = 0
    encoded = {(c.feature, c.known): c for c in columns if c.known}
    features: list[Feature] = []
    taken: set[str] = set()
    for place, key in enumerate(sorted(keys)):
        feature, _, known, made = key
        name = made or names[feature]
        while name in taken:
            name += " (encoded)"
        taken.add(name)
        column = encoded.get((feature, known), Column(feature=feature))
        features.append(
            Feature(
                name=name,
                categories=known or None,
                ignores_unknown=column.ignores_unknown,
                fill=column.instead,
            )
        )
        keys[key] = place
    home = []
    for c in columns:
        numeric = c.kind in ("number", "bins")
        home.append(keys[(c.feature, 0 if numeric else 1, c.known, c.name)])
    return tuple(features), tuple(home)


def _chain(steps: Sequence[object], columns: list[Column], way: _Way) -> list[Column]:
    for step in steps:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        if isinstance(step, str) and step == "drop":
            return []
        if not isinstance(step, Inert):
            raise CannotUndoError
        columns = _after(step, columns, way.inside())
        if len(columns) > Most.features:
            raise CannotUndoError
    return columns


def _after(step: Inert, columns: list[Column], way: _Way) -> list[Column]:
    attributes = {name: arrived(value) for name, value in step.attributes.items()}
    if step.kind == "Pipeline":
        return _chain(_members(attributes.get("steps"), 1), columns, way)
    if attributes.get("transformer_weights"):
        # What the parts give out is multiplied.
        raise CannotUndoError
    if step.kind == "FeatureUnion":
        parts = [(each, columns) for each in _members(attributes.get("transformer_list"), 1)]
        return _side_by_side(parts, way)
    if step.kind == "ColumnTransformer":
        stored = attributes.get("transformers_")
        given = attributes.get("_transformer_to_input_indices")
        given = given if isinstance(given, dict) else {}
        numbers = [arrived(given.get(label)) for label in _members(stored, 0)]
        own = [way.names[c.feature] for c in columns]
        chosen = [
            _agreed(_places_of(each, own), each, at, own)
            for each, at in zip(_members(stored, 2), numbers, strict=True)
        ]
        each_step = _members(stored, 1)[: len(chosen)]
        parts = [(s, [columns[i] for i in c]) for s, c in zip(each_step, chosen, strict=True)]
        return _side_by_side(parts, way)
    undo = UNDO.get(step.kind)
    undone = None if undo is None else undo(attributes, columns)
    if undone is None:
        way.made.append(step.kind)
        return _made(step.kind, attributes, columns, way.names)
    return undone


def _side_by_side(parts: Sequence[tuple[object, list[Column]]], way: _Way) -> list[Column]:
    out: list[Column] = []
    for step, columns in parts:
        out += _chain([step], columns, way)
        if len(out) > Most.features:
            raise CannotUndoError
    return out


def _made(
    kind: str, attributes: Mapping[str, object], columns: list[Column], names: Sequence[str]
) -> list[Column]:
    """Name the columns that a step made and that cannot be undone."""
    if kind in _ONE_TO_ONE:
        return [
            Column(feature=c.feature, kind="made", name=f"{c.name or names[c.feature]} ({kind})")
            for c in columns
        ]
    width = None
    for name in ("n_components_", "_n_features_out", "n_output_features_"):
        if isinstance(stated := attributes.get(name), int):
            width = stated
    for name in ("components_", "powers_"):
        if isinstance(stored := attributes.get(name), np.ndarray):
            width = stored.shape[0]
    if isinstance(vocabulary := attributes.get("vocabulary_"), dict):
        width = len(vocabulary)
    if width is None:
        raise CannotUndoError
    home = columns[0].feature if columns else 0
    return [Column(feature=home, kind="made", name=f"{kind} {i}") for i in range(width)]


_HOLDS = {"Pipeline": "steps", "FeatureUnion": "transformer_list"}
_ONE_TO_ONE = frozenset(
    "Normalizer PowerTransformer QuantileTransformer FunctionTransformer Binarizer "
    "KBinsDiscretizer TargetEncoder SplineTransformer OrdinalEncoder MinMaxScaler "
    "MaxAbsScaler".split()
)


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
