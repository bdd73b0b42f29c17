"""The usual membership tests, beside which the count score is reported.

The loss attack asks how sure the model is of the right answer; offline LiRA
holds that against models of the same kind that never saw the person.

References
----------
Yeom et al. (2018), Privacy risk in machine learning, section 3 (loss).
Carlini et al. (2022), Membership inference attacks from first principles,
section IV and algorithm 1, offline and with one variance for all (LiRA); of
forests the mean of probabilities, not of their logits.
"""

import warnings
from collections.abc import Callable
from importlib import import_module

import numpy as np

from treeaudit.arrays import Float, Index, Int
from treeaudit.attacks.groups import Groups
from treeaudit.model.forest import Forest
from treeaudit.people.checks.leaf_values import changed_target
from treeaudit.people.predict.predictions import averages, class_shares
from treeaudit.people.records import Records

Scores = tuple[Float, Float]
Reason = str

_TRAINED_AGAIN = {
    "DecisionTreeClassifier": "sklearn.tree",
    "ExtraTreeClassifier": "sklearn.tree",
    "RandomForestClassifier": "sklearn.ensemble",
    "ExtraTreesClassifier": "sklearn.ensemble",
}
"""The classes of shadow models, and where scikit-learn has them."""
_NOT_COPIED = ("random_state", "n_jobs", "verbose", "warm_start", "oob_score", "class_weight")
_SHADOWS = 16
_MOST_ROWS, _FEWEST_ROWS = 5_000, 500
_MOST_TREES, _MOST_WORK = 20, 800_000
"""Of a shadow model, whose mean over all models is what counts; and all their trees times rows."""
_SURE = 1e-3
"""Probabilities are kept this far from 0 and 1, where the logit has no value."""


def loss(forest: Forest, people: Groups) -> Scores | Reason:
    """Return how right the model is about members and about control people."""
    parts = ((people.train, people.members), (people.test, people.control))
    if averages(forest) and all(records.labels is not None for records, _ in parts):
        # Both at once: what the leaves say is worked out tree by tree.
        node = np.concatenate([records.node[rows] for records, rows in parts])
        labels = np.concatenate([records.known_labels[rows] for records, rows in parts])
        found = class_shares(forest, node)[0][np.arange(len(labels)), labels]
        return found[: len(people.members)], found[len(people.members) :]
    members, control = (_negative_errors(forest, records, rows) for records, rows in parts)
    if isinstance(members, str):
        return members
    return control if isinstance(control, str) else (members, control)


def _negative_errors(forest: Forest, records: Records, rows: Index) -> Float | Reason:
    if forest.answers != "mean":
        return f"the answer of {forest.source.estimator} is not the mean of its leaves"
    if records.targets is None:
        return "the model does not tell how sure it is"
    if changed_target(forest):
        return "the numbers in its leaves are in units of the changed target"
    total = np.zeros(len(rows))
    for i, tree in enumerate(forest.trees):
        if tree.value is None:
            return "the model does not tell how sure it is"
        total += tree.value[records.node[rows, i]]
    return -np.abs(total / forest.n_trees - records.targets[rows])


def lira(
    forest: Forest,
    people: Groups,
    seed: int,
    step: Callable[[int, int], None] | None = None,
    shadows: int = _SHADOWS,
) -> Scores | Reason:
    """Return offline LiRA scores: standard deviations above models without the person.

    Of a forest the mean over the models is that of their probabilities, whose logit is then
    taken: what a forest of all their trees would answer. Logits of few trees are far apart, and
    their mean found fewer members in most forests on which both were tried; more in single trees.
    """
    rows = _shadow_rows(forest, people, shadows)
    target = loss(forest, people)
    if isinstance(rows, str) or isinstance(target, str):
        return rows if isinstance(rows, str) else str(target)
    asked = np.concatenate(
        [people.train.values[people.members], people.test.values[people.control]]
    )
    train, test = people.train.known_labels, people.test.known_labels
    labels = np.concatenate([train[people.members], test[people.control]])
    rng = np.random.default_rng([seed, 0x71A])
    answers = np.empty((shadows, len(labels)))
    for i in range(shadows):
        chosen = rng.choice(people.reference, rows, replace=False)
        known = (people.test.values[chosen], test[chosen])
        drawn = int(rng.integers(2**31))
        answer = _shadow(forest, known, asked, labels, drawn, checked=i > 0)
        if isinstance(answer, str):
            return answer
        answers[i] = answer
        if step is not None:
            step(i + 1, shadows)
    # One variance for everybody: sixteen models do not tell it person by person.
    spread = float(np.sqrt(_logit(answers).var(axis=0, ddof=1).mean())) or 1.0
    many = forest.n_trees > 1
    without = _logit(answers.mean(axis=0)) if many else _logit(answers).mean(axis=0)
    score = (_logit(np.concatenate(target)) - without) / spread
    return score[: len(people.members)], score[len(people.members) :]


def _shadow_rows(forest: Forest, people: Groups, shadows: int) -> int | Reason:
    name = forest.source.estimator
    if name not in _TRAINED_AGAIN or people.test.labels is None:
        return f"shadow models are trained for plain trees and forests that classify, not {name}"
    if any(feature.categories is not None for feature in forest.schema.features):
        return "the columns are encoded before the model; shadow models would be others"
    trees = min(forest.n_trees, _MOST_TREES)
    rows = min(_MOST_ROWS, len(people.reference) // 2, _MOST_WORK // (shadows * trees))
    if rows >= min(_FEWEST_ROWS, len(people.reference) // 2) and rows > 1:
        return rows
    return f"{shadows} shadow models of {trees:,} trees would take too long"


def _shadow(
    forest: Forest,
    known: tuple[Float, Int],
    asked: Float,
    labels: Index,
    seed: int,
    *,
    checked: bool = False,
) -> Float | Reason:
    """Train one model and return its probability of the right labels."""
    name = forest.source.estimator
    try:
        kind = getattr(import_module(_TRAINED_AGAIN[name]), name)
        context = import_module("sklearn").config_context
    except ImportError:
        return "scikit-learn is not installed, which trains the shadow models"
    understood = kind().get_params()
    stated = forest.source.parameters.items()
    options = {k: v for k, v in stated if k in understood and k not in _NOT_COPIED}
    if "n_estimators" in options:
        options["n_estimators"] = min(forest.n_trees, _MOST_TREES)
    try:
        with context(skip_parameter_validation=checked), warnings.catch_warnings():
            # What a version says about models that nobody keeps is for nobody.
            warnings.simplefilter("ignore")
            model = kind(**options, random_state=seed).fit(*known)
            answer = model.predict_proba(asked)
    except (ValueError, TypeError) as error:
        return f"a shadow model could not be trained: {str(error).splitlines()[0][:120]}"
    column = np.full(int(max(labels.max(), model.classes_.max())) + 1, -1)
    column[model.classes_] = np.arange(len(model.classes_))
    at = column[labels]
    return np.where(at >= 0, answer[np.arange(len(labels)), at], 0.0)


def _logit(p: Float) -> Float:
    p = np.clip(p, _SURE, 1 - _SURE)
    return np.asarray(np.log(p / (1 - p)))
