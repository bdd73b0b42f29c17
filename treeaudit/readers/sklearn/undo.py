"""Say the conditions of a tree in terms of the columns before its pipeline."""

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.sklearn.precision import in_double
from treeaudit.readers.sklearn.preprocessing import Plan
from treeaudit.readers.types import Flag, Float, Wide


def undo(tree: Tree, plan: Plan, *, rounded: bool = False) -> Tree:
    """Return the tree over the original columns.

    A one-hot column becomes the set of its category (or of all others), an
    ordinal one the codes between its bounds, a scaled one its units, a bin the
    edge of the bin.

    Examples
    --------
    >>> from treeaudit.readers.sklearn.column import Column
    >>> from treeaudit.model.schema import Feature
    >>> inf = np.inf
    >>> seen = Tree(parent=[-1, 0, 0], feature=[-1, 1, 1], low=[-inf, -inf, 0.5],
    ...             high=[inf, 0.5, inf])
    >>> jobs = ("Army", "Sales", "Tech")
    >>> one_hot = tuple(Column(feature=0, kind="one-hot", known=jobs, code=i) for i in range(3))
    >>> plan = Plan(columns=one_hot, features=(Feature(name="job", categories=jobs),),
    ...             home=(0, 0, 0), made=())
    >>> [undo(seen, plan).categories.of(node) for node in (1, 2)]
    [[0, 2], [1]]
    """
    if rounded:
        tree = in_double(tree)
    edge = np.arange(1, tree.n_nodes)
    column = tree.feature[edge].astype(np.int64)
    scale = np.array([c.scale for c in plan.columns])[column]
    shift = np.array([c.shift for c in plan.columns])[column]
    low, high = tree.low.copy(), tree.high.copy()
    _check_ends(plan, tree, edge, column)
    for bound in (low, high):
        bound[edge] = _unscaled(bound[edge], scale, shift)
    feature = tree.feature.copy()
    feature[edge] = np.array(plan.home, dtype=np.int32)[column]
    missing = _missing(tree, plan, edge, column, low, high)
    categories = _sets(tree, plan, edge, column, low, high)
    _bins(plan, edge, column, low, high)
    return Tree(
        parent=tree.parent,
        feature=feature,
        low=low,
        high=high,
        categories=categories,
        missing=missing,
        n_records=tree.n_records,
        counts=tree.counts,
        label=tree.label,
        value=tree.value,
    )


