"""Turn the inert record of a scikit-learn model into a `Forest`.

The model is taken apart into those that hold trees (`models`), each is read
over the columns that it saw (`tree_ensembles`, `histogram_boosting`), the
steps in front of it are undone (`behind`), and those that belong
together are put in a row (`join`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import ReadError
from treeaudit.model.forest import Answers, Boosting, Forest
from treeaudit.model.schema import Feature, Label
from treeaudit.model.source import Member, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.first_round import (
    DOUBLE,
    FIRST_ROUND,
    SHARES,
    SINGLE,
    labels_of_first_round,
    with_people,
)
from treeaudit.readers.limits import Most, clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.rounds import steps_of
from treeaudit.readers.residual.targets import SQUARED, is_one_of
from treeaudit.readers.sklearn.ensembles import BAGS, BOOSTINGS, FORESTS, TREES, children
from treeaudit.readers.sklearn.histogram_boosting import read_histogram_boosting
from treeaudit.readers.sklearn.join import Part, join
from treeaudit.readers.sklearn.model_ref import (
    Budget,
    FittedEnsemble,
    ModelRef,
    elements,
    label_of,
    names_in,
)
from treeaudit.readers.sklearn.models import is_read_apart, members_of
from treeaudit.readers.sklearn.node_table import read_nodes
from treeaudit.readers.sklearn.tree_ensembles import read_trees
from treeaudit.readers.sklearn.undo import plan_behind, undone


def to_forest(found: ModelRef, source: Source, n_bytes: int) -> Forest:
    """Return the forest that a stored scikit-learn model describes."""
    estimator = found.estimator
    members = members_of(found)
    budget = Budget(n_bytes)
    pieces = [_piece(member, budget) for member in members.trees]
    if not pieces:
        raise ReadError(f"the {found.estimator.kind} is damaged: it holds no tree that can be read")
    chosen = _largest_group(pieces, found.classes)
    picked = any(len(piece.found.before) > len(found.before) for piece in chosen)
    alike = len({piece.ensemble.schema.features for piece in chosen}) == 1
    columns = () if alike and not picked else _columns(found, chosen, budget)
    joined = join(chosen, columns, found.classes)
    apart = [piece.found for piece in pieces if piece not in chosen]
    # Models of other libraries are audited on their own.
    others = [one for one in members.others if not is_read_apart(one.estimator)]
    warnings = [text for piece in chosen for text in piece.ensemble.warnings]
    warnings += _not_audited(apart, others)
    _note_code(estimator, warnings)
    attributes = {name: arrived(value) for name, value in estimator.attributes.items()}
    version = attributes.get("_sklearn_version")
    alone = len(chosen) == 1 and chosen[0].found.estimator is estimator
    answers = answers_of(found, [(piece.found, piece.ensemble.n_trees) for piece in chosen])
    told = replace(
        joined,
        answers=answers,
        tree_weights=_tree_weights(estimator, len(joined.trees)) if answers == "weighted" else None,
        n_records=_n_records(found, joined.n_records),
        source=replace(
            source,
            estimator=estimator.cls.name,
            inside=found.inside,
            library="scikit-learn",
            library_version=clean(version) if isinstance(version, str) else None,
            parameters=_parameters(attributes),
            stored=found,
        ),
        warnings=tuple(dict.fromkeys(warnings)),
        seeds=_draw_seeds(estimator) if alone else None,
        members=() if alone else tuple(piece.member for piece in chosen),
    )
    if not alone or estimator.get("loss") is None:
        return told
    return replace(told, boosting=_boosting_of(estimator, told))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Piece(Part):
    """A model with trees of its own, and which columns they ask about."""

    found: ModelRef
    columns: object


def _piece(found: ModelRef, budget: Budget) -> _Piece:
    """Read a model with trees of its own, and say it in terms of the data."""
    kind, seen = found.estimator.kind, found.seen
    read = read_histogram_boosting if kind.startswith("HistGradient") else read_trees
    ensemble = read(found, budget)
    if found.get("loss") is not None:
        ensemble = _with_first_counts(found, ensemble)
    ensemble = _named(found, ensemble, budget)
    warnings = list(ensemble.warnings)
    plan = plan_behind(found, ensemble, budget, warnings) if found.before else None
    warnings += [f"{found.inside} is read alone: {seen.apart}"] if seen.apart else []
    warnings += [seen.note] if seen.note else []
    # Of a changed target, or of one among several, the numbers of the table are no measure.
    changed = seen.note or seen.apart or seen.target or seen.own_labels
    ensemble = ensemble if plan is None else undone(ensemble, plan)
    if found.before and plan is None and not seen.apart:
        ensemble = replace(ensemble, schema=replace(ensemble.schema, named=False))
    ensemble = replace(
        ensemble,
        warnings=tuple(warnings),
        values_are="unknown" if changed else ensemble.values_are,
    )
    transformed = bool(found.before) and (plan is None or bool(plan.made))
    return _Piece(
        member=Member(inside=found.inside, estimator=kind, n_trees=ensemble.n_trees),
        ensemble=ensemble,
        own_labels=seen.own_labels,
        some=seen.split,
        found=found,
        columns=(seen.apart, tuple(map(id, found.before)) if transformed else ()),
    )


def _largest_group(pieces: Sequence[_Piece], classes: tuple[Label, ...] | None) -> list[_Piece]:
    """Return the models over the same columns and classes that have most of the trees."""
    groups: dict[object, list[_Piece]] = {}
    for piece in pieces:
        own, labels = piece.own_labels, piece.ensemble.schema.classes
        known = labels is not None and (own or classes is None or set(labels) <= set(classes))
        key = (piece.columns, own, None if labels is None else known or labels)
        groups.setdefault(key, []).append(piece)

    def size(group: list[_Piece]) -> tuple[bool, int]:
        return not group[0].found.seen.apart, sum(p.ensemble.n_trees for p in group)

    return max(groups.values(), key=size)


def _named(found: ModelRef, ensemble: FittedEnsemble, budget: Budget) -> FittedEnsemble:
    """Take the names of columns from the model around, and add those that it put behind."""
    n = len(ensemble.schema.features)
    added, names = found.seen.added, found.seen.names
    if found.before or found.seen.apart or (ensemble.schema.named and not added):
        return ensemble
    outer = budget.named(names, n - len(added))
    if outer is None and not added:
        return ensemble
    features = outer or ensemble.schema.features[: n - len(added)]
    if features and any(one.categories is not None for one in ensemble.schema.features):
        both = zip(features, ensemble.schema.features, strict=False)
        features = tuple(replace(one, name=named.name) for named, one in both)
    features += tuple(Feature(name=name) for name in added)
    if len(features) != n:
        return ensemble
    return replace(
        ensemble, schema=replace(ensemble.schema, features=features, named=outer is not None)
    )


def _columns(found: ModelRef, pieces: Sequence[_Piece], budget: Budget) -> tuple[Feature, ...]:
    """Return the columns of the data, in front of everything."""
    first = found.before[0] if found.before else found.estimator
    names = names_in(first) if isinstance(first, Inert) else None
    names = found.seen.names if names is None else names
    if names is not None:
        return budget.named(names, len(names)) or ()
    for name in ("n_features_in_", "n_features_"):
        stated = first.get(name) if isinstance(first, Inert) else None
        if isinstance(stated, int) and 0 < stated <= Most.features:
            return budget.unnamed(stated)
    return max((p.ensemble.schema.features for p in pieces), key=len)


def _n_records(found: ModelRef, joined: int | None) -> int | None:
    stated = found.get("_n_samples")
    if joined is not None or found.seen.rows == "repeated" or not isinstance(stated, int):
        return joined
    return stated if 0 < stated < Most.people else None


_ANSWERS: Mapping[str, Answers] = {
    **dict.fromkeys(TREES | FORESTS | BAGS, "mean"),
    **dict.fromkeys(BOOSTINGS, "sum"),
    **dict.fromkeys(("AdaBoostClassifier", "AdaBoostRegressor"), "weighted"),
    "IsolationForest": "path",
    "RandomTreesEmbedding": "leaf",
}


def answers_of(found: ModelRef, members: Sequence[tuple[ModelRef, int]]) -> Answers:
    """Return how a model answers from the trees that were read of it.

    ``members`` are the models that have them, each with how many: the model itself, or some that
    it holds. Several models answer in a way that is not known, but for a bag of models that are
    means of equally many trees: the mean of these is the mean of all trees.
    """
    own = _ANSWERS.get(found.estimator.kind, "unknown")
    kept = {id(member.estimator) for member, _ in members}
    if kept == {id(found.estimator)}:
        return own
    held = {id(last_step(child).estimator) for child in children(found)}
    means = all(_ANSWERS.get(member.estimator.kind) == "mean" for member, _ in members)
    alike = len({n_trees for _, n_trees in members}) == 1
    return "mean" if own == "mean" and means and alike and kept == held else "unknown"


def _tree_weights(estimator: Inert, n_trees: int) -> tuple[float, ...] | None:
    """Return what the vote of each tree weighs; None if they do not vote by labels alone."""
    weights = arrived(estimator.get("estimator_weights_"))
    votes = estimator.kind == "AdaBoostClassifier" and estimator.get("algorithm") != "SAMME.R"
    if not votes or not isinstance(weights, np.ndarray) or weights.dtype.kind != "f":
        return None
    if weights.ndim != 1 or len(weights) < n_trees:
        return None
    told = weights[:n_trees].astype(np.float64)
    return tuple(told.tolist()) if np.isfinite(told).all() and (told >= 0).all() else None


def last_step(found: ModelRef) -> ModelRef:
    """Return the model at the end of a pipeline, which knows the steps before it."""
    while found.estimator.kind == "Pipeline" and (last := next(children(found), None)) is not None:
        found = last
    return found


_HIGHEST = (1 << 31) - 1


def _draw_seeds(estimator: Inert) -> tuple[int, ...] | None:
    """Return a seed per tree, or None where the file does not keep them or weights steered draws.

    scikit-learn keeps them in the trees. Where they were overwritten, that of the forest, from
    which it drew them, gives them again. Whether they draw what the trees hold is not looked at.
    """
    if estimator.kind not in FORESTS or estimator.get("bootstrap") is not True:
        return None
    if estimator.get("_sample_weight") is not None:
        return None
    trees = elements(estimator.get("estimators_"))
    own = [tree.get("random_state") for tree in trees if isinstance(tree, Inert)]
    found = tuple(seed for seed in own if _is_seed(seed))
    if len(found) == len(trees) and len({*found}) > 1:
        return found
    first = estimator.get("random_state")
    if not _is_seed(first):
        return None
    source = np.random.RandomState(first)
    return tuple(int(source.randint(_HIGHEST)) for _ in trees)


def _is_seed(seed: object) -> TypeGuard[int]:
    return isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < 1 << 32


def _with_first_counts(found: ModelRef, ensemble: FittedEnsemble) -> FittedEnsemble:
    """Return the trees of a model, with class counts in the first where its values give them.

    Of more than two classes each tree of the round tells one of them from all others.
    """
    steps, classes = steps_of(found.estimator), ensemble.schema.classes
    if steps is None or classes is None or len(classes) != max(len(steps), 2):
        return ensemble
    n = len(classes)
    told = [
        with_people(ensemble.build(i), step, i if n > 2 else 1, n) for i, step in enumerate(steps)
    ]
    first = [one for one in told if one is not None]
    if len(first) < len(steps):
        return ensemble
    people = all(whole for _, whole in first)

    def build(i: int) -> Tree:
        return first[i][0] if i < len(first) else ensemble.build(i)

    return replace(
        ensemble,
        build=build,
        counts_are="likely" if people else "weighted",
        counts_reason=FIRST_ROUND if people else SHARES,
        tree_classes=labels_of_first_round(classes, ensemble.n_trees) if n > 2 else None,
    )


_MOST_NAMED = 20


def _not_audited(trees: Sequence[ModelRef], others: Sequence[ModelRef]) -> list[str]:
    """Name the models that are no part of the forest: some with trees, and others without."""
    said = ((trees, "; choose members with --select"), (others, ", which is no tree model"))
    told = []
    for models, end in said:
        named = [f"{o.estimator.kind} at {o.inside or 'the top'}" for o in models[:_MOST_NAMED]]
        more = f" and {len(models) - _MOST_NAMED:,} more" if len(models) > _MOST_NAMED else ""
        end = end.replace("is no tree model", "are no tree models") if len(models) > 1 else end
        told += [clean(f"not audited: {', '.join(named)}{more}{end}")] if models else []
    return told


def _parameters(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Return the hyper-parameters that are plain values."""
    return {
        clean(name): value if value is None else label_of(value)
        for name, value in attributes.items()
        if not name.startswith("_")
        and not name.endswith("_")
        and (value is None or isinstance(value, bool | int | float | str))
    }


