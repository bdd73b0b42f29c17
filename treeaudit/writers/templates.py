"""Fitted estimators of the installed scikit-learn, to be filled with other trees.

An estimator is fitted on a few made-up rows and its trees are exchanged. What a
version keeps beside its trees comes from that fit; nothing comes from the file.
"""

import copy
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Label
from treeaudit.writers.node_tables import answers_of, grown

Live = Any
"""A scikit-learn estimator, which has no types."""

_OLD_NAMES = {
    "loss": {"deviance": "log_loss", "ls": "squared_error", "lad": "absolute_error"},
    "criterion": {"mse": "squared_error", "mae": "absolute_error"},
}


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
