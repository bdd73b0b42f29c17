"""The trees of a SHAP explainer, put in the form in which scikit-learn stores trees.

An explainer keeps no model of scikit-learn, but its trees, with the weight of the people in each
node: draws, if the forest drew.
"""

from typing import Any

import numpy as np

from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert

_STORED = {
    "children_left": "left_child",
    "children_right": "right_child",
    "features": "feature",
    "thresholds": "threshold",
    "node_sample_weight": "weighted_n_node_samples",
}
_COLUMNS = (*_STORED, "values", "children_default", "threshold_types")
_NODES = np.dtype(
    [
        *((name, "<i8") for name in ("left_child", "right_child", "feature")),
        *(("threshold", "<f8"), ("n_node_samples", "<i8"), ("weighted_n_node_samples", "<f8")),
    ]
)
_TREE = Global("sklearn.tree._tree", "Tree", 0, True)


def as_scikit_learn(model: Inert) -> None:
    """Give the trees of an explainer the attributes of a bag of trees of scikit-learn."""
    shap = model.cls.module.startswith("shap.") and model.kind == "TreeEnsemble"
    state = model.state if shap and isinstance(model.state, dict) else {}
    trees = arrived(state.get("trees"))
    if not isinstance(trees, list) or not all(isinstance(one, Inert) for one in trees):
        return
    stored: list[dict[str, Any]] = [
        {name: arrived(tree.get(name)) for name in _COLUMNS} for tree in trees
    ]
    with np.errstate(all="ignore"):
        tables = [_table(columns) for columns in stored]
    if not tables or None in tables:
        return
    n_features = 1 + max(int(columns["features"].max()) for columns in stored)
    for tree, columns in zip(trees, tables, strict=True):
        rest = {name: one for name, one in tree.attributes.items() if name not in _COLUMNS}
        tree.state = {"tree_": Inert(_TREE, (max(n_features, 1), None, 1), columns), **rest}
    # It keeps all of them once more, as one array of each column.
    told = {
        name
        for name in (*_COLUMNS, "num_nodes")
        if _is_told(arrived(state.get(name)), stored, name)
    }
    rest = {name: one for name, one in state.items() if name not in {*told, "trees"}}
    widths = {columns["values"].shape[1] for columns in stored}
    classes = {"classes_": np.arange(*widths)} if len(widths) == 1 and widths != {1} else {}
    model.base = f"Bagging{'Classifier' if classes else 'Regressor'}"
    model.state = {"estimators_": trees, "bootstrap": True, **classes, **rest}


def _is_told(whole: object, stored: list[dict[str, Any]], name: str) -> bool:
    """Tell whether an array holds a column of every tree, filled up with one number, and no more.

    So does the number of nodes of each.
    """
    if not isinstance(whole, np.ndarray) or whole.shape[:1] != (len(stored),):
        return False
    if name == "num_nodes":
        return np.array_equal(whole, [len(columns["values"]) for columns in stored])
    if whole.dtype.kind not in "iuf" or whole.ndim < 2:
        return False
    pairs = list(zip(whole, (columns[name] for columns in stored), strict=True))
    if not all(isinstance(one, np.ndarray) and one.ndim for _, one in pairs):
        return False
    same = all(np.array_equal(row[: len(one)], one) for row, one in pairs)
    return same and len({*np.concatenate([row[len(one) :] for row, one in pairs]).flat}) <= 1


def _table(columns: dict[str, Any]) -> dict[object, object] | None:
    """Return the state of a tree of scikit-learn."""
    values = columns["values"]
    if not isinstance(values, np.ndarray) or values.ndim != 2 or not values.size:
        return None
    if values.dtype.kind not in "iuf":
        return None
    nodes = np.zeros(len(values), dtype=_NODES)
    for name, column in _STORED.items():
        array = columns[name]
        if not isinstance(array, np.ndarray) or array.shape != nodes.shape:
            return None
        if array.dtype.kind not in ("iuf" if nodes.dtype[column].kind == "f" else "iu"):
            return None
        nodes[column] = array
    weight = nodes["weighted_n_node_samples"]
    people = np.rint(weight)
    # Nobody weighs a millionth there, and a sum of second derivatives is nobody.
    whole = np.all(np.abs(weight - people) < 1e-3)
    nodes["weighted_n_node_samples"] = nodes["n_node_samples"] = people if whole else 0
    total = values.sum(axis=1, keepdims=True)
    # The answers of a forest are divided by the number of its trees.
    alike = values.shape[1] > 1 and values.min() >= 0 and np.ptp(total) < 1e-9 < total[0, 0]
    shares = (values / total if alike else values)[:, None].astype(np.float64)
    return {"node_count": len(nodes), "nodes": nodes, "values": shares}
