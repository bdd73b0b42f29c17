"""Votes: each of the models that vote is written by itself, and then they vote."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.source import Source
from treeaudit.model.words import an
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.ensembles import children
from treeaudit.readers.sklearn.model_ref import ModelRef
from treeaudit.readers.sklearn.models import members_of
from treeaudit.readers.sklearn.scikit_learn import last_step, to_forest
from treeaudit.writers.binary import JSON
from treeaudit.writers.templates import Live, labels_of, with_parameters

VOTES = frozenset({"VotingClassifier", "VotingRegressor"})
_ENOUGH = 1 << 62


def vote(forest: Forest, found: ModelRef, write: Callable[[Forest], Live]) -> Live:
    """Return the vote of the models that the trees of a forest belong to."""
    kind = found.estimator.kind
    others = members_of(found).others
    if others:
        raise UnsupportedModelError(
            f"{an(kind)} with {others[0].estimator.kind}, which has no trees, cannot be written as "
            f"a scikit-learn estimator: choose one of its models with --select, or {JSON}"
        )
    voters, at = [], 0
    original = to_forest(found, Source(), _ENOUGH)
    for child in children(found):
        whole = to_forest(last_step(child), Source(), _ENOUGH)
        part = _part(forest, whole, at, changed=forest.counts_are != original.counts_are)
        voters.append(_behind(write(part), len(found.before)))
        at += whole.n_trees
    if at != forest.n_trees:
        raise UnsupportedModelError(f"the {kind} lost trees of some of its models: {JSON}")
    return _voting(forest, found, voters)


def _part(forest: Forest, whole: Forest, start: int, *, changed: bool) -> Forest:
    """Return what became of one of the models, with the numbers of classes as its labels."""
    if whole.schema.features != forest.schema.features:
        raise UnsupportedModelError(
            f"the models of {an(forest.source.estimator)} that take different columns cannot be "
            f"written together: choose one of them with --select, or {JSON}"
        )
    classes, weights, trees = forest.schema.classes, forest.class_weights, forest.trees
    if whole.schema.classes != classes:
        raise UnsupportedModelError(
            f"the models of the {forest.source.estimator} know different classes: {JSON}"
        )
    numbers = None if classes is None else tuple(range(len(classes)))
    return replace(
        whole,
        trees=LazyTrees(lambda i: trees[start + i], whole.n_trees),
        schema=replace(whole.schema, classes=numbers),
        counts_are=forest.counts_are if changed else whole.counts_are,
        n_records=forest.n_records,
        class_weights=None if weights is None else weights[start : start + whole.n_trees],
    )


def _behind(made: Live, n_steps: int) -> Live:
    """Leave out the steps that stand before the vote, and so before all of them."""
    if not n_steps:
        return made
    return made[n_steps:] if len(made.steps) > n_steps + 1 else made.steps[-1][1]


def _voting(forest: Forest, found: ModelRef, voters: list[Live]) -> Live:
    import sklearn.ensemble
    from sklearn.base import clone
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils import Bunch

    left = iter(voters)
    named = [(name, next(left) if votes else "drop") for name, votes in _names(found)]
    stated = [(name, one if one == "drop" else clone(one)) for name, one in named]
    made = getattr(sklearn.ensemble, found.estimator.kind)(stated)
    with_parameters(made, {**forest.source.parameters, "weights": _weights(found)})
    made.estimators_ = voters
    made.named_estimators_ = Bunch(**dict(named))
    if forest.schema.classes is not None:
        labels = labels_of(forest.schema.classes)
        made.le_ = LabelEncoder().fit(labels)
        made.classes_ = made.le_.classes_
        if made.classes_.tolist() != labels.tolist():
            raise UnsupportedModelError(f"the labels of the vote are not sorted: {JSON}")
    if hasattr(voters[0], "feature_names_in_"):
        made.feature_names_in_ = voters[0].feature_names_in_
    return made


def _names(found: ModelRef) -> list[tuple[str, bool]]:
    """Return what the models are called, and whether each of them votes."""
    stored = found.get("estimators")
    pairs = [one for one in stored if isinstance(one, tuple)] if isinstance(stored, list) else []
    names = [(str(name), isinstance(arrived(one), Inert)) for name, one in pairs]
    n_voters = sum(1 for _ in children(found))
    if sum(votes for _, votes in names) != n_voters or len(dict(names)) != len(names):
        raise UnsupportedModelError(f"the vote does not tell what its models are called: {JSON}")
    return names


def _weights(found: ModelRef) -> list[float] | None:
    stored = found.get("weights")
    if stored is None:
        return None
    try:
        weights: list[float] = np.asarray(stored, dtype=np.float64).tolist()
    except (TypeError, ValueError):
        raise UnsupportedModelError(f"the weights of the vote are no numbers: {JSON}") from None
    return weights
