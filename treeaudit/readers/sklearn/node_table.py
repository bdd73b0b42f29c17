"""The node table of one scikit-learn tree: checked, and turned towards parents."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.readers.columns import Columns, gathered
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Edges, Links, link
from treeaudit.readers.sklearn.stored_table import COLUMNS, stored_table
from treeaudit.readers.together import Row, in_rows, together
from treeaudit.readers.types import Array, Float, Table, Wide

_T = TypeVar("_T")
Sight: TypeAlias = Sequence[tuple[_T, Sequence["NodeTable"]]]
"""What is seen in tables, and in which."""
_PART = 1 << 13


class Early(NamedTuple):
    """What a tree is built from, made while its table was at hand to be checked."""

    edges: Edges
    weights: Float
    n_records: Wide


class NodeTable:
    """One stored tree; its columns are read from the file when they are used.

    Only nodes that hang on the root count. `cut_off` tells how many do not. `people` and
    `total` are those of the root and their weight. `start` is where the trees begin of those
    that stand in a row: such a table is asked for what all its `members` hold. `early` is what
    the tree is built from, where that was made already.
    """

    kept: Wide | None
    early: Early | None
    people: int
    total: float
    __slots__ = (
        *("_at_hand", "_links", "_nodes", "cut_off", "early", "kept", "members", "n_features"),
        *("people", "start", "total", "values"),
    )

    def __init__(
        self, nodes: Table, values: Float, n_features: int, row: Row | None = None
    ) -> None:
        self._at_hand: dict[str, Array] = {}
        self._links: Links | None = None if row is None else row.links
        self._nodes = nodes
        self.values = values
        self.n_features = n_features
        self.members: Sequence[NodeTable] = ()
        self.cut_off = 0
        self.kept = self.early = None
        self.start = np.zeros(1, dtype=np.int64) if row is None else row.start

    def check(self) -> None:
        """Raise `treeaudit.ReadError` where the tree is damaged or contradicts itself."""
        if len(self.start) == 1:
            self._check_shape()
        elif not self.n_records[self.start].all():
            raise ReadError("a tree of the row was written without the people in it")
        self._check_numbers()

    def hand_out(self, tables: Sequence["NodeTable"]) -> None:
        """Tell the trees of a row, which was checked, who is in each."""
        people, total = self.n_records[self.start].tolist(), self.weight[self.start].tolist()
        for table, n, weight in zip(tables, people, total, strict=True):
            table.people, table.total = n, weight

    @property
    def columns(self) -> Columns:
        """What nodes hold, each column gathered out of the records once; `forget` lets them go."""
        if not self._at_hand:
            rows = self._nodes if self.kept is None else self._nodes[self.kept]
            self._at_hand = gathered(rows, (*COLUMNS, "impurity"))
        return self._at_hand

    def _column(self, name: str) -> Array:
        return self.columns[name]

    def _whole(self, name: str) -> Wide:
        return self._column(name).astype(np.int64, copy=False)

    def forget(self) -> None:
        """Let the gathered columns go; they are read again when they are needed."""
        self._at_hand = {}
        self._links = None

    def value_of(self, nodes: Wide) -> tuple[Float, Float]:
        """Return first output and weight of some nodes."""
        stored = nodes if self.kept is None else self.kept[nodes]
        # Rows of values may stand anywhere in a file: as bytes no copy is made of all of them.
        n, *_, width = (values := np.ascontiguousarray(self.values)).shape
        rows = values.reshape(n, -1).view(f"V{values[0].nbytes}").take(stored)
        return rows.view(values.dtype).reshape(len(stored), -1)[:, :width], self.weight[nodes]

    @property
    def n_records(self) -> Wide:
        """People per node: distinct training rows."""
        return self._column("n_node_samples").astype(np.int64, copy=False)

    @property
    def weight(self) -> Float:
        """Weight per node (draws under bootstrap)."""
        names = self._nodes.dtype.names or ()
        name = "weighted_n_node_samples"
        return self._column(name if name in names else "n_node_samples").astype(
            np.float64, copy=False
        )

    @property
    def leaves(self) -> Wide:
        """Node numbers of the leaves."""
        return np.flatnonzero(self._column("left_child").astype(np.int64, copy=False) < 0)

    def has_leaf_of(self, weight: float) -> bool:
        """Tell whether some leaf weighs at least so much; nearly always one of the first does."""
        left, every = self._whole("left_child"), self.weight
        parts = (slice(at, at + _PART) for at in range(0, len(left), _PART))
        return any(np.any((left[one] < 0) & (every[one] >= weight)) for one in parts)

    @property
    def tested(self) -> Wide:
        """The feature of every edge: twice that of every inner node."""
        inner = np.flatnonzero(self._whole("left_child") >= 0)
        return np.repeat(self._whole("feature")[inner], 2)

    @property
    def n_bytes(self) -> int:
        """How many bytes of the file the tree takes."""
        return int(self._nodes.nbytes + self.values.nbytes)

    @property
    def n_stored(self) -> int:
        """How many nodes the file has of it."""
        return len(self._nodes)

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
    def whole(self) -> bool:
        """Whether it is one tree, checked, of which all stored nodes hang on the root."""
        return len(self.start) == 1 and self.kept is None

    @property
    def stripped(self) -> bool:
        """Whether it was written without the people that it was grown on."""
        return not self.people and not self.total

    @property
    def shares(self) -> Float:
        """Shape ``(n_nodes, width)``: what `value` is of, whatever it adds up to."""
        total = self.value.sum(axis=1, keepdims=True)
        shares: Float = np.divide(self.value, total, out=np.zeros_like(self.value), where=total > 0)
        return shares

    @property
    def impurity(self) -> Float | None:
        """The impurity per node; None where the file has none."""
        names = self._nodes.dtype.names or ()
        if "impurity" not in names or self._nodes.dtype["impurity"] != np.float64:
            return None
        impurity: Float = self._nodes["impurity"]
        return impurity if self.kept is None else impurity[self.kept]

    def _check_shape(self) -> None:
        """Keep the nodes that hang on the root; None where all do."""
        links = self.links()
        has_right = self._whole("right_child") >= 0
        # scikit-learn looks for exactly -1, and follows any other number out of the tree.
        if min(self._whole(side).min() for side in ("left_child", "right_child")) < -1:
            raise ReadError("the tree is damaged: a node names a child before the first node")
        if np.count_nonzero(has_right) != len(links.inner) or not has_right[links.inner].all():
            raise ReadError("the tree is damaged: a node has one child")
        links = link(links.inner, links.left, links.right, len(self._nodes), ordered=True)
        if links.cut_off:
            self.forget()
            self.kept, self.cut_off, self._links = links.stored, links.cut_off, links

    def _check_numbers(self) -> None:
        links = self.links()
        n, weight = self.n_records, self.weight
        self.people, self.total = int(n[0]), float(weight[0])
        # Written so that a weight that is not a number fails.
        possible = n.min() >= 0 and n.max() <= Most.people
        if not (possible and weight.min() >= 0 and weight.max() <= Most.weight):
            raise ReadError("the tree is damaged: a node has a negative or impossible count")
        if any(np.any(n.take(a) + n.take(b) != n.take(at)) for at, a, b in links.parts()):
            raise ReadError("the tree is inconsistent: children do not add up to their parent")
        # Where every row weighs 1 the weights are the people, which add up.
        if not np.array_equal(weight, n):
            if not _add_up(weight, links):
                raise ReadError("the tree is inconsistent: weights do not add up to their parent")
            # scikit-learn takes no rows of weight zero, and answers by shares of the weight.
            if self.people and np.any((weight == 0) & (n > 0)):
                raise ReadError("the tree is inconsistent: people in a node weigh nothing")
        # As unsigned numbers the negative ones are the largest.
        feature, threshold = self._whole("feature"), self._column("threshold")
        tested = (feature.take(at).view(np.uint64).max() for at, *_ in links.parts())
        if max(tested, default=-1) >= self.n_features:
            raise ReadError("the tree is damaged: it tests a feature that does not exist")
        # An infinite threshold separates missing values from all others.
        if any(np.isnan(threshold.take(at).min()) for at, *_ in links.parts()):
            raise ReadError("the tree is damaged: a threshold is not a number")
        # A sum is finite only if all its terms are; a sum that overflows proves nothing.
        with np.errstate(all="ignore"):
            total = self.values.sum()
        if not np.isfinite(total) and not np.all(np.isfinite(self.values)):
            raise ReadError("the tree is damaged: a value is not a number")

    def links(self) -> Links:
        """Return the inner nodes and their children, numbered as kept."""
        if self._links is not None:
            return self._links
        left, right = self._whole("left_child"), self._whole("right_child")
        inner = np.flatnonzero(left >= 0)
        left, right = left.take(inner), right.take(inner)
        if self.kept is not None:
            left, right = (np.searchsorted(self.kept, left), np.searchsorted(self.kept, right))
        self._links = Links(inner=inner, left=left, right=right)
        return self._links

    def edges(self, room: Sequence[Array] | None = None) -> Edges:
        """Return the condition that leads into every node; `Links.edges` says in which room."""
        links = self.links()
        missing_left = None
        if "missing_go_to_left" in (self._nodes.dtype.names or ()):
            missing_left = self._column("missing_go_to_left").take(links.inner) != 0
        feature = self._whole("feature").take(links.inner)
        bound = self._column("threshold").take(links.inner).astype(np.float64, copy=False)
        return links.edges(feature, bound, missing_left, room=room)


def _add_up(weight: Float, links: Links) -> bool:
    """Tell whether the weight of every inner node is that of its children, but for rounding."""
    for at, left, right in links.parts():
        own = weight.take(at)
        if np.any(np.abs(weight.take(left) + weight.take(right) - own) > 1e-6 * (1 + own)):
            return False
    return True


def read_nodes(stored: object) -> NodeTable:
    """Return the node table of one stored tree."""
    table = NodeTable(*stored_table(stored))
    table.check()
    return table


def read_all(
    stored: Iterable[object],
    take: Callable[[int, NodeTable], None],
    look: Callable[[NodeTable], _T],
) -> tuple[list[NodeTable], Sight[_T]]:
    """Return the node tables of stored trees, and what is seen in them, small ones together."""
    tables = []
    for i, tree in enumerate(stored):
        tables.append(NodeTable(*stored_table(tree)))
        take(i, tables[-1])
    return tables, list(looked_at(tables, look, checked=False))


def looked_at(
    tables: Sequence[NodeTable], look: Callable[[NodeTable], _T], *, checked: bool = True
) -> Iterator[tuple[_T, Sequence[NodeTable]]]:
    """Yield what is seen in tables, and in which."""
    for some in in_rows([table.n_stored for table in tables]):
        part = tables[some]
        row = row_of(part) if len(part) > 1 else None
        if row is not None:
            try:
                seen = look(row)
                if not checked:
                    row.hand_out(part)
                yield seen, part
                continue
            except ReadError:
                pass
        for table in part:
            yield look(table), (table,)
            if len(tables) > 1:
                table.forget()


def row_of(tables: Sequence[NodeTable]) -> NodeTable | None:
    """Return a table of several trees; None where they are not of one form, or badly linked."""
    first = tables[0]
    if any(table.kept is not None or table.n_features != first.n_features for table in tables):
        return None
    row = together([table._nodes for table in tables], [table.values for table in tables])
    if row is None:
        return None
    made = NodeTable(row.nodes, row.values, first.n_features, row)
    made.members = tables
    made.people, made.total = int(made.n_records[0]), float(made.weight[0])
    return made