def _note_code(estimator: Inert, warnings: list[str]) -> None:
    """Warn of a class that is not of scikit-learn."""
    if estimator.cls.module.partition(".")[0] != "sklearn":
        warnings.append(
            f"{show(estimator.cls)} is a class outside scikit-learn: when it is loaded for real, "
            "its own code may change the model that was audited"
        )


_UNWEIGHTED = "rows had no weights of their own"


def _boosting_of(model: Inert, forest: Forest) -> Boosting | None:
    """Return how the trees follow from labels; None where the file does not tell all of it."""
    if forest.counts_are != "likely" or forest.answers != "sum":
        return None
    steps = steps_of(model)
    if not steps or not all(0 < one.p < 1 and one.learnt and one.odds is None for one in steps):
        return None
    step, several = steps[0], len(steps) > 1
    histograms = model.kind.startswith("HistGradient")
    bent = arrived(model.get("monotonic_cst")) is not None
    bent |= arrived(model.get("class_weight")) is not None
    rate = model.get("learning_rate")
    if bent or not isinstance(rate, int | float) or not rate:
        return None
    return Boosting(
        trees=forest.trees,
        start=tuple(math.log(one.p) if several else math.log(one.p / (1 - one.p)) for one in steps),
        shift=(0.0,) * len(steps),
        rate=float(rate) * (1.0 if histograms else step.rate),
        penalty=step.penalty,
        scale=1.0 if histograms else float(rate),
        mass=lambda _: None,
        squares=partial(_squares, () if histograms else elements(model.get("estimators_"))),
        single=False,
        derivatives=SINGLE if histograms else DOUBLE,
        stored=DOUBLE,
        assumptions=(_UNWEIGHTED,),
    )


def _squares(trees: Sequence[object], i: int) -> Float | None:
    """Return the sum of the squared gradients in every inner node of a tree of a boosting.

    It was grown on gradients by squared errors; the means of leaves gave way to steps.
    """
    tree = trees[i] if i < len(trees) else None
    if not isinstance(tree, Inert) or not is_one_of(tree, "criterion", SQUARED):
        return None
    record = read_nodes(arrived(tree.get("tree_")))
    if record.impurity is None:
        return None
    squares: Float = record.n_records * (record.impurity + record.value[:, 0] ** 2)
    squares[record.leaves] = np.nan
    return squares
