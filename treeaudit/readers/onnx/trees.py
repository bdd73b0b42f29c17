"""The trees of an ONNX ensemble: its attributes as columns, and those as trees, parents first.

Until version 4 of ai.onnx.ml a table of nodes names its trees, nodes and children by ids of any
order, and a second table gives the votes of leaves. TreeEnsemble of version 5 has a table of inner
nodes, whose children are positions in it or in a table of leaves.

Thresholds are 32-bit numbers unless the file says otherwise, and so is what is compared with them;
as 64-bit bounds both ``x < t`` (``x <= below(t)``) and ``x <= t`` are exact. ``x == t`` is the
interval ``below(t) < x <= t``; what is left beside it is shown as open, and comes second, so that a
row that is let through by both goes the way it really goes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Array, Flag, Float, Wide
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.limits import Most
from treeaudit.readers.links import category_sets
from treeaudit.readers.onnx.graph import LEAF, MODES, Attribute, refuse_if

_NODE_IDS = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER = range(len(MODES))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """An ensemble as columns, one row per node, in the order of the file.

    ``mode`` is a position in `MODES`, or ``LEAF``; ``when_true`` and ``when_false`` are rows, -1 in
    leaves; ``members`` are the sets of nodes that test membership; ``whole`` says whether every
    node must hang on a root.
    """

    mode: npt.NDArray[np.uint8]
    feature: Wide
    value: Float
    when_true: Wide
    when_false: Wide
    missing_true: Flag
    root: Wide
    members: Mapping[int, Float]
    vote_row: Wide
    vote_output: Wide
    vote_weight: Float
    whole: bool


def _beyond(positions: Wide, n: int | Wide) -> bool:
    return bool(np.any((positions < 0) | (positions >= n)))


def numbers(
    attributes: Mapping[str, Attribute], name: str, n: int | None = None, kind: str = "i"
) -> Array | None:
    """Return the numbers of an attribute, or None where it is absent."""
    refuse_if(name in attributes and f"{name}_as_tensor" in attributes, f"it states {name} twice")
    for key in (name, f"{name}_as_tensor"):
        found = attributes[key].numbers if key in attributes else None
        if found is None or not len(found):
            continue
        if n is not None:
            refuse_if(len(found) != n, f"{key} has {len(found):,} of {n:,} rows")
        refuse_if(
            kind == "i" and found.dtype.kind not in "iu", f"{key} does not hold whole numbers"
        )
        return found
    refuse_if(n, f"{name} is missing")
    return None


def from_node_table(attributes: Mapping[str, Attribute], prefix: str, n_outputs: int) -> Columns:
    """Return the columns of a TreeEnsembleClassifier or TreeEnsembleRegressor."""
    mode = attributes["nodes_modes"].modes if "nodes_modes" in attributes else None
    if mode is None or attributes["nodes_modes"].strings:
        raise ReadError("the tree ensemble is damaged: a node has a mode that does not exist")
    n = len(mode)
    tree, node, feature, true, false = (_ids(attributes, f"nodes_{name}", n) for name in _NODE_IDS)
    vote_tree, vote_node, vote_output = (
        _ids(attributes, f"{prefix}_{name}", None) for name in ("treeids", "nodeids", "ids")
    )
    fits = len(vote_tree) == len(vote_node) == len(vote_output)
    refuse_if(not fits, "its votes have tables of unequal length")
    weight = numbers(attributes, f"{prefix}_weights", len(vote_tree), "f")
    inner = np.flatnonzero(mode != LEAF)
    rows = _Rows(tree, node)
    when_true, when_false = np.full(n, -1), np.full(n, -1)
    when_true[inner] = rows.find(tree[inner], true[inner])
    when_false[inner] = rows.find(tree[inner], false[inner])
    top = np.ones(n, dtype=np.bool_)
    top[when_true[inner]] = top[when_false[inner]] = False
    root = np.flatnonzero(top)
    root = root[np.argsort(tree[root], kind="stable")]
    single = len(root) == len(np.unique(tree)) and np.all(np.diff(tree[root]))
    refuse_if(not single, "a tree has no root, or more than one")
    return Columns(
        mode=mode,
        feature=_checked(feature, inner),
        value=_doubles(numbers(attributes, "nodes_values", n, "f")),
        when_true=when_true,
        when_false=when_false,
        missing_true=_missing(attributes, n),
        root=root,
        members={},
        vote_row=rows.find(vote_tree, vote_node),
        vote_output=_outputs(vote_output, n_outputs),
        vote_weight=_finite(weight),
        whole=True,
    )


class _Rows:
    """Finds the row of a node by the ids of its tree and itself, whatever they are."""

    def __init__(self, tree: Wide, node: Wide) -> None:
        self._trees, self._nodes = np.unique(tree), np.unique(node)
        key = self._key(tree, node)
        self._order = np.argsort(key, kind="stable")
        self._sorted = key[self._order]
        refuse_if(np.any(np.diff(self._sorted) == 0), "two nodes of a tree have the same id")

    def _key(self, tree: Wide, node: Wide) -> Wide:
        """Return one number per pair of ids; -1 where an id does not exist."""
        places = []
        for known, ids in ((self._trees, tree), (self._nodes, node)):
            at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
            places.append(np.where(known[at] == ids, at, -1))
        key = places[0] * len(self._nodes) + places[1]
        return np.where((places[0] < 0) | (places[1] < 0), -1, key)

    def find(self, tree: Wide, node: Wide) -> Wide:
        """Return the rows of some nodes."""
        key = self._key(tree, node)
        at = np.minimum(np.searchsorted(self._sorted, key), len(self._sorted) - 1)
        refuse_if(np.any(self._sorted[at] != key), "it names a node that does not exist", "outside")
        return self._order[at]


def from_leaf_table(attributes: Mapping[str, Attribute], n_outputs: int) -> Columns:
    """Return the columns of a TreeEnsemble (ai.onnx.ml version 5)."""
    kinds = _ids(attributes, "nodes_modes", None)
    exist = len(kinds) and not _beyond(kinds, len(MODES))
    refuse_if(not exist, "a node has a mode that does not exist")
    n = len(kinds)
    leaf_weight = numbers(attributes, "leaf_weights", None, "f")
    n_leaves = 0 if leaf_weight is None else len(leaf_weight)
    target = _outputs(_ids(attributes, "leaf_targetids", n_leaves), n_outputs)
    root = _ids(attributes, "tree_roots", None)
    refuse_if(not len(root) or _beyond(root, n), "a root does not exist", "outside")
    mode = kinds.astype(np.uint8)
    value = _doubles(numbers(attributes, "nodes_splits", n, "f"))
    members = _members(attributes, mode, value)
    leaf_of: list[Wide] = []
    sides: list[Wide] = []
    for side in ("true", "false"):
        child = _ids(attributes, f"nodes_{side}nodeids", n)
        is_leaf = _ids(attributes, f"nodes_{side}leafs", n) != 0
        exists = not _beyond(child, np.where(is_leaf, n_leaves, n))
        refuse_if(not exists, "it names a node that does not exist", "outside")
        # A leaf may be named more than once: every mention is a leaf of its own.
        before = n + sum(len(leaves) for leaves in leaf_of)
        leaf_of.append(child[is_leaf])
        sides.append(np.where(is_leaf, before + np.cumsum(is_leaf) - 1, child))
    leaves = np.concatenate(leaf_of)
    true, false = sides
    empty = np.zeros(len(leaves), dtype=np.int64)
    when_true, when_false = np.concatenate([true, empty - 1]), np.concatenate([false, empty - 1])
    mode = np.concatenate([mode, np.full(len(leaves), LEAF, np.uint8)])
    vote_row, vote_leaf = n + np.arange(len(leaves)), leaves
    # A tree of one leaf is written as a root with that leaf on both sides.
    both = root[(true[root] >= n) & (false[root] >= n)]
    alone = both[leaves[true[both] - n] == leaves[false[both] - n]]
    mode[alone] = LEAF
    vote_row = np.concatenate([vote_row, alone])
    vote_leaf = np.concatenate([vote_leaf, leaves[true[alone] - n]])
    return Columns(
        mode=mode,
        feature=_checked(
            np.concatenate([_ids(attributes, "nodes_featureids", n), empty]),
            np.flatnonzero(mode != LEAF),
        ),
        value=np.concatenate([value, empty]),
        when_true=when_true,
        when_false=when_false,
        missing_true=np.concatenate([_missing(attributes, n), empty != 0]),
        root=root,
        members=members,
        vote_row=vote_row,
        vote_output=target[vote_leaf],
        vote_weight=_finite(leaf_weight)[vote_leaf],
        whole=False,
    )


def _members(
    attributes: Mapping[str, Attribute], mode: npt.NDArray[np.uint8], value: Float
) -> dict[int, Float]:
    """Return the sets, and turn those of none or one value into other tests."""
    asking = np.flatnonzero(mode == _MEMBER)
    if not len(asking):
        return {}
    values = _doubles(numbers(attributes, "membership_values", None, "f"))
    if len(values) and not np.isnan(values[-1]):
        values = np.append(values, np.nan)
    ends = np.flatnonzero(np.isnan(values))
    refuse_if(len(ends) != len(asking), f"{len(ends):,} sets for {len(asking):,} nodes", "outside")
    sets: dict[int, Float] = {}
    starts = np.concatenate([[0], ends[:-1] + 1])
    for node, begin, end in zip(asking.tolist(), starts, ends, strict=True):
        codes = np.unique(values[begin:end])
        if len(codes) > 1:
            if np.any((codes != np.rint(codes)) | (codes < 0) | (codes > Most.category)):
                raise UnsupportedModelError(
                    "the tree ensemble asks whether a column is one of several numbers that are "
                    "not whole: export it with the operators of ai.onnx.ml version 3"
                )
            sets[node] = codes
            value[node] = 0
        else:
            mode[node] = _EQ if len(codes) else _LT
            value[node] = codes[0] if len(codes) else -np.inf
    return sets


def _ids(attributes: Mapping[str, Attribute], name: str, n: int | None) -> Wide:
    found = numbers(attributes, name, n)
    return np.zeros(0, dtype=np.int64) if found is None else found.astype(np.int64)


def _checked(feature: Wide, inner: npt.NDArray[np.intp]) -> Wide:
    refuse_if(
        _beyond(feature[inner], Most.features), "it tests a feature that cannot exist", "outside"
    )
    return feature


def _outputs(output: Wide, n_outputs: int) -> Wide:
    what = f"a leaf votes for none of its {n_outputs:,} outputs"
    refuse_if(_beyond(output, n_outputs), what, "outside")
    return output


def _missing(attributes: Mapping[str, Attribute], n: int) -> Flag:
    name = "nodes_missing_value_tracks_true"
    if name not in attributes or attributes[name].numbers is None:
        return np.zeros(n, dtype=np.bool_)
    tracks: Flag = _ids(attributes, name, n) != 0
    return tracks


def _doubles(found: Array | None) -> Float:
    if found is None:
        return np.zeros(0)
    with np.errstate(invalid="ignore"):  # some bit patterns of NaN are complained about
        return found.astype(np.float64)


def _finite(found: Array | None) -> Float:
    values = _doubles(found)
    refuse_if(not np.all(np.isfinite(values)), "the weight of a leaf is not a number", "wrong")
    return values


class Ensemble:
    """Checked columns, ordered by tree and level."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        n = len(columns.mode)
        inner = np.flatnonzero(columns.mode != LEAF)
        children = np.concatenate([columns.when_true[inner], columns.when_false[inner]])
        refuse_if(np.any(np.bincount(children, minlength=n) > 1), "a node has two parents")
        refuse_if(np.any(np.isnan(columns.value[inner])), "a threshold is not a number", "wrong")
        self._parent = np.full(n, -1, dtype=np.int64)
        self._parent[columns.when_true[inner]] = inner
        self._parent[columns.when_false[inner]] = inner
        below = np.any(self._parent[columns.root] >= 0)
        twice = len(np.unique(columns.root)) != len(columns.root)
        refuse_if(below or twice, "a root hangs below another node")
        tree_of = np.full(n, -1, dtype=np.int64)
        order = self._by_level(tree_of)
        refuse_if(
            columns.whole and np.any(tree_of < 0), "nodes hang on each other in a cycle", "endless"
        )
        self.n_cut_off = int(np.count_nonzero((tree_of < 0) & (columns.mode != LEAF)))
        self._order = order[np.argsort(tree_of[order], kind="stable")]
        self._start = np.searchsorted(tree_of[self._order], np.arange(len(columns.root) + 1))
        self._local = np.zeros(n, dtype=np.int64)
        self._local[self._order] = np.arange(len(order)) - self._start[tree_of[self._order]]
        self._arrange_votes(tree_of)

    def _by_level(self, tree_of: Wide) -> Wide:
        """Return all nodes that hang on a root, level by level; fill in their trees."""
        columns = self.columns
        level = columns.root
        tree_of[level] = np.arange(len(level))
        levels = [level]
        while len(level := level[columns.mode[level] != LEAF]):
            if len(levels) >= Most.levels:
                raise ModelTooLargeError(f"a tree has more than {Most.levels:,} levels")
            # The one value of an equality comes before what is left of it.
            turned = columns.mode[level] == _NEQ
            true, false = columns.when_true[level], columns.when_false[level]
            pair = np.column_stack([np.where(turned, false, true), np.where(turned, true, false)])
            tree_of[pair] = tree_of[level][:, None]
            level = pair.ravel()
            levels.append(level)
        return np.concatenate(levels)

    def _arrange_votes(self, tree_of: Wide) -> None:
        columns = self.columns
        votes = np.flatnonzero(columns.mode[columns.vote_row] == LEAF)
        votes = votes[tree_of[columns.vote_row[votes]] >= 0]
        tree = tree_of[columns.vote_row[votes]]
        by_tree = np.argsort(tree, kind="stable")
        self._votes = votes[by_tree]
        self._vote_start = np.searchsorted(tree[by_tree], np.arange(self.n_trees + 1))

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.columns.root)

    @property
    def n_features(self) -> int:
        """How many columns the tests reach."""
        tested = self.columns.feature[self.columns.mode != LEAF]
        return int(tested.max(initial=-1)) + 1

    @property
    def has_open_edges(self) -> bool:
        """Whether some edge stands for 'not this value', which has no interval."""
        return bool(np.any(np.isin(self.columns.mode, (_EQ, _NEQ, _MEMBER))))

    def votes(self, tree: int) -> tuple[Wide, Wide, Float]:
        """Return node, output and weight of every vote of one tree."""
        votes = self._votes[self._vote_start[tree] : self._vote_start[tree + 1]]
        columns = self.columns
        return (
            self._local[columns.vote_row[votes]],
            columns.vote_output[votes],
            columns.vote_weight[votes],
        )

    def tree(self, index: int) -> Tree:
        """Build one tree."""
        columns = self.columns
        rows = self._order[self._start[index] : self._start[index + 1]]
        above = self._parent[rows[1:]]
        is_true = columns.when_true[above] == rows[1:]
        n = len(rows)
        parent, feature = np.full(n, -1), np.full(n, -1)
        parent[1:], feature[1:] = self._local[above], columns.feature[above]
        low, high, missing = np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n, np.bool_)
        low[1:], high[1:] = _bounds(columns.mode[above], columns.value[above], is_true)
        missing[1:] = is_true == (columns.missing_true[above] | (columns.mode[above] == _NEQ))
        node, output, weight = self.votes(index)
        value: Float | None = None
        if len(np.unique(output)) == 1:
            value = np.bincount(node, weights=weight, minlength=n).astype(np.float64)
        return Tree(
            parent=parent,
            feature=feature,
            low=low,
            high=high,
            categories=self._sets(above, is_true),
            missing=missing,
            value=value,
        )

    def _sets(self, above: Wide, is_true: Flag) -> CategorySets | None:
        if not self.columns.members:
            return None
        members = self.columns.members
        pairs = zip(above.tolist(), is_true.tolist(), strict=True)
        sets = (members[node].tolist() if true and node in members else () for node, true in pairs)
        return category_sets([(), *sets])


def _bounds(mode: npt.NDArray[np.uint8], value: Float, is_true: Flag) -> tuple[Float, Float]:
    """Return the interval that each edge lets through."""
    below = np.nextafter(value, -np.inf)
    bound = np.where((mode == _LT) | (mode == _GTE), below, value)
    upwards = is_true == ((mode == _GTE) | (mode == _GT))
    low = np.where(upwards, bound, -np.inf)
    high = np.where(upwards, np.inf, bound)
    point = (mode == _EQ) | (mode == _NEQ)
    low[point], high[point] = -np.inf, np.inf
    here = point & (is_true == (mode == _EQ))
    low[here], high[here] = below[here], value[here]
    member = mode == _MEMBER
    low[member], high[member] = -np.inf, np.inf
    return low, high
