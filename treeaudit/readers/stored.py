"""The one model in what a pickle or a skops file holds, whatever library it is of."""

from collections.abc import Iterator
from dataclasses import replace

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.leftovers import KINDS, Leftover, Leftovers
from treeaudit.model.source import Source
from treeaudit.readers.choice import choose
from treeaudit.readers.estimators.ensembles import SEARCHES
from treeaudit.readers.estimators.found import Found
from treeaudit.readers.estimators.models import find_model, models_in, tree_models
from treeaudit.readers.estimators.preprocessing import plan_of
from treeaudit.readers.estimators.scikit_learn import to_forest
from treeaudit.readers.estimators.undo import undo
from treeaudit.readers.leftovers.unexplained import few
from treeaudit.readers.limits import show
from treeaudit.readers.pickles.inert import Inert

__all__ = ["stored_model"]

_PASSED = SEARCHES | {"Pipeline"}


def stored_model(root: object, select: str | None, source: Source, n_bytes: int) -> Forest:
    """Return the one model that a file holds.

    Parameters
    ----------
    root
        What the file holds, as inert data.
    select
        Which one to take when there are several.
    source
        What is known of the file.
    n_bytes
        Size of the unpacked file. Its trees cannot take more.

    Raises
    ------
    UnsupportedModelError
        If there is none, or several and no choice.
    ReadError
        If it is damaged.
    """
    try:
        found = find_model(root, select)
    except UnsupportedModelError:
        forest = _of_another_library(root, select, source)
        if forest is None:
            raise
    else:
        # Its trees lie in the record that is walked through: nothing of them is beside it.
        beside = Leftovers(looked_for=KINDS)
        forest = replace(to_forest(found, source, n_bytes), leftovers=beside)
    if not forest.source.inside:
        return forest
    others = few(_not_audited(root, forest.source.inside))
    asked = Leftovers(found=others, looked_for=KINDS)
    return replace(forest, leftovers=forest.leftovers.beside(asked))


def _not_audited(root: object, inside: str) -> Iterator[Leftover]:
    """Yield the models of the file, of every library, but the one that was taken."""
    for other in (*tree_models(root), *_others(root)):
        if other.inside != inside:
            where, how = other.inside, f"with --select {show(other.inside, 80)}"
            if not where:
                where, how = "the file itself", "without --select"
            says = f"another model, which was not audited: scan it {how}"
            yield Leftover(kind="unseen", where=where, n=1, says=says)


def _others(root: object) -> Iterator[Found]:
    return models_in(root, _is_known, _PASSED)


def _of_another_library(root: object, select: str | None, source: Source) -> Forest | None:
    from treeaudit.readers.trained import held_by

    found = choose(
        [(one.inside, one) for one in _others(root) if select in (None, one.inside)], None
    )
    if found is None:
        return None
    forest = _read(found.estimator, replace(source, inside=found.inside))
    return None if forest is None else _undone(held_by(forest, found.inside, found.before), found)


def _library(value: Inert) -> str:
    return value.cls.module.partition(".")[0]


def _is_known(found: Found) -> bool:
    from treeaudit.readers.trained import is_trainer

    library = _library(found.estimator)
    return library in ("xgboost", "lightgbm", "catboost") or is_trainer(found.estimator)


def _read(value: Inert, source: Source) -> Forest | None:
    match _library(value):
        case "xgboost":
            from treeaudit.readers.boosters import xgboost_model

            return xgboost_model.from_inert(value, source)
        case "lightgbm":
            from treeaudit.readers.boosters import lightgbm_model

            return lightgbm_model.from_inert(value, source)
        case "catboost":
            raise UnsupportedModelError(
                f"the file holds a {value.kind} of CatBoost in binary form: load it with CatBoost "
                "and write it with model.save_model('model.json', format='json')"
            )
        case _:
            from treeaudit.readers.trained import from_inert

            return from_inert(value, source)


def _undone(forest: Forest, found: Found) -> Forest:
    """Say the conditions in terms of the columns before the pipeline."""
    before, n_seen = found.before, len(forest.schema.features)
    if not before:
        return forest
    names = forest.schema.names if forest.schema.named else None
    plain = all(feature.categories is None for feature in forest.schema.features)
    plan = plan_of(before, n_seen, names) if plain else None
    if plan is None or plan.made:
        kinds = [step.kind if isinstance(step, Inert) else show(step) for step in before]
        text = f"the pipeline transforms the columns first ({', '.join(kinds[:8])})"
        forest = replace(
            forest, warnings=(*forest.warnings, f"{text}: conditions may be in transformed units")
        )
    if plan is None:
        return forest
    trees, settled = forest.trees, plan
    return replace(
        forest,
        trees=LazyTrees(lambda i: undo(trees[i], settled), len(trees)),
        schema=replace(forest.schema, features=plan.features, named=plan.named),
    )
