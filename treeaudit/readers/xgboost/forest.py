"""From the objects of an XGBoost file to a `Forest`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from treeaudit.model.extras import KINDS, Extra, Extras, Kind
from treeaudit.model.forest import Forest, LazyTrees, RecordsAre
from treeaudit.model.schema import Label
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters.damage import each_tree
from treeaudit.readers.boosters.stored_booster import StoredBooster
from treeaudit.readers.first_round import FIRST_ROUND, counted, labels_of_first_round
from treeaudit.readers.residual.booster_parts import category_names, row_seed, targets_in
from treeaudit.readers.residual.extra import few
from treeaudit.readers.types import Wide
from treeaudit.readers.xgboost.cover import class_counts, people
from treeaudit.readers.xgboost.fields import unknown_in
from treeaudit.readers.xgboost.rounds import boosting_of
from treeaudit.readers.xgboost.schema import (
    Booster,
    read_booster,
    schema_of,
    seeds_of_draws,
)
from treeaudit.readers.xgboost.tree import StoredTree, read_tree

_MANY_TREES = 10
_COVER = "cover (sum_hessian) is a sum of second derivatives, not of people"
_IF_UNWEIGHTED = (
    "people per leaf are XGBoost's cover: they are people if the rows had no weights "
    "(sample_weight) in training, which the file cannot show"
)


def to_forest(document: Mapping[str, object], source: Source) -> Forest:
    """Return the forest of a model as `Booster.save_model` writes it."""
    booster = read_booster(document)
    trees = read_trees(booster)
    loss = booster.loss
    found = people(trees, booster.outputs, loss)
    schema, n_categories = schema_of(booster, trees)
    of_class = _first_counts(booster, trees, found)
    known = of_class if schema.classes is not None else {}
    n_classes = len(schema.classes or ())

    def build(i: int) -> Tree:
        tree = trees[i].tree(n_categories, found[i], booster.scale[i])
        if i not in known:
            return tree
        return counted(tree, known[i], booster.outputs[i] if n_classes > 2 else 1, n_classes)

    records_are, n_records = _records(booster, found)
    lazy = LazyTrees(build, len(trees))
    return Forest(
        trees=lazy,
        schema=schema,
        counts_are="likely" if known else "absent",
        counts_reason=_of_first(len(known), booster) if known else _reason(booster, found),
        answers="sum",
        records_are=records_are,
        n_records=n_records,
        single_precision=True,
        tree_classes=_tree_classes(booster, schema.classes) if known else None,
        boosting=boosting_of(booster, trees, lazy) if known else None,
        source=replace(
            source,
            estimator=f"XGBoost {booster.loss.objective}".strip(),
            library="XGBoost",
            library_version=booster.version,
            parameters=booster.parameters,
            stored=StoredBooster(document=document),
        ),
        warnings=tuple(_warnings(booster, trees, found, n_categories)),
        extras=Extras(
            found=(
                *_extras(booster, trees, found, of_class),
                *category_names("learner.gradient_booster.model.cats", booster.categories.values()),
                *(seed for at in seeds_of_draws(document) for seed in row_seed(at, True)),
                *few(unknown_in(document, booster)),
            ),
            looked_for=KINDS if schema.classes is not None else KINDS - _targets(trees, found),
        ),
    )


def read_trees(booster: Booster) -> list[StoredTree]:
    """Check every tree of the file."""
    return each_tree(
        booster.trees, lambda raw: read_tree(raw, booster.n_features, booster.leaf_width)
    )


def _records(booster: Booster, found: Sequence[object]) -> tuple[RecordsAre, int | None]:
    """Tell whether every tree saw all rows: subsampling makes the sums differ."""
    roots = {int(n[0]) for n in found if isinstance(n, np.ndarray)}
    if len(roots) != 1:
        return "unknown", None
    stated = booster.parameters.get("subsample")
    sure = stated == 1.0 if stated is not None else len(found) >= _MANY_TREES
    told = sum(n is not None for n in found)
    if sure and (stated is not None or told >= _MANY_TREES):
        return "all", roots.pop()
    return "unknown", None


def _reason(booster: Booster, found: Sequence[object]) -> str:
    told = sum(n is not None for n in found)
    if told == 0:
        return f"the file holds no counts: {_COVER}"
    whose = "every tree" if told == len(found) else f"{told:,} of {len(found):,} trees"
    return f"the file holds no class counts; in {whose} the cover gives the people per leaf"


def _warnings(
    booster: Booster,
    trees: Sequence[StoredTree],
    found: Sequence[object],
    n_categories: Mapping[int, int],
) -> list[str]:
    said = []
    if any(n is not None for n in found):
        said.append(_IF_UNWEIGHTED)
    cut_off = sum(tree.links.cut_off for tree in trees)
    if cut_off:
        said.append(
            f"{cut_off:,} nodes are pruned from their trees but still in the file, with cover "
            "and threshold"
        )
    if booster.leaf_width > 1:
        said.append(
            f"every leaf holds {booster.leaf_width} numbers (multi_output_tree): "
            "leaf values and people are not read"
        )
    if set(n_categories) - set(booster.categories):
        said.append(
            "the file does not list the categories of every categorical column: codes beyond "
            "those that its splits name are put into one last category"
        )
    if any(not name.isascii() or "\\x" in name for c in booster.categories.values() for name in c):
        said.append(
            "XGBoost cuts category names at the wrong place where they are not plain ASCII: they "
            "are shown as the file holds them"
        )
    if booster.out_of_turn:
        said.append(
            "the trees do not take turns between the outputs, as XGBoost writes them: "
            "somebody has rearranged the model"
        )
    return said


def _first_counts(
    booster: Booster, trees: Sequence[StoredTree], found: Sequence[Wide | None]
) -> dict[int, Wide]:
    """Return how many people of its class are in the leaves of each tree of the first round."""
    told = {}
    for i in range(min(booster.loss.n_first_round, len(trees))):
        n, p = found[i], booster.loss.probability(booster.outputs[i])
        # Fractions as labels, which reg:logistic allows, are no people of a class.
        if n is None or p is None or booster.loss.objective == "reg:logistic":
            continue
        of_class = class_counts(trees[i], n, p)
        if of_class is not None:
            told[i] = of_class
    return told


def _tree_classes(
    booster: Booster, classes: tuple[Label, ...] | None
) -> tuple[tuple[Label, ...], ...] | None:
    """Return what the trees count that tell one class from all others."""
    if classes is None or len(classes) < 3:
        return None
    each = labels_of_first_round(classes, len(classes))
    return tuple(each[output] for output in booster.outputs)


def _targets(trees: Sequence[StoredTree], found: Sequence[Wide | None]) -> frozenset[Kind]:
    pairs = zip(trees, found, strict=True)
    return targets_in(None if n is None else n[tree.links.is_leaf] for tree, n in pairs)


def _of_first(known: int, booster: Booster) -> str:
    """Say where the class counts are from."""
    if booster.loss.n_first_round == 1:
        return FIRST_ROUND
    return (
        f"the class counts of {known:,} trees of the first round follow from their leaf values, "
        "whole in every leaf: they are people unless rows had weights of their own"
    )


def _extras(
    booster: Booster,
    trees: Sequence[StoredTree],
    found: Sequence[Wide | None],
    of_class: Mapping[int, Wide],
) -> tuple[Extra, ...]:
    """Return what the leaf weights of the first round say about labels."""
    told = []
    for i, second in of_class.items():
        n = found[i]
        if n is not None:
            size = n[trees[i].links.is_leaf]
            pure = int(np.count_nonzero((second == 0) | (second == size)))
            told.append(_leftover(i, booster, size, pure))
    return tuple(told)


def _leftover(tree: int, booster: Booster, size: Wide, pure: int) -> Extra:
    label = booster.outputs[tree] if booster.loss.n_outputs > 1 else 1
    return Extra(
        kind="first-round-counts",
        where=f"learner.gradient_booster.model.trees[{tree}].base_weights",
        n=int(size.sum()),
        says=(
            "unless rows had weights, the leaf weights of the first round give the exact number "
            f"of people of class {label} in each of {len(size):,} leaves: {pure:,} leaves hold "
            "nobody else, or none of them"
        ),
    )
