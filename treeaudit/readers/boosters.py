"""What XGBoost, LightGBM and CatBoost share: words for damage, and the objects around a model.

In a pickle, a `Booster` holds the bytes or the text of a model file. It may stand in a wrapper that
is made like an estimator of scikit-learn.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from treeaudit.errors import (
    MalformedModelError,
    ModelTooLargeError,
    ReadError,
    TreeauditError,
    UnsupportedModelError,
)
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Label
from treeaudit.model.source import Source
from treeaudit.readers.limits import Most, clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.model_ref import ModelRef, check_labels, class_labels, labels_of

_Raw = TypeVar("_Raw")
_Tree = TypeVar("_Tree")


def known_parameters(library: str) -> frozenset[str]:
    """Return the parameters that a library writes into its files, by `parameters.txt`."""
    text = Path(__file__).with_name("parameters.txt").read_text(encoding="utf-8")
    words = (part.partition(":") for part in text.split("\n\n"))
    return next(frozenset(listed.split()) for name, _, listed in words if name == library)


@contextmanager
def reading(what: str, library: str | None = None) -> Iterator[None]:
    """Say of whatever goes wrong inside what it happened to; of errors of Python not too much.

    ``library`` is what a `MalformedModelError` names.
    """
    try:
        yield
    except (UnsupportedModelError, ModelTooLargeError):
        raise
    except MalformedModelError as error:
        raise MalformedModelError(
            f"{what}: {clean(error.args[0])}",
            error.harm,
            error.library if library is None else library,
        ) from None
    except (TreeauditError, ValueError, TypeError, OverflowError, RecursionError) as error:
        own = isinstance(error, TreeauditError)
        reason = clean(error) if own else show(str(error), 100)
        raise ReadError(f"{what}: {reason}") from None


def whole(
    stated: Mapping[str, object], name: str, least: int, most: int, absent: object = None
) -> int:
    """Return a whole number, which may be written as text."""
    value = stated.get(name, absent)
    if type(value) is int and least <= value <= most:
        return value
    try:
        number = int(value) if isinstance(value, str | int) else None
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        raise ReadError(f"its {name} is {show(value)}")
    return number


def check_number(n_trees: int, library: str) -> None:
    """Refuse a model without trees, or with too many."""
    if not n_trees:
        raise UnsupportedModelError(f"the {library} model has no trees: it was never trained")
    if n_trees > Most.trees:
        raise ModelTooLargeError(f"the {library} model has more than {Most.trees:,} trees")


def each_tree(stored: Iterable[_Raw], read: Callable[[_Raw], _Tree]) -> list[_Tree]:
    """Read one tree after the other; an error names the one that is damaged."""
    trees = []
    for i, raw in enumerate(stored):
        with reading(f"tree {i}"):
            trees.append(read(raw))
    return trees


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredBooster:
    """The document of a boosted model, as `Source.stored` keeps it."""

    # Objects, lists and arrays as a file of XGBoost has them; the parts of a LightGBM model
    document: object
    found: ModelRef | None = None  # Its wrapper in a pickle; None where the file is the document


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


def _library(value: Inert) -> str:
    return value.cls.module.partition(".")[0]


def with_wrapper(forest: Forest, value: Inert, classes: str, source: Source) -> Forest:
    """Return the model of a ``Booster`` as its wrapper tells it."""
    check_labels(class_labels(value, classes), class_labels(value.get("_le")))
    estimator = forest.source.estimator.replace(forest.source.library, value.kind, 1)
    labels = _labels(value.get(classes), forest.schema.classes)
    source = replace(forest.source, format=source.format, estimator=estimator)
    return replace(with_labels(forest, labels), source=source)


def with_labels(forest: Forest, labels: tuple[Label, ...] | None) -> Forest:
    """Return the model with other names of its classes."""
    schema = replace(forest.schema, classes=labels)
    return replace(forest, schema=schema, tree_classes=_renamed(forest, labels))


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
