"""Put the trees of several models that saw the same columns into one forest."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import get_args

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import ReadError
from treeaudit.model.forest import CountsAre, Forest, LazyTrees
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.source import Member
from treeaudit.model.tree import Tree
from treeaudit.readers.sklearn.model_ref import FittedEnsemble
from treeaudit.readers.sklearn.undo import in_double

_WEAKER: tuple[CountsAre, ...] = get_args(CountsAre)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """One of the models."""

    member: Member  # its name and size
    ensemble: FittedEnsemble  # its trees
    own_labels: bool = False  # whether its labels are its own, as in one-vs-rest
    some: bool = False  # whether it was given some of the rows, as a fold


def join(
    parts: Sequence[Part], columns: Sequence[Feature] = (), classes: tuple[Label, ...] | None = None
) -> Forest:
    """Return the forest of all the trees, in the order of the models; where from is not told."""
    ensembles = [part.ensemble for part in parts]
    features, homes = _features(ensembles, columns)
    labels, tree_classes = _labels(parts, classes)
    if len(parts) == 1 and ensembles[0].tree_classes is not None:
        tree_classes = ensembles[0].tree_classes
    elif any(ensemble.tree_classes is not None for ensemble in ensembles):
        # Beside trees that count all classes, those of a first round would be misread.
        ensembles = [_uncounted(ensemble) for ensemble in ensembles]
    ranks = [None] * len(parts) if tree_classes is not None else _ranks(ensembles, labels)
    single = all(g.single_precision for g in ensembles)
    width = 0 if labels is None else len(labels)
    start = [0, *accumulate(g.n_trees for g in ensembles)]

    def build(i: int) -> Tree:
        at = bisect_right(start, i) - 1
        tree = ensembles[at].build(i - start[at])
        if ensembles[at].single_precision and not single:
            tree = in_double(tree)
        return _fitted(tree, homes[at], ranks[at], width)

    weakest = max(ensembles, key=lambda g: _WEAKER.index(g.counts_are))
    people = {g.n_records for g in ensembles}
    saw = {g.records_are for g in ensembles}
    # Folds of one size are not the same people.
    some = len(parts) > 1 and any(part.some for part in parts)
    alike = len(people) == 1 and len(saw) == 1 and not some
    return Forest(
        trees=LazyTrees(build, start[-1]),
        schema=Schema(
            features=features,
            classes=labels,
            named=any(g.schema.named for g in ensembles),
        ),
        counts_are=weakest.counts_are,
        counts_reason=_reason(parts, weakest),
        answers="unknown",  # what the parts belong to says how they answer together
        records_are=ensembles[0].records_are if alike else "unknown",
        n_records=(
            ensembles[0].n_records
            if len(people) == 1 and "unknown" not in saw and not some
            else None
        ),
        single_precision=single,
        tree_classes=tree_classes,
        class_weights=_class_weights(ensembles, ranks, width),
        values_are=ensembles[0].values_are
        if len({g.values_are for g in ensembles}) == 1
        else "unknown",
    )


def _uncounted(ensemble: FittedEnsemble) -> FittedEnsemble:
    if ensemble.tree_classes is None:
        return ensemble
    reason = "boosted trees predict a number each: the file holds no counts of classes"
    return replace(
        ensemble,
        build=lambda i: replace(ensemble.build(i), counts=None),
        counts_are="absent",
        counts_reason=reason,
        tree_classes=None,
    )


def _class_weights(
    ensembles: Sequence[FittedEnsemble], ranks: Sequence[Wide | None], width: int
) -> tuple[tuple[float, ...] | None, ...] | None:
    """Put the weights of classes where the classes of the forest stand."""
    if not any(g.class_weights for g in ensembles):
        return None
    every: list[tuple[float, ...] | None] = []
    for g, rank in zip(ensembles, ranks, strict=True):
        for weight in g.class_weights or (None,) * g.n_trees:
            wide = np.ones(width)
            if weight is not None:
                wide[np.arange(len(weight)) if rank is None else rank] = weight
            every.append(None if weight is None else tuple(wide.tolist()))
    return tuple(every)


def _reason(parts: Sequence[Part], weakest: FittedEnsemble) -> str:
    if len({part.ensemble.counts_are for part in parts}) == 1:
        return weakest.counts_reason
    names = [part.member.inside for part in parts if part.ensemble.counts_are == weakest.counts_are]
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{names[0]}{more}: {weakest.counts_reason}"


def _features(
    ensembles: Sequence[FittedEnsemble], columns: Sequence[Feature]
) -> tuple[tuple[Feature, ...], list[Wide | None]]:
    """Return every column that some model knows, and where those of each model stand.

    Those of the data come first and in their order, also where no model asks
    for them.
    """
    schemas = {id(g.schema.features): g.schema.features for g in ensembles}
    known = list(dict.fromkeys(schemas.values()))
    if len(known) == 1 and {c.name for c in columns} <= {f.name for f in known[0]}:
        return known[0], [None] * len(ensembles)
    every = dict.fromkeys(feature for features in known for feature in features)
    by_name: dict[str, list[Feature]] = {}
    for feature in every:
        by_name.setdefault(feature.name, []).append(feature)
    ordered: dict[Feature, None] = {}
    for column in columns:
        ordered.update(dict.fromkeys(by_name.get(column.name, [column])))
    ordered.update(every)
    place = {feature: i for i, feature in enumerate(ordered)}
    places = {
        key: np.array([place[feature] for feature in features], dtype=np.int64)
        for key, features in schemas.items()
    }
    return _told_apart(ordered), [places[id(g.schema.features)] for g in ensembles]


def _told_apart(features: Iterable[Feature]) -> tuple[Feature, ...]:
    taken: set[str] = set()
    apart = []
    for feature in features:
        name = feature.name
        while name in taken:
            name += " (encoded)"
        taken.add(name)
        apart.append(replace(feature, name=name))
    return tuple(apart)


def _labels(
    parts: Sequence[Part], classes: tuple[Label, ...] | None
) -> tuple[tuple[Label, ...] | None, tuple[tuple[Label, ...], ...] | None]:
    """Return the labels of the forest, and of each tree where they are its own."""
    each = [part.ensemble.schema.classes for part in parts]
    if all(labels is None for labels in each):
        return None, None
    if not any(part.own_labels for part in parts):
        if classes is not None and all(set(labels or ()) <= set(classes) for labels in each):
            return classes, None
        return tuple(dict.fromkeys(label for labels in each for label in labels or ())), None
    width = max(len(labels) for labels in each if labels is not None)
    texts = [tuple(map(str, labels or ())) for labels in each]
    padded = [(*text, *["(none)"] * (width - len(text))) for text in texts]
    per_tree = tuple(
        labels
        for labels, part in zip(padded, parts, strict=True)
        for _ in range(part.ensemble.n_trees)
    )
    rest = width == 2 and all(text[0] == f"not {text[1]}" for text in texts if len(text) == 2)
    generic = ("another", "its own") if rest else tuple(f"class {i}" for i in range(width))
    return generic, per_tree


def _ranks(
    ensembles: Sequence[FittedEnsemble], labels: tuple[Label, ...] | None
) -> list[Wide | None]:
    """Return where the classes of each model stand among those of the forest."""
    place = {label: i for i, label in enumerate(labels or ())}
    ranks: list[Wide | None] = []
    for ensemble in ensembles:
        own = ensemble.schema.classes
        if labels is None or own in (labels, None):
            ranks.append(None)
            continue
        rank = np.array([place[c] for c in own or ()])
        if (np.diff(rank) < 0).any():
            raise ReadError("the model is inconsistent: its models order the classes in two ways")
        ranks.append(rank)
    return ranks


def _fitted(tree: Tree, home: Wide | None, rank: Wide | None, width: int) -> Tree:
    """Say a tree in terms of the columns and classes of the forest."""
    counts, feature = tree.counts, tree.feature
    if counts is not None and (rank is not None or counts.shape[1] < width):
        wide = np.zeros((len(counts), width))
        wide[:, np.arange(counts.shape[1]) if rank is None else rank] = counts
        counts = wide
    if home is not None:
        feature = np.where(feature < 0, -1, home[feature]).astype(np.int32)
    if counts is tree.counts and feature is tree.feature:
        return tree
    return replace(tree, counts=counts, feature=feature)
