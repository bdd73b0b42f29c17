"""Find the tree models inside what a file holds: wrappers, bundles, pipelines.

Of a file without any, `what_it_is` says in one sentence what else it holds.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.words import an
from treeaudit.readers.choice import choose, plain_name
from treeaudit.readers.limits import Allowance, Deepest, Most, bare, clean, show
from treeaudit.readers.pickle.arrays import LateArray, arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.names import KNOWN, judge
from treeaudit.readers.sklearn.ensembles import (
    BAGS,
    BOOSTINGS,
    FORESTS,
    SEARCHES,
    TREES,
    children,
    steps_of,
)
from treeaudit.readers.sklearn.model_ref import ModelRef, elements, is_tree
from treeaudit.readers.trained import is_trainer
from treeaudit.readers.walk import Walk, walk

_WEIGHED = frozenset({"AdaBoostClassifier", "AdaBoostRegressor"})
PASSED = SEARCHES | {
    "Pipeline",
    "FrozenEstimator",
    "TransformedTargetRegressor",
    "FixedThresholdClassifier",
    "TunedThresholdClassifierCV",
    "SelfTrainingClassifier",
}
_BEGINS = {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}
_FITTED = ("_Booster", "__model")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Members:
    """What a model is made of."""

    trees: list[ModelRef]  # the models that have trees of their own
    others: list[ModelRef]  # the models that are no trees


def has_trees(found: ModelRef) -> bool:
    """Whether this model holds trees directly, and not models that hold trees."""
    kind = found.estimator.kind
    if kind in BAGS or kind in _WEIGHED:
        # Unfitted ones too: whoever reads them says so.
        return all(is_tree(member) for member in elements(found.get("estimators_")))
    return kind in FORESTS or kind in BOOSTINGS or is_tree(found.estimator)


def members_of(found: ModelRef, looks: Allowance | None = None) -> Members:
    """Return the models that a model is made of, each once and without recursion."""
    looks = looks or allowance()
    members = Members(trees=[], others=[])
    for here in walk(found, lambda one: one.estimator, _below, Deepest.models):
        named = (here.get(name) for name in ("classes_", "feature_names_in_"))
        sizes = [stored.size for stored in named if isinstance(stored, np.ndarray)]
        looks.take(1 + len(elements(here.get("estimators_"))) + sum(sizes))
        if has_trees(here):
            members.trees.append(here)
        elif next(children(here), None) is None:
            members.others.append(here)
    return members


def allowance() -> Allowance:
    """Return how many models, classes and names of columns may be looked at."""
    return Allowance(Most.looks, "the file holds more models than treeaudit takes in")


def _below(found: ModelRef) -> Iterator[ModelRef]:
    """Yield what a model holds; of one with trees of its own what its boosting starts from."""
    if found.estimator.kind not in BOOSTINGS and has_trees(found):
        return iter(())
    return _distinct_children(found)


def _distinct_children(found: ModelRef) -> Iterator[ModelRef]:
    """Yield what a model holds; refuse a member that answers twice and is looked at once."""
    seen: set[int] = set()
    for child in children(found):
        # What was calibrated in several ways answers by its calibrators.
        if id(child.estimator) in seen and found.estimator.kind != "CalibratedClassifierCV":
            raise ReadError(
                f"the {found.estimator.kind} holds one and the same model twice, "
                f"the second time as {child.inside}: give it a copy.deepcopy of its own"
            )
        seen.add(id(child.estimator))
        yield child


def find_model(root: object) -> ModelRef:
    """Return the one tree model of scikit-learn that the file holds."""
    chosen = choose([(model.inside, model) for model in tree_models(root)], None)
    if chosen is None:
        raise UnsupportedModelError(what_it_is(root))
    return chosen


def tree_models(root: object) -> list[ModelRef]:
    """Return the tree models of scikit-learn that the file holds, none of them inside another."""
    looks = allowance()
    return list(models_in(root, lambda one: _is_model(one, looks), PASSED))


def inner_models(models: list[ModelRef], select: str) -> list[ModelRef]:
    """Return what a name means inside the models, along the way that it says.

    Members go by their place, such as ``estimators_[0]``, and those of a vote or
    a stack by what that calls them, too.
    """
    wanted, found = plain_name(select), []
    todo = [(plain_name(model.inside) if model.inside else "", model) for model in models]
    for _ in range(4 * Deepest.models):
        below = [
            (f"{name}.{plain_name(way)}".removeprefix("."), child)
            for name, model in todo
            for way, child in _named_children(model)
        ]
        found += [child for name, child in below if name == wanted and _is_told_of(child)]
        todo = [one for one in below if wanted.startswith(f"{one[0]}.")][: Most.models]
        if found or not todo:
            break
    return list({id(one.estimator): one for one in found}.values())


def _is_told_of(found: ModelRef) -> bool:
    return is_read_apart(found.estimator) or bool(members_of(found).trees)


def _named_children(model: ModelRef) -> Iterator[tuple[str, ModelRef]]:
    """Yield the models that one holds, each by every name that it has there."""
    pairs = model.get("estimators")
    called = [
        one[0]
        for one in (pairs if isinstance(pairs, list) else ())
        if isinstance(one, tuple) and len(one) == 2 and isinstance(arrived(one[1]), Inert)
    ]
    for i, child in enumerate(children(model)):
        yield child.inside.removeprefix(model.inside).removeprefix("."), child
        if i < len(called) and isinstance(called[i], str):
            yield called[i], child


def _is_model(found: ModelRef, looks: Allowance) -> bool:
    if has_trees(found):
        return True
    return found.estimator.kind not in PASSED and bool(members_of(found, looks).trees)


class _Place:
    """A value on the way to a model."""

    __slots__ = ("found", "inside", "is_model", "value")

    def __init__(self, value: object, inside: str, found: ModelRef | None = None) -> None:
        self.value = arrived(value)
        self.inside = inside
        self.is_model = False
        if found is None and isinstance(self.value, Inert):
            found = ModelRef(estimator=self.value, inside=inside)
        self.found = found


def models_in(
    root: object, is_model: Callable[[ModelRef], bool], passed: frozenset[str], inside: str = ""
) -> Iterator[ModelRef]:
    """Yield the models in a bundle, each once; nothing inside them is looked at."""
    for place in walk(_Place(root, inside), lambda one: one.value, partial(_places_in, passed)):
        if place.found is not None and is_model(place.found):
            place.is_model = True
            yield place.found


def _behind(found: ModelRef) -> Iterator[ModelRef]:
    """Yield what a wrapper holds, which can be written with the wrapper around it."""
    outer = found.holder or found.estimator
    holder = None if found.estimator.kind in SEARCHES else outer
    yield from (replace(child, holder=holder) for child in children(found))


def _places_in(passed: frozenset[str], place: _Place) -> Iterator[_Place]:
    value, inside = place.value, place.inside
    match value:
        case Inert() if place.is_model:
            return
        case Inert() if place.found is not None and value.kind in passed:
            yield from (_Place(c.estimator, c.inside, c) for c in _behind(place.found))
        case Inert():
            yield from (_Place(v, f"{inside}[{show(k)}]") for k, v in value.pairs.items())
        case dict():
            # Keys are put into words for what may hold a model, however many there are.
            held = ((k, v) for k, v in value.items() if not isinstance(v, str | int | float | None))
            yield from (_Place(v, f"{inside}[{show(k)}]") for k, v in held)
        case list() | tuple():
            yield from (_Place(v, f"{inside}[{i}]") for i, v in enumerate(value))


def library_of(value: Inert) -> str:
    """Return the name of the library that a class is of."""
    return value.cls.module.partition(".")[0]


def is_of_another_library(value: Inert) -> bool:
    """Tell whether another reader than that of scikit-learn reads it, fitted or not."""
    return library_of(value) in _BEGINS or is_trainer(value)


def is_booster(value: Inert) -> bool:
    """Tell whether this is a fitted model of a library of boosted trees."""
    begins = _BEGINS.get(library_of(value))
    if begins is None:
        return False
    fitted = any(arrived(value.get(name)) is not None for name in _FITTED)
    return value.kind == "Booster" or (value.kind.startswith(begins) and fitted)


def is_read_apart(value: Inert) -> bool:
    """Tell whether a member of a scikit-learn model is a fitted tree model of another library."""
    return is_booster(value) or (is_trainer(value) and arrived(value.get("forest_")) is not None)


def what_it_is(root: object) -> str:
    """Say in one sentence what the file holds instead of a tree model."""
    reads = (
        "treeaudit reads decision trees, forests and boostings, of scikit-learn, XGBoost, "
        "LightGBM, CatBoost, ONNX, PMML and its own"
    )
    private = _inner_private(root)
    if private is not None:
        return private
    match root:
        case Inert():
            return _what_estimator(root, reads)
        case Global() if judge(root.module, root.name) != "listed":
            # A class, or a value of an enumeration by its name.
            return _what_estimator(Inert(root), reads)
        case np.ndarray() | LateArray():
            return f"the file holds a bare array, no model; {reads}"
        case dict() | list() | tuple():
            return f"the file holds a {type(root).__name__} without a tree model in it; {reads}"
        case _:
            return f"the file holds {show(root)}, no model; {reads}"


def _what_estimator(root: Inert, reads: str) -> str:
    kind = root.kind
    if kind in TREES:
        return f"the {kind} was never fitted: call fit before saving it"
    if kind == "Pipeline":
        steps = steps_of(root)
        if not steps:
            return "the Pipeline has no steps"
        last = arrived(steps[-1][1])
        if isinstance(last, Inert) and last.kind != "Pipeline":
            return f"a Pipeline whose last step is no tree: {what_it_is(last)}"
        return f"a Pipeline whose last step is no tree; {reads}"
    if kind in SEARCHES:
        if root.get("best_estimator_") is None:
            return f"the {kind} holds no best_estimator_: fit it with refit=True before saving"
        return f"the best_estimator_ of the {kind} is no tree model; {reads}"
    members = itertools.islice(children(ModelRef(estimator=root, inside="")), 8)
    kinds = dict.fromkeys(show(member.estimator.kind).strip("'") for member in members)
    if kinds:
        return f"the {kind} is made of {', '.join(kinds)}, which are no tree models; {reads}"
    name = show(root.cls)
    # A library that is none of those that are read, nor the program's own.
    library, foreign = bare(root.cls.module.partition(".")[0]), ""
    known = library in KNOWN or library == "__main__"
    if library and not known and judge(root.cls.module, root.cls.name) != "listed":
        foreign = f"treeaudit does not read {library}: "
    if library == "cloudpickle" and root.kind.isidentifier() and not root.kind.startswith("_"):
        return (
            f"the file holds {an(clean(root.kind[:60]))}, a class that it brings as code, without "
            "a tree model in it: a wrapper of MLflow has its model beside it, in artifacts: scan "
            "the folder"
        )
    of_those = " of those that it reads" if foreign else ""
    return f"{foreign}the file holds {an(name)}, which is no tree model{of_those}; {reads}"


def _inner_private(root: object) -> str | None:
    """Name the first private model inside another object, which is read alone; None if none."""
    for place in Walk(root):
        one = place.value
        if isinstance(one, Inert) and is_trainer(one) and arrived(one.get("forest_")) is not None:
            return (
                f"the file holds a private model ({clean(one.kind[:60])}) inside another object, "
                "and treeaudit audits it alone: save it with treeaudit.trainers.save_trained, or "
                f"choose it with --select {clean(place.path)!r}"
            )
    return None
