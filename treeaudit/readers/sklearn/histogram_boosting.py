"""Histogram gradient boosting: its node tables, category sets and missing values.

Every layout from 0.21 to 1.9: ``threshold`` or ``num_threshold``, missing values since 0.22,
categories since 0.24, and since 1.4 an encoder of its own that puts their columns in front.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Array, Flag, Table, Wide
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Links, damaged_tree, link, of_boosting
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.model_ref import (
    Budget,
    FittedEnsemble,
    ModelRef,
    category_names,
    elements,
    names_in,
)

_NEEDED = ("value", "count", "feature_idx", "left", "right", "is_leaf")
_NO_COUNTS = "boosted trees predict a number each: the file holds no counts of classes"
_MOST_CODES = 256
_ENCODER = "OrdinalEncoder"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Categories:
    """What the trees call their columns, which they may number otherwise than the data does.

    ``home`` is the column of the data behind each of theirs, ``size`` its number of categories,
    ``values`` the numbers by which bitsets know these, one column after the other. Per column of
    the data, ``names`` are its categories, if any, and ``fill`` is that of missing values, if any.
    """

    home: Wide
    names: tuple[tuple[str, ...] | None, ...]
    fill: tuple[str | None, ...]
    size: Wide
    values: Wide


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


def read_histogram_boosting(found: ModelRef, budget: Budget) -> FittedEnsemble:
    """Return the trees of a HistGradientBoosting model."""
    predictors = _predictors(found)
    stored = []
    for predictor in predictors:
        one = _read(predictor)
        budget.take(one.n_bytes)
        stored.append(one)
    categories = _categories_of(found, _width(found, stored))
    for one in stored:
        _check(one, categories)
    roots = {int(one.nodes["count"][0]) for one in stored}
    classes = found.classes
    return FittedEnsemble(
        build=lambda i: _tree(stored[i], categories),
        n_trees=len(stored),
        tested=lambda i: categories.home[
            np.repeat(stored[i].column("feature_idx", stored[i].inner), 2)
        ],
        schema=_schema(found, categories, classes, budget),
        counts_are="absent",
        counts_reason="the model predicts a number, not a class" if classes is None else _NO_COUNTS,
        records_are="all" if found.seen.rows == "all" and len(roots) == 1 else "unknown",
        n_records=(max(roots) or None) if found.seen.rows != "repeated" else None,  # 0: taken out
        single_precision=False,
    )


def _predictors(found: ModelRef) -> list[Inert]:
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
            raise damaged_tree("its category sets have the wrong shape")
        return _Stored(nodes=nodes, threshold=threshold, bitsets=bitsets)
    return _Stored(nodes=nodes, threshold=threshold, bitsets=None)


def _width(found: ModelRef, stored: list[_Stored]) -> int:
    tested = [int(one.column("feature_idx", one.inner).max(initial=-1)) for one in stored]
    for name in ("n_features_in_", "_n_features", "n_features_"):
        stated = found.get(name)
        if isinstance(stated, int):
            if not max(tested) < stated <= Most.features:
                raise damaged_tree("it tests a feature that does not exist")
            return stated
    return max(tested) + 1 or 1


def _check(one: _Stored, categories: _Categories) -> None:
    """Refuse node tables that are no tree, or whose numbers contradict each other."""
    links, n = one.links, len(one.nodes)
    inner, left, right = links.inner, links.left, links.right
    if link(inner, left, right, n, ordered=True).cut_off:
        raise damaged_tree("a child is out of range or comes before its parent", "wrong")
    count = one.column("count", np.arange(n))
    if np.any(count < 0) or np.any(count > Most.people):
        raise ReadError("the tree is damaged: a node has a negative or impossible count")
    if np.any(count[left] + count[right] != count[inner]):
        raise ReadError("the tree is inconsistent: children do not add up to their parent")
    if np.any(one.column("feature_idx", inner) < 0):
        raise damaged_tree("it tests a feature that does not exist")
    if not np.all(np.isfinite(one.nodes["value"])):
        raise damaged_tree("a value is not a number", "wrong")
    sets = one.column("is_categorical", inner) != 0
    if np.any(np.isnan(one.nodes[one.threshold][inner[~sets]])):
        raise damaged_tree("a threshold is not a number", "wrong")
    at = one.column("bitset_idx", inner[sets])
    if len(at) and (one.bitsets is None or np.any(at < 0) or np.any(at >= len(one.bitsets))):
        raise damaged_tree("a category set is missing")
    if np.any(categories.size[one.column("feature_idx", inner[sets])] == 0):
        raise ReadError("the tree is damaged: it sorts a number by categories")
    if int(categories.size[one.column("feature_idx", inner[sets])].sum()) > Most.made_codes:
        raise ModelTooLargeError("a tree names more categories than treeaudit takes in")


def _schema(
    found: ModelRef, categories: _Categories, classes: tuple[Label, ...] | None, budget: Budget
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


def _tree(one: _Stored, categories: _Categories) -> Tree:
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
        codes = _code_sets(categories, n, seen[sets], bitsets, links.left[sets], links.right[sets])
    return links.edges(categories.home[seen], threshold, missing_left, sets).tree(
        categories=codes,
        n_records=one.column("count", np.arange(n)) if one.nodes["count"][0] else None,
        value=one.nodes["value"].astype(np.float64),
    )


def _categories_of(found: ModelRef, width: int) -> _Categories:
    """Return the categorical columns of a model.

    Since 1.4 an encoder inside the model numbers the categories and puts their
    columns first; before, the data came with numbers, and those that occurred
    are among the thresholds of the bins.
    """
    flags = arrived(found.get("is_categorical_"))
    names: list[tuple[str, ...] | None] = [None] * width
    fill: list[str | None] = [None] * width
    if not isinstance(flags, np.ndarray) or flags.shape != (width,) or not flags.any():
        return _categories(np.arange(width), names, fill, [()] * width)
    chosen = np.flatnonzero(flags)
    encoded = found.get("_preprocessor")
    if isinstance(encoded, Inert):
        home = np.concatenate([chosen, np.flatnonzero(flags == 0)])
        _check_places(encoded, flags != 0)
        known, instead = _encoder_names(encoded)
        if len(known) != len(chosen):
            raise ReadError("the model is damaged: its encoder does not fit its columns")
        values = [tuple(range(len(each))) for each in known]
        if _binned(found, np.arange(len(chosen))) != values:
            raise ReadError("the model is inconsistent: its bins know other categories")
        for column, name in zip(chosen.tolist(), instead, strict=True):
            fill[column] = name
    else:
        home = np.arange(width)
        values = _binned(found, chosen)
        known = [tuple(map(str, each)) for each in values]
    coded: list[tuple[int, ...]] = [()] * width
    places = range(len(chosen)) if isinstance(encoded, Inert) else chosen.tolist()
    for place, column, each, numbers in zip(places, chosen.tolist(), known, values, strict=True):
        names[column], coded[place] = each, numbers
    return _categories(home, names, fill, coded)


def _categories(
    home: Wide,
    names: list[tuple[str, ...] | None],
    fill: list[str | None],
    coded: list[tuple[int, ...]],
) -> _Categories:
    return _Categories(
        home=home.astype(np.int64),
        names=tuple(names),
        fill=tuple(fill),
        size=np.array([len(each) for each in coded], dtype=np.int64),
        values=np.array([value for each in coded for value in each], dtype=np.int64),
    )


def _encoder_names(preprocessor: Inert) -> tuple[list[tuple[str, ...]], list[str | None]]:
    """Return the categories of the encoder, and the one that missing values are, of each column.

    What pandas has no value for has no number; of objects, None is a category like any other.
    """
    for step in elements(preprocessor.get("transformers_")):
        encoder = arrived(step[1]) if isinstance(step, tuple) and len(step) > 1 else None
        if isinstance(encoder, Inert) and encoder.kind == _ENCODER:
            unnumbered = arrived(encoder.get("_missing_indices")) or {}
            known, instead = list[tuple[str, ...]](), list[str | None]()
            for i, each in enumerate(elements(encoder.get("categories_"))):
                if not isinstance(each, np.ndarray) or each.ndim != 1 or each.dtype.names:
                    raise ReadError("the model is damaged: its encoder lost its categories")
                values = [arrived(v) for v in each[: _MOST_CODES + 1].tolist()]
                if len(values) > _MOST_CODES:
                    raise ReadError("the model is damaged: a column has too many categories")
                names, gap = category_names(values)
                last = len(values) - 1
                numbered = not isinstance(unnumbered, dict) or unnumbered.get(i) != last
                known.append(names if numbered else names[:-1])
                instead.append(gap if numbered and values[-1:] == [None] else None)
                _refuse_too_many(known)
            _check_codes(encoder, known)
            return known, instead
    return [], []


def _check_places(preprocessor: Inert, flags: Flag) -> None:
    """Make sure that the categorical columns are put in front, and the others behind them."""
    given = arrived(preprocessor.get("_transformer_to_input_indices"))
    taken: list[int] = []
    for step in elements(preprocessor.get("transformers_")):
        label, does, columns = step if isinstance(step, tuple) and len(step) == 3 else [None] * 3
        if isinstance(does, str) and does == "drop":
            continue
        chosen, does = arrived(columns), arrived(does)
        kind = "FunctionTransformer" if taken else _ENCODER
        fits = isinstance(does, Inert) and does.kind == kind
        if not fits or (taken and not _only_checks(does)):
            raise ReadError("the model is inconsistent: it changes its columns beforehand")
        if not isinstance(chosen, np.ndarray) or chosen.shape != flags.shape:
            raise ReadError("the model is damaged: its encoder does not tell its columns")
        places = np.flatnonzero(chosen).tolist()
        stated = arrived(given.get(label)) if isinstance(given, dict) else places
        if chosen.dtype != np.bool_ or stated != places:
            raise ReadError("the model is inconsistent: its encoder takes two sets of columns")
        taken += places
    if taken != [*np.flatnonzero(flags).tolist(), *np.flatnonzero(~flags).tolist()]:
        raise ReadError("the model is inconsistent: its encoder does not fit its columns")


def _only_checks(step: object) -> bool:
    """Tell whether the function of a step is that of scikit-learn which makes sure of numbers."""
    function = arrived(step.get("func")) if isinstance(step, Inert) else None
    if not isinstance(function, Inert) or function.kind != "partial":
        return False
    state = function.state if isinstance(function.state, tuple) else ()
    named = [*function.args[:1], *state[:1]]
    return all(isinstance(one, Global) and one.name == "check_array" for one in named)


def _check_codes(encoder: Inert, known: Sequence[Sequence[str]]) -> None:
    """Make sure that an encoder numbers the categories by their places, and nothing else."""
    missing = arrived(encoder.get("_missing_indices")) or {}
    last = {i: len(each) for i, each in enumerate(known)}
    numbers = [encoder.get(name) for name in ("unknown_value", "encoded_missing_value")]
    if (
        not isinstance(missing, dict)
        or any(last.get(i) != at for i, at in missing.items())
        or encoder.get("_infrequent_enabled")
        or encoder.get("handle_unknown") != "use_encoded_value"
        or not all(isinstance(one, float) and math.isnan(one) for one in map(arrived, numbers))
    ):
        raise ReadError("the model is inconsistent: its encoder numbers its categories otherwise")


def _binned(found: ModelRef, chosen: Wide) -> list[tuple[int, ...]]:
    """Return the numbers that occurred in each categorical column."""
    mapper = found.get("_bin_mapper") or found.get("bin_mapper_")
    flags = arrived(mapper.get("is_categorical_")) if isinstance(mapper, Inert) else None
    # What it holds for no category goes the way of missing values.
    if isinstance(flags, np.ndarray) and not np.array_equal(np.flatnonzero(flags), chosen):
        raise ReadError("the model is inconsistent: its bins are of other categorical columns")
    thresholds = elements(mapper.get("bin_thresholds_")) if isinstance(mapper, Inert) else []
    out: list[tuple[int, ...]] = []
    for column in chosen.tolist():
        known = thresholds[column] if column < len(thresholds) else None
        if not isinstance(known, np.ndarray) or known.ndim != 1 or known.dtype.kind not in "fiu":
            raise ReadError("the model is damaged: a column lost its categories")
        fits = np.isfinite(known) & (known >= 0) & (known < _MOST_CODES)
        if len(known) > _MOST_CODES or not fits.all() or np.any(np.diff(known) <= 0):
            raise ReadError("the model is damaged: a column has categories that cannot be")
        out.append(tuple(int(v) for v in known.tolist()))
        _refuse_too_many(out)
    return out


def _refuse_too_many(known: Sequence[Sequence[object]]) -> None:
    # Counted now and then: every column has at most 256.
    if len(known) % 256 == 0 and sum(map(len, known)) > Most.categories:
        raise ModelTooLargeError(f"the columns have more than {Most.categories:,} categories")


def _code_sets(
    categories: _Categories, n_nodes: int, column: Wide, bitsets: Array, left: Wide, right: Wide
) -> CategorySets:
    """Return which categories pass the edges of some splits.

    ``bitsets`` has 256 bits per split, set for what goes left; ``column`` is that of each split,
    as the trees number them.
    """
    start = np.concatenate([[0], np.cumsum(categories.size)])
    size = categories.size[column]
    split = np.repeat(np.arange(len(column)), size)
    code = np.arange(len(split)) - np.repeat(np.cumsum(size) - size, size)
    value = categories.values[start[column][split] + code]
    goes_left = (bitsets[split, value // 32].astype(np.int64) >> (value % 32)) & 1 == 1
    node = np.where(goes_left, left[split], right[split])
    # An edge that no category passes still has to be one: name a code that no one has.
    both, most = np.concatenate([left, right]), np.concatenate([size, size])
    empty = np.flatnonzero(np.bincount(node, minlength=n_nodes)[both] == 0)
    node, code = np.concatenate([node, both[empty]]), np.concatenate([code, most[empty]])
    order = np.argsort(node, kind="stable")
    ends = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(node, minlength=n_nodes), out=ends[1:])
    return CategorySets(start=ends, codes=code[order].astype(np.int32))
