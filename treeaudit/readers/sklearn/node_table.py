"""The node table of one scikit-learn tree: checked, and turned towards parents."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from treeaudit.arrays import Array, Float, Table, Wide
from treeaudit.errors import MalformedModelError, ReadError, UnsupportedModelError
from treeaudit.model.tree import SpreadIs
from treeaudit.readers.limits import Most, listed
from treeaudit.readers.links import Edges, Links, link, of_tree
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.targets import (
    ABSOLUTE,
    POISSON,
    SQUARED,
    are_draws,
    are_equal,
    is_one_of,
)

_NEEDED = ("left_child", "right_child", "feature", "threshold", "n_node_samples")
_COLUMNS = frozenset((*_NEEDED, "weighted_n_node_samples", "missing_go_to_left", "impurity"))
_CRITERIA: Mapping[SpreadIs, frozenset[str]] = {
    "deviation": SQUARED,
    "absolute": ABSOLUTE,
    "poisson": POISSON,
}
_ROUNDING = 1e-14
"""Part of a mean that rounding leaves of a deviance of zero."""


class NodeTable:
    """One stored tree; its columns are read from the file when they are used.

    Only nodes that hang on the root count; `cut_off` is the number of the others. `people` and
    `total` are the training rows of the root and their weight.
    """

    __slots__ = (
        *("_at_hand", "_links", "_nodes", "cut_off", "kept", "n_features", "people", "total"),
        "values",
    )

    def __init__(self, nodes: Table, values: Float, n_features: int) -> None:
        self._at_hand: dict[str, Array] = {}
        self._links: Links | None = None
        self._nodes = nodes
        self.values = values
        self.n_features = n_features
        self.cut_off = 0
        self.kept: Wide | None = None
        self._check_shape()
        self.people, self.total = int(self.n_records[0]), float(self.weight[0])
        self._check_numbers()

    def _column(self, name: str) -> Array:
        """Return a column of its own, gathered out of the records once, until `forget`."""
        if name not in self._at_hand:
            column = self._nodes[name]
            self._at_hand[name] = np.array(column if self.kept is None else column[self.kept])
        return self._at_hand[name]

    def _has(self, name: str) -> bool:
        return name in (self._nodes.dtype.names or ())

    def _whole(self, name: str) -> Wide:
        return self._column(name).astype(np.int64, copy=False)

    def forget(self) -> None:
        """Let the gathered columns go; they are read again when they are needed."""
        self._at_hand, self._links = {}, None

    @property
    def n_records(self) -> Wide:
        """People per node: distinct training rows."""
        return self._whole("n_node_samples")

    @property
    def weight(self) -> Float:
        """Weight per node (draws under bootstrap)."""
        name = "weighted_n_node_samples"
        name = name if self._has(name) else "n_node_samples"
        return self._column(name).astype(np.float64, copy=False)

    @property
    def leaves(self) -> Wide:
        """Node numbers of the leaves."""
        return np.flatnonzero(self._whole("left_child") < 0)

    @property
    def tested(self) -> Wide:
        """The feature of every edge: twice that of every inner node."""
        return np.repeat(self._whole("feature")[self.links.inner], 2)

    @property
    def n_bytes(self) -> int:
        """How many bytes of the file the tree takes."""
        return int(self._nodes.nbytes + self.values.nbytes)

    @property
    def n_outputs(self) -> int:
        """How many targets the tree predicts at once."""
        return int(self.values.shape[1])

    @property
    def width(self) -> int:
        """How many numbers each output has: the classes, or 1."""
        return int(self.values.shape[2])

    @property
    def value(self) -> Float:
        """Shape ``(n_nodes, width)``: first output as stored."""
        values = self.values if self.kept is None else self.values[self.kept]
        return values[:, 0, :]

    @property
    def stripped(self) -> bool:
        """Whether it was written without what its people weigh, and so without class counts."""
        return not self.total

    @property
    def shares(self) -> Float:
        """Shape ``(n_nodes, width)``: `value` divided by its sum."""
        total = self.value.sum(axis=1, keepdims=True)
        shares: Float = np.divide(self.value, total, out=np.zeros_like(self.value), where=total > 0)
        return shares

    @property
    def impurity(self) -> Float | None:
        """The impurity per node; None where the file has none."""
        if not self._has("impurity") or self._nodes.dtype["impurity"] != np.float64:
            return None
        return self._column("impurity").astype(np.float64, copy=False)

    def _check_shape(self) -> None:
        """Keep the nodes that hang on the root; None where all do."""
        links = self.links
        has_right = self._whole("right_child") >= 0
        # scikit-learn looks for exactly -1, and follows any other number out of the tree.
        if min(self._whole(side).min() for side in ("left_child", "right_child")) < -1:
            raise MalformedModelError(
                "the tree is damaged: a node names a child before the first node"
            )
        if np.count_nonzero(has_right) != len(links.inner) or not has_right[links.inner].all():
            raise MalformedModelError("the tree is damaged: a node has one child")
        links = link(links.inner, links.left, links.right, len(self._nodes), ordered=True)
        if links.cut_off:
            self.forget()
            self.kept, self.cut_off, self._links = links.stored, links.cut_off, links

    def _check_numbers(self) -> None:
        links, n, weight = self.links, self.n_records, self.weight
        # Written so that a weight that is not a number fails.
        possible = n.min() >= 0 and n.max() <= Most.people
        if not (possible and weight.min() >= 0 and weight.max() <= Most.weight):
            raise ReadError("the tree is damaged: a node has a negative or impossible count")
        inner, left, right = links.inner, links.left, links.right
        if np.any(n[left] + n[right] != n[inner]):
            raise ReadError("the tree is inconsistent: children do not add up to their parent")
        own = weight[inner]
        if np.any(np.abs(weight[left] + weight[right] - own) > 1e-6 * (1 + own)):
            raise ReadError("the tree is inconsistent: weights do not add up to their parent")
        # scikit-learn takes no rows of weight zero; a repair that keeps labels alone takes out all.
        if weight.any() and np.any((weight == 0) & (n > 0)):
            raise ReadError("the tree is inconsistent: people in a node weigh nothing")
        feature = self._whole("feature")[inner]
        if np.any((feature < 0) | (feature >= self.n_features)):
            raise MalformedModelError("the tree is damaged: it tests a feature that does not exist")
        # An infinite threshold separates missing values from all others.
        if np.any(np.isnan(self._column("threshold")[inner])):
            raise MalformedModelError("the tree is damaged: a threshold is not a number", "wrong")
        if not np.all(np.isfinite(self.values)):
            raise MalformedModelError("the tree is damaged: a value is not a number", "wrong")

    @property
    def links(self) -> Links:
        """The inner nodes and their children, numbered as kept."""
        if self._links is None:
            left, right = self._whole("left_child"), self._whole("right_child")
            inner = np.flatnonzero(left >= 0)
            left, right = left[inner], right[inner]
            if self.kept is not None:
                left, right = np.searchsorted(self.kept, left), np.searchsorted(self.kept, right)
            self._links = Links(inner=inner, left=left, right=right)
        return self._links

    def edges(self) -> Edges:
        """Return the condition that leads into every node."""
        inner, missing_left = self.links.inner, None
        if self._has("missing_go_to_left"):
            missing_left = self._column("missing_go_to_left")[inner] != 0
        bound = self._column("threshold")[inner].astype(np.float64, copy=False)
        return self.links.edges(self._whole("feature")[inner], bound, missing_left)


def read_nodes(stored: object) -> NodeTable:
    """Return the node table of one fitted tree; refuse one that is damaged."""
    return NodeTable(*_tables(stored))


def _tables(stored: object) -> tuple[Table, Float, int]:
    """Return the nodes and values of a fitted tree, and how many features it has."""
    if not isinstance(stored, Inert) or stored.kind != "Tree":
        raise ReadError("the fitted tree is missing")
    state = stored.state if isinstance(stored.state, dict) else stored.attributes
    nodes, values = arrived(state.get("nodes")), arrived(state.get("values"))
    count = state.get("node_count")
    n_features = arrived(stored.args[0]) if stored.args else None
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        raise ReadError("the tree is damaged: its node table is missing")
    _check_columns(nodes.dtype)
    if not isinstance(n_features, int) or not 0 < n_features <= Most.features:
        raise ReadError("the tree is damaged: it does not tell how many features it has")
    double = values.dtype.kind == "f" and values.dtype.itemsize == 8
    if nodes.ndim != 1 or values.ndim != 3 or not double or not values.shape[2]:
        raise MalformedModelError("the tree is damaged: its tables have the wrong shape", "refused")
    if not isinstance(count, int) or not 0 < count == len(nodes) == len(values):
        if len(nodes) == 0:
            raise UnsupportedModelError("the tree was never fitted: call fit before saving it")
        raise MalformedModelError(
            "the tree is damaged: its tables do not have as many rows as it has nodes", "wrong"
        )
    if values.shape[1] == 0:
        raise ReadError("the tree is damaged: it has no output")
    if not _states(stored.args, values.shape):
        raise MalformedModelError(
            "the tree is inconsistent: it states other outputs or classes than its table has",
            "refused",
        )
    values = values.astype(np.float64, copy=False)
    # Class numbers that may be written to are no part of the table.
    values.flags.writeable = False
    return nodes, values, n_features


def _states(args: tuple[object, ...], shape: tuple[int, ...]) -> bool:
    """Tell whether the outputs and classes that a tree states are those of its table."""
    if len(args) != 3:
        return True
    classes, n_outputs = arrived(args[1]), arrived(args[2])
    if not isinstance(classes, np.ndarray) or classes.dtype.kind not in "iu":
        return True
    stated = (n_outputs, classes.size, int(classes.max(initial=0)))
    return not isinstance(n_outputs, int) or stated == (shape[1], shape[1], shape[2])


@lru_cache(64)
def _check_columns(table: np.dtype[np.void]) -> None:
    """Refuse a node table whose columns are missing or hold something else."""
    names = table.names or ()
    if lacking := [name for name in _NEEDED if name not in names]:
        raise ReadError(f"the tree is damaged: its node table lacks {', '.join(lacking)}")
    if unknown := set(names) - _COLUMNS:
        raise UnsupportedModelError(f"the tree has columns that are not known: {listed(unknown)}")
    for name, fits in of_tree(table).items():
        if not fits:
            raise ReadError(f"the tree is damaged: its column {name} has the wrong type or place")


def kind_of_spread(model: Inert, trees: Sequence[Inert]) -> SpreadIs | None:
    """Return what impurities say of the spread of the numbers in a node; None where nothing.

    An impurity is a variance only where the tree was grown by squared errors, on the numbers
    themselves, and where nobody weighs more than others.
    """
    # Boosting by another loss grows its trees on signs, or on numbers that were cut off.
    if model.kind.startswith("GradientBoosting") and not is_one_of(model, "loss", SQUARED):
        return None
    for kind, words in _CRITERIA.items():
        if all(is_one_of(tree, "criterion", words) for tree in trees):
            return kind
    return None


def spread_of(record: NodeTable, kind: SpreadIs, *, drawn: bool) -> Float | None:
    """Return the spread per node, as `Tree.spread` has it; None where one is no number."""
    impurity = record.impurity
    if impurity is None or not np.isfinite(impurity).all():
        return None
    # Rounding leaves some below zero.
    impurity = np.maximum(impurity, 0.0)
    n, weight, value = record.n_records, record.weight, record.value[:, 0]
    if kind == "deviation":
        spread = np.sqrt(impurity)
    elif kind == "absolute":
        spread = impurity
    else:
        # Pinsker: the mean absolute deviation is no more than that, which to the second order
        # is the standard deviation.
        of_mean = np.where(impurity <= _ROUNDING * value, 0.0, impurity)
        spread = np.sqrt(2 * np.maximum(value, 0.0) * of_mean)
    if np.array_equal(weight, n) or (drawn and are_draws(n, weight, n[:1], weight[:1])):
        return spread
    if kind != "deviation":
        return np.full(len(n), np.nan)
    return np.where(are_equal(n, weight, value, impurity), 0.0, np.nan)
