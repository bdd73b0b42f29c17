"""Room in the nodes of a stored tree that no question and no answer uses."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.readers.alike import Alike
from treeaudit.readers.columns import Columns, gathered
from treeaudit.readers.leftovers.derived import underived
from treeaudit.readers.leftovers.sizes import tree_sizes
from treeaudit.readers.links import Links
from treeaudit.readers.node_types import of_tree
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.together import in_rows, together
from treeaudit.readers.types import Array, Float, Wide

__all__ = [
    "Sound",
    "is_path_length",
    "is_record",
    "no_flags",
    "out_of_reach",
    "unused_in_trees",
]

_LOGICAL = ("missing_go_to_left",)
_DOUBLE = np.dtype(np.float64)
_Plain = tuple[npt.NDArray[np.void], npt.NDArray[np.float64], str, bool]


class Sound:
    """Trees of which `unused_in_tree` yields nothing, found so while their columns were at hand.

    Attributes
    ----------
    alike
        What is known of trees that stand in one list.
    """

    def __init__(self) -> None:
        self.alike = Alike()
        self._found: dict[int, _Plain] = {}

    def look(
        self,
        trees: Sequence[tuple[object, Sequence[Inert]]],
        columns: Columns,
        values: Float,
        links: Links,
        start: Wide,
    ) -> None:
        """Look at a tree of which all nodes hang on the root, or at some that stand in a row.

        Parameters
        ----------
        trees
            Each with its owners, as `unused_in_tree` takes them.
        columns, values, links
            Of all of them.
        start
            Where each begins.
        """
        found: dict[int, _Plain] = {}
        for tree, owners in trees:
            plain = _plain(tree, owners) if isinstance(tree, Inert) else None
            if plain is None:
                return
            found[id(tree)] = plain
        grown = {plain[2:] for plain in found.values()}
        if len(grown) == 1 and _is_without_fault(columns, values, links, start, *grown.pop()):
            self._found |= found

    def knows(self, tree: Inert, owners: Sequence[Inert]) -> bool:
        """Tell whether it saw the very tables of the tree, grown in the same way."""
        found = self._found.get(id(tree))
        if found is None or not owners or _is_bounded(owners[0]):
            return False
        state = tree.state if isinstance(tree.state, dict) else tree.attributes
        nodes, values = arrived(state.get("nodes")), arrived(state.get("values"))
        return nodes is found[0] and values is found[1] and _grown(owners) == found[2:]


def unused_in_trees(
    trees: Sequence[tuple[Inert, Sequence[Inert]]], sound: Sound
) -> Iterator[tuple[int, Iterator[tuple[str, int]]]]:
    """Yield the number of each tree with what `unused_in_tree` yields of it.

    Small ones are looked at together first, and those of a row without fault are passed over,
    as are those that are known to have none.
    """
    kinds: dict[tuple[str, bool], list[tuple[int, _Plain]]] = {}
    for i, (tree, owners) in enumerate(trees):
        if sound.knows(tree, owners):
            continue
        plain = _plain(tree, owners)
        if plain is None:
            yield i, unused_in_tree(tree, owners)
        else:
            kinds.setdefault(plain[2:], []).append((i, plain))
    for alike in kinds.values():
        for some in in_rows([len(nodes) for _, (nodes, *_) in alike]):
            part = alike[some]
            if len(part) == 1 or not _without_fault([one for _, one in part]):
                yield from ((i, unused_in_tree(*trees[i])) for i, _ in part)


def _plain(tree: Inert, owners: Sequence[Inert]) -> _Plain | None:
    """Return nodes and values, the criterion, and whether a boosting changed the values.

    None where its tables have not the usual form, or its values were moved into bounds.
    """
    state = tree.state if isinstance(tree.state, dict) else tree.attributes
    nodes, values = arrived(state.get("nodes")), arrived(state.get("values"))
    sizes, count = tree_sizes(tree), state.get("node_count")
    if not (isinstance(nodes, np.ndarray) and isinstance(values, np.ndarray) and sizes):
        return None
    shapes = (
        ((len(nodes), sizes[1], sizes[2]), (len(nodes), sizes[1], 1)) if nodes.ndim == 1 else ()
    )
    if values.shape not in shapes or values.dtype != _DOUBLE or count.__class__ is not int:
        return None
    if count != len(nodes) or not _has_impurities(nodes.dtype):
        return None
    if not owners or _is_bounded(owners[0]):
        return None
    return nodes, values, *_grown(owners)


@lru_cache(64)
def _has_impurities(record: np.dtype[Any]) -> bool:
    return is_record(of_tree(record)) and "impurity" in (record.names or ())


def _grown(owners: Sequence[Inert]) -> tuple[str, bool]:
    """Return by what a tree was split, and whether a boosting changed its values."""
    criterion = owners[0].get("criterion") if owners else None
    changed = False
    for one in owners:
        changed |= one.cls.name.startswith("GradientBoosting")
    return criterion if isinstance(criterion, str) else "", changed


def _without_fault(trees: Sequence[_Plain]) -> bool:
    """Tell whether nothing at all is unused or does not follow in some trees that are alike."""
    row = together([nodes for nodes, *_ in trees], [values for _, values, *_ in trees])
    if row is None:
        return False
    nodes = gathered(row.nodes, row.nodes.dtype.names or ())
    *_, criterion, changed = trees[0]
    return _is_without_fault(nodes, row.values, row.links, row.start, criterion, changed)


def _is_without_fault(
    nodes: Columns, values: Float, links: Links, start: Wide, criterion: str, changed: bool
) -> bool:
    most = None
    if len(start) > 1:
        if np.isnan(nodes["impurity"]).any():
            return False
        largest = np.maximum.reduceat(np.abs(values).max(axis=(1, 2)), start)
        # What a number may be off by grows with the largest one: here with the smallest of these.
        each = np.maximum.reduceat(nodes["impurity"], start)
        each += 1.0 if values.shape[2] > 1 else np.minimum(largest, 1e150) ** 2
        most = float(each.min())
    if any(n for _, n in _in_columns(nodes)):
        return False
    with np.errstate(all="ignore"):
        return underived(nodes, values, links, criterion, changed=changed, most=most) == (0, 0)


def _in_columns(nodes: Columns) -> Iterator[tuple[str, int]]:
    """Yield the columns that hold a question in leaves, or no flags, with the bytes of that."""
    leaf = nodes["left_child"] < 0
    for name, empty in (("feature", -2), ("threshold", -2), ("right_child", -1)):
        full = (nodes[name] != empty) & leaf
        yield f"{name} of leaves", int(np.count_nonzero(full)) * nodes[name].itemsize
    yield from no_flags(nodes, _LOGICAL)


def unused_in_tree(tree: Inert, owners: Sequence[Inert]) -> Iterator[tuple[str, int]]:
    """Yield what of a `Tree` of scikit-learn is neither asked nor answered, with its bytes.

    Leaves hold -2 where others hold a question; impurities and the values above leaves follow
    from what is below.

    Parameters
    ----------
    tree
        As stored.
    owners
        The estimator that holds it, and those around that.
    """
    state = tree.state if isinstance(tree.state, dict) else {}
    nodes, values = arrived(state.get("nodes")), arrived(state.get("values"))
    sizes, count = tree_sizes(tree), state.get("node_count")
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        return
    if sizes is None or nodes.ndim != 1 or not is_record(of_tree(nodes.dtype)):
        yield "nodes", nodes.nbytes
        return
    fields = nodes.dtype.names or ()
    if values.ndim != 3 or values.dtype.kind != "f" or len(values) != len(nodes):
        yield "values", max(1, values.nbytes)
        return
    if isinstance(count, int) and len(nodes) > count >= 0:
        yield "nodes beyond node_count", nodes[count:].nbytes + values[count:].nbytes
        nodes, values = nodes[:count], values[:count]
    if values.shape[1:] != (sizes[1], sizes[2]) and values.shape[1:] != (sizes[1], 1):
        yield "values", values.nbytes
    columns = gathered(nodes, fields)
    yield from _in_columns(columns)
    each = nodes.itemsize + (values[0].nbytes if len(values) else 0)
    left, right = columns["left_child"], columns["right_child"]
    inner = np.flatnonzero(left >= 0)
    links = Links(inner=inner, left=left[inner], right=right[inner])
    lost = out_of_reach(left, right, links)
    yield "nodes out of reach", lost * each
    if not lost and 2 * len(inner) == len(nodes) - 1 and "impurity" in fields:
        criterion, changed = _grown(owners)
        with np.errstate(all="ignore"):
            impurities, answers = underived(
                columns,
                values,
                links,
                criterion,
                changed=changed,
                clipped=bool(owners) and _is_bounded(owners[0]),
            )
        yield "impurity of nodes", 8 * impurities
        yield "values of inner nodes", values[0].nbytes * answers


def _is_bounded(estimator: Inert) -> bool:
    """Tell whether a column has to go up or down, which moves values into bounds."""
    bounds = arrived(estimator.get("monotonic_cst"))
    bounds = bounds.tolist() if isinstance(bounds, np.ndarray) else bounds
    return isinstance(bounds, list) and not {1, -1}.isdisjoint(
        one for one in bounds if isinstance(one, int | float)
    )


def no_flags(nodes: Columns, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the logical columns that hold another number than 0 and 1."""
    for name in names:
        if name in nodes:
            yield f"{name} of nodes", int(np.count_nonzero(nodes[name] > 1))


