"""Every model in what a file holds, of every library, wherever it hangs."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from treeaudit.readers.limits import Allowance, Deepest
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.ensembles import SEARCHES, children
from treeaudit.readers.sklearn.model_ref import ModelRef, elements, is_tree
from treeaudit.readers.sklearn.models import (
    PASSED,
    allowance,
    is_booster,
    is_of_another_library,
    is_read_apart,
    members_of,
    models_in,
    tree_models,
)
from treeaudit.readers.trained import is_trainer
from treeaudit.readers.walk import Walk, walk

_PASSED = SEARCHES | {"Pipeline"}
_SELECTIONS = {"RFE": True, "RFECV": True, "SelectFromModel": False}
"""Steps that keep a fitted model, and whether it saw only the columns that they chose."""


def usual_models(root: object) -> list[ModelRef]:
    """Return the models where files have them: at the top, in containers, pipelines, searches."""
    return [*tree_models(root), *of_other_libraries(root)]


def of_other_libraries(root: object) -> list[ModelRef]:
    """Return those of them that are not of scikit-learn, and the members of what is made of them.

    An ensemble with trees of scikit-learn, too, is a model that names them.
    """
    looks = allowance()
    members: dict[int, list[ModelRef]] = {}

    def known(found: ModelRef) -> bool:
        if is_of_another_library(found.estimator):
            return True
        if found.estimator.kind in PASSED:
            return False
        inner = members_of(found, looks)
        boosted = [one for one in inner.others if is_booster(one.estimator)]
        members[id(found.estimator)] = [] if inner.trees else boosted
        return bool(members[id(found.estimator)])

    taken = {id(found.estimator) for found in models_in(root, _is_other, _PASSED)}
    found_in = list(models_in(root, known, PASSED))
    return [
        one
        for found in found_in
        for one in members.get(id(found.estimator), [found])
        if id(one.estimator) in taken or not is_trainer(one.estimator)
    ]


def _is_other(found: ModelRef) -> bool:
    return is_of_another_library(found.estimator)


def other_models(root: object, models: list[ModelRef]) -> Iterator[ModelRef]:
    """Yield the fitted models that hang anywhere else, and are no part of those given."""
    looks = allowance()
    fitted = partial(_is_fitted, looks=looks)
    behind: dict[int, ModelRef] = {}
    known = {part for model in models for part in _parts(model, looks, behind)}
    taken = {model.inside for model in models}
    for place in Walk(root):
        value = place.value
        if not isinstance(value, Inert) or id(value) in known:
            continue
        for found in models_in(value, fitted, PASSED, place.path):
            if id(found.estimator) in known:
                continue
            if found.inside in taken:
                # The way was cut short: another name stands for it.
                found = replace(found, inside=f"{found.inside}[{len(taken)}]")
            known.update(_parts(found, looks))
            if id(value) in behind:
                found = _after(behind[id(value)], found)
            taken.add(found.inside)
            yield found


def _put_behind(model: ModelRef, behind: dict[int, ModelRef]) -> None:
    """Note the steps before each model that a selection among the steps keeps."""
    for i, step in enumerate(model.before):
        if not isinstance(step, Inert) or step.kind not in _SELECTIONS:
            continue
        inner = arrived(step.get("estimator_"))
        if isinstance(inner, Inert):
            n = i + _SELECTIONS[step.kind]
            names = (*model.step_names[:n], "estimator_")
            one = replace(model, estimator=inner, before=model.before[:n], step_names=names)
            behind.setdefault(id(inner), one)


def _after(outer: ModelRef, found: ModelRef) -> ModelRef:
    """Return a model with what is given to another that it is, or is inside of."""
    before = outer.before + found.before
    names = outer.step_names if not found.before else (*outer.step_names[:-1], *found.step_names)
    return replace(found, before=before, seen=outer.seen, step_names=names)


def _parts(
    model: ModelRef, looks: Allowance, behind: dict[int, ModelRef] | None = None
) -> Iterator[int]:
    """Yield what a model is and all models that it is made of, by identity."""
    for part in walk(model, lambda one: one.estimator, children, Deepest.models):
        looks.take(1)
        if behind is not None and part.before:
            _put_behind(part, behind)
        yield id(part.estimator)
        yield id(part.get("_Booster"))
        if part.estimator.kind.startswith("GradientBoosting"):
            yield from map(id, elements(part.get("estimators_")))


def _is_fitted(found: ModelRef, looks: Allowance) -> bool:
    value = found.estimator
    if is_tree(value):
        return True
    if is_of_another_library(value):
        return is_read_apart(value)
    if elements(value.get("_predictors")):
        return True
    if value.kind.startswith("GradientBoosting"):
        # Its trees are steps, and no models.
        return bool(elements(value.get("estimators_")))
    if value.kind in PASSED or next(children(found), None) is None:
        return False
    return any(_holds_trees(member) for member in members_of(found, looks).trees)


def _holds_trees(member: ModelRef) -> bool:
    """Tell whether a model that can have trees of its own was fitted."""
    held = (member.get(name) for name in ("estimators_", "_predictors"))
    return is_tree(member.estimator) or any(elements(one) for one in held)
