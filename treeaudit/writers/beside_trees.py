"""What ensembles state beside their trees, said again for those that were repaired."""

from collections.abc import Mapping, Sequence

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.model_ref import ModelRef
from treeaudit.writers.binary import JSON
from treeaudit.writers.kept import GONE, Kept
from treeaudit.writers.node_tables import people_of
from treeaudit.writers.without_labels import NOT_SIZED, is_sized, path_length


def beside_trees(
    rounds: object, forest: Forest, whole: Forest, member: ModelRef, origin: list[int]
) -> dict[str, object]:
    """Return what an ensemble states beside its trees, where they change it."""
    stated, n = member.estimator.attributes, len(origin)
    changed: dict[str, object] = {}
    if whole.n_records != forest.n_records:
        gone = ("_n_samples", "_n_samples_bootstrap")
        changed.update((name, GONE) for name in gone if name in stated)
    if isinstance(rounds, np.ndarray):
        if n < whole.n_trees:
            changed.update(n_estimators=len(rounds), n_estimators_=len(rounds))
    elif "n_estimators" in stated:
        changed["n_estimators"] = n
    picked = member.get("estimators_features_")
    if isinstance(picked, list | tuple) and n < len(picked):
        changed["estimators_features_"] = [arrived(picked[k]) for k in origin]
    weights = member.get("estimator_weights_")
    if isinstance(weights, np.ndarray):
        changed["estimator_weights_"] = weights[origin].copy()
    trees = [forest.trees[i] for i in range(forest.n_trees)]
    if member.estimator.kind == "IsolationForest":
        changed.update(_path_lengths(trees, stated))
    if member.estimator.kind == "RandomTreesEmbedding":
        changed.update(_leaf_codes(trees, member))
    return changed


def _path_lengths(trees: Sequence[Tree], stated: Mapping[str, object]) -> dict[str, object]:
    """Return how deep people go: an isolation forest answers by it."""
    if not all(is_sized(tree) for tree in trees):
        raise UnsupportedModelError(NOT_SIZED)
    depths = tuple(tree.depths.astype(np.int64) + 1 for tree in trees)
    known = {
        "_decision_path_lengths": depths,
        "_average_path_length_per_tree": tuple(path_length(people_of(t)) for t in trees),
    }
    return {name: lengths for name, lengths in known.items() if name in stated}


def _leaf_codes(trees: Sequence[Tree], member: ModelRef) -> dict[str, object]:
    """Return the encoder of leaves, which has one column for each."""
    encoder = member.get("one_hot_encoder_")
    if not isinstance(encoder, Inert):
        raise UnsupportedModelError(f"the embedding does not tell how it numbers leaves: {JSON}")
    leaves = [np.flatnonzero(tree.is_leaf).astype(np.int64) for tree in trees]
    columns = [len(leaf) for leaf in leaves]
    known: dict[str, object] = {"categories_": leaves, "_n_features_outs": columns}
    stated = {name: one for name, one in known.items() if name in encoder.attributes}
    changed: dict[str, object] = {"one_hot_encoder_": Kept({id(encoder): stated})(encoder)}
    if "_n_features_out" in member.estimator.attributes:
        changed["_n_features_out"] = sum(columns)
    return changed
