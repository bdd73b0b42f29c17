"""A `Forest` as a fitted scikit-learn estimator: one function per kind of model."""

from collections.abc import Callable, Mapping

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.words import an
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.ensembles import FORESTS, TREES
from treeaudit.writers.binary import JSON
from treeaudit.writers.node_tables import answers_of, grown, predictor
from treeaudit.writers.templates import Live, fitted, members_like, state_draws, with_parameters
from treeaudit.writers.without_labels import isolation_forest, tree_embedding


def estimator_of(forest: Forest, stored: Inert | None) -> Live:
    """Return the estimator whose trees are those of the forest."""
    kind = forest.source.estimator
    build = BUILDERS.get(kind)
    if build is None:
        raise UnsupportedModelError(
            f"{an(kind)} cannot be written as a scikit-learn estimator (known: "
            f"{', '.join(BUILDERS)}): {JSON}"
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
