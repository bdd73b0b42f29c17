"""Membership by shadow models: how much surer the model is than others about the same person.

Whom the model answers right may be easy to answer. So models of the same kind are trained on
random halves of the people who are asked about, members and unseen people alike, and the score
is the probability of the right label, over the mean of theirs. A coin of ours tells who is in
which half: nobody's membership shows in them, and equal people have equal scores.

References
----------
Zarifzadeh, Liu, Shokri (2024), Low-cost high-power membership inference attacks, equation 2 and
section 3 (online): the ratio of a person. Their attack then asks how many others have a lower one,
which keeps the order. On eight models (four kinds, Adult and MAGIC) it found more members than LiRA
(Carlini et al. 2022), whose means and variances of each person take more models.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.attacks.membership_inference.scores import Groups, Reason, Scores, loss
from treeaudit.model.forest import Forest
from treeaudit.people.predict.imputation import filled
from treeaudit.people.records import Records

_TRAINED_AGAIN = {
    "DecisionTree": "sklearn.tree",
    "ExtraTree": "sklearn.tree",
    "RandomForest": "sklearn.ensemble",
    "ExtraTrees": "sklearn.ensemble",
    "GradientBoosting": "sklearn.ensemble",
    "HistGradientBoosting": "sklearn.ensemble",
}
"""The kinds of shadow models, and where scikit-learn has them."""
_NOT_COPIED = (
    "random_state", "n_jobs", "verbose", "warm_start", "oob_score", "class_weight", "init",
    "n_estimators", "max_iter", "early_stopping", "n_iter_no_change", "scoring",
)  # fmt: skip
_MOST, _FEWEST = 16, 4
"""Shadow models; 32 told about as much as 16."""
_MOST_ROWS, _FEWEST_ROWS = 4_000, 500
_MOST_TREES, _MOST_ROUNDS = 20, 100
"""Of a forest, whose mean over all models is what counts, and of a boosting."""
_MOST_WORK = 2_400_000
"""Shadow models times their trees and rows."""
_USUAL_RATE, _USUAL_LEAF = 0.1, 20
"""Of a boosting that tells neither; as scikit-learn has them."""
_FLOOR = 0.1
"""Added to both probabilities: from 0.01 to 0.02 is no doubling that tells anything."""


def ratios(own: Float, others: Float) -> Float:
    """Return how much surer a model is than others of each person; ``others``: one row each."""
    return np.asarray((own + _FLOOR) / (others.mean(axis=0) + _FLOOR))


def by_shadows(
    forest: Forest, people: Groups, seed: int, step: Callable[[int, int], None] | None = None
) -> Scores | Reason:
    """Return the ratios of members and of control people; of fewer if all would take too long."""
    rng = np.random.default_rng([seed, 0x71A])
    boosted, classes = forest.answers == "sum", len(forest.schema.classes or ())
    trees = min(forest.n_trees, _MOST_ROUNDS * max(classes, 1) if boosted else _MOST_TREES)
    most = _MOST_WORK // (_FEWEST * trees)
    if most < min(_FEWEST_ROWS, len(people.members)):
        return f"{_FEWEST} shadow models of {trees:,} trees would take too long"
    pool = _pool(people, rng, most)
    parts = (
        (pool.train, pool.members),
        (pool.test, np.concatenate([pool.control, pool.reference])),
    )
    values = np.concatenate([records.values[chosen] for records, chosen in parts])
    values, _ = filled(values, values[:0])
    rows, asked = len(values) // 2, len(pool.members) + len(pool.control)
    target = loss(forest, pool)
    if isinstance(target, str):
        return target
    truth = np.concatenate([_truth(records)[chosen] for records, chosen in parts])
    shadows = min(_MOST, _MOST_WORK // (rows * trees)) // 2 * 2
    others, order = np.empty((shadows, asked)), np.arange(len(values))
    for i in range(shadows):
        # Of two models each person is in one.
        order = order[::-1] if i % 2 else rng.permutation(len(values))
        known = values[order[:rows]], truth[order[:rows]]
        found = _shadow(forest, known, values[:asked], truth[:asked], int(rng.integers(2**31)))
        if isinstance(found, str):
            return found
        others[i] = found
        if step is not None:
            step(i + 1, shadows)
    own = np.concatenate(target)
    if not classes:
        # What numbers are off by, as probabilities: 1 of nothing, 1/2 of what is usual.
        usual = float(-others.mean()) or 1.0
        own, others = usual / (usual - own), usual / (usual - others)
    score = ratios(own, others)
    return score[: len(pool.members)], score[len(pool.members) :]


def _pool(people: Groups, rng: np.random.Generator, most: int) -> Groups:
    """Draw whom shadow models are trained on, members and others alike if there are enough."""
    unseen = len(people.control) + len(people.reference)
    rows = min(_MOST_ROWS, most, (len(people.members) + unseen + 1) // 2)
    members = min(len(people.members), max(rows, 2 * rows - unseen))
    control = min(len(people.control), 2 * rows - members)
    reference = min(len(people.reference), 2 * rows - members - control)
    return replace(
        people,
        members=np.sort(rng.permutation(people.members)[:members]),
        control=np.sort(rng.permutation(people.control)[:control]),
        reference=np.sort(rng.permutation(people.reference)[:reference]),
    )


def _truth(records: Records) -> Float | Int:
    """Return the labels of people, or the numbers that the model is to predict."""
    return records.known_labels if records.targets is None else records.targets


def _shadow(
    forest: Forest, known: tuple[Float, Float | Int], asked: Float, truth: Float | Int, seed: int
) -> Float | Reason:
    """Train one model and return what `loss` is of it."""
    try:
        model = _untrained(forest, seed)
        limits = import_module("threadpoolctl").threadpool_limits
        # A version says much about models that nobody keeps, and threads wait for each other.
        with limits(limits=1, user_api="openmp"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(*known)
            if forest.schema.classes is None:
                return np.asarray(-np.abs(model.predict(asked) - truth))
            answer = model.predict_proba(asked)
    except ImportError:
        return "scikit-learn is not installed, which trains the shadow models"
    except (ValueError, TypeError) as error:
        return f"a shadow model could not be trained: {str(error).splitlines()[0][:120]}"
    column = np.full(int(max(truth.max(), model.classes_.max())) + 1, -1)
    column[model.classes_] = np.arange(len(model.classes_))
    at = column[truth.astype(np.intp)]
    return np.where(at >= 0, answer[np.arange(len(truth)), at], 0.0)


def _untrained(forest: Forest, seed: int) -> Any:  # noqa: ANN401  # an estimator, which has no type
    """Return a model of the same kind, or the nearest one that scikit-learn has."""
    end = "Classifier" if forest.schema.classes else "Regressor"
    name, stated = forest.source.estimator.removesuffix(end), forest.source.parameters
    boosted, width = forest.answers == "sum", len(forest.schema.classes or ())
    if name not in _TRAINED_AGAIN:
        name = "HistGradientBoosting" if boosted else "RandomForest"
        stated = {"min_samples_leaf": _smallest_leaf(forest)}
        if boosted:
            stated["max_leaf_nodes"] = max(2, *(len(tree.leaves) for tree in forest.trees))
    kind = getattr(import_module(_TRAINED_AGAIN[name]), name + end)
    understood = kind().get_params()
    options = {k: v for k, v in stated.items() if k in understood and k not in _NOT_COPIED}
    if boosted:
        rounds = forest.n_trees // (width if width > 2 else 1)
        fewer = min(rounds, _MOST_ROUNDS)
        # Fewer rounds of larger steps come as far.
        options["learning_rate"] = min(1.0, _rate(forest) * rounds / fewer)
        options["max_iter" if "max_iter" in understood else "n_estimators"] = fewer
    elif "n_estimators" in understood:
        options["n_estimators"] = min(forest.n_trees, _MOST_TREES)
    return kind(**options, random_state=seed)


def _rate(forest: Forest) -> float:
    if forest.boosting is not None:
        return forest.boosting.rate
    stated = forest.source.parameters
    return float(stated.get("learning_rate", stated.get("eta", _USUAL_RATE)))


def _smallest_leaf(forest: Forest) -> int:
    people = [
        tree.n_records[tree.leaves].min() for tree in forest.trees if tree.n_records is not None
    ]
    return max(1, int(min(people))) if people else _USUAL_LEAF
