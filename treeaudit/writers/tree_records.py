"""Repaired trees in the node tables that they were read from: the same columns, other rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treeaudit.arrays import Flag, Float, Table, Wide
from treeaudit.defenses.tree_edits import averaged, summed
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.node_table import read_nodes
from treeaudit.writers.node_tables import JSON, Answers, impurity_of, legacy_weight


def origins(forest: Forest, whole: Forest, numbers: Sequence[int]) -> list[int]:
    """Return which of the stored trees each of the repaired ones was: their order is the same."""
    if forest.n_trees == whole.n_trees:
        return list(numbers)
    origin, k = [], 0
    for i in numbers:
        while not _is_cut(forest.trees[i], whole.trees[k]):
            k += 1
            if k == whole.n_trees:
                raise UnsupportedModelError(
                    f"trees were taken out and others changed, so that they are not found: {JSON}"
                )
        origin.append(k)
        k += 1
    return origin


def _is_cut(tree: Tree, whole: Tree) -> bool:
    """Tell whether one tree is the other, or what is left of it."""
    try:
        places_in(tree, whole)
    except UnsupportedModelError:
        return False
    return True


def places_in(tree: Tree, whole: Tree) -> Wide:
    """Return where each node of a cut tree stands in the tree that it was cut from."""
    place = np.zeros(tree.n_nodes, dtype=np.int64)
    start, child = whole.children()
    depth = tree.depths
    taken = np.zeros(whole.n_nodes, dtype=np.bool_)
    for level in range(1, int(depth.max()) + 1):
        node = np.flatnonzero(depth == level)
        above = place[tree.parent[node]]
        found = np.full(len(node), -1, dtype=np.int64)
        for i in range(int((start[above + 1] - start[above]).max(initial=0))):
            candidate = child[np.minimum(start[above] + i, len(child) - 1)].astype(np.int64)
            fits = (found < 0) & (start[above] + i < start[above + 1])
            fits &= ~taken[candidate] & _same(tree, node, whole, candidate)
            # Two children with one condition are taken one after the other.
            _, first = np.unique(np.where(fits, candidate, -1), return_index=True)
            once = np.zeros(len(node), dtype=np.bool_)
            once[first] = True
            found = np.where(fits & once, candidate, found)
            taken[found[found >= 0]] = True
        if np.any(found < 0):
            raise UnsupportedModelError(
                "the conditions were changed, and the steps before the tree cannot be written "
                "around them: " + JSON
            )
        place[node] = found
    return place


def _same(tree: Tree, node: Wide, whole: Tree, other: Wide) -> Flag:
    same = (tree.feature[node] == whole.feature[other]) & (tree.low[node] == whole.low[other])
    same &= tree.high[node] == whole.high[other]
    if tree.missing is not None and whole.missing is not None:
        same &= tree.missing[node] == whole.missing[other]
    if tree.categories is None or whole.categories is None:
        return np.asarray(same)
    mine, theirs = tree.categories, whole.categories
    width, wide = np.diff(mine.start)[node], np.diff(theirs.start)[other]
    same &= width == wide
    pair = np.flatnonzero(same)
    row = np.repeat(pair, width[pair])
    step = np.arange(len(row)) - np.repeat(np.cumsum(width[pair]) - width[pair], width[pair])
    differ = (
        mine.codes[mine.start[node[row]] + step] != theirs.codes[theirs.start[other[row]] + step]
    )
    same[row[differ]] = False
    return np.asarray(same)


_OF_TREES = (
    "left_child right_child feature threshold impurity n_node_samples weighted_n_node_samples "
    "missing_go_to_left"
).split()
_OF_PREDICTORS = (
    "value count feature_idx num_threshold threshold missing_go_to_left left right gain depth "
    "is_leaf bin_threshold is_categorical bitset_idx"
).split()
_QUESTIONS = frozenset(
    "feature_idx threshold num_threshold missing_go_to_left is_categorical".split()
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """The nodes of a repaired tree in terms of the table that it was read from."""

    place: Wide  # Shape ``(n_nodes,)``: number of each node in the tree as it was read
    # inner, left, right: shape ``(n_inner,)``: nodes of the repaired tree
    inner: Wide
    left: Wide
    right: Wide
    # Shape ``(n_inner,)`` where the questions were changed, None where they are those of the table.
    threshold: Float | None = None


def rows_of(tree: Tree, whole: Tree, left: Wide, *, exact: bool) -> Rows:
    """Return where the nodes of a repaired tree stood in the tree as it was read, ``whole``.

    ``left`` is the left child of every node of ``whole``, below 0 at leaves; ``exact`` is whether
    the table has the questions of the tree, and not encoded ones.
    """
    start, child = tree.children()
    fan = np.diff(start)
    inner = np.flatnonzero(fan)
    if np.any(fan[inner] != 2):
        raise UnsupportedModelError(
            f"no library has a tree that leaves records unanswered: use --unanswered parent, or "
            f"{JSON}"
        )
    moved = False
    try:
        place = places_in(tree, whole)
    except UnsupportedModelError:
        if not exact:
            raise
        place, moved = places_in(_signs_of_bounds(tree), _signs_of_bounds(whole)), True
    first, second = child[start[inner]].astype(np.int64), child[start[inner] + 1].astype(np.int64)
    swapped = place[first] != left[place[inner]]
    to_left = np.where(swapped, second, first)
    return Rows(
        place=place,
        inner=inner,
        left=to_left,
        right=np.where(swapped, first, second),
        threshold=tree.high[to_left] if moved else None,
    )


def _signs_of_bounds(tree: Tree) -> Tree:
    """Return the tree with every bound at 0: which side it is on, and not where."""
    low, high = (np.where(np.isfinite(b), 0.0, b) for b in (tree.low, tree.high))
    return replace(tree, low=low, high=high)


def tree_record(
    stored: Inert,
    tree: Tree,
    whole: Tree,
    answers: Answers,
    *,
    exact: bool,
    criterion: object = None,
    anew: bool = False,
) -> Inert:
    """Return the record of a ``tree_`` with the nodes and answers of a repaired tree.

    ``answers`` has values of shape ``(n_nodes, width)``, or ``(n_nodes, 0)`` if the numbers of
    several outputs, which no `Tree` holds, are those of the table. With ``anew`` they replace
    those of the table in an unchanged tree, too. ``exact`` is as in `rows_of`.
    """
    table = read_nodes(stored)
    nodes, values = _table(stored), np.asarray(arrived(stored.get("values")), dtype=np.float64)
    kept = np.arange(len(nodes)) if table.kept is None else table.kept
    left = np.full(len(kept), -1, dtype=np.int64)
    links = table.links
    left[links.inner] = links.left
    rows = rows_of(tree, whole, left, exact=exact)
    old = nodes[kept[rows.place]]
    new = np.zeros(tree.n_nodes, dtype=_layout(nodes.dtype))
    new["left_child"], new["right_child"], new["feature"], new["threshold"] = -1, -1, -2, -2.0
    new["left_child"][rows.inner], new["right_child"][rows.inner] = rows.left, rows.right
    questions = {"feature", "threshold", "missing_go_to_left"} & set(nodes.dtype.names or ())
    for name in questions:
        new[name][rows.inner] = old[name][rows.inner]
    if rows.threshold is not None:
        new["threshold"][rows.inner] = rows.threshold
    # Whether the people of every leaf are those who were there: others weigh what they are told to.
    leaf, unchanged = tree.is_leaf, not anew and is_same(tree, whole)
    same = tree.n_records is not None and np.array_equal(
        old["n_node_samples"][leaf], answers.people[leaf]
    )
    weight, as_weights = answers.weight, _holds_weights(values, nodes)
    # Where no counts answer, what a node weighs is not in the tree; beside a label it would tell.
    uncounted = (tree.counts is None and tree.label is None) or tree.value is not None
    if same and (uncounted or unchanged):
        weight = old["weighted_n_node_samples"].astype(np.float64)
    if not answers.value.shape[1]:
        value = _as_stored(values[kept[rows.place]], tree, same=same)
    elif unchanged:
        # Numbers that are worked out anew differ in their last digit each time.
        value = values[kept[rows.place]]
    else:
        value = answers.value[:, None, :]
        if as_weights:
            value = value * legacy_weight(answers)[:, None, None]
    weight, value = _over_leaves(tree, weight, value, as_weights=as_weights)
    new["impurity"] = np.nan
    if value.shape[1] == 1 and not np.isnan(answers.impurity).any():
        total = value.sum(axis=2)
        shares = value[:, 0] / np.where(total > 0, total, 1)
        new["impurity"] = impurity_of(shares, criterion)
    new["n_node_samples"], new["weighted_n_node_samples"] = answers.people, weight
    state = {
        "max_depth": int(tree.depths.max()),
        "node_count": tree.n_nodes,
        "nodes": new,
        "values": np.ascontiguousarray(value, dtype=np.float64),
    }
    return Inert(stored.cls, args=stored.args, state=state)


def is_same(tree: Tree, whole: Tree) -> bool:
    """Tell whether a tree is as it was read."""
    names = "parent feature low high missing n_records counts label value".split()
    pairs = [(getattr(tree, name), getattr(whole, name)) for name in names]
    return tree is whole or all(
        (one is None) == (other is None) and (one is None or np.array_equal(one, other))
        for one, other in pairs
    )


def _over_leaves(
    tree: Tree, weight: Float, value: Float, *, as_weights: bool
) -> tuple[Float, Float]:
    """Return what nodes weigh and answer: those above the leaves what follows from the leaves."""
    weight, flat = summed(tree, weight), value.reshape(tree.n_nodes, -1)
    above = summed(tree, flat) if as_weights else averaged(tree, flat, weight)
    n_classes = value.shape[2]
    above[~tree.is_leaf & (weight == 0)] = 1 / n_classes if n_classes > 1 else 0.0
    return weight, above.reshape(value.shape)


def _layout(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """Return the type of the nodes of a table as its library lays them out."""
    names: tuple[str, ...] = dtype.names or ()
    fields: Mapping[str, Any] = dtype.fields or {}
    aligned = "left_child" in names
    known = [name for name in (_OF_TREES if aligned else _OF_PREDICTORS) if name in names]
    return np.dtype([(name, fields[name][0].newbyteorder("=")) for name in known], align=aligned)


def _table(stored: Inert) -> Table:
    nodes: Table = arrived(stored.get("nodes"))  # type: ignore[assignment]  # its reader saw to it
    return nodes


def _holds_weights(values: Float, nodes: Table) -> bool:
    """Tell whether values are weights of classes, as before scikit-learn 1.4, and no shares."""
    if values.shape[2] < 2:
        return False
    total = values[:, 0, :].sum(axis=1)
    return bool(np.allclose(total, nodes["weighted_n_node_samples"])) and not np.allclose(total, 1)


def _as_stored(values: Float, tree: Tree, *, same: bool) -> Float:
    """Return the values of several outputs, which only merging leaves as they were."""
    if tree.n_records is None:
        total = values.sum(axis=2, keepdims=True)
        shares = np.divide(values, total, out=values.copy(), where=total > 0)
        shares = values if values.shape[2] == 1 else shares
        return np.where(tree.is_leaf[:, None, None], shares, 0.0)
    if not same:
        raise UnsupportedModelError(
            "the numbers of several outputs cannot be added up again without the people who were "
            f"taken out: use --method merge-siblings, or {JSON}"
        )
    return values


def predictor_record(stored: Inert, tree: Tree, whole: Tree, *, exact: bool) -> Inert:
    """Return the record of one tree of a histogram boosting, as `tree_record` does."""
    if tree.value is None:
        raise UnsupportedModelError(f"the model holds no numbers to predict: {JSON}")
    nodes = _table(stored)
    left = np.where(nodes["is_leaf"] != 0, -1, nodes["left"].astype(np.int64))
    rows = rows_of(tree, whole, left, exact=exact)
    old, names = nodes[rows.place], nodes.dtype.names or ()
    new = np.zeros(tree.n_nodes, dtype=_layout(nodes.dtype))
    new["value"] = np.where(tree.is_leaf, tree.value, 0.0)
    new["count"] = 0 if tree.n_records is None else tree.n_records
    new["depth"], new["is_leaf"] = tree.depths, tree.is_leaf
    new["left"][rows.inner], new["right"][rows.inner] = rows.left, rows.right
    for name in _QUESTIONS & set(names):
        new[name][rows.inner] = old[name][rows.inner]
    state: dict[str, object] = {"nodes": new}
    if rows.threshold is not None:
        numeric = np.isfinite(rows.threshold)
        name = "num_threshold" if "num_threshold" in names else "threshold"
        new[name][rows.inner[numeric]] = rows.threshold[numeric]
    if "bitset_idx" in names:
        chosen = rows.inner[old["is_categorical"][rows.inner] != 0]
        new["bitset_idx"][chosen] = np.arange(len(chosen))
        for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
            sets = arrived(stored.get(name))
            if isinstance(sets, np.ndarray):
                state[name] = sets[old["bitset_idx"][chosen]].copy()
    return Inert(stored.cls, args=stored.args, state=state)