def _unscaled(bound: Float, scale: Float, shift: Float) -> Float:
    """Return bounds in the units before a scaler; no bound but these stays infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: Float = bound * scale + shift
        # Next to the shift a bound that is next to nothing would be lost.
        beyond = np.isfinite(found) & ((found - shift) / scale > bound)
        found = np.where(beyond & (scale > 0), np.nextafter(found, -np.inf), found)
    if np.isnan(found).any() or (np.isinf(found) != np.isinf(bound)).any():
        raise ReadError("the tree is inconsistent: its scaler takes a threshold to infinity")
    return found


def _check_ends(plan: Plan, tree: Tree, edge: Wide, column: Wide) -> None:
    """Make sure that no edge is for numbers alone that were cut off: nobody would pass it."""
    ends = np.array([c.ends for c in plan.columns]).reshape(-1, 2)[column]
    slack = 1e-6 * np.maximum(1, np.abs(np.where(np.isfinite(ends), ends, 0))).max(axis=1)
    nobody = tree.low[edge] > ends[:, 1] + slack
    nobody |= tree.high[edge] < ends[:, 0] - slack
    if tree.missing is not None:
        nobody &= ~tree.missing[edge]
    if nobody.any():
        raise ReadError("the tree is inconsistent: it asks for what its scaler cuts off")


def _of_kind(plan: Plan, kind: str, column: Wide) -> Flag:
    return np.array([c.kind == kind for c in plan.columns], dtype=np.bool_)[column]


def _missing(
    tree: Tree, plan: Plan, edge: Wide, column: Wide, low: Float, high: Float
) -> Flag | None:
    """Send missing values where their replacement goes; one-hot gives them a 0."""
    fill = np.array([np.nan if c.fill is None else c.fill for c in plan.columns])[column]
    filled, one_hot = ~np.isnan(fill), _of_kind(plan, "one-hot", column)
    if not filled.any() and not one_hot.any():
        return tree.missing
    missing = np.zeros(tree.n_nodes, np.bool_) if tree.missing is None else tree.missing.copy()
    if tree.categories is not None:
        # Sets on codes say themselves where it goes.
        filled &= np.diff(tree.categories.start)[edge] == 0
    at = edge[filled]
    missing[at] = (low[at] < fill[filled]) & (fill[filled] <= high[at])
    at = edge[one_hot]
    missing[at] = (low[at] < 0) & (high[at] >= 0)
    return missing


def _sets(
    tree: Tree, plan: Plan, edge: Wide, column: Wide, low: Float, high: Float
) -> CategorySets | None:
    """Return the categories that pass each edge, and open the bounds of those edges."""
    one_hot, ordinal = _of_kind(plan, "one-hot", column), _of_kind(plan, "ordinal", column)
    if not one_hot.any() and not ordinal.any():
        return None
    width = np.array([len(c.known) for c in plan.columns], dtype=np.int64)[column]
    code = np.array([c.code for c in plan.columns], dtype=np.int64)[column]
    apart = np.array([c.apart is not None for c in plan.columns], dtype=np.bool_)[column] & ordinal
    # Two runs of codes say every case: [from, to) before and behind a hole.
    first, last = np.zeros(len(edge), np.int64), np.zeros(len(edge), np.int64)
    again, until = np.zeros(len(edge), np.int64), np.zeros(len(edge), np.int64)
    zero = (low[edge] < 0) & (high[edge] >= 0)
    one = (low[edge] < 1) & (high[edge] >= 1)
    first[one_hot] = np.where(zero, 0, code)[one_hot]
    last[one_hot] = np.where(zero & one, width, np.where(one, code + 1, code))[one_hot]
    again[one_hot] = np.where(zero & ~one, code + 1, width)[one_hot]
    until[one_hot] = width[one_hot]
    places = width - apart
    least = np.clip(np.floor(low[edge]) + 1, 0, places)
    most = np.clip(np.floor(high[edge]) + 1, 0, places)
    first[ordinal], last[ordinal] = least[ordinal], np.maximum(least, most)[ordinal]
    goes = places + _goes(tree, plan, edge, column, low, high)
    again[apart], until[apart] = places[apart], goes[apart]
    nothing = (one_hot | ordinal) & (last - first + until - again <= 0)
    # An edge that no category passes still has to be one: name a code that no one has.
    first[nothing], last[nothing] = width[nothing], width[nothing] + 1
    coded = edge[one_hot | ordinal]
    low[coded], high[coded] = -np.inf, np.inf
    runs = np.stack([first, again], axis=1).ravel()
    sizes = np.maximum(np.stack([last - first, until - again], axis=1).ravel(), 0)
    start = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    np.cumsum(sizes.reshape(-1, 2).sum(axis=1), out=start[2:])
    ends = np.cumsum(sizes)
    codes = np.arange(int(ends[-1])) - np.repeat(ends - sizes - runs, sizes)
    return CategorySets(start=start, codes=codes.astype(np.int32))


def _goes(tree: Tree, plan: Plan, edge: Wide, column: Wide, low: Float, high: Float) -> Flag:
    """Tell for each edge whether the category passes whose code is not its place."""
    code = np.array([np.nan if c.apart is None else c.apart for c in plan.columns])[column]
    passes: Flag = (low[edge] < code) & (code <= high[edge])
    if tree.missing is not None:
        passes |= np.isnan(code) & tree.missing[edge]
    return passes


def _bins(plan: Plan, edge: Wide, column: Wide, low: Float, high: Float) -> None:
    """Turn bounds on the number of a bin into bounds on the number in it."""
    for number, c in enumerate(plan.columns):
        if c.kind != "bins":
            continue
        at = edge[column == number]
        # Bin b holds edges[b] <= x < edges[b + 1]; the outermost are open.
        inner = np.concatenate([[-np.inf], np.array(c.edges[1:-1]), [np.inf]])
        for bound in (low, high):
            place = np.clip(np.floor(bound[at]) + 1, 0, len(inner) - 1).astype(np.int64)
            bound[at] = np.nextafter(inner[place], -np.inf)
        low[at] = np.where(low[at] < -1.7e308, -np.inf, low[at])
        high[at] = np.where(high[at] > 1.7e308, np.inf, high[at])
