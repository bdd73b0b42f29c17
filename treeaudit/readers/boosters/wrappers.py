"""The objects around the model of another library in a pickle: `Booster`, and its wrappers."""

from dataclasses import replace

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Label
from treeaudit.model.source import Source
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.labels import check_labels, class_labels, labels_of


def booster_in(value: Inert, library: str, wrappers: str) -> Inert | None:
    """Return the ``Booster`` that an object is or holds, None where it is of no such library."""
    for found in (value, value.get("_Booster")):
        if isinstance(found, Inert) and (_library(found), found.kind) == (library, "Booster"):
            return found
    if _library(value) == library and value.kind.startswith(wrappers):
        raise UnsupportedModelError(
            f"the {show(value.cls)} was never fitted: call fit before saving it"
        )
    return None


def handle_name(booster: Inert) -> str:
    """Return the attribute of a `Booster` that its library restores the model from."""
    newer = _library(booster) == "lightgbm" and "_handle" in booster.attributes
    return "_handle" if newer else "handle"


def _library(value: Inert) -> str:
    return value.cls.module.partition(".")[0]


def with_wrapper(forest: Forest, value: Inert, classes: str, source: Source) -> Forest:
    """Return the model of a ``Booster`` as its wrapper tells it."""
    check_labels(class_labels(value, classes), class_labels(value.get("_le")))
    estimator = forest.source.estimator.replace(forest.source.library, value.kind, 1)
    labels = _labels(value.get(classes), forest.schema.classes)
    return replace(
        forest,
        schema=replace(forest.schema, classes=labels),
        tree_classes=_renamed(forest, labels),
        source=replace(forest.source, format=source.format, estimator=estimator),
    )


def _renamed(
    forest: Forest, labels: tuple[Label, ...] | None
) -> tuple[tuple[Label, ...], ...] | None:
    """Return the labels of the count columns of each tree by what the wrapper calls classes."""
    numbered = forest.schema.classes
    if forest.tree_classes is None or numbered is None or labels is None:
        return forest.tree_classes
    both = list(zip(map(str, numbered), map(str, labels), strict=True))
    names = {f"{no}{old}": f"{no}{new}" for old, new in both for no in ("", "not ")}
    return tuple(tuple(names.get(str(one), one) for one in each) for each in forest.tree_classes)


def _labels(stored: object, numbered: tuple[Label, ...] | None) -> tuple[Label, ...] | None:
    stored = arrived(stored)
    labels = labels_of(stored.tolist() if isinstance(stored, np.ndarray) else stored)
    fits = numbered is not None and labels is not None and len(labels) == len(numbered)
    return labels if fits else numbered
