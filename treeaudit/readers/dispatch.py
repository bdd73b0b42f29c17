"""The one model in what a pickle or a skops file holds, whatever library it is of."""

from dataclasses import replace
from itertools import islice

from treeaudit.errors import SeveralModelsError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extras, Source
from treeaudit.readers.boosters import StoredBooster
from treeaudit.readers.choice import choose, matching
from treeaudit.readers.find_models import of_other_libraries, other_models, usual_models
from treeaudit.readers.limits import Most, clean
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.model_ref import ModelRef, elements, relabel
from treeaudit.readers.sklearn.models import (
    find_model,
    inner_models,
    is_of_another_library,
    is_read_apart,
    library_of,
    members_of,
    what_it_is,
)
from treeaudit.readers.sklearn.scikit_learn import to_forest
from treeaudit.readers.sklearn.undo import over_data
from treeaudit.readers.trained import from_inert, is_trainer, keeps_scores, with_privacy_reasons


def read_model(root: object, select: str | None, source: Source, n_bytes: int) -> Forest:
    """Return the one model that a file holds."""
    models = usual_models(root)
    models += islice(other_models(root, models), Most.models)
    found = _first(root) if select is None else _selected(models, select)
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
    return replace(forest, others=others)


def _first(root: object) -> ModelRef:
    """Return the one model where files have them, of scikit-learn before the others."""
    try:
        return find_model(root)
    except SeveralModelsError:
        raise
    except UnsupportedModelError:
        found = choose([(one.inside, one) for one in of_other_libraries(root)], None)
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
