"""Histogram gradient boosting: its node tables, category sets and missing values.

Every layout from 0.21 to 1.9: ``threshold`` or ``num_threshold``, missing
values since 0.22, categories since 0.24, and since 1.4 an encoder of its own
that puts the categorical columns in front.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.tree import Tree
from treeaudit.readers.columns import of_boosting
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Links, link
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.found import Found, elements, names_in
from treeaudit.readers.sklearn.grove import Budget, Grove
from treeaudit.readers.sklearn.histogram_categories import Categories, categories_of, code_sets
from treeaudit.readers.types import Array, Table, Wide

_NEEDED = ("value", "count", "feature_idx", "left", "right", "is_leaf")
_NO_COUNTS = "boosted trees predict a number each: the file holds no counts of classes"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Stored:
    """One stored tree: its node table, the children of its inner nodes, its bitsets."""

    nodes: Table
    threshold: str
    bitsets: Array | None

    @property
    def n_bytes(self) -> int:
        return int(self.nodes.nbytes) + (0 if self.bitsets is None else int(self.bitsets.nbytes))

    @property
    def inner(self) -> Wide:
        return np.flatnonzero(self.nodes["is_leaf"] == 0)

    @property
    def links(self) -> Links:
        inner = self.inner
        left, right = self.column("left", inner), self.column("right", inner)
        return Links(inner=inner, left=left, right=right)

    def column(self, name: str, rows: Wide) -> Wide:
        """Return whole numbers of some nodes; zeros where the layout lacks them."""
        if name not in (self.nodes.dtype.names or ()):
            return np.zeros(len(rows), dtype=np.int64)
        return self.nodes[name][rows].astype(np.int64)


def read_histogram_boosting(found: Found, budget: Budget) -> Grove:
    """Return the trees of a HistGradientBoosting model."""
    predictors = _predictors(found)
    stored = []
    for predictor in predictors:
        one = _read(predictor)
        budget.take(one.n_bytes)
        stored.append(one)
    categories = categories_of(found, _width(found, stored))
    for one in stored:
        _check(one, categories)
    roots = {int(one.nodes["count"][0]) for one in stored}
    classes = found.classes
    return Grove(
        build=lambda i: _tree(stored[i], categories),
        n_trees=len(stored),
        tested=partial(_tested, stored, categories),
        schema=_schema(found, categories, classes, budget),
        counts_are="absent",
        counts_reason="the model predicts a number, not a class" if classes is None else _NO_COUNTS,
        records_are="all" if found.seen.rows == "all" and len(roots) == 1 else "unknown",
        n_records=max(roots) if found.seen.rows != "repeated" else None,
        single_precision=False,
    )


def _predictors(found: Found) -> list[Inert]:
    rounds = elements(found.get("_predictors"))
    predictors: list[Inert] = []
    for each in rounds[: Most.trees + 1]:
        trees = elements(each)[: Most.trees + 1] if isinstance(each, list | tuple) else []
        predictors += [one for one in trees if isinstance(one, Inert)]
        # A tree beside the rounds would answer nobody, and be there.
        if not trees or len(trees) > sum(isinstance(one, Inert) for one in trees):
            raise ReadError("a round of the boosting is damaged: it is no list of trees")
        if len(predictors) > Most.trees:
            break
        # As many numbers are the answer, whatever the rounds have.
        if found.get("n_trees_per_iteration_") not in (None, len(trees)):
            raise ReadError("a round of the boosting has other trees than the model states")
    if max(len(rounds), len(predictors)) > Most.trees:
        raise ModelTooLargeError(f"the model has more than {Most.trees:,} trees")
    if not predictors:
        raise UnsupportedModelError(
            f"the {found.estimator.kind} was never fitted, or holds no trees: call fit before "
            "saving it"
        )
    return predictors


def _read(predictor: Inert) -> _Stored:
    """Return one node table whose columns are all of the kinds they must be."""
    nodes = arrived(predictor.get("nodes"))
    bitsets = arrived(predictor.get("raw_left_cat_bitsets"))
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not len(nodes):
        raise ReadError("a tree of the boosting is damaged: its node table is missing")
    names = nodes.dtype.names or ()
    threshold = "num_threshold" if "num_threshold" in names else "threshold"
    if lacking := [name for name in (*_NEEDED, threshold) if name not in names]:
        raise ReadError(f"the tree is damaged: its node table lacks {', '.join(lacking)}")
    for name, fits in of_boosting(nodes.dtype).items():
        if not fits:
            raise ReadError(f"the tree is damaged: its column {name} has the wrong type or place")
    if isinstance(bitsets, np.ndarray):
        if bitsets.dtype != np.uint32 or bitsets.ndim != 2 or bitsets.shape[1] != 8:
            raise ReadError("the tree is damaged: its category sets have the wrong shape")
        return _Stored(nodes=nodes, threshold=threshold, bitsets=bitsets)
    return _Stored(nodes=nodes, threshold=threshold, bitsets=None)


def _width(found: Found, stored: list[_Stored]) -> int:
    tested = [int(one.column("feature_idx", one.inner).max(initial=-1)) for one in stored]
    for name in ("n_features_in_", "_n_features", "n_features_"):
        stated = found.get(name)
        if isinstance(stated, int):
            if not max(tested) < stated <= Most.features:
                raise ReadError("the tree is damaged: it tests a feature that does not exist")
            return stated
    return max(tested) + 1 or 1


def _check(one: _Stored, categories: Categories) -> None:
    """Refuse node tables that are no tree, or whose numbers contradict each other."""
    links, n = one.links, len(one.nodes)
    inner, left, right = links.inner, links.left, links.right
    if link(inner, left, right, n, ordered=True).cut_off:
        raise ReadError("the tree is damaged: a child is out of range or comes before its parent")
    count = one.column("count", np.arange(n))
    if np.any(count < 0) or np.any(count > Most.people):
        raise ReadError("the tree is damaged: a node has a negative or impossible count")
    if np.any(count[left] + count[right] != count[inner]):
        raise ReadError("the tree is inconsistent: children do not add up to their parent")
    if np.any(one.column("feature_idx", inner) < 0):
        raise ReadError("the tree is damaged: it tests a feature that does not exist")
    if not np.all(np.isfinite(one.nodes["value"])):
        raise ReadError("the tree is damaged: a value is not a number")
    sets = one.column("is_categorical", inner) != 0
    if np.any(np.isnan(one.nodes[one.threshold][inner[~sets]])):
        raise ReadError("the tree is damaged: a threshold is not a number")
    at = one.column("bitset_idx", inner[sets])
    if len(at) and (one.bitsets is None or np.any(at < 0) or np.any(at >= len(one.bitsets))):
        raise ReadError("the tree is damaged: a category set is missing")
    if np.any(categories.size[one.column("feature_idx", inner[sets])] == 0):
        raise ReadError("the tree is damaged: it sorts a number by categories")
    if int(categories.size[one.column("feature_idx", inner[sets])].sum()) > Most.made_codes:
        raise ModelTooLargeError("a tree names more categories than treeaudit takes in")


def _schema(
    found: Found, categories: Categories, classes: tuple[Label, ...] | None, budget: Budget
) -> Schema:
    width = len(categories.names)
    named = budget.named(names_in(found.estimator), width)
    features = named or budget.unnamed(width)
    if any(known is not None for known in categories.names):
        each = zip(features, categories.names, categories.fill, strict=True)
        features = tuple(
            Feature(name=one.name, categories=known, fill=fill) for one, known, fill in each
        )
    return Schema(features=features, classes=classes, named=named is not None)


def _tested(stored: list[_Stored], categories: Categories, i: int) -> Wide:
    one = stored[i]
    return categories.home[np.repeat(one.column("feature_idx", one.inner), 2)]


def _tree(one: _Stored, categories: Categories) -> Tree:
    links, n = one.links, len(one.nodes)
    inner, seen = links.inner, one.column("feature_idx", links.inner)
    sets = one.column("is_categorical", inner) != 0
    missing_left = None
    if "missing_go_to_left" in (one.nodes.dtype.names or ()):
        missing_left = one.column("missing_go_to_left", inner) != 0
    threshold = one.nodes[one.threshold][inner].astype(np.float64)
    codes = None
    if sets.any() and one.bitsets is not None:
        bitsets = one.bitsets[one.column("bitset_idx", inner[sets])]
        codes = code_sets(categories, n, seen[sets], bitsets, links.left[sets], links.right[sets])
    return links.edges(categories.home[seen], threshold, missing_left, sets).tree(
        categories=codes,
        n_records=one.column("count", np.arange(n)),
        value=one.nodes["value"].astype(np.float64),
    )
