"""Members of a scikit-learn model that hold trees of another library: each a model of its own."""

from dataclasses import replace

from treeaudit.model.forest import Forest
from treeaudit.readers.limits import Most, clean
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.found import Found, elements, relabel
from treeaudit.readers.trained import is_trainer

_BEGINS = {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}
_FITTED = ("_Booster", "__model")


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


def as_seen(forest: Forest, found: Found) -> Forest:
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
