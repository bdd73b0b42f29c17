"""Say a repaired tree in the columns that its estimator saw.

Behind a pipeline a tree asks about encoded columns; a `Forest` is in terms of
the data. Every node that stayed is found in the model as it was read, and takes
its question from there.
"""

from dataclasses import replace

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.sklearn.fitted_ensemble import Budget, FittedEnsemble
from treeaudit.readers.sklearn.histogram_boosting import read_histogram_boosting
from treeaudit.readers.sklearn.model_ref import ModelRef
from treeaudit.readers.sklearn.scikit_learn import to_forest
from treeaudit.readers.sklearn.tree_ensembles import read_trees
from treeaudit.writers.places import places_in

_ENOUGH = 1 << 62


def encoded(forest: Forest, found: ModelRef) -> Forest:
    """Return the forest over the columns that its estimator saw."""
    budget = Budget(_ENOUGH)
    kind = found.estimator.kind
    read = read_histogram_boosting if kind.startswith("HistGradient") else read_trees
    ensemble: FittedEnsemble = read(found, budget)
    if not found.before:
        return replace(forest, schema=replace(ensemble.schema, classes=forest.schema.classes))
    whole = to_forest(found, Source(), _ENOUGH)
    trees = forest.trees
    if whole.n_trees < len(trees):
        raise UnsupportedModelError("the model has more trees than the file it was read from")

    def build(i: int) -> Tree:
        tree = trees[i]
        seen, inside = whole.trees[i], ensemble.build(i)
        place = places_in(tree, seen)
        return replace(
            tree,
            feature=inside.feature[place],
            low=inside.low[place],
            high=inside.high[place],
            categories=None,
            missing=None if inside.missing is None else inside.missing[place],
        )

    return replace(
        forest,
        trees=LazyTrees(build, len(trees)),
        schema=replace(ensemble.schema, classes=forest.schema.classes),
        single_precision=ensemble.single_precision,
    )
