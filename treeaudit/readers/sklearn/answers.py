"""How the models of scikit-learn answer from their trees."""

from collections.abc import Mapping, Sequence

from treeaudit.model.forest import Answers
from treeaudit.readers.sklearn.ensembles import BAGS, FORESTS, TREES, children
from treeaudit.readers.sklearn.found import Found

_BOOSTINGS = ("GradientBoosting", "HistGradientBoosting")
_ANSWERS: Mapping[str, Answers] = {
    **dict.fromkeys(TREES | FORESTS | BAGS, "mean"),
    **dict.fromkeys(
        (f"{kind}{of}" for kind in _BOOSTINGS for of in ("Classifier", "Regressor")), "sum"
    ),
    **dict.fromkeys(("AdaBoostClassifier", "AdaBoostRegressor"), "weighted"),
    "IsolationForest": "path",
    "RandomTreesEmbedding": "leaf",
}


def answers_of(found: Found, members: Sequence[tuple[Found, int]]) -> Answers:
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


def last_step(found: Found) -> Found:
    """Return the model at the end of a pipeline, which knows the steps before it."""
    while found.estimator.kind == "Pipeline" and (last := next(children(found), None)) is not None:
        found = last
    return found
