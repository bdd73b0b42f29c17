"""Room in the nodes of a tree of histogram boosting that no question and no answer uses."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from treeaudit.readers.columns import gathered
from treeaudit.readers.leftovers.nodes import is_record, no_flags, out_of_reach
from treeaudit.readers.links import Links
from treeaudit.readers.node_types import of_boosting
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.types import Flag, Float

__all__ = ["unused_in_predictor"]

_EMPTY_IN_LEAVES = ("feature_idx", "num_threshold", "left", "right", "bin_threshold")


def unused_in_predictor(tree: Inert, bins: Sequence[object] = ()) -> Iterator[tuple[str, int]]:
    """Yield what of a tree is neither asked nor answered, with its bytes.

    Parameters
    ----------
    tree
        As stored.
    bins
        The bounds of the bins of each column, where they are known.
    """
    nodes = arrived(tree.get("nodes"))
    if (
        not isinstance(nodes, np.ndarray)
        or nodes.ndim != 1
        or not is_record(of_boosting(nodes.dtype))
    ):
        yield "nodes", nodes.nbytes if isinstance(nodes, np.ndarray) else 1
        return
    flags = gathered(nodes, ("is_leaf", "missing_go_to_left", "is_categorical"))
    yield from no_flags(flags, tuple(flags))
    leaf = nodes["is_leaf"] != 0
    for name in _EMPTY_IN_LEAVES:
        if name in (nodes.dtype.names or ()):
            full = int(np.count_nonzero(nodes[name][leaf]))
            yield f"{name} of leaves", full * nodes.dtype[name].itemsize
    by_set = _flags(nodes, "is_categorical")
    yield from _in_questions(nodes, ~leaf, by_set, bins)
    sets = int(np.count_nonzero(by_set))
    for name in ("binned_left_cat_bitsets", "raw_left_cat_bitsets"):
        stored = arrived(tree.get(name))
        if isinstance(stored, np.ndarray) and stored.shape != (sets, 8) and stored.size:
            yield name, stored.nbytes
    left, right, inner = nodes["left"], nodes["right"], np.flatnonzero(~leaf)
    links = Links(inner=inner, left=left[inner], right=right[inner])
    yield "nodes out of reach", out_of_reach(left, right, links) * nodes.itemsize


def _flags(nodes: npt.NDArray[np.void], name: str) -> Flag:
    there = name in (nodes.dtype.names or ())
    return nodes[name] != 0 if there else np.zeros(len(nodes), dtype=np.bool_)


def _in_questions(
    nodes: npt.NDArray[np.void], inner: Flag, by_set: Flag, bins: Sequence[object]
) -> Iterator[tuple[str, int]]:
    """Yield the columns of histogram boosting that follow from others and do not."""
    fields, at = nodes.dtype.names or (), np.flatnonzero(inner)
    if "depth" in fields:
        depth, sides = nodes["depth"], [nodes[side][at] for side in ("left", "right")]
        inside = all(np.all(side < len(nodes)) for side in sides)
        odd = [np.count_nonzero(depth[side] != depth[at] + 1) for side in sides if inside]
        yield "depth of nodes", 4 * (int(depth[0] != 0) + sum(map(int, odd)))
    if "bitset_idx" in fields:
        yield "bitset_idx of nodes", 4 * int(np.count_nonzero(nodes["bitset_idx"][~by_set]))
    if "num_threshold" in fields:
        # A set that holds all categories splits off missing values.
        bounds = nodes["num_threshold"][by_set]
        yield "num_threshold of sets", 8 * int(np.count_nonzero((bounds != 0) & (bounds != np.inf)))
    if "bin_threshold" in fields:
        yield "bin_threshold of nodes", _odd_bins(nodes[inner], by_set[inner], bins)


def _odd_bins(nodes: npt.NDArray[np.void], by_set: Flag, bins: Sequence[object]) -> int:
    """Count the questions that name another bin than the one that ends at their bound."""
    name = "num_threshold" if "num_threshold" in (nodes.dtype.names or ()) else "threshold"
    stated, bound, column = nodes["bin_threshold"], nodes[name], nodes["feature_idx"]
    odd = stated != 0
    of_numbers = np.flatnonzero(odd & ~by_set & (column >= 0) & (column < len(bins)))
    if len(of_numbers):
        # The last bin has no end; a column without bounds, or with others than numbers, has none.
        ends = [_ends(one) for one in map(arrived, bins)]
        size = np.array([len(one) for one in ends])
        first, every = np.cumsum(size) - size, np.concatenate(ends)
        place, column = stated[of_numbers], column[of_numbers]
        inside = place < size[column]
        at = np.where(inside, first[column] + place, 0)
        odd[of_numbers] = ~inside | (every[at] != bound[of_numbers] if len(every) else True)
    return int(np.count_nonzero(odd))


def _ends(bounds: object) -> Float:
    """Return where the bins of a column end, the last one nowhere; none where it has no bins."""
    if isinstance(bounds, np.ndarray) and bounds.ndim == 1 and bounds.dtype.kind == "f":
        return np.append(bounds.astype(np.float64), np.inf) if len(bounds) else np.zeros(0)
    return np.zeros(0)
