"""Statistics of groups of people in a file: per class, cluster or component, and per category.

The mean of a class of one is the record of that person, and the mean label of a category of one
is their label. So they are groups as leaves are, and held against how many people are in each,
where the file tells.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.types import Float
from treeaudit.readers.walk import Place

__all__ = ["groups", "holds_groups"]

_FEWEST = 5
"""The smallest group that a built-in policy lets pass."""
_MOST_TREES = 64
_STATISTICS = (
    *("theta_", "feature_count_", "feature_log_prob_", "category_count_", "means_", "centroids_"),
    *("cluster_centers_", "subcluster_centers_", "centroid_"),
)
# A mean of the targets for each category, or for each of many scores.
_OF_LABELS = {
    "encodings_": "the mean label of {:,} categories",
    "proba_per_class_": "the shares of labels of {:,} categories",
    "y_thresholds_": "the mean label at {:,} scores",
    "_necessary_y_": "the mean label at {:,} scores",
}
_NAMED = frozenset((*_STATISTICS, *_OF_LABELS))
# Shares of the groups, and the parameter by which they may be no more than what somebody said.
_SHARES = (("priors_", "priors"), ("class_prior_", "priors"), ("weights_", ""))
# Their centres are records of the training data, whatever is in a cluster.
_OF_RECORDS = frozenset({"AffinityPropagation"})
# Buffers of a node whose groups are told one by one.
_PARTS = frozenset({"_CFNode"})


def holds_groups(value: Inert) -> bool:
    """Tell whether an object of the file holds statistics of groups of people."""
    state = value.state if isinstance(value.state, dict) else value.attributes
    return not _NAMED.isdisjoint(state) and value.kind not in _PARTS


def groups(
    places: Sequence[Place], trees: Sequence[Place], n_records: int | None
) -> Iterator[Leftover]:
    """Yield the statistics that are those of too few people, or of nobody knows how many.

    Parameters
    ----------
    places
        The objects of the file that hold some.
    trees
        Those that have a ``tree_``.
    n_records
        Training records of the model, where known.
    """
    counts, weighed = _in_trees(trees, n_records) if places else ([], False)
    for place in places:
        model = place.value
        if not isinstance(model, Inert):
            continue
        yield from _by_category(place, model)
        name = next((one for one in _STATISTICS if _n_groups(model, one)), None)
        if name is None:
            continue
        n = _n_groups(model, name)
        where, what = place.at(name), f"statistics of {n:,} {'group' if n == 1 else 'groups'}"
        if model.kind in _OF_RECORDS and name == "cluster_centers_":
            says = f"{n:,} training records, the centres of their clusters"
            yield Leftover(kind="records", where=where, n=n, says=says)
            continue
        sizes = None if weighed else _sizes(model, n, counts, n_records)
        if sizes is None:
            says = f"{what} of people, of nobody knows how many each: one of a single person would "
            yield Leftover(kind="unseen", where=where, n=1, says=f"{says}be the whole record")
            continue
        small = sizes[(sizes > 0) & (sizes < _FEWEST)]
        if small.size:
            few = max(1, round(float(small.sum())))
            says = (
                f"{what}, the smallest of {max(1, round(float(small.min()))):,} and {small.size:,} "
                f"of fewer than {_FEWEST} people: the mean or sum of one person is the whole record"
            )
            yield Leftover(kind="records", where=where, n=few, says=says)


def _by_category(place: Place, model: Inert) -> Iterator[Leftover]:
    """Yield means of labels by category: how many people they are of is not told."""
    for name, what in _OF_LABELS.items():
        n = sum(part.size for part in _parts(model, name))
        if n:
            says = f"{what.format(n)}, of nobody knows how many people each: of one it is the label"
            yield Leftover(kind="category-counts", where=place.at(name), n=n, says=says)
    few = 0
    for part in _parts(model, "category_count_"):
        people = part.sum(axis=0)
        few += int(np.count_nonzero((people > 0) & (people < _FEWEST)))
    if few:
        says = f"counts of labels for {few:,} categories of fewer than {_FEWEST} people"
        where = place.at("category_count_")
        yield Leftover(kind="category-counts", where=where, n=few, says=says)


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


def _numbers(model: Inert, name: str, n: int) -> Float | None:
    """Return a stored number for each group."""
    stored = arrived(model.get(name))
    fits = isinstance(stored, np.ndarray) and stored.shape == (n,) and stored.dtype.kind in "iuf"
    return stored.astype(np.float64) if fits and isinstance(stored, np.ndarray) else None


def _sizes(model: Inert, n: int, counts: Sequence[Float], n_records: int | None) -> Float | None:
    """Return how many people are in each group, or None where the file does not tell."""
    if model.kind == "_CFSubcluster":
        stated = model.get("n_samples_")
        return np.array([float(stated)]) if type(stated) is int else None
    labels = arrived(model.get("labels_"))
    if isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind in "iu":
        inside = labels[(labels >= 0) & (labels < n)]
        return np.bincount(inside, minlength=n).astype(np.float64)
    if n_records is None:
        return None
    own = _numbers(model, "class_count_", n)
    if own is not None:
        return own if _are_people(own) and own.sum() <= n_records else None
    for name, given in _SHARES:
        shares = _numbers(model, name, n)
        if shares is None or (given and model.get(given) is not None):
            continue
        told = shares * n_records
        # Who is in which component is a chance, not a yes or no.
        if name == "weights_" or _are_people(told):
            return told
    classes = arrived(model.get("classes_"))
    if not isinstance(classes, np.ndarray) or classes.shape != (n,):
        return None
    # Trees that answer other questions have other classes, of as many people or not.
    alike = {one.tobytes(): one for one in counts if len(one) == n}
    return next(iter(alike.values())) if len(alike) == 1 else None


def _are_people(sizes: Float) -> bool:
    """Tell whether these are whole numbers: weights make others of them."""
    return bool(np.isfinite(sizes).all() and np.allclose(sizes, np.rint(sizes), rtol=0, atol=1e-6))


def _in_trees(trees: Sequence[Place], n_records: int | None) -> tuple[list[Float], bool]:
    """Return the sizes of the classes as trees of everybody tell, and whether rows weigh more."""
    counts: list[Float] = []
    for place in trees[:_MOST_TREES]:
        owner = place.value
        if not isinstance(owner, Inert):
            continue
        tree = arrived(owner.get("tree_"))
        nodes = arrived(tree.get("nodes")) if isinstance(tree, Inert) else None
        values = arrived(tree.get("values")) if isinstance(tree, Inert) else None
        if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
            continue
        if not {"n_node_samples", "weighted_n_node_samples"} <= {*(nodes.dtype.names or ())}:
            continue
        people, weight = nodes["n_node_samples"], nodes["weighted_n_node_samples"]
        if not people.size or people[0] != n_records or owner.get("class_weight") is not None:
            continue
        if not np.array_equal(people, weight):
            return [], True
        if owner.get("classes_") is not None and values.ndim == 3 and values.shape[1] == 1:
            of_root = values[0, 0].astype(np.float64)
            counts.append(np.rint(of_root / max(of_root.sum(), 1e-300) * float(people[0])))
    return counts, False
