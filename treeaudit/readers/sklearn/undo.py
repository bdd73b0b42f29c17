"""Say the conditions of a tree in terms of the columns before its pipeline."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.column import Column
from treeaudit.readers.sklearn.model_ref import Budget, FittedEnsemble, ModelRef, label_of
from treeaudit.readers.sklearn.preprocessing import Plan, plan_of, width_in


def undo(tree: Tree, plan: Plan, *, rounded: bool = False) -> Tree:
    """Return the tree over the original columns.

    A one-hot column becomes the set of its category (or of all others), an
    ordinal one the codes between its bounds, a scaled one its units, a bin the
    edge of the bin.
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
    gap = edge[_of_kind(plan, "missing", column)]
    # Nobody with a number passes an edge for missing values alone.
    low[gap], high[gap] = np.where((low[gap] < 0) & (high[gap] >= 0), -np.inf, np.inf), np.inf
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
    """Send missing values where their replacement goes; one-hot gives most of them a 0."""
    fill = np.array([np.nan if c.fill is None else c.fill for c in plan.columns])[column]
    filled, one_hot = ~np.isnan(fill), _of_kind(plan, "one-hot", column)
    gap = _of_kind(plan, "missing", column)
    if not filled.any() and not one_hot.any() and not gap.any():
        return tree.missing
    missing = np.zeros(tree.n_nodes, np.bool_) if tree.missing is None else tree.missing.copy()
    if tree.categories is not None:
        # Sets on codes say themselves where it goes.
        filled &= np.diff(tree.categories.start)[edge] == 0
    at = edge[filled]
    missing[at] = (low[at] < fill[filled]) & (fill[filled] <= high[at])
    one = gap | np.array([c.takes_unknown for c in plan.columns], dtype=np.bool_)[column]
    passes = (low[edge] < one) & (high[edge] >= one)
    missing[edge[one_hot | gap]] = passes[one_hot | gap]
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
    span = np.array([c.span for c in plan.columns], dtype=np.int64)[column]
    first[one_hot] = np.where(zero, 0, code)[one_hot]
    last[one_hot] = np.where(zero & one, width, np.where(one, code + span, code))[one_hot]
    again[one_hot] = np.where(zero & ~one, code + span, width)[one_hot]
    until[one_hot] = width[one_hot]
    places = width - apart
    least = np.clip(np.floor(low[edge]) + 1, 0, places)
    most = np.clip(np.floor(high[edge]) + 1, 0, places)
    # The last categories may share the code of the first of them.
    least, most = (np.where(end > width - span, width, end) for end in (least, most))
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


def in_double(tree: Tree) -> Tree:
    """Return a tree that compares numbers as they are where the given one rounds them first."""
    return replace(tree, low=doubled(tree.low), high=doubled(tree.high))


def doubled(bound: Float) -> Float:
    """Return the largest number that does not pass ``bound`` when rounded to 32 bits."""
    with np.errstate(over="ignore"):
        below = bound.astype(np.float32)
        below = np.where(below > bound, np.nextafter(below, np.float32(-np.inf)), below)
        above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
    # Halfway numbers go to the even neighbour.
    even = below.view(np.uint32) % 2 == 0
    middle = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isinf(bound) | np.isinf(above), bound, middle)


def _codes_behind(seen: Sequence[Feature], plan: Plan) -> list[Wide | None] | None:
    """Return what the categories that a tree knows are in terms of the data.

    Per feature None, or for each of its categories the code behind it; None for all if a step
    does not tell.
    """
    codes: list[Wide | None] = []
    for feature, column in zip(seen, plan.columns, strict=True):
        if feature.categories is None:
            codes.append(None)
            continue
        known = _codes(feature.categories, column)
        if known is None:
            return None
        codes.append(np.array([*known, max(known, default=-1) + 1], dtype=np.int64))
    return codes


def _codes(categories: tuple[str, ...], column: Column) -> list[int] | None:
    # A set takes what is below 0 for missing.
    other = column.fill is not None and (column.kind != "ordinal" or column.fill >= 0)
    if column.scale != 1 or column.shift != 0 or other or column.apart is not None:
        return None
    if column.span > 1:
        return None
    if column.kind == "number":
        return list(range(len(categories)))
    if column.kind != "ordinal" or not all(text.isdecimal() for text in categories):
        return None
    codes = [int(text) for text in categories if len(text) < 10]
    fits = len(codes) == len(categories) and max(codes, default=0) < len(column.known)
    return codes if fits else None


def _features_behind(seen: Sequence[Feature], plan: Plan) -> tuple[Feature, ...]:
    """Return the features of the data, with the categories that only the tree knows."""
    features = list(plan.features)
    for feature, column, home in zip(seen, plan.columns, plan.home, strict=True):
        if feature.categories is not None and column.kind == "number":
            features[home] = Feature(name=features[home].name, categories=feature.categories)
    return tuple(features)


