"""How many people are in the groups that a file holds statistics of, where the file proves it.

Shares say nothing without the number of people that they are of, and classes of a tree only those
of its own people. So both count for a model that was given the very rows of a tree: by a pipeline,
vote, stack or search around both, and not beside it in a bundle, in a fold or in a draw.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.types import Float
from treeaudit.readers.walk import Place

_MOST_TREES = 64
# They hand all rows on to what they hold, each once.
_HAND_ON = frozenset(
    (
        "Pipeline ColumnTransformer FeatureUnion VotingClassifier VotingRegressor "
        "StackingClassifier StackingRegressor GridSearchCV RandomizedSearchCV "
        "HalvingGridSearchCV HalvingRandomSearchCV OneVsRestClassifier MultiOutputClassifier "
        "MultiOutputRegressor ClassifierChain RegressorChain SelectFromModel RFE RFECV "
        "TransformedTargetRegressor FixedThresholdClassifier TunedThresholdClassifierCV"
    ).split()
)
# Shares of the groups, and the parameter by which they may be no more than what somebody said.
_SHARES = (("priors_", "priors"), ("class_prior_", "priors"), ("weights_", ""))
# Their centres are means of those who are labelled so.
_LABELLED = frozenset({"KMeans", "BisectingKMeans", "HDBSCAN"})


def sizes_of(
    place: Place, n: int, trees: Sequence[Place], n_records: int | None
) -> tuple[Float | None, bool]:
    """Return how many people are in each group, or None; and whether that is certain."""
    model = place.value
    if not isinstance(model, Inert):
        return None, False
    if model.kind == "_CFSubcluster":
        stated = model.get("n_samples_")
        return (np.array([float(stated)]), True) if type(stated) is int else (None, False)
    bayesian = _numbers(model, "mean_precision_", n)
    if bayesian is not None:
        # Its weights are drawn to those that were expected.
        before = model.get("mean_precision_prior_")
        return (bayesian - before, True) if isinstance(before, int | float) else (None, False)
    labels = arrived(model.get("labels_"))
    if isinstance(labels, np.ndarray):
        people = _labelled(model, labels, n)
        return people, people is not None
    with_it = list(_given_alike(place, trees)) if _is_handed_on(place) else []
    told = {people for people, _, _ in with_it}
    weighed = any(heavy for _, heavy, _ in with_it)
    own = _numbers(model, "class_count_", n)
    if own is not None:
        all_ = told or ({n_records} if n_records is not None else set())
        whole = float(own.sum()) in all_ and _is_handed_on(place)
        return (own, whole and not weighed) if _are_people(own) else (None, False)
    if len(told) != 1 or weighed:
        return None, False
    people = _by_shares(model, n, float(told.pop() or 0))
    if people is None:
        people = _by_trees(model, n, [counts for _, _, counts in with_it])
    return people, people is not None


def _labelled(model: Inert, labels: np.ndarray, n: int) -> Float | None:
    """Return how many are labelled so; None where a group is of nobody, or of others than these."""
    if model.kind not in _LABELLED or labels.ndim != 1 or labels.dtype.kind not in "iu":
        return None
    inside = labels[(labels >= 0) & (labels < n)]
    people = np.bincount(inside, minlength=n).astype(np.float64)
    return people if people.all() else None


def _by_shares(model: Inert, n: int, n_people: float) -> Float | None:
    for name, given in _SHARES:
        shares = _numbers(model, name, n)
        if shares is None or (given and model.get(given) is not None):
            continue
        told = shares * n_people
        # Who is in which component is a chance, not a yes or no.
        if name == "weights_" or _are_people(told):
            return told
    return None


def _by_trees(model: Inert, n: int, counts: Sequence[Float | None]) -> Float | None:
    classes = arrived(model.get("classes_"))
    if not isinstance(classes, np.ndarray) or classes.shape != (n,):
        return None
    # Trees that answer other questions have other classes, of as many people or not.
    alike = {one.tobytes(): one for one in counts if one is not None and len(one) == n}
    return next(iter(alike.values())) if len(alike) == 1 else None


def _numbers(model: Inert, name: str, n: int) -> Float | None:
    """Return a stored number for each group."""
    stored = arrived(model.get(name))
    fits = isinstance(stored, np.ndarray) and stored.shape == (n,) and stored.dtype.kind in "iuf"
    return stored.astype(np.float64) if fits and isinstance(stored, np.ndarray) else None


def _are_people(sizes: Float) -> bool:
    """Tell whether these are whole numbers: weights make others of them."""
    return bool(np.isfinite(sizes).all() and np.allclose(sizes, np.rint(sizes), rtol=0, atol=1e-6))


def _hands_on(owner: Inert) -> bool:
    """Tell whether an object gives all rows that it gets to what it holds."""
    if owner.kind not in _HAND_ON or not owner.cls.module.startswith("sklearn."):
        return False
    cv = owner.get("cv")
    fitted_before = (isinstance(cv, str) and cv == "prefit") or owner.get("prefit") is True
    return not fitted_before and owner.get("refit") is not False


def _is_handed_on(place: Place) -> bool:
    return all(map(_hands_on, place.owners()))


def _outermost(place: Place) -> object:
    *_, last = (place.value, *place.owners())
    return last


def _given_alike(place: Place, trees: Sequence[Place]) -> Iterator[tuple[int, bool, Float | None]]:
    """Yield people, whether they weigh more, and those of each class, of trees of the same rows."""
    outer = _outermost(place)
    near = [tree for tree in trees if _outermost(tree) is outer and outer is not place.value]
    for tree in near[:_MOST_TREES]:
        owners = list(tree.owners())
        if all(map(_hands_on, owners)):
            yield from _in_tree(tree.value)
        elif all(map(_hands_on, owners[1:])):
            yield from _in_ensemble(owners[0], tree.value)


def _in_ensemble(owner: Inert, tree: object) -> Iterator[tuple[int, bool, Float | None]]:
    """Yield how many people an ensemble was given, of which a tree may have seen some."""
    stated = owner.get("_n_samples")
    if type(stated) is int:
        yield stated, False, None
    elif owner.kind.startswith("AdaBoost"):
        yield from ((people, False, None) for people, _, _ in _in_tree(tree))
    elif owner.kind.startswith("GradientBoosting") and _sees_all(owner):
        yield from ((people, heavy, None) for people, heavy, _ in _in_tree(tree))


def _sees_all(boosting: Inert) -> bool:
    """Tell whether the trees of a boosting neither see draws, nor are some people kept aside."""
    return boosting.get("subsample") == 1 and boosting.get("n_iter_no_change") is None


def _in_tree(owner: object) -> Iterator[tuple[int, bool, Float | None]]:
    """Yield what the root of a tree tells."""
    tree = arrived(owner.get("tree_")) if isinstance(owner, Inert) else None
    nodes = arrived(tree.get("nodes")) if isinstance(tree, Inert) else None
    values = arrived(tree.get("values")) if isinstance(tree, Inert) else None
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        return
    if not isinstance(owner, Inert) or not len(nodes):
        return
    if not {"n_node_samples", "weighted_n_node_samples"} <= {*(nodes.dtype.names or ())}:
        return
    people, weight = nodes["n_node_samples"], nodes["weighted_n_node_samples"]
    if owner.get("class_weight") is not None:
        yield int(people[0]), False, None
        return
    counts = None
    if owner.get("classes_") is not None and values.ndim == 3 and values.shape[1] == 1:
        of_root = values[0, 0].astype(np.float64)
        counts = np.rint(of_root / max(of_root.sum(), 1e-300) * float(people[0]))
    yield int(people[0]), not np.array_equal(people, weight), counts
