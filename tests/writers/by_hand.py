"""What each kind of model answers, from the trees of its `Forest` and arithmetic alone."""

from dataclasses import replace

import numpy as np

import treeaudit as ta
from treeaudit.people.predict.predictions import averages, class_shares
from treeaudit.people.records import read_records


def answers(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the method of scikit-learn that says the same, and what it says.

    Parameters
    ----------
    forest
        The trees.
    beside
        The model as it was fitted: what it states beside its trees, such as the
        weights of a boosting.
    rows
        Whom to answer.
    """
    if averages(forest) and not forest.members:
        return "predict_proba", class_shares(forest, read_records(rows, forest))[0]
    return _BY_HAND[type(beside).__name__](forest, beside, rows)


def _values(forest: ta.Forest, rows: np.ndarray) -> np.ndarray:
    node = forest.apply(rows)
    return np.column_stack([t.value[node[:, i]] for i, t in enumerate(forest.trees)])


def _mean(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    return "predict", _values(forest, rows).mean(axis=1)


def _weighted_median(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    values = _values(forest, rows)
    order = values.argsort(axis=1, kind="stable")
    up_to = np.cumsum(beside.estimator_weights_[order], axis=1)
    middle = (up_to >= up_to[:, -1:] / 2).argmax(axis=1)
    return "predict", np.take_along_axis(values, order, axis=1)[np.arange(len(rows)), middle]


def _votes(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    n_classes = len(forest.schema.classes)
    total = np.zeros((len(rows), n_classes))
    real = getattr(beside, "algorithm", "SAMME") == "SAMME.R"
    for i, tree in enumerate(forest.trees):
        counts = tree.counts[tree.apply(rows.astype(np.float32))]
        if real:
            log = np.log(np.maximum(counts / counts.sum(axis=1)[:, None], np.finfo(float).eps))
            total += (n_classes - 1) * (log - log.mean(axis=1)[:, None]) / forest.n_trees
        else:
            said = np.eye(n_classes)[counts.argmax(axis=1)]
            others = -1 / (n_classes - 1)
            weights = beside.estimator_weights_
            total += np.where(said > 0, 1.0, others) * weights[i] / weights.sum()
    return "decision_function", total if n_classes > 2 else total[:, 1] - total[:, 0]


def _sums(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    """Sum the rounds; where it starts from is found on one row of the fitted model."""
    histogram = type(beside).__name__.startswith("Hist")
    method = "predict" if forest.schema.classes is None else "decision_function"
    rate = 1.0 if histogram else beside.learning_rate
    whole = ta.load(beside)
    width = whole.n_trees // (beside.n_iter_ if histogram else len(beside.estimators_))

    def rounds(trees: ta.Forest, some: np.ndarray) -> np.ndarray:
        values = rate * _values(trees, some)
        return values.reshape(len(some), -1, width).sum(axis=1)

    start = getattr(beside, method)(rows[:1]).reshape(1, width) - rounds(whole, rows[:1])
    total = start + rounds(forest, rows)
    return method, total if width > 1 else total[:, 0]


def _isolation(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    """Liu, Ting and Zhou (2008): depth and size of the leaf, over all trees."""

    def more(n: float) -> float:
        if n <= 2:
            return max(n - 1.0, 0.0)
        return 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n

    node = forest.apply(rows)
    length = np.zeros(len(rows))
    for i, tree in enumerate(forest.trees):
        at = node[:, i]
        length += tree.depths[at] + np.array([more(n) for n in tree.n_records.tolist()])[at]
    return "score_samples", -(2 ** -(length / forest.n_trees / more(beside.max_samples_)))


def _embedding(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    node = forest.apply(rows)
    leaves = [np.flatnonzero(tree.is_leaf) for tree in forest.trees]
    ones = [node[:, [i]] == leaf for i, leaf in enumerate(leaves)]
    return "transform", np.hstack(ones).astype(float)


def _vote(forest: ta.Forest, beside, rows: np.ndarray) -> tuple[str, np.ndarray]:
    said, start = [], 0
    for member, voter in zip(forest.members, beside.estimators_, strict=True):
        end = start + member.n_trees
        per_class = forest.class_weights
        part = replace(
            forest,
            trees=forest.trees[start:end],
            answers=ta.load(voter).answers,
            source=ta.Source(estimator=member.estimator),
            members=(),
            class_weights=None if per_class is None else per_class[start:end],
        )
        said.append(answers(part, voter, rows)[1])
        start = end
    votes = [one != "drop" for _, one in beside.estimators]
    weights = None if beside.weights is None else np.array(beside.weights)[votes]
    if forest.schema.classes is None:
        return "predict", np.average(said, axis=0, weights=weights)
    if beside.voting == "soft":
        return "predict_proba", np.average(said, axis=0, weights=weights)
    chosen = np.eye(len(forest.schema.classes))[np.argmax(said, axis=2)]
    total = np.average(chosen, axis=0, weights=weights)
    return "predict", beside.classes_[total.argmax(axis=1)]


_BY_HAND = {
    **dict.fromkeys(
        (
            "DecisionTreeRegressor",
            "ExtraTreeRegressor",
            "RandomForestRegressor",
            "ExtraTreesRegressor",
            "BaggingRegressor",
        ),
        _mean,
    ),
    "VotingClassifier": _vote,
    "VotingRegressor": _vote,
    "IsolationForest": _isolation,
    "RandomTreesEmbedding": _embedding,
    "AdaBoostRegressor": _weighted_median,
    "AdaBoostClassifier": _votes,
    "GradientBoostingClassifier": _sums,
    "GradientBoostingRegressor": _sums,
    "HistGradientBoostingClassifier": _sums,
    "HistGradientBoostingRegressor": _sums,
}
