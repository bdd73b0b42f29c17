"""Tree models that R saved (.rds, .RData): read as data."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import KINDS, Extras, Source
from treeaudit.readers.boosters import reading, with_labels
from treeaudit.readers.choice import choose
from treeaudit.readers.lightgbm import model as lightgbm
from treeaudit.readers.lightgbm.text import parse as parse_text
from treeaudit.readers.limits import LIMITS, Limits, bare
from treeaudit.readers.open import Content
from treeaudit.readers.r import c50, gbm, ipred, party, random_forest, ranger, rpart
from treeaudit.readers.r.contents import find_extras
from treeaudit.readers.r.fields import no_trees
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.serialisation import Stored, is_r, read_r
from treeaudit.readers.r.walk import Place, model_class, model_places, walk
from treeaudit.readers.residual.targets import single_targets
from treeaudit.readers.xgboost import model as xgboost


def _read_xgboost(model: RObject, source: Source) -> Forest:
    """Return the model of an xgb.Booster."""
    found = model.parts["state"] if model.kind == "altrep" else model.get("raw")
    if found.kind != "raw":
        raise no_trees(source.estimator)
    forest = xgboost.from_blob(memoryview(found.values.tobytes()), source, LIMITS)
    names, features = model.get("feature_names").texts(), forest.schema.features
    if not forest.schema.named and len(names) == len(features):
        renamed = (replace(one, name=name) for one, name in zip(features, names, strict=True))
        forest = replace(forest, schema=replace(forest.schema, features=tuple(renamed), named=True))
    labels = model.attribute("metadata").get("y_levels").texts()
    if labels and len(labels) == len(forest.schema.classes or ()):
        forest = with_labels(forest, tuple(labels))
    return replace(forest, source=replace(forest.source, format=source.format))


def _read_lightgbm(model: RObject, source: Source) -> Forest:
    """Return the model of an lgb.Booster."""
    found = model.get("raw")
    if found.kind not in ("raw", "string"):
        raise no_trees(source.estimator)
    data = found.values.tobytes() if found.kind == "raw" else "".join(found.texts()).encode()
    return lightgbm.to_forest(parse_text(data), source)


MODELS: Mapping[str, Callable[[RObject, Source], Forest]] = {
    "rpart": rpart.read,
    "randomForest": random_forest.read,
    "ranger": ranger.read,
    "gbm": gbm.read,
    "tree": rpart.read_tree,
    "C5.0": c50.read,
    "xgb.Booster": _read_xgboost,
    "lgb.Booster": _read_lightgbm,
    "party": party.read_party,
    "cforest": party.read_cforest,
    "BinaryTree": party.read_binary_tree,
    "RandomForest": party.read_random_forest,
    "classbagg": ipred.read,
    "regbagg": ipred.read,
    "survbagg": ipred.read,
}
"""How a model of each class is read: from the object and its source."""


def matches(content: Content) -> bool:
    """Tell whether the content is R's serialisation."""
    return is_r(content.data)


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model in an R file; see `treeaudit.readers.Reader`."""
    stored = parse(content, limits)
    return model_of(stored, list(walk(stored.root)), source, select)


def model_of(stored: Stored, places: list[Place], source: Source, select: str | None) -> Forest:
    """Return the model among the objects of a file."""
    usual, elsewhere = model_places(places)
    models = [(place.path, place) for place in [*usual, *elsewhere]]
    # What functions captured is a copy most often: it is audited if it is asked for.
    audited = models[: len(usual)] or models
    found = choose(audited if select is None else models, select)
    if found is None:
        raise UnsupportedModelError(f"the file holds {described(places)}; it is no tree model")
    name, path = model_class(found.value) or "", found.path
    source = replace(source, format=stored.format, inside=path, estimator=name)
    try:
        with reading(f"the {name} object is damaged"):
            forest = MODELS[name](found.value, source)
    except UnsupportedModelError as error:
        raise UnsupportedModelError(f"{error}; the file holds {described(places)}") from None
    others = {one: one or "the file itself" for one, _ in audited if one != path}
    forest = _behind_steps(forest, found.above)
    own = forest.extras if forest.extras.looked_for else Extras(looked_for=KINDS)
    if forest.schema.classes is None and forest.answers != "sum":
        own = own.beside(single_targets(forest.trees, means=forest.values_are == "means"))
    extras = own.beside(find_extras(places, usual or elsewhere, forest))
    return replace(forest, others=others, extras=extras)


def _behind_steps(forest: Forest, place: Place | None) -> Forest:
    """Say which columns are none of the data, by what wraps the model."""
    steps, factors = list[str](), list[str]()
    while place is not None:
        ways = {"preProcess": ["preProcess"], "recipe": ["pre", "actions", "recipe"]}
        steps += [name for name, way in ways.items() if place.value.get(*way)]
        factors += place.value.get("xlevels").names
        place = place.above
    made = tuple(
        replace(one, made_by="model.matrix")
        if one.name.startswith(tuple(factors)) and one.name not in factors
        else one
        for one in forest.schema.features
    )
    told = f"the steps before the tree ({', '.join(steps)}) do not tell what its columns are"
    return replace(
        forest,
        schema=replace(forest.schema, features=made),
        warnings=(*forest.warnings, *([told] if steps else [])),
    )


def extras_of(places: Sequence[Place]) -> Extras:
    """Return what a file gives away beside the trees of all its models."""
    usual, elsewhere = model_places(places)
    return find_extras(places, usual or elsewhere, None)


def described(places: Sequence[Place]) -> str:
    """Say what an R object is, and what of people lies inside."""
    root = places[0].value
    cls = f"an R object of class {bare(root.classes[0])}" if root.classes else f"an R {root.kind}"
    people = find_extras(places, (), None).only(frozenset(("records", "labels", "out-of-bag")))
    if not people.found:
        return cls
    first, n = people.found[0], len(people.found) - 1
    more = f" and {n:,} more of the training data" if n else ""
    says = re.split(r" \(|, ", first.says)[0]
    return f"{cls} with {says} ({bare(first.where)}){more}"


def parse(content: Content, limits: Limits) -> Stored:
    """Return what an R file holds, as inert data."""
    return read_r(content.data, limits)
