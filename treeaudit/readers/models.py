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
_MOST_MEMBERS = 10_000


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
    tree = arrived(value.attributes.get("tree_"))
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
            names = ", ".join(model.inside or "the file itself" for model in found[:8])
            raise UnsupportedModelError(f"--select {select}: the file holds {names or 'no model'}")
        found = chosen
    if len(found) > 1:
        names = ", ".join(model.inside for model in found[:8])
        raise UnsupportedModelError(
            f"the file holds {len(found)} models ({names}): choose one with --select NAME"
        )
    if found:
        return found[0]
    raise UnsupportedModelError(_what_it_is(root))


def _models(root: object) -> Iterator[Found]:
    """Yield the models in a bundle, without recursion."""
    todo = [_Place(root, "")]
    seen: set[int] = set()
    while todo:
        value, inside, before = todo.pop()
        value = arrived(value)
        if id(value) in seen or len(seen) > _MOST_MEMBERS:
            continue
        seen.add(id(value))
        if isinstance(value, Inert):
            if is_tree(value) or value.kind in FORESTS:
                yield Found(estimator=value, inside=inside, before=before)
            else:
                todo.extend(_inside(value, inside, before))
        elif isinstance(value, dict):
            members = [_Place(v, f"{inside}[{show(k)}]") for k, v in value.items()]
            todo.extend(reversed(members))
        elif isinstance(value, list | tuple):
            members = [_Place(v, f"{inside}[{i}]") for i, v in enumerate(value[:_MOST_MEMBERS])]
            todo.extend(reversed(members))


def _inside(value: Inert, inside: str, before: tuple[object, ...]) -> "Iterator[_Place]":
    dot = f"{inside}." if inside else ""
    attributes = value.attributes
    if value.kind == "Pipeline" and isinstance(attributes.get("steps"), list):
        steps = [s for s in _list(attributes["steps"]) if isinstance(s, tuple) and len(s) == 2]
        if steps and isinstance(steps[-1][1], Inert):
            earlier = tuple(step for _, step in steps[:-1])
            path = f"{dot}steps[{show(steps[-1][0])}]"
            yield _Place(steps[-1][1], path, before + earlier)
    elif value.kind in _SEARCHES and isinstance(best := attributes.get("best_estimator_"), Inert):
        yield _Place(best, f"{dot}best_estimator_", before)
    elif value.kind == "FrozenEstimator" and isinstance(attributes.get("estimator"), Inert):
        yield _Place(attributes["estimator"], f"{dot}estimator", before)
    elif value.pairs:
        yield from (_Place(v, f"{inside}[{show(k)}]") for k, v in value.pairs.items())


def _list(value: object) -> list[tuple[object, object]]:
    return value if isinstance(value, list) else []


def _what_it_is(root: object) -> str:
    """Say in one sentence what the file holds instead of a tree model."""
    reads = "treeaudit reads decision trees, extra trees and forests of scikit-learn"
    match root:
        case Inert():
            kind = root.kind
            if kind in TREES:
                return f"the {kind} was never fitted: call fit before saving it"
            if kind == "Pipeline":
                last = _list(root.attributes.get("steps"))[-1:]
                inner = last[0][1] if last and isinstance(last[0], tuple) else None
                if isinstance(inner, Inert):
                    return f"a Pipeline whose last step is no tree: {_what_it_is(inner)}"
                return "the Pipeline has no steps"
            if kind in _SEARCHES:
                if "best_estimator_" not in root.attributes:
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
