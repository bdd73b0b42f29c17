"""The lines of a LightGBM text, one tree at a time: whatever they are, and what is wrong."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.boosters.damage import whole
from treeaudit.readers.lightgbm.tree import Grown, RawTree
from treeaudit.readers.limits import Most, show
from treeaudit.readers.types import Flag, Float, Wide

NAMES = "feature_names"

_Column = TypeVar("_Column", Wide, Float)

_WHOLE = (
    *("left_child", "right_child", "split_feature", "decision_type"),
    *("leaf_count", "internal_count"),
)
_REAL = (
    *("threshold", "leaf_value", "internal_value"),
    *("leaf_weight", "internal_weight", "split_gain", "shrinkage"),
)
_OF_A_TREE = frozenset(
    (
        *(*_WHOLE, *_REAL, "num_leaves", "num_cat", "cat_boundaries", "cat_threshold"),
        *("is_linear", "leaf_const", "num_features", "leaf_features", "leaf_coeff"),
    )
)
_LEAST = -(1 << 62)


def fields_of_tree(text: bytes) -> dict[str, str]:
    """Return the lines ``key=value`` of a tree."""
    read, _, beyond = text.replace(b"\r\n", b"\n").strip(b"\n").partition(b"\n\n")
    fields, behind = fields_of(read), fields_of(beyond)
    if not fields.keys().isdisjoint(behind) or not _OF_A_TREE.isdisjoint(behind):
        raise ReadError("lines of it stand behind an empty one, where LightGBM stops reading")
    return {**fields, **behind}


def fields_of(text: bytes) -> dict[str, str]:
    """Return the lines ``key=value`` of one section."""
    if text.count(b"\n") > Most.lines:
        raise ReadError("it has more lines than a LightGBM model")
    found: dict[str, str] = {}
    for line in text.decode("utf-8", "backslashreplace").split("\n"):
        key, _, value = line.partition("=")
        key = key.strip()
        if key in found:
            raise ReadError(f"it names {show(key)} twice")
        if not line.strip():
            continue
        # Names may begin or end with blanks of another kind.
        found[key] = value.removesuffix("\r") if key == NAMES else value.strip()
    return found


def words(text: str) -> list[str]:
    """Return the words of a line."""
    found = text.split(None, Most.words)
    if len(found) > Most.words:
        raise ModelTooLargeError(f"a line holds more than {Most.words:,} words")
    return found


def integers(text: str) -> Wide:
    """Return the whole numbers of a line."""
    found: Wide | None = _plain(text, np.int64)
    if found is not None:
        return found
    try:
        return np.asarray([int(word) for word in words(text)], dtype=np.int64)
    except (ValueError, OverflowError):
        raise ReadError("a whole number is damaged") from None


def floats(text: str) -> Float:
    """Return the numbers of a line."""
    found: Float | None = _plain(text, np.float64)
    if found is not None:
        return found
    try:
        return np.asarray([float(word) for word in words(text)], dtype=np.float64)
    except ValueError:
        raise ReadError("a number is damaged") from None


def _plain(text: str, kind: type) -> Any:  # noqa: ANN401  # an array of a kind
    """Return the numbers of a line with one blank between them; None where it is not so."""
    n = text.count(" ") + 1
    if not text or n > Most.words:
        return None
    try:
        found: Any = np.fromstring(text, dtype=kind, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    # Numbers beyond 64 bits become the largest there is.
    if kind is np.int64 and len(found) and not _LEAST < found.min() <= found.max() < -_LEAST:
        return None
    return found if len(found) == n else None


def _columns(
    fields: Mapping[str, str], names: Sequence[str], kind: type, read: Callable[[str], _Column]
) -> Callable[[str], _Column]:
    """Return what reads a column of a tree: all in one go where single blanks stand between."""
    told = {name: fields[name] for name in names if fields.get(name)}
    text, found = " ".join(told.values()), None
    # So each run between two blanks has a number, and as many numbers as runs are one each.
    if "  " not in text and text.isprintable():
        found = _plain(text, kind)
    if found is None:
        return lambda name: read(fields.get(name, ""))
    ends = accumulate((part.count(" ") + 1 for part in told.values()), initial=0)
    columns = {name: found[b:e] for name, (b, e) in zip(told, pairwise(ends), strict=True)}
    return lambda name: columns.get(name, found[:0])


def tree_of(fields: Mapping[str, str]) -> RawTree:
    """Return the tree that some lines tell of."""
    order = list(fields)
    behind = order[order.index("shrinkage") + 1 :] if "shrinkage" in fields else []
    if not {*_WHOLE, *_REAL, "cat_boundaries", "cat_threshold"}.isdisjoint(behind):
        # LightGBM stops after as many lines as it writes.
        raise ReadError("lines of a tree stand behind shrinkage, its last")
    n_leaves = whole(fields, "num_leaves", 1, Most.words)
    n_inner = n_leaves - 1
    wholes: Callable[[str], Wide] = _columns(fields, _WHOLE, np.int64, integers)
    reals: Callable[[str], Float] = _columns(fields, _REAL, np.float64, floats)

    def column(name: str) -> Wide:
        return _sized(name, wholes(name), n_inner)

    decision = column("decision_type") if "decision_type" in fields else np.zeros(n_inner, np.int64)
    if np.any(decision & ~0xF):
        raise ReadError("a split has a decision type that does not exist")
    categorical = (decision & 1) != 0
    threshold = _sized("threshold", reals("threshold"), n_inner)
    return RawTree(
        left=column("left_child"),
        right=column("right_child"),
        feature=column("split_feature"),
        threshold=threshold,
        categorical=categorical,
        default_left=(decision & 2) != 0,
        missing_type=(decision >> 2) & 3,
        categories=_categories(fields, categorical, threshold),
        leaf_value=_sized("leaf_value", reals("leaf_value"), n_leaves),
        inner_value=_optional_values("internal_value", reals, n_inner),
        leaf_count=_optional("leaf_count", wholes, n_leaves),
        inner_count=_optional("internal_count", wholes, n_inner),
        linear=fields.get("is_linear", "0") != "0",
        grown=_grown(fields, reals, n_inner),
    )


def _grown(fields: Mapping[str, str], reals: Callable[[str], Float], n: int) -> Grown | None:
    sizes = {"leaf_weight": n + 1, "internal_weight": n, "split_gain": n, "shrinkage": 1}
    leaf, inner, _, shrinkage = (_optional(name, reals, sizes[name]) for name in sizes)
    if not all(map(fields.get, sizes)) or leaf is None or inner is None or shrinkage is None:
        return None
    return Grown(leaf_weight=leaf, inner_weight=inner, shrinkage=float(shrinkage[0]))


def _sized(name: str, column: _Column, n: int) -> _Column:
    if len(column) != n:
        raise ReadError(f"its {name} has {len(column):,} entries instead of {n:,}")
    return column


def _optional(name: str, read: Callable[[str], _Column], n: int) -> _Column | None:
    column = read(name)
    return _sized(name, column, n) if len(column) or n == 0 else None


def _optional_values(name: str, reals: Callable[[str], Float], n: int) -> Float | None:
    column = _optional(name, reals, n)
    return column if column is not None and bool(np.all(np.isfinite(column))) else None


def _categories(fields: Mapping[str, str], categorical: Flag, threshold: Float) -> dict[int, Wide]:
    """Return the codes that go left, by node: bit sets of 32-bit words."""
    nodes = np.flatnonzero(categorical)
    if not len(nodes):
        return {}
    bounds = integers(fields.get("cat_boundaries", ""))
    words = integers(fields.get("cat_threshold", ""))
    if len(bounds) < 2 or np.any(np.diff(bounds) < 0) or bounds[0] < 0 or bounds[-1] > len(words):
        raise ReadError("the category sets lie outside their list")
    if np.any((words < 0) | (words >= 1 << 32)):
        raise ReadError("a category set is no 32-bit number")
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
    found = {}
    for node in nodes.tolist():
        place = threshold[node]
        if not (0 <= place < len(bounds) - 1 and place == int(place)):
            raise ReadError(f"node {node} splits by categories that are missing")
        first, last = int(bounds[int(place)]), int(bounds[int(place) + 1])
        found[node] = np.flatnonzero(bits[32 * first : 32 * last])
    return found
