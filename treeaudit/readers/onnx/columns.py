"""The two ways in which ONNX writes a tree ensemble, as the same columns.

Until version 4 of ai.onnx.ml a table of nodes names its trees, nodes and
children by ids of any order, and a second table gives the votes of leaves.
TreeEnsemble of version 5 has a table of inner nodes, whose children are
positions in it or in a table of leaves.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.readers.limits import Most
from treeaudit.readers.onnx.graph import LEAF, MODES, Attribute
from treeaudit.readers.types import Array, Flag, Float, Wide

_NODE_IDS = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
_NEVER = MODES.index("LT")


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


def numbers(
    attributes: Mapping[str, Attribute], name: str, n: int | None = None, kind: str = "i"
) -> Array | None:
    """Return the numbers of an attribute, or None where it is absent."""
    if name in attributes and f"{name}_as_tensor" in attributes:
        raise ReadError(f"the tree ensemble is damaged: it states {name} twice")
    for key in (name, f"{name}_as_tensor"):
        found = attributes[key].numbers if key in attributes else None
        if found is None or not len(found):
            continue
        if n is not None and len(found) != n:
            raise ReadError(f"the tree ensemble is damaged: {key} has {len(found):,} of {n:,} rows")
        if kind == "i" and found.dtype.kind not in "iu":
            raise ReadError(f"the tree ensemble is damaged: {key} does not hold whole numbers")
        return found
    if n:
        raise ReadError(f"the tree ensemble is damaged: {name} is missing")
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
    if not len(vote_tree) == len(vote_node) == len(vote_output):
        raise ReadError("the tree ensemble is damaged: its votes have tables of unequal length")
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
    if len(root) != len(np.unique(tree)) or np.any(np.diff(tree[root]) == 0):
        raise ReadError("the tree ensemble is damaged: a tree has no root, or more than one")
    return Columns(
        mode=mode,
        feature=_checked(feature, inner),
        value=_values(attributes, "nodes_values", n),
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
        if np.any(np.diff(self._sorted) == 0):
            raise ReadError("the tree ensemble is damaged: two nodes of a tree have the same id")

    def _key(self, tree: Wide, node: Wide) -> Wide:
        """Return one number per pair of ids; -1 where an id does not exist."""
        places = []
        for known, asked in ((self._trees, tree), (self._nodes, node)):
            at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
            places.append(np.where(known[at] == asked, at, -1))
        key = places[0] * len(self._nodes) + places[1]
        return np.where((places[0] < 0) | (places[1] < 0), -1, key)

    def find(self, tree: Wide, node: Wide) -> Wide:
        """Return the rows of some nodes."""
        key = self._key(tree, node)
        at = np.minimum(np.searchsorted(self._sorted, key), len(self._sorted) - 1)
        if np.any(self._sorted[at] != key):
            raise ReadError("the tree ensemble is damaged: it names a node that does not exist")
        return self._order[at]


def from_leaf_table(attributes: Mapping[str, Attribute], n_outputs: int) -> Columns:
    """Return the columns of a TreeEnsemble (ai.onnx.ml version 5)."""
    kinds = _ids(attributes, "nodes_modes", None)
    if not len(kinds) or np.any((kinds < 0) | (kinds >= len(MODES))):
        raise ReadError("the tree ensemble is damaged: a node has a mode that does not exist")
    n = len(kinds)
    leaf_weight = numbers(attributes, "leaf_weights", None, "f")
    n_leaves = 0 if leaf_weight is None else len(leaf_weight)
    target = _outputs(_ids(attributes, "leaf_targetids", n_leaves), n_outputs)
    root = _ids(attributes, "tree_roots", None)
    if not len(root) or np.any((root < 0) | (root >= n)):
        raise ReadError("the tree ensemble is damaged: a root does not exist")
    mode, value = kinds.astype(np.uint8), _values(attributes, "nodes_splits", n)
    members = _members(attributes, mode, value)
    leaf_of: list[Wide] = []
    sides: list[Wide] = []
    for side in ("true", "false"):
        child = _ids(attributes, f"nodes_{side}nodeids", n)
        is_leaf = _ids(attributes, f"nodes_{side}leafs", n) != 0
        if np.any((child < 0) | (child >= np.where(is_leaf, n_leaves, n))):
            raise ReadError("the tree ensemble is damaged: it names a node that does not exist")
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
    asking = np.flatnonzero(mode == MODES.index("MEMBER"))
    if not len(asking):
        return {}
    stored = numbers(attributes, "membership_values", None, "f")
    values = _doubles(stored)
    if len(values) and not np.isnan(values[-1]):
        values = np.append(values, np.nan)
    ends = np.flatnonzero(np.isnan(values))
    if len(ends) != len(asking):
        raise ReadError(
            f"the tree ensemble is damaged: {len(ends):,} sets for {len(asking):,} nodes"
        )
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
            mode[node] = MODES.index("EQ") if len(codes) else _NEVER
            value[node] = codes[0] if len(codes) else -np.inf
    return sets


def _ids(attributes: Mapping[str, Attribute], name: str, n: int | None) -> Wide:
    found = numbers(attributes, name, n)
    return np.zeros(0, dtype=np.int64) if found is None else found.astype(np.int64)


def _checked(feature: Wide, inner: npt.NDArray[np.intp]) -> Wide:
    if np.any((feature[inner] < 0) | (feature[inner] >= Most.features)):
        raise ReadError("the tree ensemble is damaged: it tests a feature that cannot exist")
    return feature


def _outputs(output: Wide, n_outputs: int) -> Wide:
    if np.any((output < 0) | (output >= n_outputs)):
        raise ReadError(
            f"the tree ensemble is damaged: a leaf votes for none of its {n_outputs:,} outputs"
        )
    return output


def _values(attributes: Mapping[str, Attribute], name: str, n: int) -> Float:
    found = numbers(attributes, name, n, "f")
    return np.zeros(n) if found is None else _doubles(found)


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
    if not np.all(np.isfinite(values)):
        raise ReadError("the tree ensemble is damaged: the weight of a leaf is not a number")
    return values