def _undo_with_sets(
    tree: Tree, plan: Plan, codes: Sequence[Wide | None], *, rounded: bool = False
) -> Tree:
    """Return the tree over the original columns, its own sets included; as `undo` does."""
    undone = undo(tree, plan, rounded=rounded)
    if tree.categories is None:
        return undone
    owner, code = _listed(tree.categories)
    last = np.array([0 if each is None else len(each) for each in codes], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(last)])
    behind = np.concatenate([each for each in codes if each is not None])
    column = tree.feature[owner]
    code = behind[start[column] + np.minimum(code, last[column] - 1)]
    if undone.categories is not None:
        others, known = _listed(undone.categories)
        sets = np.diff(tree.categories.start) > 0
        owner = np.concatenate([owner, others[~sets[others]]])
        code = np.concatenate([code, known[~sets[others]]])
    order = np.lexsort((code, owner))
    ends = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=tree.n_nodes), out=ends[1:])
    return replace(undone, categories=CategorySets(start=ends, codes=code[order].astype(np.int32)))


def _listed(sets: CategorySets) -> tuple[Wide, Wide]:
    owner = np.repeat(np.arange(len(sets.start) - 1), np.diff(sets.start))
    return owner, sets.codes.astype(np.int64)


def plan_behind(
    found: ModelRef, ensemble: FittedEnsemble, budget: Budget, warnings: list[str]
) -> Plan | None:
    """Return how to undo the steps before the trees, and say what cannot be undone."""
    n_seen = len(ensemble.schema.features)
    width = width_in(found.before, n_seen) or 0
    budget.undo(max(width if width <= Most.features else 0, n_seen))
    plan = _plan(found, ensemble.schema)
    if plan is not None and (
        _too_many_codes(plan, ensemble) or _codes_behind(ensemble.schema.features, plan) is None
    ):
        plan = None
    if plan is None:
        kinds = ", ".join(_step_names(found.before))
        warnings.append(
            f"the steps before the tree ({kinds}) do not tell what its columns are: conditions "
            "are in transformed units"
        )
    elif plan.made:
        warnings.append(
            f"what {', '.join(plan.made[:8])} made of the columns cannot be undone: "
            "conditions on it are in transformed units"
        )
    return plan


def _plan(found: ModelRef, schema: Schema) -> Plan | None:
    """Return how to undo the steps in front of a model, by what it tells of their columns."""
    own = schema.names if schema.named else None
    outer = found.seen.names
    first = own if outer is None else [str(label_of(arrived(name))) for name in outer.tolist()]
    return plan_of(found.before, len(schema.features), first, own)


def _step_names(steps: Sequence[object]) -> list[str]:
    """Name some steps, as many as one reads."""
    return [step.kind if isinstance(step, Inert) else show(step) for step in steps[:8]]


def _too_many_codes(plan: Plan, ensemble: FittedEnsemble) -> bool:
    if not any(column.known for column in plan.columns):
        return False
    return any(plan.n_codes(ensemble.tested(i)) > Most.made_codes for i in range(ensemble.n_trees))


def undone(ensemble: FittedEnsemble, plan: Plan) -> FittedEnsemble:
    """Return trees that ask for the columns of the data."""
    seen, features = ensemble.schema.features, plan.features
    codes = None
    if any(feature.categories is not None for feature in seen):
        codes = _codes_behind(seen, plan)
        features = _features_behind(seen, plan)
    schema = replace(ensemble.schema, features=features, named=plan.named)
    rounded = ensemble.single_precision and plan.scales
    build = partial(_built, ensemble, plan, codes, rounded=rounded)
    single = ensemble.single_precision and not rounded
    return replace(ensemble, build=build, schema=schema, single_precision=single)


def _built(
    ensemble: FittedEnsemble, plan: Plan, codes: list[Wide | None] | None, i: int, *, rounded: bool
) -> Tree:
    tree = ensemble.build(i)
    if codes is None:
        return undo(tree, plan, rounded=rounded)
    return _undo_with_sets(tree, plan, codes, rounded=rounded)


def _is_sparse(step: object) -> bool:
    """Tell whether a step gives out a sparse table."""
    if not isinstance(step, Inert):
        return False
    joined = step.kind == "ColumnTransformer"
    names = ("sparse_output_",) if joined else ("sparse_output", "sparse")
    return any(step.get(name) is True for name in names)


def over_data(forest: Forest, found: ModelRef) -> Forest:
    """Say the conditions in terms of the columns before the pipeline."""
    before = found.before
    if not before:
        return forest
    plain = all(feature.categories is None for feature in forest.schema.features)
    sparse = forest.source.library == "XGBoost" and _is_sparse(before[-1])
    plan = _plan(found, forest.schema) if plain and not sparse else None
    if sparse:
        text = (
            "to XGBoost the zeros of a sparse table are missing values: columns are those that it "
            "was given, with NaN in place of 0 (ColumnTransformer(sparse_threshold=0) gives it "
            "all values)"
        )
        forest = replace(forest, warnings=(*forest.warnings, text))
    elif plan is None or plan.made:
        kinds = [step.kind if isinstance(step, Inert) else show(step) for step in before]
        text = f"the pipeline transforms the columns first ({', '.join(kinds[:8])})"
        forest = replace(
            forest, warnings=(*forest.warnings, f"{text}: conditions may be in transformed units")
        )
    if plan is None:
        return forest
    trees, settled = forest.trees, plan
    rounded = forest.single_precision and plan.scales
    return replace(
        forest,
        trees=LazyTrees(lambda i: undo(trees[i], settled, rounded=rounded), len(trees)),
        single_precision=forest.single_precision and not rounded,
        schema=replace(forest.schema, features=plan.features, named=plan.named),
    )
