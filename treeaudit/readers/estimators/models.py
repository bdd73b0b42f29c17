"""Find the tree model inside what a file holds: wrappers, bundles, pipelines."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from treeaudit.errors import ModelTooLargeError, UnsupportedModelError
from treeaudit.readers.estimators.ensembles import BAGS, FORESTS, SEARCHES, children
from treeaudit.readers.estimators.found import Found, elements, is_tree
from treeaudit.readers.estimators.no_model import what_it_is
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert, show

__all__ = ["Found", "Members", "find_model", "members_of"]

_BOOSTED = frozenset(
    {
        f"{kind}GradientBoosting{what}"
        for kind in ("", "Hist")
        for what in ("Classifier", "Regressor")
    }
)
_WEIGHED = frozenset({"AdaBoostClassifier", "AdaBoostRegressor"})
_PASSED = SEARCHES | {
    "Pipeline",
    "FrozenEstimator",
    "TransformedTargetRegressor",
    "FixedThresholdClassifier",
    "TunedThresholdClassifierCV",
    "SelfTrainingClassifier",
}
_DEEPEST = 16
_LONGEST_LIST = 300
_MOST_MODELS = 50_000
_MOST_LOOKS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Members:
    """What a model is made of.

    Attributes
    ----------
    trees
        The models that have trees of their own.
    others
        The models that are no trees.
    """

    trees: list[Found]
    others: list[Found]


def has_trees(found: Found) -> bool:
    """Whether this model holds trees directly, and not models that hold trees."""
    kind = found.estimator.kind
    if kind in BAGS or kind in _WEIGHED:
        # Unfitted ones too: whoever reads them says so.
        return all(is_tree(member) for member in elements(found.get("estimators_")))
    return kind in FORESTS or kind in _BOOSTED or is_tree(found.estimator)


class Patience:
    """How many models, classes and names of columns are looked at in one file."""

    def __init__(self) -> None:
        self._left = _MOST_LOOKS

    def look(self, found: Found) -> None:
        """Count one more model.

        Raises
        ------
        ModelTooLargeError
            If there are too many.
        """
        sizes = [len(elements(found.get("estimators_")))]
        for name in ("classes_", "feature_names_in_"):
            stored = found.get(name)
            sizes.append(stored.size if isinstance(stored, np.ndarray) else 0)
        self._left -= 1 + sum(sizes)
        if self._left < 0:
            raise ModelTooLargeError("the file holds more models than treeaudit takes in")


def members_of(found: Found, patience: Patience | None = None) -> Members:
    """Return the models that a model is made of, each once and without recursion.

    Parameters
    ----------
    found
        The model, which may have trees of its own.
    patience
        What may be looked at; counts down.

    Raises
    ------
    ModelTooLargeError
        If there are too many.
    """
    patience = patience or Patience()
    members = Members(trees=[], others=[])
    todo = [iter((found,))]
    seen: set[int] = set()
    while todo:
        here = next(todo[-1], None)
        if here is None:
            todo.pop()
            continue
        if id(here.estimator) in seen:
            continue
        seen.add(id(here.estimator))
        patience.look(here)
        own = has_trees(here)
        first, rest = _below(here, apart_only=own)
        if own:
            members.trees.append(here)
        elif first is None:
            members.others.append(here)
        if first is not None and len(todo) < _DEEPEST:
            todo.append(rest)
    return members


def _below(found: Found, *, apart_only: bool) -> tuple[Found | None, Iterator[Found]]:
    """Return the first of the models that a model holds, and all of them."""
    outer = found.seen.apart
    below = (c for c in children(found) if not apart_only or c.seen.apart != outer)
    first = next(below, None)
    return first, itertools.chain(() if first is None else (first,), below)


def find_model(root: object, select: str | None = None) -> Found:
    """Return the one tree model that the file holds.

    Parameters
    ----------
    root
        What the file holds, as inert data.
    select
        Which one to take when there are several, by the name that the error
        lists; also one inside another, such as ``estimators_[0]``.

    Raises
    ------
    UnsupportedModelError
        If there is none, or more than one and no choice.
    """
    found = list(_models(root))
    if select is not None:
        chosen = [model for model in found if model.inside == select] or _inside(found, select)
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
    raise UnsupportedModelError(what_it_is(root))


def _inside(found: list[Found], select: str) -> list[Found]:
    """Look for a name inside the models, along the way that it says."""
    todo, depth = list(found), 0
    while todo and depth < 4 * _DEEPEST:
        on_the_way = [m for m in todo if _leads(m.inside, select)]
        if chosen := [m for m in on_the_way if m.inside == select]:
            return [m for m in chosen if members_of(m).trees][:1]
        todo = [child for model in on_the_way for child in children(model)][:_MOST_MODELS]
        depth += 1
    return []


def _leads(inside: str, select: str) -> bool:
    return not inside or select == inside or select.startswith(f"{inside}.")


def _models(root: object) -> Iterator[Found]:
    """Yield the models in a bundle, without recursion and each value once."""
    todo = [iter((_Place(root, ""),))]
    patience = Patience()
    seen: set[int] = set()
    while todo:
        place = next(todo[-1], None)
        if place is None:
            todo.pop()
            continue
        value = place.value
        if not isinstance(value, Inert | dict | list | tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        found = place.found
        if found is not None and _is_model(found, patience):
            yield found
        elif len(todo) < _DEEPEST:
            todo.append(_held(place))


class _Place:
    """A value on the way to a model."""

    __slots__ = ("found", "inside", "value")

    def __init__(self, value: object, inside: str, found: Found | None = None) -> None:
        self.value = arrived(value)
        self.inside = inside
        if found is None and isinstance(self.value, Inert):
            found = Found(estimator=self.value, inside=inside)
        self.found = found


def _is_model(found: Found, patience: Patience) -> bool:
    if has_trees(found):
        return True
    return found.estimator.kind not in _PASSED and bool(members_of(found, patience).trees)


def _held(place: _Place) -> Iterator[_Place]:
    value, inside = place.value, place.inside
    match value:
        case Inert() if place.found is not None and value.kind in _PASSED:
            yield from (_Place(c.estimator, c.inside, c) for c in children(place.found))
        case Inert():
            yield from (_Place(v, f"{inside}[{show(k)}]") for k, v in value.pairs.items())
        case dict():
            yield from (_Place(v, f"{inside}[{show(k)}]") for k, v in value.items())
        case list() | tuple():
            yield from (_Place(v, f"{inside}[{i}]") for i, v in enumerate(value))


def _list_of(found: list[Found]) -> str:
    """Name the models for a message, as many as fit."""
    names = ""
    for model in found:
        name = model.inside or "the file itself"
        if names and len(names) + len(name) > _LONGEST_LIST:
            return f"{names}, …"
        names = f"{names}, {name}" if names else name
    return names
