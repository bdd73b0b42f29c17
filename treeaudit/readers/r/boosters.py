"""Boosters of XGBoost and LightGBM in R: the bytes of a model file, which their own readers take.

Until xgboost 3 they are ``raw``; since then they are the state of an object of a class of its own.
"""

from dataclasses import replace

from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.boosters import with_labels
from treeaudit.readers.lightgbm import model as lightgbm
from treeaudit.readers.lightgbm.text import parse
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.r.fields import no_trees
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.xgboost import model as xgboost


def read_xgboost(model: RObject, source: Source) -> Forest:
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


def read_lightgbm(model: RObject, source: Source) -> Forest:
    """Return the model of an lgb.Booster."""
    found = model.get("raw")
    if found.kind not in ("raw", "string"):
        raise no_trees(source.estimator)
    data = found.values.tobytes() if found.kind == "raw" else "".join(found.texts()).encode()
    return lightgbm.to_forest(parse(data), source)
