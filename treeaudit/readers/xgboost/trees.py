"""One tree as XGBoost stores it: checked, and turned into a `Tree`."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Array, Flag, Float, Wide
from treeaudit.errors import ReadError
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Links, link, sums

_KINDS: Mapping[type, type] = {int: np.int64, float: np.float64, bool: np.bool_}
_MOST_CATEGORY = 1 << 24  # categories are 32-bit floats: above, they are no whole numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """The columns of one tree, by position in `links`."""

    links: Links  # The nodes that hang on the root
    # What an inner node asks: left where ``x < threshold`` as 32-bit floats
    feature: Wide
    threshold: Float
    default_left: Flag
    categories: Mapping[int, Wide]  # The codes that go right, by position of the inner node
    cover: Float | None  # ``sum_hessian``, or None where it is not stored
    weight: Float | None  # ``base_weights``, or None where there is not one per node
    value: Float | None  # Leaf values, 0 at inner nodes. None for leaves that hold a vector.

    def tree(self, n_categories: Mapping[int, int], n_records: Wide | None, scale: float) -> Tree:
        """Return the tree.

        Parameters
        ----------
        n_categories
            How many categories each categorical feature has.
        n_records
            People per node, where known.
        scale
            What leaf values are multiplied with.
        """
        inner = self.links.inner
        # For every float32 x: x < t is x <= the double below t, and x >= t is x > it.
        bound = np.nextafter(self.threshold[inner], -np.inf)
        edges = self.links.edges(self.feature[inner], bound, self.default_left[inner])
        sets = self.links.sets(edges, self.categories, n_categories, left=False)
        value = self.value
        if value is not None and self.cover is not None:
            value = _means(self.links, value, self.cover)
        value = None if value is None else value * scale
        return edges.tree(categories=sets, n_records=n_records, value=value)


def _means(links: Links, value: Float, cover: Float) -> Float:
    """Give inner nodes the mean of the leaves below, weighted with cover."""
    leaf = links.is_leaf
    with np.errstate(all="ignore"):
        below = np.where(leaf, cover, 0.0)
        total = sums(links.parent, np.stack([value * cover, below], axis=1))
        mean = total[:, 0] / total[:, 1]
    return np.where(~leaf & np.isfinite(mean), mean, value)


@np.errstate(all="ignore")  # signalling NaNs warn too, and decimals beyond 32 bits
def read_tree(raw: object, n_features: int, width: int) -> StoredTree:
    """Check one tree of the file."""
    if not isinstance(raw, dict):
        raise ReadError("it is no object")
    left = _whole(raw, "left_children")
    n = len(left)
    if n == 0:
        raise ReadError("it has no nodes")
    stored_right = _whole(raw, "right_children", n)
    if (left < -1).any():
        raise ReadError(f"node {int(np.argmax(left < -1))} has a negative child")
    # Leaves that hold vectors keep the number of the vector in place of the right child.
    right = np.where(left < 0, -1, stored_right) if width > 1 else stored_right
    if ((left < 0) != (right < 0)).any():
        raise ReadError(f"node {int(np.argmax((left < 0) != (right < 0)))} has one child")
    if (right < -1).any():
        raise ReadError(f"node {int(np.argmax(right < -1))} has a negative child")
    parents = np.flatnonzero(left >= 0)
    links = link(parents, left[parents], right[parents], n)
    at = links.order
    feature = _whole(raw, "split_indices", n)[at]
    condition = _numbers(raw, "split_conditions", n)[at]
    inner = left[at] >= 0
    if feature[inner].min(initial=0) < 0 or feature[inner].max(initial=0) >= n_features:
        raise ReadError(f"it tests a feature that is none of the {n_features:,}")
    goes_left = _whole(raw, "default_left", n)
    # XGBoost keeps one bit of it.
    if goes_left.min(initial=0) < 0 or goes_left.max(initial=1) > 1:
        raise ReadError("a split sends missing values neither left nor right")
    kind = _whole(raw, "split_type", n)[at] if "split_type" in raw else np.zeros(len(at))
    numeric, categorical = inner & (kind == 0), inner & (kind == 1)
    if np.isnan(condition[numeric]).any():
        raise ReadError("a threshold is not a number")
    categories = _categories(raw, at, categorical)
    if ((numeric | categorical) != inner).any():
        raise ReadError("a split is neither numeric nor categorical")
    leaf_value = np.where(inner, 0.0, condition)
    if width == 1 and not np.isfinite(leaf_value).all():
        raise ReadError("a leaf value is not a number")
    cover = _cover(raw, n, links, at)
    weight = _numbers(raw, "base_weights", n)[at] if _fits(raw, "base_weights", n) else None
    return StoredTree(
        links=links,
        feature=np.where(inner, feature, 0),
        threshold=np.where(numeric, condition, 0.0),
        default_left=goes_left[at] == 1,
        categories=categories,
        cover=cover,
        weight=weight,
        value=leaf_value if width == 1 else None,
    )


def _cover(raw: Mapping[str, object], n: int, links: Links, at: Wide) -> Float | None:
    if not _fits(raw, "sum_hessian", n):
        return None
    cover = _numbers(raw, "sum_hessian", n)[at]
    if not ((cover >= 0) & (cover <= Most.weight)).all():
        raise ReadError("its cover (sum_hessian) is negative or no number")
    total, parents = cover[links.left] + cover[links.right], cover[links.inner]
    if not (np.abs(total - parents) <= 1e-3 + 1e-2 * parents).all():
        raise ReadError("the covers of two children do not add up to their parent's")
    return cover


def _categories(raw: Mapping[str, object], at: Wide, categorical: Flag) -> dict[int, Wide]:
    """Return the codes that go right, by position of the node."""
    if not categorical.any():
        return {}
    codes = _whole(raw, "categories")
    nodes = _whole(raw, "categories_nodes")
    starts = _whole(raw, "categories_segments", len(nodes))
    sizes = _whole(raw, "categories_sizes", len(nodes))
    if np.any((starts < 0) | (sizes < 0) | (sizes > len(codes)) | (starts > len(codes) - sizes)):
        raise ReadError("the categories of a split lie outside their list")
    if np.any((codes < 0) | (codes >= _MOST_CATEGORY)):
        raise ReadError("a category is negative or too large")
    segment = dict(
        zip(nodes.tolist(), zip(starts.tolist(), sizes.tolist(), strict=True), strict=True)
    )
    found = {}
    for position in np.flatnonzero(categorical).tolist():
        if (place := segment.get(int(at[position]))) is None:
            raise ReadError(f"node {int(at[position])} splits by categories that are missing")
        found[position] = np.unique(codes[place[0] : place[0] + place[1]])
    return found


def _fits(raw: Mapping[str, object], name: str, n: int) -> bool:
    column = raw.get(name)
    return isinstance(column, list | np.ndarray) and len(column) == n


def _whole(raw: Mapping[str, object], name: str, n: int | None = None) -> Wide:
    return _column(raw, name, n, "iub").astype(np.int64)


def _numbers(raw: Mapping[str, object], name: str, n: int) -> Float:
    # XGBoost works with 32-bit floats; decimal text may be longer than they are.
    return _column(raw, name, n, "iuf").astype(np.float32).astype(np.float64)


def _column(raw: Mapping[str, object], name: str, n: int | None, kinds: str) -> Array:
    column = raw.get(name)
    if not isinstance(column, list | np.ndarray):
        raise ReadError(f"its {name} is missing")
    array = _of_list(column) if isinstance(column, list) else column
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ReadError(f"its {name} holds something other than numbers")
    if n is not None and len(array) != n:
        raise ReadError(f"its {name} has {len(array):,} entries instead of {n:,}")
    return array


def _of_list(column: list[object]) -> Array:
    kinds = set(map(type, column))
    if len(kinds) == 1 and (kind := _KINDS.get(*kinds)) is not None:
        return np.fromiter(column, kind, len(column))
    return np.asarray(column) if column else np.empty(0, dtype=np.int64)