def is_path_length(member: Inert, stored: Array) -> bool:
    """Tell whether numbers, one per node, are its depth or the mean depth of as many people."""
    tree = arrived(member.get("tree_"))
    state = tree.state if isinstance(tree, Inert) and isinstance(tree.state, dict) else {}
    nodes = arrived(state.get("nodes"))
    if not isinstance(nodes, np.ndarray) or not is_record(of_tree(nodes.dtype)):
        return False
    if stored.shape != nodes.shape or stored.dtype.kind not in "iuf":
        return False
    people = nodes["n_node_samples"].astype(np.float64)
    with np.errstate(all="ignore"):
        usual = 2 * (np.log(people - 1) + np.euler_gamma) - 2 * (people - 1) / people
    usual = np.where(people <= 1, 0.0, np.where(people == 2, 1.0, usual))
    if np.allclose(stored, usual, rtol=1e-6, atol=1e-12):
        return True
    depth, level, n = np.zeros(len(nodes)), np.zeros(1, dtype=np.int64), 1
    while len(level) and n <= len(nodes):
        depth[level] = n
        below = level[nodes["left_child"][level] > 0]
        level = np.concatenate([nodes[side][below] for side in ("left_child", "right_child")])
        level, n = level[(level > 0) & (level < len(nodes))], n + 1
    return bool(np.array_equal(stored, depth))


def is_record(told: Mapping[str, bool]) -> bool:
    """Tell whether a node table has all columns that it needs, each as scikit-learn writes it."""
    return len(told) > 6 and all(told.values())


def out_of_reach(left: npt.NDArray[Any], right: npt.NDArray[Any], links: Links) -> int:
    """Count the nodes that do not hang on the root, whatever the inner ones state as children."""
    n, at, sides = len(left), links.inner, (links.left, links.right)
    if all(np.all(at < side) and (not len(side) or side.max() < n) for side in sides):
        # Children stand behind their parents: where all have one, all hang on the root.
        child = np.zeros(n, dtype=bool)
        for side in sides:
            child[side] = True
        if np.count_nonzero(child) == 2 * len(at) == n - 1:
            return 0
    inner = np.zeros(n, dtype=bool)
    inner[at] = True
    reached, level = np.zeros(n, dtype=bool), np.zeros(1, dtype=np.int64)
    while len(level):
        reached[level] = True
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]]).astype(np.int64)
        level = level[(level > 0) & (level < n)]
        level = np.unique(level[~reached[level]])
    return n - int(np.count_nonzero(reached))
