"""A `Forest` as a fitted scikit-learn estimator: one function per kind of model."""

import copy
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.schema import Label
from treeaudit.model.tree import Tree
from treeaudit.model.words import an
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.ensembles import FORESTS, TREES
from treeaudit.writers.node_tables import (
    JSON,
    NOT_SIZED,
    answers_of,
    grown,
    is_sized,
    path_length,
    predictor,
)

Live = Any
"""A scikit-learn estimator, which has no types."""


_OLD_NAMES = {
    "loss": {"deviance": "log_loss", "ls": "squared_error", "lad": "absolute_error"},
    "criterion": {"mse": "squared_error", "mae": "absolute_error"},
}


def estimator_of(forest: Forest, stored: Inert | None) -> Live:
    """Return the estimator whose trees are those of the forest."""
    kind = forest.source.estimator
    build = BUILDERS.get(kind)
    if build is None:
        raise UnsupportedModelError(
            f"{an(kind)} cannot be written as a scikit-learn estimator: {JSON}"
        )
    made = build(forest, stored)
    made.n_features_in_ = len(forest.schema.features)
    if forest.schema.named:
        made.feature_names_in_ = np.array(forest.schema.names, dtype=object)
    return made


def _tree(forest: Forest, stored: Inert | None) -> Live:
    del stored
    kind, n_features = forest.source.estimator, len(forest.schema.features)
    if forest.n_trees != 1:
        raise UnsupportedModelError(f"{an(kind)} has one tree, and the model {forest.n_trees}")
    made = fitted(forest)
    tree = forest.trees[0]
    made.tree_ = grown(made.tree_, tree, answers_of(tree, forest, 0), n_features)
    return with_parameters(made, forest.source.parameters)


def _forest(forest: Forest, stored: Inert | None) -> Live:
    del stored
    made = fitted(forest, n_estimators=1, bootstrap=False)
    made.estimators_ = members_like(made.estimators_[0], forest, forest.source.parameters)
    with_parameters(made, forest.source.parameters).set_params(n_estimators=forest.n_trees)
    state_draws(made, forest, "_n_samples_bootstrap")
    made.oob_score = False
    return made


def _bag(forest: Forest, stored: Inert | None) -> Live:
    kind, n_features = forest.source.estimator, len(forest.schema.features)
    inner = arrived(stored.get("estimator_")) if stored is not None else None
    if isinstance(inner, Inert) and inner.kind not in TREES:
        raise UnsupportedModelError(f"{an(kind)} of {inner.kind} cannot be written: {JSON}")
    made = fitted(forest, n_estimators=1, bootstrap=False)
    made.estimators_ = members_like(made.estimators_[0], forest, forest.source.parameters)
    made.estimators_features_ = [np.arange(n_features) for _ in made.estimators_]
    with_parameters(made, forest.source.parameters)
    made.set_params(n_estimators=forest.n_trees, max_features=1.0, bootstrap_features=False)
    state_draws(made, forest, "_max_samples")
    made._seeds = None
    made.oob_score = False
    return made


def _needed(forest: Forest, stored: Inert | None) -> Inert:
    if stored is None:
        raise UnsupportedModelError(
            f"{an(forest.source.estimator)} needs more than its trees to predict, and the model "
            "was not read from scikit-learn: defend the pickle, joblib or skops file that it was in"
        )
    return stored


