"""Trees behind the steps of a pipeline, in terms of the columns of the data."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.carried_sets import codes_behind, features_behind, undo_with_sets
from treeaudit.readers.sklearn.found import Found
from treeaudit.readers.sklearn.grove import Budget, Grove
from treeaudit.readers.sklearn.labels import label_of
from treeaudit.readers.sklearn.preprocessing import Plan, plan_of, width_in
from treeaudit.readers.sklearn.undo import undo
from treeaudit.readers.types import Wide


def plan_behind(found: Found, grove: Grove, budget: Budget, warnings: list[str]) -> Plan | None:
    """Return how to undo the steps before the trees, and say what cannot be undone."""
    n_seen = len(grove.schema.features)
    width = width_in(found.before, n_seen) or 0
    budget.undo(max(width if width <= Most.features else 0, n_seen))
    plan = plan_of(found.before, n_seen, _names_before(found, grove.schema))
    if plan is not None and _too_many_codes(plan, grove):
        plan = plan.without_sets()
    if plan is not None and codes_behind(grove.schema.features, plan) is None:
        plan = None
    if plan is None:
        kinds = ", ".join(_kinds(found.before))
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


def _names_before(found: Found, schema: Schema) -> list[str] | None:
    """Return what the columns in front of all steps are called, where that is told."""
    names = found.seen.names
    if names is not None:
        return [str(label_of(arrived(name))) for name in names.tolist()]
    return schema.names if schema.named else None


def _kinds(steps: Sequence[object]) -> list[str]:
    """Name some steps, as many as one reads."""
    return [step.kind if isinstance(step, Inert) else show(step) for step in steps[:8]]


def _too_many_codes(plan: Plan, grove: Grove) -> bool:
    if not any(column.known for column in plan.columns):
        return False
    return any(plan.n_codes(grove.tested(i)) > Most.made_codes for i in range(grove.n_trees))


def undone(grove: Grove, plan: Plan) -> Grove:
    """Return trees that ask for the columns of the data."""
    seen, features = grove.schema.features, plan.features
    codes = None
    if any(feature.categories is not None for feature in seen):
        codes = codes_behind(seen, plan)
        features = features_behind(seen, plan)
    schema = replace(grove.schema, features=features, named=plan.named)
    rounded = grove.single_precision and plan.scales
    build = partial(_built, grove, plan, codes, rounded=rounded)
    single = grove.single_precision and not rounded
    return replace(grove, build=build, schema=schema, single_precision=single)


def _built(
    grove: Grove, plan: Plan, codes: list[Wide | None] | None, i: int, *, rounded: bool
) -> Tree:
    tree = grove.build(i)
    if codes is None:
        return undo(tree, plan, rounded=rounded)
    return undo_with_sets(tree, plan, codes, rounded=rounded)


def over_data(forest: Forest, found: Found) -> Forest:
    """Say the conditions in terms of the columns before the pipeline."""
    before, n_seen = found.before, len(forest.schema.features)
    if not before:
        return forest
    known = _names_before(found, forest.schema)
    plain = all(feature.categories is None for feature in forest.schema.features)
    plan = plan_of(before, n_seen, known) if plain else None
    if plan is None or plan.made:
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
