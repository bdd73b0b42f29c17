"""The models in a pickle or a skops file, of every library: all of them, and one of them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from treeaudit.errors import SeveralModelsError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extras, Source
from treeaudit.readers.boosters import StoredBooster
from treeaudit.readers.choice import choose, matching
from treeaudit.readers.limits import Allowance, Deepest, Most, clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.tables import index_names
from treeaudit.readers.sklearn.ensembles import SEARCHES, children, steps_of
from treeaudit.readers.sklearn.model_ref import ModelRef, elements, is_tree, names_in, relabel
from treeaudit.readers.sklearn.models import (
    PASSED,
    allowance,
    find_model,
    inner_models,
    is_booster,
    is_of_another_library,
    is_read_apart,
    library_of,
    members_of,
    models_in,
    tree_models,
    what_it_is,
)
from treeaudit.readers.sklearn.scikit_learn import to_forest
from treeaudit.readers.sklearn.undo import over_data
from treeaudit.readers.trained import from_inert, is_trainer, keeps_scores, with_privacy_reasons
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
        # imbalanced-learn keeps a copy of each tree behind the sampler that drew for it.
        names = ("estimators_", "pipelines_")
        for tree, copy in zip(*(elements(part.get(name)) for name in names), strict=False):
            last = arrived(steps_of(copy)[-1][1]) if isinstance(copy, Inert) else None
            yield from (id(last),) if _same_table(tree, last) else ()


def _same_table(one: object, other: object) -> bool:
    """Tell whether two trees have the same nodes and answers."""
    tables = [arrived(x.get("tree_")) for x in (one, other) if isinstance(x, Inert)]
    parts = [
        [arrived(t.get(n)) for n in ("nodes", "values")] for t in tables if isinstance(t, Inert)
    ]
    return len(parts) == 2 and all(map(np.array_equal, *parts))


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


def read_model(root: object, select: str | None, source: Source, n_bytes: int) -> Forest:
    """Return the one model that a file holds."""
    models = usual_models(root)
    n_usual = len(models)
    models += islice(other_models(root, models), Most.models)
    found = _first(root, models[n_usual:]) if select is None else _selected(models, select)
    found = replace(found, root=root)
    others = {one.inside: one.inside or "the file itself" for one in models}
    others.pop(found.inside, None)
    if is_of_another_library(found.estimator):
        other = _of_another_library(found, source)
        if other is None:
            raise UnsupportedModelError(what_it_is(root))
        forest = other
        if forest.privacy is not None:
            forest = with_privacy_reasons(forest, found.before, scores=keeps_scores(root))
        forest = over_data(forest, found) if found.before else forest
        forest = _in_context(forest, found)
    else:
        # Its trees lie in the record that is walked through: nothing of them is beside it.
        beside = Extras(looked_for=KINDS)
        forest = replace(to_forest(found, source, n_bytes), extras=beside)
        # Members over other columns or classes, and of other libraries, are models of their own.
        joined = {one.inside for one in forest.members} or {found.inside}
        members = members_of(found)
        boosted = [one for one in members.others if is_read_apart(one.estimator)]
        apart = (one.inside for one in members.trees + boosted)
        others |= {name: name for name in apart if name not in joined}
    return _in_bundle(replace(forest, others=others), root)


_MOST_BESIDE = 12
"""Entries of a bundle that are named."""
_OF_COLUMNS = re.compile("feature|col|predictor|input|scaler|encoder|prep", re.IGNORECASE)
"""How entries are called that name columns: as many classes would name them wrongly."""


def _in_bundle(forest: Forest, root: object) -> Forest:
    """Return a model with what else its bundle holds, and with the names of columns in it."""
    if not isinstance(root, dict):
        return forest
    own = forest.source.inside.partition("]")[0] + "]"
    rest = {key: one for key, one in root.items() if f"[{show(key)}]" != own}
    beside = tuple(
        f"{show(key)}: {getattr(one, 'kind', type(one).__name__).removeprefix('_new_')}"
        for key, one in islice(rest.items(), _MOST_BESIDE)
    )
    schema, n = forest.schema, len(forest.schema.features)
    stated = [_names(v) for k, v in rest.items() if isinstance(k, str) and _OF_COLUMNS.search(k)]
    lists = {names for names in stated if len(names) == len({*names}) == n}
    if len(lists) == 1 and not schema.named:
        pairs = zip(schema.features, *lists, strict=True)
        features = tuple(replace(one, name=clean(name)) for one, name in pairs)
        schema = replace(schema, features=features)
    return replace(forest, schema=schema, source=replace(forest.source, beside=beside))


def _names(value: object) -> tuple[str, ...]:
    """Return a list of texts, also those of an index, or of the columns of a fitted step."""
    stored = names_in(value) if isinstance(value, Inert) else None
    return tuple(index_names(arrived(value) if stored is None else stored) or ())


def _first(root: object, elsewhere: list[ModelRef]) -> ModelRef:
    """Return the one model where files have them, of scikit-learn first; else the one elsewhere."""
    try:
        return find_model(root)
    except SeveralModelsError:
        raise
    except UnsupportedModelError:
        # A private model inside another is audited alone.
        apart = [one for one in elsewhere if not is_trainer(one.estimator)]
        usual = of_other_libraries(root)
        others = [one for one in usual if is_read_apart(one.estimator)] or apart or usual
        found = choose([(one.inside, one) for one in others], None)
        if found is None:
            raise
        return found


def _selected(models: list[ModelRef], select: str) -> ModelRef:
    """Return the model of a name, also one inside another."""
    pairs = [(one.inside, one) for one in models]
    if not matching((name for name, _ in pairs), select):
        inner = inner_models(models, select)
        if len(inner) == 1 and is_trainer(inner[0].estimator):
            raise UnsupportedModelError(
                f"the {inner[0].estimator.kind} is a member of another model: save it alone"
            )
        if len(inner) == 1:
            return inner[0]
        pairs = [(one.inside, one) for one in inner] or pairs
    found = choose(pairs, select)
    if found is None:
        raise UnsupportedModelError("the file holds no model")
    return found


def _of_another_library(found: ModelRef, source: Source) -> Forest | None:
    forest = _read(found.estimator, replace(source, inside=found.inside))
    if forest is None:
        return None
    stored = forest.source.stored
    if isinstance(stored, StoredBooster):
        stored = replace(stored, found=found)
        forest = replace(forest, source=replace(forest.source, stored=stored))
    return forest


def _read(value: Inert, source: Source) -> Forest | None:
    match library_of(value):
        case "xgboost":
            from treeaudit.readers.xgboost import model as xgboost

            return xgboost.from_inert(value, source)
        case "lightgbm":
            from treeaudit.readers.lightgbm import model as lightgbm

            return lightgbm.from_inert(value, source)
        case "catboost":
            raise UnsupportedModelError(
                f"the file holds a {value.kind} of CatBoost in binary form: load it with CatBoost "
                "and write it with model.save_model('model.json', format='json')"
            )
        case _:
            return from_inert(value, source)


def _in_context(forest: Forest, found: ModelRef) -> Forest:
    """Say a model in the words of those around it: its labels, columns, and who was drawn."""
    seen, schema = found.seen, forest.schema
    classes = schema.classes
    if classes is not None and seen.labels is not None and forest.tree_classes is None:
        classes = relabel(classes, seen.labels)
    if classes is not None and seen.target and forest.tree_classes is None:
        classes = tuple(f"{seen.target}: {label}" for label in classes)
    names = [one for one in elements(seen.names) if isinstance(one, str)]
    wide = len(names) == len(schema.features) <= Most.features and len({*names}) == len(names)
    features, named = schema.features, schema.named
    if seen.apart:
        named = False
    elif not found.before and not schema.named and names and wide:
        both = zip(features, names, strict=True)
        features, named = tuple(replace(one, name=clean(name)) for one, name in both), True
    said = [f"{found.inside} is read alone: {seen.apart}"] if seen.apart else []
    said += [seen.note] if seen.note else []
    changed = bool(seen.note or seen.apart or seen.target or seen.own_labels)
    forest = replace(
        forest,
        schema=replace(schema, classes=classes, features=features, named=named),
        warnings=(*forest.warnings, *said),
        values_are="unknown" if changed else forest.values_are,
    )
    if seen.rows in ("bootstrap", "repeated"):
        # A person who was drawn twice counts twice.
        return replace(forest, records_are="bootstrap", n_records=None)
    # Of a fold, how many people the whole was trained on is not told.
    fold = seen.rows == "some"
    return replace(forest, records_are="unknown", n_records=None) if fold else forest
