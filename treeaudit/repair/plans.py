"""Ever stronger repairs of a model that is not searched by trees and leaf size."""

from collections.abc import Callable, Iterator, Sequence

from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.composition.equations import adds_steps
from treeaudit.defenses import Defense, DrawSteps, MergeDiverse, MergeSiblings
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.model.forest import Forest
from treeaudit.people.drawn_digits import newton_of_people
from treeaudit.people.records import Records, routed
from treeaudit.people.steps import column_of_each_tree, told_of
from treeaudit.repair.attempts import Attempt, asked
from treeaudit.repair.choosing import ChosenTrees
from treeaudit.repair.counting import Counting
from treeaudit.repair.first_round import MendFirst, tells_labels_first
from treeaudit.repair.judges import merging_for

__all__ = ["tries"]

_WIDER = (1, 2, 4, 10)
_FEWER = (0.75, 0.5, 0.25, 0.1)


def tries(
    forest: Forest,
    policy: Policy,
    before: Attempt,
    progress: Callable[[str, int, int], None] | None,
    counting: Counting,
    train: Records | None = None,
    trial: int | None = None,
) -> list[Attempt]:
    """Try ever stronger repairs; one that leaves nothing but roots is none.

    With a seed in ``trial`` draws are made by it: nothing of these repairs may be handed out.
    """
    tried: list[Attempt] = []
    reasons: list[str] = []
    plans = list(_plans(policy, forest))
    drawing = _drawing(forest, train, trial)
    if drawing is not None:
        plans = list(_drawn(policy, forest, drawing))
    for done, defenses in enumerate(plans, start=1):
        passed = bool(tried) and tried[-1].report.verdict == "pass"
        # What passes already is not merged further.
        if drawing is None and passed and len(defenses) > 1:
            continue
        # Nor is more of steps that are drawn, or of a first round that is mended.
        if passed and (drawing is not None or _mends(tried[-1].defenses)):
            break
        # Nor is there any use in larger leaves where all rounds tell too much: fewer rounds are.
        all_rounds = drawing is not None and not isinstance(defenses[0], ChosenTrees)
        if all_rounds and tried and _too_many(tried[-1]):
            continue
        try:
            tried.append(asked(forest, defenses, policy, counting))
        except DataError as error:
            reasons.append(str(error))
        if progress is not None:
            progress("trying repairs", done, len(plans))
    if not tried and before.report.verdict == "fail" and reasons:
        raise DataError(reasons[0])
    return tried or [before]


def _drawn(policy: Policy, forest: Forest, drawing: DrawSteps) -> Iterator[tuple[Defense, ...]]:
    """Yield combinations for a boosting whose steps are drawn anew: all rounds, then fewer."""
    merged = [plan for plan in _plans(policy, forest, wider=(1,)) if plan]
    yield from ((*plan, drawing) for plan in ((), *merged))
    column = column_of_each_tree(forest)
    width = 1 if column is None else int(column.max()) + 1
    for part in _FEWER:
        kept = int(forest.n_trees // width * part) * width
        if kept:
            fewer = ChosenTrees(kept=tuple(range(kept)))
            yield from ((fewer, *plan, drawing) for plan in merged if len(plan) > 1)


def _too_many(one: Attempt) -> bool:
    """Tell whether only what all rounds give back together stands against a repair."""
    missed = {check.attack for check in one.report.checks if check.status != "pass"}
    return missed == {Composition.id}


def _plans(
    policy: Policy, forest: Forest, wider: Sequence[int] = _WIDER
) -> Iterator[tuple[Defense, ...]]:
    """Yield combinations, the mildest first: none, which takes out leftovers alone."""
    yield ()
    merging: list[tuple[Defense, ...]] = [merging_for(policy, forest.n_trees)]
    if merging[0] and tells_labels_first(forest):
        first = sum(tree.counts is not None for tree in forest.trees)
        each = tuple(one for one in merging_for(policy, first) if isinstance(one, MergeDiverse))
        merging = [(MendFirst(merging=each),), (MendFirst(),)]
    merging = [one for one in merging if one]
    if not {"min-leaf", "max-unique-people", "max-small-leaf-people"} & set(policy.values):
        yield from merging
    for factor in wider:
        k = max(2, policy.k * factor)
        yield (MergeSiblings(min_leaf=k),)
        for one in merging:
            yield (MergeSiblings(min_leaf=k), *one)


def _drawing(forest: Forest, train: Records | None, trial: int | None) -> DrawSteps | None:
    """Return what computes the steps of a boosting on draws; None where that cannot be done."""
    if train is None or not adds_steps(forest):
        return None
    try:
        newton = newton_of_people(forest, routed(forest, train.values), told_of(train))
        drawing = DrawSteps(
            values=train.values,
            labels=train.labels,
            targets=train.targets,
            newton=newton,
            trial=trial,
        )
        drawing.apply(forest)
    except DataError:
        return None
    return drawing


def _mends(defenses: Sequence[Defense]) -> bool:
    return any(isinstance(one, MendFirst) for one in defenses)