def _ada_boost(forest: Forest, stored: Inert | None) -> Live:
    inert = _needed(forest, stored)
    kind = forest.source.estimator
    weights = arrived(inert.get("estimator_weights_"))
    if forest.tree_weights is not None:
        weights = np.array(forest.tree_weights)
    if not isinstance(weights, np.ndarray) or len(weights) < forest.n_trees:
        raise UnsupportedModelError(f"the {kind} does not tell what its trees weigh: {JSON}")
    made = fitted(forest, n_estimators=1)
    if inert.get("algorithm") == "SAMME.R" and not hasattr(made, "_boost_real"):
        raise UnsupportedModelError(
            "the boosting votes by SAMME.R, which the installed scikit-learn does not know: "
            f"install scikit-learn {forest.source.library_version}, or {JSON}"
        )
    stated = dict(forest.source.parameters)
    if kind == "AdaBoostClassifier":
        # Since 1.6 there is one way to vote, and since 1.8 no name for it.
        stated["algorithm"] = "SAMME.R" if inert.get("algorithm") == "SAMME.R" else "SAMME"
    made.estimators_ = members_like(made.estimators_[0], forest, forest.source.parameters)
    made.estimator_weights_ = np.asarray(weights, dtype=np.float64)[: forest.n_trees].copy()
    made.estimator_errors_ = np.zeros(forest.n_trees)
    return with_parameters(made, stated).set_params(n_estimators=forest.n_trees)


def _gradient_boosting(forest: Forest, stored: Inert | None) -> Live:
    inert = _needed(forest, stored)
    kind = forest.source.estimator
    example = _boosted(forest)
    rounds = arrived(inert.get("estimators_"))
    width = rounds.shape[1] if isinstance(rounds, np.ndarray) and rounds.ndim == 2 else 1
    if forest.n_trees % width:
        raise UnsupportedModelError(f"the {kind} has {width} trees a round: keep whole rounds")
    members = members_like(example.estimators_[0, 0], forest, forest.source.parameters)
    example.estimators_ = np.array(members, dtype=object).reshape(-1, width)
    _start(example, inert)
    for name in ("train_score_", "_rng", "oob_improvement_", "oob_scores_", "oob_score_"):
        if name in vars(example):
            delattr(example, name)
    example.n_estimators_ = len(example.estimators_)
    return example.set_params(n_estimators=len(example.estimators_))


def _boosted(forest: Forest) -> Live:
    """Return a boosting of one round on made-up rows with the loss of the model."""
    stated = forest.source.parameters
    example = fitted(forest)
    loss = with_parameters(example, stated).get_params()["loss"]
    short = {"max_iter": 1} if forest.source.estimator.startswith("Hist") else {"n_estimators": 1}
    again = fitted(forest, loss=loss, **short)
    return with_parameters(again, stated)


def _start(made: Live, inert: Inert) -> None:
    """Take over from which constant the boosting starts."""
    if inert.get("init") == "zero":
        made.init_ = "zero"
        return
    start = arrived(inert.get("init_"))
    own = made.init_
    if not isinstance(start, Inert) or start.kind != type(own).__name__:
        what = start.kind if isinstance(start, Inert) else "nothing that is known"
        raise UnsupportedModelError(f"the boosting starts from {what}: {JSON}")
    for name in ("class_prior_", "constant_"):
        value = arrived(start.get(name))
        if isinstance(value, np.ndarray):
            setattr(own, name, np.array(value, dtype=np.float64))
    if hasattr(own, "_random_state"):
        del own._random_state
    own.random_state = None


def _histogram_boosting(forest: Forest, stored: Inert | None) -> Live:
    inert = _needed(forest, stored)
    if any(feature.categories is not None for feature in forest.schema.features):
        raise UnsupportedModelError(
            f"{an(forest.source.estimator)} with categorical columns cannot be written: {JSON}"
        )
    made = _boosted(forest)
    example = made._predictors[0][0]
    width = made.n_trees_per_iteration_
    if forest.n_trees % width:
        raise UnsupportedModelError(f"the boosting has {width} trees a round: keep whole rounds")
    trees = [predictor(example, tree) for tree in forest.trees]
    made._predictors = [trees[i : i + width] for i in range(0, len(trees), width)]
    start = arrived(inert.get("_baseline_prediction"))
    own = np.asarray(made._baseline_prediction)
    found = np.asarray(start, dtype=np.float64)
    if found.size != own.size:
        raise UnsupportedModelError(f"the boosting does not tell what it starts from: {JSON}")
    shaped = found.reshape(own.shape)
    made._baseline_prediction = shaped if own.ndim else float(shaped)
    for name in ("_feature_subsample_rng", "_random_seed"):
        if name in vars(made):
            setattr(made, name, None)
    return made.set_params(max_iter=len(made._predictors))


