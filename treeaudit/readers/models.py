"""Find the tree model inside what a file holds: wrappers, bundles, pipelines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.arrays import LateArray, arrived
from treeaudit.readers.inert import Inert, show

__all__ = ["FORESTS", "TREES", "Found", "find_model"]

TREES = frozenset(
    {
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreeClassifier",
        "ExtraTreeRegressor",
    }
)
FORESTS = frozenset(
    {
        "RandomForestClassifier",
        "RandomForestRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
    }
)
_SEARCHES = frozenset(
    {
        "GridSearchCV",
        "RandomizedSearchCV",
        "HalvingGridSearchCV",
        "HalvingRandomSearchCV",
    }
)
_DEEPEST = 16
_LONGEST_LIST = 300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """A model inside the file.

    Attributes
    ----------
    estimator
        Its inert record.
    inside
        The way to it, such as ``best_estimator_.steps['clf']``.
    before
        The preprocessing steps of its pipeline, first to last.
    """

    estimator: Inert
    inside: str
    before: tuple[object, ...] = ()


class _Place(NamedTuple):
    """A value on the way to a model."""

    value: object
    inside: str
    before: tuple[object, ...] = ()


def is_tree(value: Inert) -> bool:
    """Whether this is a fitted tree, also of a subclass of the user's own."""
    tree = arrived(value.get("tree_"))
    return isinstance(tree, Inert) and tree.kind == "Tree"


def find_model(root: object, select: str | None = None) -> Found:
    """Return the one tree model that the file holds.

    Parameters
    ----------
    root
        What the file holds, as inert data.
    select
        Which one to take, by the name that the error lists, when a bundle
        holds several.

    Raises
    ------
    UnsupportedModelError
        If there is none, or more than one and no choice.
    """
    found = list(_models(root))
    if select is not None:
        chosen = [model for model in found if model.inside == select]
        if not chosen:
            names = _list_of(found) or "no model"
            raise UnsupportedModelError(f"--select {select}: the file holds {names}")
        found = chosen
    if len(found) > 1:
        raise UnsupportedModelError(
            f"the file holds {len(found)} models ({_list_of(found)}): choose one with --select NAME"
        )
    if found:
        return found[0]
    raise UnsupportedModelError(_what_it_is(root))


def _models(root: object) -> Iterator[Found]:
    """Yield the models in a bundle, without recursion and each value once."""
    todo = [iter((_Place(root, ""),))]
    seen: set[int] = set()
    while todo:
        place = next(todo[-1], None)
        if place is None:
            todo.pop()
            continue
        value = arrived(place.value)
        if not isinstance(value, Inert | dict | list | tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Inert) and (is_tree(value) or value.kind in FORESTS):
            yield Found(estimator=value, inside=place.inside, before=place.before)
        elif len(todo) < _DEEPEST:
            todo.append(_members(value, place.inside, place.before))


def _members(value: object, inside: str, before: tuple[object, ...]) -> Iterator[_Place]:
    match value:
        case Inert():
            yield from _parts(value, inside, before)
        case dict():
            yield from (_Place(v, f"{inside}[{show(k)}]") for k, v in value.items())
        case list() | tuple():
            yield from (_Place(v, f"{inside}[{i}]") for i, v in enumerate(value))


def _parts(value: Inert, inside: str, before: tuple[object, ...]) -> Iterator[_Place]:
    dot = f"{inside}." if inside else ""
    if value.kind == "Pipeline":
        steps = _steps(value)
        if steps and isinstance(steps[-1][1], Inert):
            earlier = tuple(step for _, step in steps[:-1])
            path = f"{dot}steps[{show(steps[-1][0])}]"
            yield _Place(steps[-1][1], path, before + earlier)
    elif value.kind in _SEARCHES:
        yield _Place(value.get("best_estimator_"), f"{dot}best_estimator_", before)
    elif value.kind == "FrozenEstimator":
        yield _Place(value.get("estimator"), f"{dot}estimator", before)
    elif value.pairs:
        yield from (_Place(v, f"{inside}[{show(k)}]") for k, v in value.pairs.items())


def _steps(pipeline: Inert) -> list[tuple[object, object]]:
    stored = pipeline.get("steps")
    pairs = stored if isinstance(stored, list) else []
    return [(pair[0], pair[1]) for pair in pairs if isinstance(pair, tuple) and len(pair) == 2]


def _list_of(found: list[Found]) -> str:
    """Name the models for a message, as many as fit."""
    names = ""
    for model in found:
        name = model.inside or "the file itself"
        if names and len(names) + len(name) > _LONGEST_LIST:
            return f"{names}, …"
        names = f"{names}, {name}" if names else name
    return names


def _what_it_is(root: object) -> str:
    """Say in one sentence what the file holds instead of a tree model."""
    reads = "treeaudit reads decision trees, extra trees and forests of scikit-learn"
    match root:
        case Inert():
            kind = root.kind
            if kind in TREES:
                return f"the {kind} was never fitted: call fit before saving it"
            if kind == "Pipeline":
                steps = _steps(root)
                if not steps:
                    return "the Pipeline has no steps"
                last = arrived(steps[-1][1])
                if isinstance(last, Inert) and last.kind != "Pipeline":
                    return f"a Pipeline whose last step is no tree: {_what_it_is(last)}"
                return f"a Pipeline whose last step is no tree; {reads}"
            if kind in _SEARCHES:
                if root.get("best_estimator_") is None:
                    return (
                        f"the {kind} holds no best_estimator_: fit it with refit=True before saving"
                    )
                return f"the best_estimator_ of the {kind} is no tree model; {reads}"
            return f"the file holds a {show(root.cls)}, which is no tree model; {reads}"
        case np.ndarray() | LateArray():
            return f"the file holds a bare array, no model; {reads}"
        case dict() | list() | tuple():
            return f"the file holds a {type(root).__name__} without a tree model in it; {reads}"
        case _:
            return f"the file holds {show(root)}, no model; {reads}"
