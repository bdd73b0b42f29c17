"""One tree as LightGBM stores it: checked, and turned into a `Tree`.

Nodes are numbered as LightGBM does: inner nodes first, then leaf ``i`` as
``n_inner + i``. Numbers go left where ``x <= threshold`` in 64 bits; listed
categories go left, all other values and missing ones right.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import MalformedModelError, ReadError
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Links, link

NO_MISSING, MISSING_IS_ZERO, MISSING_IS_NAN = 0, 1, 2
_ZERO = float(np.float32(1e-35))  # what LightGBM takes for zero, on both sides


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grown:
    """What the file says of how a tree was grown; nothing that it answers with.

    Attributes
    ----------
    leaf_weight, inner_weight
        Sums of second derivatives.
    shrinkage
        What all values of the tree were multiplied with.
    """

    leaf_weight: Float
    inner_weight: Float
    shrinkage: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawTree:
    """What the file says of one tree, not checked yet."""

    # Children of the inner nodes; negative for leaf ``-1 - child``
    left: Wide
    right: Wide
    # One entry per inner node
    feature: Wide
    threshold: Float
    categorical: Flag
    default_left: Flag
    missing_type: Wide
    categories: Mapping[int, Wide]  # The codes that go left, by inner node
    # Values; those of inner nodes None where they are not stored
    leaf_value: Float
    inner_value: Float | None
    # Rows, None where they are not stored
    leaf_count: Wide | None
    inner_count: Wide | None
    linear: bool  # Whether leaves hold linear models
    grown: Grown | None = None  # How it was grown, where the file tells all of it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """A checked tree, by position in `links`; inner nodes only where it says so."""

    links: Links  # The nodes that hang on the root
    raw: RawTree  # What the file says
    bound: Float  # The largest number that goes left, by inner node
    missing_left: Flag  # Whether missing values go left, by inner node
    misrouted: int  # Inner nodes that send zero the other way than its neighbours
    n_records: Wide | None  # Rows per node, or None

    def tree(self, n_categories: Mapping[int, int], told: bool) -> Tree:
        """Return the tree."""
        links, raw = self.links, self.raw
        at = links.order[links.inner]
        edges = links.edges(raw.feature[at], self.bound[at], self.missing_left[at])
        by_set = np.flatnonzero(raw.categorical[at])
        listed = {int(links.inner[i]): raw.categories[int(at[i])] for i in by_set}
        inner = np.zeros(len(raw.left)) if raw.inner_value is None else raw.inner_value
        value = np.concatenate([inner, raw.leaf_value])[links.order]
        return edges.tree(
            categories=links.sets(edges, listed, n_categories, left=True),
            n_records=self.n_records if told else None,
            value=None if raw.linear else value,
        )


def read_tree(raw: RawTree, n_features: int) -> StoredTree:
    """Check one tree of the file."""
    n_inner, n_leaves = len(raw.left), len(raw.leaf_value)
    if any(((side >= n_inner) | (side < -n_leaves)).any() for side in (raw.left, raw.right)):
        raise MalformedModelError("a child is out of range")
    left, right = (np.where(s < 0, n_inner - 1 - s, s) for s in (raw.left, raw.right))
    links = link(np.arange(n_inner), left, right, n_inner + n_leaves)
    if links.cut_off:
        raise ReadError(f"{links.cut_off:,} of its nodes do not hang on the root")
    if ((raw.feature < 0) | (raw.feature >= n_features)).any():
        raise MalformedModelError(f"it tests a feature that is none of the {n_features:,}")
    if np.isnan(raw.threshold[~raw.categorical]).any():
        raise MalformedModelError("a threshold is not a number", "wrong")
    if ((raw.missing_type < 0) | (raw.missing_type > MISSING_IS_NAN)).any():
        raise ReadError("a split has a missing type that does not exist")
    if not raw.linear and not np.isfinite(raw.leaf_value).all():
        raise MalformedModelError("a leaf value is not a number", "wrong")
    for codes in raw.categories.values():
        if len(codes) and not 0 <= int(codes[0]) <= int(codes[-1]) <= Most.category:
            raise MalformedModelError("a category is negative or too large")
    bound, missing_left, misrouted = _routes(
        raw.categorical, raw.threshold, raw.default_left, raw.missing_type
    )
    return StoredTree(
        links=links,
        raw=raw,
        bound=bound,
        missing_left=missing_left,
        misrouted=int(np.count_nonzero(misrouted)),
        n_records=_rows(raw, links),
    )


def _routes(
    categorical: Flag, threshold: Float, default: Flag, kind: Wide
) -> tuple[Float, Flag, Flag]:
    """Return the largest number that goes left, where missing values go, what is misrouted.

    Without missing values in training NaN counts as 0. Where zero means
    missing, all of [-1e-35, 1e-35] goes the default way: that is a bound as
    long as the threshold is among them or the default way is the natural one.
    """
    bound = np.where(categorical, 0.0, threshold)
    zero_left = bound >= 0
    missing_left = np.where(kind == NO_MISSING, zero_left, default) & ~categorical
    zero = (kind == MISSING_IS_ZERO) & ~categorical
    near = zero & (bound >= -_ZERO) & (bound <= _ZERO)
    moved = np.where(default, _ZERO, np.nextafter(-_ZERO, -np.inf))
    return np.where(near, moved, bound), missing_left, zero & ~near & (default != zero_left)


def _rows(raw: RawTree, links: Links) -> Wide | None:
    """Return the rows per node, None where they are not told."""
    if raw.leaf_count is None or raw.inner_count is None:
        return None
    n = np.concatenate([raw.inner_count, raw.leaf_count])[links.order]
    if ((n < 0) | (n > Most.people)).any():
        raise ReadError("a node has a negative or impossible count")
    # A constant tree of an old version says 0: it does not tell.
    return None if int(n[0]) == 0 else n


def add_up(tree: StoredTree) -> bool:
    """Tell whether the rows of every two children are those of their parent."""
    if tree.n_records is None:
        return True
    n, links = tree.n_records, tree.links
    return bool((n[links.left] + n[links.right] == n[links.inner]).all())