def _class_named(kind: str) -> Live:
    """Return an estimator class by its public name."""
    import sklearn.ensemble
    import sklearn.tree

    if re.match("(Decision|Extra)Tree(Classifier|Regressor)$", kind):
        return getattr(sklearn.tree, kind)
    return getattr(sklearn.ensemble, kind)


def labels_of(classes: tuple[Label, ...]) -> Array:
    """Return class labels as the array that scikit-learn keeps."""
    array = np.array(classes)
    if len({type(label) for label in classes}) > 1 and array.dtype.kind == "U":
        return np.array(classes, dtype=object)
    return array


def fitted(forest: Forest, **options: Any) -> Live:  # noqa: ANN401
    """Return an estimator of the kind of a model, fitted on made-up rows, two for each class."""
    classes = forest.schema.classes
    made = _class_named(forest.source.estimator)(**options)
    n = 2 * len(classes or (0, 1))
    rows = np.zeros((n, len(forest.schema.features)), dtype=np.float32)
    # The rows tell the labels apart: boosting refuses a first tree that cannot.
    rows[:, 0] = np.arange(n) // 2
    labels = None if classes is None else labels_of(classes)
    try:
        with warnings.catch_warnings():
            # What a version says about made-up rows is for nobody.
            warnings.simplefilter("ignore")
            made.fit(rows, np.zeros(n) if labels is None else np.repeat(labels, 2))
    except (TypeError, ValueError) as error:
        raise UnsupportedModelError(
            f"the installed scikit-learn takes no such labels ({error}): write the version-free "
            "form instead (-o model.treeaudit.json)"
        ) from None
    if labels is None:
        return made
    if not np.array_equal(made.classes_, labels):
        raise UnsupportedModelError(
            "the labels of the model are not sorted, as scikit-learn has them: write the "
            "version-free form instead (-o model.treeaudit.json)"
        )
    return made


def with_parameters(estimator: Live, stated: Mapping[str, Any]) -> Live:
    """Return the estimator with the parameters of the model, but without its seed."""
    known = estimator.get_params(deep=False)
    given = {name: value for name, value in stated.items() if name in known}
    for name, renamed in _OLD_NAMES.items():
        if isinstance(given.get(name), str):
            given[name] = renamed.get(given[name], given[name])
    if "random_state" in known:
        given["random_state"] = None
    return estimator.set_params(**given)


def members_like(example: Live, forest: Forest, stated: Mapping[str, Any]) -> list[Live]:
    """Return one estimator for each tree."""
    n_features = len(forest.schema.features)
    shaped = with_parameters(copy.deepcopy(example), stated)
    members = []
    for i, tree in enumerate(forest.trees):
        member = copy.copy(shaped)
        member.tree_ = grown(example.tree_, tree, answers_of(tree, forest, i), n_features)
        members.append(member)
    return members


def state_draws(made: Live, forest: Forest, draws: str) -> None:
    """State rows and draws where they are known: they say what the counts are.

    The attribute ``draws`` is where this kind of ensemble keeps its draws for each tree.
    """
    for name in ("_n_samples", draws):
        if hasattr(made, name):
            delattr(made, name)
    if forest.n_records is not None:
        made._n_samples = forest.n_records
    first = forest.trees[0]
    if forest.records_are == "bootstrap" and first.counts is not None:
        each = [tree.counts[0].sum() for tree in forest.trees if tree.counts is not None]
        if len(set(each)) == 1 and float(each[0]).is_integer():
            setattr(made, draws, int(each[0]))


