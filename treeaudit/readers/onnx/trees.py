"""From the columns of an ONNX tree ensemble to trees, parents before children.

Thresholds are 32-bit numbers unless the file says otherwise, and so is what is
compared with them; as 64-bit bounds both ``x < t`` (``x <= below(t)``) and
``x <= t`` are exact. ``x == t`` is the interval ``below(t) < x <= t``; what is
left beside it is shown as open, and comes second, so that a row that is let
through by both goes the way it really goes.
"""

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.limits import Most
from treeaudit.readers.links import category_sets
from treeaudit.readers.onnx.columns import Columns
from treeaudit.readers.onnx.graph import LEAF, MODES
from treeaudit.readers.types import Flag, Float, Wide

_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER = range(len(MODES))


class Ensemble:
    """Checked columns, ordered by tree and level."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        n = len(columns.mode)
        inner = np.flatnonzero(columns.mode != LEAF)
        children = np.concatenate([columns.when_true[inner], columns.when_false[inner]])
        if np.any(np.bincount(children, minlength=n) > 1):
            raise ReadError("the tree ensemble is damaged: a node has two parents")
        if np.any(np.isnan(columns.value[inner])):
            raise ReadError("the tree ensemble is damaged: a threshold is not a number")
        self._parent = np.full(n, -1, dtype=np.int64)
        self._parent[columns.when_true[inner]] = inner
        self._parent[columns.when_false[inner]] = inner
        if np.any(self._parent[columns.root] >= 0) or len(np.unique(columns.root)) != len(
            columns.root
        ):
            raise ReadError("the tree ensemble is damaged: a root hangs below another node")
        tree_of = np.full(n, -1, dtype=np.int64)
        order = self._by_level(tree_of)
        if columns.whole and np.any(tree_of < 0):
            raise ReadError("the tree ensemble is damaged: nodes hang on each other in a cycle")
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
