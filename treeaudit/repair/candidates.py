"""Candidate repairs: defenses of the search alone, and ever stronger combinations of defenses.

A forest whose trees answer together is searched by `treeaudit.repair.search` instead.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.attacks.composition.attack import Composition
from treeaudit.attacks.composition.equations import adds_steps
from treeaudit.defenses import Defense, DrawSteps, LabelsOnly, MergeDiverse, MergeSiblings
from treeaudit.defenses.count_anew import share_to_draw
from treeaudit.defenses.defense import DefenseWords, tree_by_tree
from treeaudit.defenses.intersect import chosen
from treeaudit.defenses.tree_edits import averaged
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.words import number_of
from treeaudit.people.predict.newton_steps import newton_of_people
from treeaudit.people.predict.predictions import column_of_each_tree, said_by_nodes, target_values
from treeaudit.people.records import Records
from treeaudit.repair.attempts import Attempt, AuditOptions, audited_repair

_MOST_NUMBERS = 400_000_000
"""People times classes times pairs of trees that are looked at for an order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTrees(Defense):
    """Keep some trees of a forest."""

    id = "chosen-trees"
    title = "Fewer trees, chosen"
    words = DefenseWords(
        does="keeps the trees of a forest that answer best together for the training people",
        fixes="with every tree that goes, less can be put together",
        leaves="each tree that stays, as it is",
        reference="Caruana et al. (2004), Ensemble selection from libraries of models",
    )
    # Their positions, ascending: what is written finds them where they stood
    kept: tuple[int, ...] = (0,)

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        return f"kept {number_of(len(self.kept), 'tree', 'trees')}"

    def apply(self, forest: Forest) -> Forest:
        """Return the model of these trees."""
        return chosen(forest, self.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesOnly(LabelsOnly):
    """Keep the label of each leaf, which is all that a vote needs, and how many people it holds."""

    id = "votes-only"
    title = "Labels instead of weights"
    did = "weights of labels replaced by one label per leaf"

    def apply(self, forest: Forest) -> Forest:
        """Return the model with labels and sizes alone."""
        made, trees = LabelsOnly.apply(self, forest), tuple(forest.trees)
        sized = tree_by_tree(made, lambda tree, i: replace(tree, n_records=trees[i].n_records))
        return replace(sized, records_are=forest.records_are, n_records=forest.n_records)


def trees_by_benefit(forest: Forest, train: Records) -> list[int]:
    """Return all trees in the order in which each adds most right answers to those before it.

    Of trees that add as many, the one that gives most weight to what is right comes first. Where
    that would be too much to look at, and for models of numbers, the order of the model itself.
    """
    labels, n = train.labels, forest.n_trees
    size = len(train) * len(forest.schema.classes or ()) * n * n // 2
    if labels is None or not forest.schema.classes or size > _MOST_NUMBERS:
        return list(range(n))
    node = forest.apply(train.values)
    answers = [said_by_nodes(forest, tree, i)[node[:, i]] for i, tree in enumerate(forest.trees)]
    total, order, left = np.zeros_like(answers[0]), [], list(range(n))
    while left:
        best = max(left, key=lambda i: _worth(total + answers[i], labels))
        total += answers[best]
        order.append(best)
        left.remove(best)
    return order


def _worth(total: Float, labels: Int) -> tuple[int, float]:
    right = total[np.arange(len(labels)), labels]
    return int((total.argmax(axis=1) == labels).sum()), float(right.sum())


_FEWEST = 8
"""See `treeaudit.readers.xgboost.trees`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MendFirst(Defense):
    """Merge leaves of the first round of a boosting alone, and those of no other.

    All people start from one number, so that the leaves of these trees tell their labels. A tree
    that no merging mends answers everybody alike: what is left of it is how frequent a label is,
    and how many people are in each leaf.
    """

    id = "mend-first"
    title = "Fewer labels in the first round"
    words = DefenseWords(
        does="merges leaves of the first round of a boosting until their labels differ, or lets "
        "all leaves of a tree answer with their mean; all other rounds stay",
        fixes="labels that are certain, or nearly, by the leaf values of the first round",
        leaves="the rules, how many people each leaf holds, and the steps of later rounds",
        reference="Friedman (2001), Greedy function approximation: the first step",
    )
    # What is done to each tree; with none, all of them answer everybody alike
    merging: tuple[MergeDiverse, ...] = ()

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        if not self.merging:
            return "gave all leaves of each tree of the first round their mean"
        each = "; ".join(one.step for one in self.merging)
        return f"in the first round {each}, and gave all leaves their mean if that was not enough"

    def apply(self, forest: Forest) -> Forest:
        """Return the model without such labels in its first round.

        Raises DataError if there is no such round, or what is left of it does not tell people.
        """
        if not first_round_shows_labels(forest):
            raise DataError("mend-first needs a boosting whose first round tells labels")
        # One that tells another class from all others is of the round too, told or not.
        told = [i for i, tree in enumerate(forest.trees) if tree.counts is not None]
        apart = 0 if forest.tree_classes is None else len(forest.schema.classes or ())
        n = max(told[-1] + 1, apart)
        trees = tuple(
            self._mended(tree, forest) if i < n else tree for i, tree in enumerate(forest.trees)
        )
        if forest.source.library == "XGBoost" and sum(len(t.leaves) for t in trees[:n]) < _FEWEST:
            raise DataError(
                f"with fewer than {_FEWEST} leaves in the first round the file would not show that "
                "everybody is in its trees"
            )
        made = replace(forest, trees=trees)
        if any(tree.counts is not None for tree in trees):
            return made
        reason = "the first round answers everybody alike, and the other rounds hold steps"
        return replace(made, counts_are="absent", counts_reason=reason, tree_classes=None)

    def _mended(self, tree: Tree, forest: Forest) -> Tree:
        if not self.merging or tree.counts is None:
            return _level(tree)
        # What inner nodes hold may be means of something else than the steps of leaves.
        merged = replace(tree, value=_means(tree))
        try:
            for one in self.merging:
                merged = one.changed(merged, forest)
        except DataError:
            return _level(tree)
        # A single leaf answers everybody alike too, and does not say how many people there are.
        return merged if merged.n_nodes > 1 else _level(tree)


def first_round_shows_labels(forest: Forest) -> bool:
    """Tell whether a model is a boosting of which some trees tell labels, and others steps."""
    kinds_of_trees = {tree.counts is not None for tree in forest.trees}
    return forest.answers == "sum" and len(kinds_of_trees) == 2


def _means(tree: Tree) -> Float:
    value = np.zeros(tree.n_nodes) if tree.value is None else tree.value
    people = np.ones(tree.n_nodes) if tree.n_records is None else tree.n_records.astype(np.float64)
    return averaged(tree, value, people)


def _level(tree: Tree) -> Tree:
    value = np.full(tree.n_nodes, _means(tree)[0])
    return replace(tree, counts=None, value=value, spread=None)


_WIDER = (1, 2, 4, 10)
_FEWER = (0.75, 0.5, 0.25, 0.1)


def try_candidates(
    forest: Forest,
    policy: Policy,
    before: Attempt,
    progress: Callable[[str, int, int], None] | None,
    counting: AuditOptions,
    train: Records | None = None,
    trial: int | None = None,
) -> list[Attempt]:
    """Try ever stronger repairs; one that leaves nothing but roots is none.

    With a seed in ``trial`` draws are made by it: nothing of these repairs may be handed out.
    """
    attempts: list[Attempt] = []
    reasons: list[str] = []
    plans = list(_plans(policy, forest))
    drawing = _drawing(forest, train, trial)
    if drawing is not None:
        plans = list(_redrawn(policy, forest, drawing))
    for done, defenses in enumerate(plans, start=1):
        passed = bool(attempts) and attempts[-1].report.verdict == "pass"
        # What passes already is not merged further.
        if drawing is None and passed and len(defenses) > 1:
            continue
        # Nor is more of steps that are drawn, or of a first round that is mended.
        if passed and (drawing is not None or _mends(attempts[-1].defenses)):
            break
        # Nor is there any use in larger leaves where all rounds tell too much: fewer rounds are.
        all_rounds = drawing is not None and not isinstance(defenses[0], ChosenTrees)
        if all_rounds and attempts and _too_many(attempts[-1]):
            continue
        try:
            attempts.append(audited_repair(forest, defenses, policy, counting))
        except DataError as error:
            reasons.append(str(error))
        if progress is not None:
            progress("trying repairs", done, len(plans))
    if not attempts and before.report.verdict == "fail" and reasons:
        raise DataError(reasons[0])
    return attempts or [before]


def _redrawn(policy: Policy, forest: Forest, drawing: DrawSteps) -> Iterator[tuple[Defense, ...]]:
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
    missed = {check.attack for check in one.report.checks if not check.met}
    return missed == {Composition.id}


def _plans(
    policy: Policy, forest: Forest, wider: Sequence[int] = _WIDER
) -> Iterator[tuple[Defense, ...]]:
    """Yield combinations, the mildest first: none, which takes out leftovers alone."""
    yield ()
    merging: list[tuple[Defense, ...]] = [merges_for(policy, forest.n_trees)]
    if merging[0] and first_round_shows_labels(forest):
        first = sum(tree.counts is not None for tree in forest.trees)
        each = tuple(one for one in merges_for(policy, first) if isinstance(one, MergeDiverse))
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
        newton = newton_of_people(forest, forest.apply(train.values), target_values(train))
        drawing = DrawSteps(
            share=share_to_draw(forest),
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


def merges_for(policy: Policy, trees: int = 1, **people: object) -> tuple[Defense, ...]:
    """Return what leaves a label certain, or nearly, for no more people than a policy allows.

    Each tree has its part of the share, unless people tell who they are in all of them.
    """
    made: list[Defense] = []
    part = 1 if people else trees
    if (certain := policy.values.get("max-certain-share")) is not None:
        made.append(MergeDiverse(allowed=certain / part, **people))  # type: ignore[arg-type]
    if (nearly := policy.values.get("max-nearly-certain-share")) is not None:
        made.append(MergeDiverse(allowed=nearly / part, exceptions=policy.k, **people))  # type: ignore[arg-type]
    return tuple(made)