def isolation_forest(forest: Forest, stored: Inert | None) -> Live:
    """Return an isolation forest; it answers by the depths and the sizes of leaves."""
    drawn, offset = (None, None) if stored is None else _draws_and_offset(stored)
    if drawn is None or offset is None:
        raise UnsupportedModelError(
            f"the {forest.source.estimator} does not tell how many people each tree drew: {JSON}"
        )
    if not all(is_sized(tree) for tree in forest.trees):
        raise UnsupportedModelError(NOT_SIZED)
    bare = _without_values(forest)
    n_features = len(forest.schema.features)
    made = fitted(bare, n_estimators=1)
    made.estimators_ = members_like(made.estimators_[0], bare, {})
    made.estimators_features_ = [np.arange(n_features) for _ in made.estimators_]
    made.max_samples_ = made._max_samples = drawn
    made.offset_ = offset
    if hasattr(made, "_decision_path_lengths"):
        trees = [member.tree_ for member in made.estimators_]
        made._decision_path_lengths = tuple(tree.compute_node_depths() for tree in trees)
        lengths = tuple(path_length(tree.n_node_samples) for tree in trees)
        made._average_path_length_per_tree = lengths
    made._seeds = None
    if hasattr(made, "_n_samples"):
        made._n_samples = forest.n_records
    with_parameters(made, forest.source.parameters)
    return made.set_params(n_estimators=forest.n_trees, max_features=1.0)


def tree_embedding(forest: Forest, stored: Inert | None) -> Live:
    """Return an embedding by leaves: one column for each leaf of each tree."""
    del stored
    bare = _without_values(forest)
    made = fitted(bare, n_estimators=1)
    made.estimators_ = members_like(made.estimators_[0], bare, {})
    with_parameters(made, forest.source.parameters).set_params(n_estimators=forest.n_trees)
    leaves = [np.flatnonzero(tree.is_leaf) for tree in forest.trees]
    most = max(len(leaf) for leaf in leaves)
    made.one_hot_encoder_.set_params(sparse_output=made.sparse_output)
    made.one_hot_encoder_.fit(np.column_stack([np.resize(leaf, most) for leaf in leaves]))
    if hasattr(made, "_n_samples"):
        made._n_samples = forest.n_records
    return made


def _draws_and_offset(stored: Inert) -> tuple[int | None, float | None]:
    """Return what each tree drew, and from which score on somebody is an outlier."""
    drawn, offset = arrived(stored.get("_max_samples")), arrived(stored.get("offset_"))
    if isinstance(drawn, int | np.integer) and isinstance(offset, int | float | np.floating):
        return int(drawn), float(offset)
    return None, None


def _without_values(forest: Forest) -> Forest:
    """Leave out the made-up labels that the trees were grown on: nobody asks for them."""
    trees = forest.trees

    def build(i: int) -> Tree:
        return replace(trees[i], value=np.zeros(trees[i].n_nodes))

    schema = replace(forest.schema, classes=None)
    return replace(forest, trees=LazyTrees(build, len(trees)), schema=schema)


Builder = Callable[[Forest, Inert | None], Live]
BUILDERS: Mapping[str, Builder] = {
    **dict.fromkeys(sorted(TREES), _tree),
    **dict.fromkeys(sorted(FORESTS - {"RandomTreesEmbedding"}), _forest),
    **dict.fromkeys(("BaggingClassifier", "BaggingRegressor"), _bag),
    **dict.fromkeys(("AdaBoostClassifier", "AdaBoostRegressor"), _ada_boost),
    **dict.fromkeys(
        ("GradientBoostingClassifier", "GradientBoostingRegressor"), _gradient_boosting
    ),
    **dict.fromkeys(
        ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"), _histogram_boosting
    ),
    "IsolationForest": isolation_forest,
    "RandomTreesEmbedding": tree_embedding,
}
"""What can be written, by the name of its class."""
