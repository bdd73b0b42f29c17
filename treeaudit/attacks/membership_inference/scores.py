"""Members, non-members and reference people, and the usual membership tests (TA104, TA105).

An attack that is tested on the people it was tuned on proves nothing: one half of the unseen
people is the reference, the other half the control. `leaf_scores` compares the counts of the
leaves with what the reference makes one expect. The loss attack asks how sure the model is of the
right answer; offline LiRA compares that with models of the same kind that never saw the person.

References
----------
Yeom et al. (2018), Privacy risk in machine learning, section 3 (loss).
Carlini et al. (2022), Membership inference attacks from first principles,
section IV and algorithm 1, offline and with one variance for all (LiRA); of
forests the mean of probabilities, not of their logits.
"""

import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import changed_target
from treeaudit.people.predict.predictions import averages, class_shares
from treeaudit.people.records import Records

_PSEUDO = 0.5
"""People added to every leaf of the reference sample: an empty leaf is not impossible."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """People who were not in the training data, as far as the score needs them."""

    node: Int  # Shape `(n, n_trees)`: where each of them ends
    labels: Int | None  # Shape `(n,)`: positions in `schema.classes`, or None
    n_members: int  # People in the training data of the whole model


def expected_counts(reference: npt.ArrayLike, n_reference: int, total: float) -> Float:
    """Return how many people a leaf would hold of ``total``, given a reference sample."""
    return (np.asarray(reference, dtype=np.float64) + _PSEUDO) * (total / n_reference)


def people_ratio(counts: Float, expected: Float, share: float = 1.0) -> Float:
    """Return the log likelihood ratio of "is in the leaf" where people are counted once."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(1 - share + share * (counts / expected)))


def draws_ratio(counts: Float, expected: Float, each: float = 1.0) -> Float:
    """Return the log likelihood ratio of "is in the leaf" where draws are counted."""
    return np.asarray(counts * np.log1p(each / expected) - each)


def leaf_scores(forest: Forest, index: int, tree: Tree, reference: Reference) -> Float | None:
    """Return the score of being in each leaf of a tree, per class.

    Returns: shape ``(n_nodes, n_classes)``, or ``(n_nodes, 1)`` where the label does not matter; 0
    at inner nodes, where only those end whom no edge lets through. None where the tree tells
    nothing of people.
    """
    leaf = tree.is_leaf
    labels = reference.labels if forest.tree_classes is None else None
    counts = None if labels is None else tree.counts
    if labels is not None and counts is not None and forest.counts_are in ("exact", "likely"):
        scores = _labelled(forest, counts, leaf, reference, reference.node[:, index], labels)
    elif tree.n_records is not None:
        scores = _unlabelled(tree.n_records, counts, leaf, reference, index)
    else:
        return None
    scores[~leaf] = 0
    return scores


def _labelled(
    forest: Forest, counts: Float, leaf: Flag, reference: Reference, node: Int, labels: Int
) -> Float:
    n, classes = counts.shape
    key = node.astype(np.int64) * classes + labels
    seen = np.bincount(key, minlength=n * classes).reshape(n, classes)
    total = float(counts[leaf].sum())
    expected = expected_counts(seen, len(key), max(total, 1.0))
    if forest.records_are == "bootstrap":
        return draws_ratio(counts, expected, total / reference.n_members)
    return people_ratio(counts, expected, _share(total, reference))


def _unlabelled(
    people: Wide, weight: Float | None, leaf: Flag, reference: Reference, index: int
) -> Float:
    seen = np.bincount(reference.node[:, index], minlength=len(people))
    total = float(people[leaf].sum())
    expected = expected_counts(seen, len(reference.node), max(total, 1.0))
    share = _share(total, reference)
    scores = people_ratio(people.astype(np.float64), expected, share)[:, None]
    if weight is None:
        return scores
    nobody = people_ratio(np.zeros(1), np.ones(1), share)
    return np.where(weight > 0, scores, nobody)


def _share(total: float, reference: Reference) -> float:
    return min(1.0, total / reference.n_members)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Rows of the people given, by what they are used for."""

    # The people
    train: Records
    test: Records
    members: Index  # Rows of `train`, sampled
    control: Index  # Rows of `test` that nothing is learnt from, sampled
    reference: Index  # Rows of the other half of `test`, all of them

    def population(self, case: Case) -> Reference:
        """Return the reference half as the count score takes it."""
        labels = self.test.labels
        return Reference(
            node=self.test.node[self.reference],
            labels=None if labels is None else labels[self.reference],
            n_members=case.forest.n_records or len(self.train),
        )


def split_groups(case: Case, attack_id: str, most: int) -> Groups:
    """Split the people by the seed of the case."""
    train, test = case.people("train"), case.people("test")
    rng = np.random.default_rng([case.seed, zlib.crc32(attack_id.encode())])
    members = _one_each(train, rng.permutation(len(train)))[:most]
    every = rng.permutation(len(test))
    unseen = _one_each(test, every)
    half = len(unseen) // 2
    reference = unseen[:half]
    if test.persons is not None:
        reference = np.flatnonzero(np.isin(test.persons, test.persons[reference]))
    return Groups(
        train=train,
        test=test,
        members=np.sort(members),
        control=np.sort(unseen[half : half + most]),
        reference=np.sort(reference),
    )


def _one_each(people: Records, order: Index) -> Index:
    """Return the first record of every person in an order; all where persons are not known."""
    if people.persons is None:
        return order
    return order[np.sort(np.unique(people.persons[order], return_index=True)[1])]


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
