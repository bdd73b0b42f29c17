"""Trees of a LightGBM text that are all written alike, read many at a time.

Each has the same lines as the first one, each line its name and as many numbers as the tree has
nodes, spelled as LightGBM spells them, and nothing else. A text that departs from that in any
way, or is about categories or linear leaves, is left to whoever reads tree by tree: of what is
read here nothing is left to be looked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from treeaudit.readers.lightgbm.block import Block
from treeaudit.readers.limits import Most
from treeaudit.readers.number_runs import read_reals, read_wholes
from treeaudit.readers.types import Array, Wide

_PART = 1 << 20  # bytes of text that are read together
_BLANK_LINES = 4
_FIXED = {"num_cat": b"num_cat=0", "is_linear": b"is_linear=0"}
_WHOLE = (
    *("left_child", "right_child", "split_feature", "decision_type"),
    *("leaf_count", "internal_count"),
)
_REAL = ("threshold", "leaf_value", "leaf_weight")
_SHORT = ("internal_value", "internal_weight", "split_gain", "shrinkage")
_NEEDED = {
    *("Tree", "num_leaves", "num_cat", "left_child", "right_child", "split_feature"),
    *("decision_type", "threshold", "leaf_value"),
}
_KNOWN = {*_NEEDED, *_WHOLE, *_REAL, *_SHORT, "is_linear"}
_MOST_LINES = len(_KNOWN) + _BLANK_LINES
_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_TYPES = 0b1110  # where missing values go and what they are, but no categories


def in_parts(bounds: Sequence[int]) -> Iterator[slice]:
    """Yield which trees to read together, by where each begins and the last one ends.

    Examples
    --------
    >>> list(in_parts([0, 10, 20, 3 << 20, 4 << 20]))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    begin = 0
    for i in range(1, len(bounds)):
        if i == len(bounds) - 1 or bounds[i + 1] - bounds[begin] > _PART:
            yield slice(begin, i)
            begin = i


def read_alike(text: bytes, first: int, n_trees: int) -> Block | None:
    """Return the trees of a text, counted from ``first`` on; None where they are not all alike."""
    if text.count(b"\n") > n_trees * _MOST_LINES:
        return None
    lines = text.split(b"\n")
    if lines.pop() or len(lines) % n_trees:
        return None
    n_lines = len(lines) // n_trees
    heads = [line.partition(b"=")[0].decode("latin-1") for line in lines[:n_lines]]
    names = [*filter(None, heads)]
    if not _are_names(names, heads):
        return None
    columns = {name: lines[i::n_lines] for i, name in enumerate(names)}
    blank = [lines[i::n_lines] for i in range(len(names), n_lines)]
    fixed = all({line}.issuperset(columns.get(name, ())) for name, line in _FIXED.items())
    if not fixed or any(any(one) for one in blank):
        return None
    if columns["Tree"] != [b"Tree=%d" % i for i in range(first, first + n_trees)]:
        return None
    leaves = _values("num_leaves", columns)
    found = None if leaves is None else read_wholes(leaves)
    if found is None or len(found.value) != n_trees:
        return None
    if len(found.last) != n_trees or found.value.min() < 2 or found.value.max() > Most.words:
        return None
    arrays = _arrays(columns, found.value)
    return None if arrays is None else Block.of(found.value, arrays)


def _are_names(names: Sequence[str], heads: Sequence[str]) -> bool:
    """Tell whether the lines of the first tree are all known, once each, blank ones behind."""
    blank = len(heads) - len(names)
    known = len(set(names)) == len(names) and _NEEDED <= set(names) <= _KNOWN
    last = "shrinkage" not in names or names[-1] == "shrinkage"
    return known and last and names == list(heads[: len(names)]) and blank < _BLANK_LINES


def _values(name: str, columns: Mapping[str, Sequence[bytes]]) -> bytes | None:
    """Return what stands behind a name in all trees, line by line; None where one has another."""
    told = columns[name]
    before = b"\n%s=" % name.encode()
    text = b"\n".join([b"", *told, b""])
    values = text.replace(before, b"\n")
    # As many names as lines, so each line begins with it.
    alike = len(text) - len(values) == len(told) * (len(before) - 1)
    return values[1:] if alike else None


def _arrays(columns: Mapping[str, Sequence[bytes]], n_leaves: Wide) -> dict[str, Array] | None:
    """Return the numbers of all trees behind one another, by name; None where some are odd."""
    arrays: dict[str, Any] = {}
    n_trees = len(n_leaves)
    for some, read in ((_WHOLE, read_wholes), (_REAL, read_reals), (_SHORT, read_reals)):
        names = [name for name in some if name in columns]
        texts = [_values(name, columns) for name in names]
        found: Any = None if None in texts else read(b"".join(filter(None, texts)))
        if names and (found is None or len(found.last) != n_trees * len(names)):
            return None
        begin = 0
        for i, name in enumerate(names):
            size = _size(name, n_leaves)
            last = found.last[i * n_trees : (i + 1) * n_trees]
            if not np.array_equal(last + 1 - begin, np.cumsum(size)):
                return None
            end = int(last[-1]) + 1
            arrays[name] = found.value[begin:end]
            begin = end
    decision: Wide = arrays["decision_type"]
    if np.any(decision & ~_TYPES):
        return None
    finite = all(np.isfinite(one).all() for one in arrays.values())
    return arrays if finite else None


def _size(name: str, n_leaves: Wide) -> Wide:
    if name == "shrinkage":
        return np.ones_like(n_leaves)
    return n_leaves if name in _LEAVES else n_leaves - 1
