"""Models of other libraries, and our own, inside pickles: handed to their own readers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.source import Source
from treeaudit.readers import trained
from treeaudit.readers.boosters import lightgbm_model, xgboost_model
from treeaudit.readers.estimators.ensembles import SEARCHES, steps_of
from treeaudit.readers.estimators.preprocessing import plan_of
from treeaudit.readers.estimators.undo import undo
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert, show

__all__ = ["find_booster"]


def _catboost(value: Inert, source: Source) -> Forest | None:
    del source
    raise UnsupportedModelError(
        f"the file holds a {value.kind} of CatBoost in binary form: load it with CatBoost and "
        "write it with model.save_model('model.json', format='json')"
    )


_FROM: dict[str, Callable[[Inert, Source], Forest | None]] = {
    "xgboost": xgboost_model.from_inert,
    "lightgbm": lightgbm_model.from_inert,
    "catboost": _catboost,
    "treeaudit": trained.from_inert,
}
_MOST_LOOKS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Place:
    value: object
    inside: str = ""
    before: tuple[object, ...] = ()


def find_booster(root: object, select: str | None, source: Source) -> Forest | None:
    """Return the one model that a pickle holds and that is not scikit-learn's.

    Parameters
    ----------
    root
        What the file holds, as inert data.
    select
        Which one to take when there are several.
    source
        What is known of the file.

    Returns
    -------
    Forest or None
        None where there is none.

    Raises
    ------
    UnsupportedModelError
        If there are several and no choice, or the model cannot be read.
    ReadError
        If it is damaged.
    """
    found = [p for p in _places(root) if select is None or p.inside == select]
    if len(found) > 1:
        names = ", ".join(place.inside or "the file itself" for place in found[:8])
        raise UnsupportedModelError(
            f"the file holds {len(found)} models ({names}): choose one with --select NAME"
        )
    if not found:
        return None
    place = found[0]
    value = place.value
    if not isinstance(value, Inert):
        return None
    forest = _FROM[_library(value)](value, replace(source, inside=place.inside))
    if forest is not None:
        forest = trained.held_by(forest, place.inside, place.before)
    return None if forest is None else _undone(forest, place.before)


def _library(value: Inert) -> str:
    return value.cls.module.partition(".")[0]


def _is_model(value: Inert) -> bool:
    library = _library(value)
    return library in _FROM and (library != "treeaudit" or trained.is_trainer(value))


def _places(root: object) -> Iterator[_Place]:
    """Yield the boosters in a bundle, each once and without recursion."""
    todo = [_Place(value=root)]
    seen: set[int] = set()
    while todo and len(seen) < _MOST_LOOKS:
        place = todo.pop()
        value = arrived(place.value)
        if not isinstance(value, Inert | dict | list | tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Inert) and _is_model(value):
            yield _Place(value=value, inside=place.inside, before=place.before)
        else:
            todo.extend(reversed(list(_below(value, place))))


def _below(value: object, place: _Place) -> Iterator[_Place]:
    inside = place.inside
    dot = f"{inside}." if inside else ""
    match value:
        case Inert() if value.kind == "Pipeline":
            steps = steps_of(value)
            if steps:
                earlier = tuple(step for _, step in steps[:-1])
                name = f"{dot}steps[{show(steps[-1][0])}]"
                yield _Place(value=steps[-1][1], inside=name, before=place.before + earlier)
        case Inert() if value.kind in SEARCHES:
            best = value.get("best_estimator_")
            yield _Place(value=best, inside=f"{dot}best_estimator_", before=place.before)
        case dict():
            for key, each in value.items():
                yield _Place(value=each, inside=f"{inside}[{show(key)}]")
        case list() | tuple():
            for i, each in enumerate(value[:_MOST_LOOKS]):
                yield _Place(value=each, inside=f"{inside}[{i}]")


def _undone(forest: Forest, before: tuple[object, ...]) -> Forest:
    """Say the conditions in terms of the columns before the pipeline."""
    if not before:
        return forest
    names = forest.schema.names if forest.schema.named else None
    plain = all(feature.categories is None for feature in forest.schema.features)
    plan = plan_of(before, len(forest.schema.features), names) if plain else None
    if plan is None or plan.made:
        kinds = [step.kind if isinstance(step, Inert) else show(step) for step in before]
        text = f"the pipeline transforms the columns first ({', '.join(kinds[:8])})"
        forest = replace(
            forest,
            warnings=(*forest.warnings, f"{text}: conditions may be in transformed units"),
        )
    if plan is None:
        return forest
    trees, settled = forest.trees, plan
    return replace(
        forest,
        trees=LazyTrees(lambda i: undo(trees[i], settled), len(trees)),
        schema=replace(forest.schema, features=plan.features, named=plan.named),
    )
