"""Trees of scikit-learn of any shape, without training them."""

import pickle
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

__all__ = ["chain", "full", "write"]


def full(depth: int, classes: int = 2, people: int = 6, seed: int = 0) -> DecisionTreeClassifier:
    """Return a tree of ``2 ** depth`` leaves, all of which can be reached: a column a level."""
    rng = np.random.default_rng(seed)
    n = 2 ** (depth + 1) - 1
    left, right, level = np.full(n, -1), np.full(n, -1), np.zeros(n, dtype=int)
    at = np.array([0])
    for d in range(depth):
        left[at], right[at], level[at] = at + 1, at + 2 ** (depth - d), d
        at = np.concatenate([at + 1, at + 2 ** (depth - d)])
    inner = left >= 0
    counts = np.zeros((n, classes))
    leaf = np.flatnonzero(~inner)
    for _ in range(people):
        some = leaf[rng.random(len(leaf)) < 0.6]
        counts[some, rng.integers(0, classes, len(some))] += 1
    counts[leaf[counts[leaf].sum(axis=1) == 0], 0] = 1
    for d in range(depth - 1, -1, -1):
        of = np.flatnonzero(inner & (level == d))
        counts[of] = counts[left[of]] + counts[right[of]]
    feature, threshold = np.where(inner, level, -2), np.where(inner, 0.5, -2.0)
    return _packed(left, right, feature, threshold, counts, max(depth, 1))


def chain(depth: int, seed: int = 0) -> DecisionTreeClassifier:
    """Return a tree in which every question splits one leaf off."""
    rng = np.random.default_rng(seed)
    n = 2 * depth + 1
    left, right = np.full(n, -1), np.full(n, -1)
    inner = np.arange(0, 2 * depth, 2)
    left[inner], right[inner] = inner + 1, inner + 2
    feature, threshold = np.full(n, -2), np.full(n, -2.0)
    feature[inner], threshold[inner] = np.arange(depth) % 4, np.arange(depth) + 0.5
    counts = np.zeros((n, 2))
    leaf = np.flatnonzero(left < 0)
    counts[leaf] = rng.integers(1, 4, (len(leaf), 2))
    counts[inner] = np.cumsum(counts[::-1], axis=0)[::-1][inner]
    return _packed(left, right, feature, threshold, counts, 4)


def _packed(
    left: np.ndarray,
    right: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    counts: np.ndarray,
    columns: int,
) -> DecisionTreeClassifier:
    n, classes = counts.shape
    rows = np.random.default_rng(0).random((2 * classes, columns))
    model = DecisionTreeClassifier().fit(rows, np.arange(2 * classes) % classes)
    state = model.tree_.__getstate__()
    nodes, size = np.zeros(n, state["nodes"].dtype), counts.sum(axis=1)
    shares = counts / size[:, None]
    for name, values in {
        "left_child": left,
        "right_child": right,
        "feature": feature,
        "threshold": threshold,
        "impurity": 1 - (shares**2).sum(axis=1),
        "n_node_samples": size,
        "weighted_n_node_samples": size,
    }.items():
        nodes[name] = values
    state.update(nodes=nodes, node_count=n, values=np.ascontiguousarray(shares[:, None, :]))
    tree = Tree(columns, np.array([classes]), 1)
    tree.__setstate__(state)
    model.tree_ = tree
    return model


def write(folder: Path, name: str, model: object) -> Path:
    """Return the pickle of a model."""
    path = folder / f"{name}.pkl"
    path.write_bytes(pickle.dumps(model, protocol=5))
    return path
