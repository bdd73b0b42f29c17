"""One tree as LightGBM stores it: checked, and turned into a `Tree`.

Nodes are numbered as LightGBM does: inner nodes first, then leaf ``i`` as
``n_inner + i``. Numbers go left where ``x <= threshold`` in 64 bits; listed
categories go left, all other values and missing ones right.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.boosters.child_links import Links, link

__all__ = ["Flag", "Float", "RawTree", "StoredTree", "Wide", "add_up", "read_tree"]

Wide = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Flag = npt.NDArray[np.bool_]

NO_MISSING, MISSING_IS_ZERO, MISSING_IS_NAN = 0, 1, 2
_ZERO = float(np.float32(1e-35))  # what LightGBM takes for zero, on both sides
_MOST_CODES = 1 << 23
_MOST_CATEGORY = (1 << 31) - 1
_MOST_PEOPLE = 1 << 53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawTree:
    """What the file says of one tree, not checked yet.

    Attributes
    ----------
    left, right
        Children of the inner nodes; negative for leaf ``-1 - child``.
    feature, threshold, categorical, default_left, missing_type
        One entry per inner node.
    categories
        The codes that go left, by inner node.
    leaf_value, inner_value
        Values; those of inner nodes None where they are not stored.
    leaf_count, inner_count
        Rows, None where they are not stored.
    linear
        Whether leaves hold linear models.
    """

    left: Wide
    right: Wide
    feature: Wide
    threshold: Float
    categorical: Flag
    default_left: Flag
    missing_type: Wide
    categories: Mapping[int, Wide]
    leaf_value: Float
    inner_value: Float | None
    leaf_count: Wide | None
    inner_count: Wide | None
    linear: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """A checked tree, by position in `links`; inner nodes only where it says so.

    Attributes
    ----------
    links
        The nodes that hang on the root.
    raw
        What the file says.
    bound
        The largest number that goes left, by inner node.
    missing_left
        Whether missing values go left, by inner node.
    misrouted
        Inner nodes that send zero the other way than its neighbours.
    n_records
        Rows per node, or None.
    """

    links: Links
    raw: RawTree
    bound: Float
    missing_left: Flag
    misrouted: int
    n_records: Wide | None

    def tree(self, n_categories: Mapping[int, int], told: bool) -> Tree:
        """Return the tree.

        Parameters
        ----------
        n_categories
            How many categories each categorical feature has.
        told
            Whether the rows are people.
        """
        links, raw = self.links, self.raw
        n = len(links.stored)
        above = np.where(links.parent < 0, 0, links.above)
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        feature, missing = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.bool_)
        sets = None
        if n > 1:
            left = links.is_left
            bound = self.bound[above]
            high[1:] = np.where(left, bound, np.inf)[1:]
            low[1:] = np.where(left, -np.inf, bound)[1:]
            feature[1:] = raw.feature[above][1:]
            missing[1:] = (self.missing_left[above] == left)[1:]
            if raw.categories:
                by_category = raw.categorical[above]
                by_category[0] = False
                # A set may be empty: then no value at all follows the edge.
                low[by_category], high[by_category] = np.inf, -np.inf
                sets = self._sets(above, by_category, n_categories)
        return Tree(
            parent=links.parent.astype(np.int32),
            feature=feature.astype(np.int32),
            low=low,
            high=high,
            categories=sets,
            missing=missing,
            n_records=self.n_records if told else None,
            value=None if raw.linear else self._values(),
        )

    def _values(self) -> Float:
        raw, n_inner = self.raw, len(self.raw.left)
        inner = np.zeros(n_inner) if raw.inner_value is None else raw.inner_value
        return np.concatenate([inner, raw.leaf_value])[self.links.stored]

    def _sets(
        self, above: Wide, by_category: Flag, n_categories: Mapping[int, int]
    ) -> CategorySets:
        sizes = np.zeros(len(above), dtype=np.int64)
        owned: list[Wide] = []
        total = 0
        for node in np.flatnonzero(by_category).tolist():
            split = int(above[node])
            codes = self.raw.categories[split]
            if not self.links.is_left[node]:
                every = n_categories[int(self.raw.feature[split])]
                total += every
                if total > _MOST_CODES:
                    raise ModelTooLargeError("a tree names more categories than treeaudit takes in")
                others = np.ones(every, dtype=np.bool_)
                others[codes] = False
                codes = np.flatnonzero(others)
            sizes[node] = len(codes)
            owned.append(codes)
        start = np.concatenate([[0], np.cumsum(sizes)])
        return CategorySets(start=start, codes=np.concatenate(owned).astype(np.int32))


def read_tree(raw: RawTree, n_features: int) -> StoredTree:
    """Check one tree of the file.

    Raises
    ------
    ReadError
        If it does not describe a tree.
    """
    n_inner, n_leaves = len(raw.left), len(raw.leaf_value)
    left, right = np.full((2, n_inner + n_leaves), -1, dtype=np.int64)
    for stored, child in ((raw.left, left), (raw.right, right)):
        if np.any((stored >= n_inner) | (stored < -n_leaves)):
            raise ReadError("a child is out of range")
        child[:n_inner] = np.where(stored < 0, n_inner - 1 - stored, stored)
    links = link(left, right)
    if links.cut_off:
        raise ReadError(f"{links.cut_off:,} of its nodes do not hang on the root")
    if np.any((raw.feature < 0) | (raw.feature >= n_features)):
        raise ReadError(f"it tests a feature that is none of the {n_features:,}")
    if np.any(np.isnan(raw.threshold[~raw.categorical])):
        raise ReadError("a threshold is not a number")
    if np.any((raw.missing_type < 0) | (raw.missing_type > MISSING_IS_NAN)):
        raise ReadError("a split has a missing type that does not exist")
    if not raw.linear and not np.all(np.isfinite(raw.leaf_value)):
        raise ReadError("a leaf value is not a number")
    for codes in raw.categories.values():
        if len(codes) and not 0 <= int(codes[0]) <= int(codes[-1]) <= _MOST_CATEGORY:
            raise ReadError("a category is negative or too large")
    bound, missing_left, misrouted = _routes(raw)
    return StoredTree(
        links=links,
        raw=raw,
        bound=bound,
        missing_left=missing_left,
        misrouted=misrouted,
        n_records=_rows(raw, links),
    )


def _routes(raw: RawTree) -> tuple[Float, Flag, int]:
    """Return the largest number that goes left, and where missing values go.

    Without missing values in training NaN counts as 0. Where zero means
    missing, all of [-1e-35, 1e-35] goes the default way: that is a bound as
    long as the threshold is among them or the default way is the natural one.
    """
    default, kind = raw.default_left, raw.missing_type
    bound = np.where(raw.categorical, 0.0, raw.threshold)
    zero_left = bound >= 0
    missing_left = np.where(kind == NO_MISSING, zero_left, default) & ~raw.categorical
    zero = (kind == MISSING_IS_ZERO) & ~raw.categorical
    near = zero & (bound >= -_ZERO) & (bound <= _ZERO)
    moved = np.where(default, _ZERO, np.nextafter(-_ZERO, -np.inf))
    misrouted = zero & ~near & (default != zero_left)
    return np.where(near, moved, bound), missing_left, int(np.count_nonzero(misrouted))


def _rows(raw: RawTree, links: Links) -> Wide | None:
    """Return the rows per node, None where they are not told."""
    if raw.leaf_count is None or raw.inner_count is None:
        return None
    n = np.concatenate([raw.inner_count, raw.leaf_count])[links.stored]
    if np.any((n < 0) | (n > _MOST_PEOPLE)):
        raise ReadError("a node has a negative or impossible count")
    # A constant tree of an old version says 0: it does not tell.
    return None if int(n[0]) == 0 else n


def add_up(tree: StoredTree) -> bool:
    """Tell whether the rows of every two children are those of their parent."""
    if tree.n_records is None:
        return True
    inner, left, right = tree.links.children()
    n = tree.n_records
    return bool(np.all(n[left] + n[right] == n[inner]))
