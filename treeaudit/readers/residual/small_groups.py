"""Statistics of groups of people in a file: per class, cluster or component, and per category.

The mean of a class of one is the record of that person, and the mean label of a category of one
is their label. So they are groups as leaves are, compared with how many people are in each, if the
file proves it. Shares say nothing without the number of people that they are of. A tree tells that
number only for a model that got the same rows: by a pipeline, vote, stack or search around both,
not beside it in a bundle, in a fold or in a bootstrap sample.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from treeaudit.arrays import Float
from treeaudit.model.source import Extra
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.walk import Place

_FEWEST = 5
"""The smallest group that a built-in policy lets pass."""
_STATISTICS = (
    *("theta_", "feature_count_", "feature_log_prob_", "category_count_", "means_", "centroids_"),
    *("cluster_centers_", "subcluster_centers_", "centroid_"),
)
# How often a category, or a column that is not zero, occurs in each class; and means by class.
_COUNTS = ("category_count_", "feature_count_")
_MEANS = ("theta_", "means_", "centroids_")
_CLOSE = 1e-9
# A mean of the targets for each category, or for each of many scores.
_OF_LABELS = {
    "encodings_": "the mean label of {:,} categories",
    "proba_per_class_": "the shares of labels of {:,} categories",
    "y_thresholds_": "the mean label at {:,} scores",
    "_necessary_y_": "the mean label at {:,} scores",
}
_NAMED = frozenset((*_STATISTICS, *_OF_LABELS))
# Their centres are records of the training data, whatever is in a cluster.
_OF_RECORDS = frozenset({"AffinityPropagation"})
# Buffers of a node whose groups are reported one by one.
_PARTS = frozenset({"_CFNode"})
_MOST_TREES = 64
# They hand all rows on to what they hold, each once.
_HAND_ON = frozenset(
    "Pipeline ColumnTransformer FeatureUnion VotingClassifier VotingRegressor StackingClassifier "
    "StackingRegressor GridSearchCV RandomizedSearchCV HalvingGridSearchCV HalvingRandomSearchCV "
    "OneVsRestClassifier MultiOutputClassifier MultiOutputRegressor ClassifierChain RegressorChain "
    "SelectFromModel RFE RFECV TransformedTargetRegressor FixedThresholdClassifier "
    "TunedThresholdClassifierCV".split()
)
# Shares of the groups, and the parameter that makes them no more than what somebody gave.
_SHARES = (("priors_", "priors"), ("class_prior_", "priors"), ("weights_", ""))
# Their centres are means of those who are labelled so.
_LABELLED = frozenset({"KMeans", "BisectingKMeans", "HDBSCAN"})


def holds_groups(value: Inert) -> bool:
    """Tell whether an object of the file holds statistics of groups of people."""
    state = value.state if isinstance(value.state, dict) else value.attributes
    return not _NAMED.isdisjoint(state) and value.kind not in _PARTS


def groups(
    places: Sequence[Place],
    trees: Sequence[Place],
    n_records: int | None,
    larger: list[tuple[int, Extra]],
) -> Iterator[Extra]:
    """Yield the statistics of groups of too few people, or of an unknown number.

    `larger` takes the groups that are large enough by the usual policy, with their sizes.
    """
    for place in places:
        model = place.value
        if not isinstance(model, Inert):
            continue
        name = next((one for one in _STATISTICS if _n_groups(model, one)), None)
        n = 0 if name is None else _n_groups(model, name)
        sizes, certain = _sizes(place, n, trees, n_records) if name else (None, False)
        yield from _of_labels(place, model)
        yield from _by_category(place, model, sizes, larger)
        if name is None:
            continue
        where, what = place.at(name), f"statistics of {n:,} {'group' if n == 1 else 'groups'}"
        if model.kind in _OF_RECORDS and name == "cluster_centers_":
            says = f"{n:,} training records, the centres of their clusters"
            yield Extra(kind="records", where=where, n=n, says=says)
            continue
        small = np.empty(0) if sizes is None else sizes[(sizes > 0) & (sizes < _FEWEST)]
        if small.size:
            few = max(1, round(float(small.sum())))
            says = (
                f"{what}, the smallest of {max(1, round(float(small.min()))):,} and {small.size:,} "
                f"of fewer than {_FEWEST} people: the mean or sum of one person is the whole record"
            )
            yield Extra(kind="records", where=where, n=few, says=says)
        elif sizes is None or not certain:
            says = f"{what} of people, of nobody knows how many each: one of a single person would "
            yield Extra(kind="unseen", where=where, n=1, says=f"{says}be the whole record")
        elif sizes.any():
            least = round(float(sizes[sizes > 0].min()))
            says = f"{what}, the smallest of {least:,} people"
            larger.append((least, Extra(kind="records", where=where, n=least, says=says)))


def _of_labels(place: Place, model: Inert) -> Iterator[Extra]:
    """Yield means of labels by category: how many people they are of is not told."""
    for name, what in _OF_LABELS.items():
        n = sum(part.size for part in _parts(model, name))
        if n:
            says = f"{what.format(n)}, of nobody knows how many people each: of one it is the label"
            yield Extra(kind="category-counts", where=place.at(name), n=n, says=says)
    # Without the counts that they are made of.
    if not any(_parts(model, name) for name in _COUNTS):
        n = sum(part.size for part in _parts(model, "feature_log_prob_"))
        if n:
            says = f"{n:,} shares of labels by category, of nobody knows how many people each"
            where = place.at("feature_log_prob_")
            yield Extra(kind="category-counts", where=where, n=n, says=says)


def _by_category(
    place: Place, model: Inert, sizes: Float | None, larger: list[tuple[int, Extra]]
) -> Iterator[Extra]:
    """Yield counts of labels for categories of few people, or in which all have one label."""
    few: Counter[str] = Counter()
    uniform: Counter[str] = Counter()
    for name, table in _tables(model, sizes):
        people, largest = table.sum(axis=0), table.max(axis=0, initial=0.0)
        small = (people > 0) & (people < _FEWEST)
        of_one = (people >= _FEWEST) & (largest >= people) & (len(table) > 1)
        if (people >= _FEWEST).any():
            least = int(people[people >= _FEWEST].min())
            says = f"counts of labels by category, the smallest of {least:,} people"
            one = Extra(kind="category-counts", where=place.at(name), n=1, says=says)
            larger.append((least, one))
        few[name] += int(np.count_nonzero(small))
        uniform[name] += int(np.count_nonzero(of_one))
    both = ((few, f"of fewer than {_FEWEST} people"), (uniform, "in which everybody has one label"))
    for found, which in both:
        for name, n in found.items():
            if n:
                what = "1 category" if n == 1 else f"{n:,} categories"
                says = f"counts of labels for {what} {which}"
                yield Extra(kind="category-counts", where=place.at(name), n=n, says=says)


def _tables(model: Inert, sizes: Float | None) -> Iterator[tuple[str, Float]]:
    """Yield how many people of each class, a row, are in each category, a column.

    A mean of zeros and ones is a share: times the people of a class it is how many have a one.
    """
    for name in _COUNTS:
        for part in _parts(model, name):
            if part.ndim == 2:
                yield name, part.astype(np.float64)
    stored = _parts(model, "class_count_")
    all_ = stored[0] if len(stored) == 1 and stored[0].ndim == 1 else np.empty(0)
    for part in _parts(model, "feature_count_") if model.kind == "BernoulliNB" else ():
        if part.ndim == 2 and len(part) == len(all_):
            yield "feature_count_", all_[:, None] - part.astype(np.float64)
    if sizes is None or not isinstance(arrived(model.get("classes_")), np.ndarray):
        return
    for name in _MEANS:
        for part in _parts(model, name):
            if part.ndim == 2 and len(part) == len(sizes):
                sums = part.astype(np.float64) * sizes[:, None]
                off = np.abs(sums - np.rint(sums)) <= _CLOSE * sizes[:, None]
                yield name, np.rint(sums[:, (off & (sums > -_CLOSE)).all(axis=0)])


def _parts(model: Inert, name: str) -> list[Float]:
    """Return the tables of numbers in an attribute: it is one, or holds one for each column."""
    stored = arrived(model.get(name))
    parts = stored if isinstance(stored, list | tuple) else [stored]
    tables = [one for one in map(arrived, parts) if isinstance(one, np.ndarray)]
    return [one for one in tables if one.dtype.kind in "biuf" and one.ndim]


def _n_groups(model: Inert, name: str) -> int:
    """Return how many groups an attribute tells of."""
    parts = _parts(model, name)
    if name == "centroid_":
        return len(parts)
    # A table for each column has a row for each class, too.
    return len(parts[0]) if parts and parts[0].ndim == 2 else 0


def _sizes(
    place: Place, n: int, trees: Sequence[Place], n_records: int | None
) -> tuple[Float | None, bool]:
    """Return how many people are in each of n groups, or None; and whether that is certain."""
    model = place.value
    if not isinstance(model, Inert) or model.get("mean_precision_") is not None:
        return None, False  # the weights of a Bayesian mixture are no shares
    if model.kind == "_CFSubcluster":
        stated = model.get("n_samples_")
        return (np.array([float(stated)]), True) if type(stated) is int else (None, False)
    labels = arrived(model.get("labels_"))
    if isinstance(labels, np.ndarray):
        people = _labelled(model, labels, n)
        return people, people is not None
    handed_on = all(map(_hands_on, place.owners()))
    numbers = set(_people_of_trees(place, trees)) if handed_on else set()
    own = _numbers(model, "class_count_", n)
    if own is not None and not _are_people(own):
        return None, False
    if own is not None:
        known = numbers or ({n_records} if n_records is not None else set())
        return own, handed_on and None not in known and float(own.sum()) in known
    if len(numbers) != 1 or None in numbers:
        return None, False
    people = _by_shares(model, n, float(numbers.pop() or 0))
    return people, people is not None


def _labelled(model: Inert, labels: np.ndarray, n: int) -> Float | None:
    """Return how many are labelled so; None if a group is of nobody, or of others than these."""
    if model.kind not in _LABELLED or labels.ndim != 1 or labels.dtype.kind not in "iu":
        return None
    people = np.bincount(labels[(labels >= 0) & (labels < n)], minlength=n).astype(np.float64)
    return people if people.all() else None


def _by_shares(model: Inert, n: int, n_people: float) -> Float | None:
    for name, given in _SHARES:
        shares = _numbers(model, name, n)
        if shares is not None and not (given and model.get(given) is not None):
            people: Float = shares * n_people
            # Who is in which component is a probability, not a yes or no.
            if name == "weights_" or _are_people(people):
                return people
    return None


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


def _people_of_trees(place: Place, trees: Sequence[Place]) -> Iterator[int | None]:
    """Yield how many people the trees got that got the same rows; None if rows had weights."""
    outer = [*place.owners()][-1:]
    near = (tree for tree in trees if outer and [*tree.owners()][-1:] == outer)
    for tree in islice(near, _MOST_TREES):
        owners = list(tree.owners())
        if all(map(_hands_on, owners)):
            yield from _people_of_root(tree.value)
        elif all(map(_hands_on, owners[1:])):
            ensemble = owners[0]
            # The trees of a forest may have got some of its people.
            if type(n := ensemble.get("_n_samples")) is int:
                yield n
            elif ensemble.kind.startswith("AdaBoost"):
                yield from _people_of_root(tree.value, weighted=True)
            elif ensemble.kind.startswith("GradientBoosting") and (
                ensemble.get("subsample") == 1 and ensemble.get("n_iter_no_change") is None
            ):
                yield from _people_of_root(tree.value)


def _people_of_root(owner: object, *, weighted: bool = False) -> Iterator[int | None]:
    """Yield how many people a tree got; None if their weights, which may differ, tell otherwise."""
    tree = arrived(owner.get("tree_")) if isinstance(owner, Inert) else None
    nodes = arrived(tree.get("nodes")) if isinstance(tree, Inert) else None
    if not isinstance(owner, Inert) or not isinstance(nodes, np.ndarray) or not len(nodes):
        return
    if {"n_node_samples", "weighted_n_node_samples"} <= {*(nodes.dtype.names or ())}:
        people, weight = nodes["n_node_samples"], nodes["weighted_n_node_samples"]
        plain = weighted or owner.get("class_weight") is not None or np.array_equal(people, weight)
        yield int(people[0]) if plain else None
