"""Forests that learn no label: isolation forests, and embeddings by leaves."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.tree import Tree
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.writers.binary import JSON
from treeaudit.writers.templates import Live, fitted, members_like, with_parameters

NOT_SIZED = (
    "an isolation forest answers by the people in its leaves, and a leaf has none: repair "
    f"it with --method merge-siblings, without --strip, or {JSON}"
)


def path_length(people: npt.ArrayLike) -> Float:
    """Return how deep a tree is expected to go on below a leaf of so many people.

    The mean length of an unsuccessful search in a binary search tree, as in Liu,
    Ting and Zhou (2008), Isolation Forest, equation 1.

    Examples
    --------
    >>> path_length([0, 1, 2, 256]).round(3).tolist()
    [0.0, 0.0, 1.0, 10.245]
    """
    n = np.asarray(people, dtype=np.float64)
    length = np.where(n == 2, 1.0, 0.0)
    many = n[n > 2]
    length[n > 2] = 2.0 * (np.log(many - 1.0) + np.euler_gamma) - 2.0 * (many - 1.0) / many
    return length


def isolation_forest(forest: Forest, stored: Inert | None) -> Live:
    """Return an isolation forest; it answers by the depths and the sizes of leaves."""
    drawn, offset = (None, None) if stored is None else _beside(stored)
    if drawn is None or offset is None:
        raise UnsupportedModelError(
            f"the {forest.source.estimator} does not tell how many people each tree drew: {JSON}"
        )
    if not all(is_sized(tree) for tree in forest.trees):
        raise UnsupportedModelError(NOT_SIZED)
    bare = _without_values(forest)
    n_features = len(forest.schema.features)
    made = fitted(bare, n_estimators=1)
    made.estimators_ = members_like(made.estimators_[0], bare, {})
    made.estimators_features_ = [np.arange(n_features) for _ in made.estimators_]
    made.max_samples_ = made._max_samples = drawn
    made.offset_ = offset
    if hasattr(made, "_decision_path_lengths"):
        trees = [member.tree_ for member in made.estimators_]
        made._decision_path_lengths = tuple(tree.compute_node_depths() for tree in trees)
        lengths = tuple(path_length(tree.n_node_samples) for tree in trees)
        made._average_path_length_per_tree = lengths
    made._seeds = None
    if hasattr(made, "_n_samples"):
        made._n_samples = forest.n_records
    with_parameters(made, forest.source.parameters)
    return made.set_params(n_estimators=forest.n_trees, max_features=1.0)


def tree_embedding(forest: Forest, stored: Inert | None) -> Live:
    """Return an embedding by leaves: one column for each leaf of each tree."""
    del stored
    bare = _without_values(forest)
    made = fitted(bare, n_estimators=1)
    made.estimators_ = members_like(made.estimators_[0], bare, {})
    with_parameters(made, forest.source.parameters).set_params(n_estimators=forest.n_trees)
    leaves = [np.flatnonzero(tree.is_leaf) for tree in forest.trees]
    most = max(len(leaf) for leaf in leaves)
    made.one_hot_encoder_.set_params(sparse_output=made.sparse_output)
    made.one_hot_encoder_.fit(np.column_stack([np.resize(leaf, most) for leaf in leaves]))
    if hasattr(made, "_n_samples"):
        made._n_samples = forest.n_records
    return made


def _beside(stored: Inert) -> tuple[int | None, float | None]:
    """Return what each tree drew, and from which score on somebody is an outlier."""
    drawn, offset = arrived(stored.get("_max_samples")), arrived(stored.get("offset_"))
    if isinstance(drawn, int | np.integer) and isinstance(offset, int | float | np.floating):
        return int(drawn), float(offset)
    return None, None


def is_sized(tree: Tree) -> bool:
    """Tell whether every leaf has people, and the tree says how many."""
    return tree.n_records is not None and bool(np.all(tree.n_records[tree.is_leaf] > 0))


def _without_values(forest: Forest) -> Forest:
    """Leave out the made-up labels that the trees were grown on: nobody asks for them."""
    trees = forest.trees

    def build(i: int) -> Tree:
        return replace(trees[i], value=np.zeros(trees[i].n_nodes))

    schema = replace(forest.schema, classes=None)
    return replace(forest, trees=LazyTrees(build, len(trees)), schema=schema)
