"""Which models the trees of which can be put together, and what that needs."""

from treeaudit.attacks.case import Case, Need
from treeaudit.model.forest import Forest, all_count
from treeaudit.people.checks.leaf_values import changed_target
from treeaudit.people.predict.boosted_scores import adds_up, column_of_each_tree, start_of, told_of

__all__ = ["NEEDS", "adds_steps", "grown_at_once", "not_applicable"]

_MOST_PAIRS = 100_000_000
"""People times trees: 1.2 GB while they are put together."""
_JOINED = {
    "product": "their shares are multiplied, and sums and votes are what is taken apart",
    "weighted": "how much each of them counts in an answer stands outside the trees",
}
_STEPS = ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def grown_at_once(forest: Forest) -> bool:
    """Tell whether the trees of a boosting library are a random forest: one round, or a mean."""
    stated = forest.source.parameters
    parallel, outputs = stated.get("num_parallel_tree", 1), stated.get("n_outputs", 1)
    whole = isinstance(parallel, int) and isinstance(outputs, int) and parallel > 1
    return stated.get("average_output") is True or (whole and forest.n_trees == parallel * outputs)


def not_applicable(forest: Forest) -> str | None:
    """Say why there is nothing that trees could give away together; None where there may be."""
    if forest.n_trees == 1:
        return "not applicable: a single tree has nothing to be put together with"
    if forest.answers in ("path", "leaf"):
        return "not applicable: the trees were grown without labels"
    return None


def adds_steps(forest: Forest) -> bool:
    """Tell whether the trees of a model are a boosting: each goes on from those before it."""
    # An ONNX forest adds up shares: only what makes shares of a sum tells that it adds steps.
    source = forest.source
    boosted = (
        not source.estimator.startswith("TreeEnsemble")
        or source.parameters.get("post_transform") in _STEPS
    )
    return forest.answers == "sum" and boosted and not grown_at_once(forest)


def _not_judged(forest: Forest) -> str | None:
    """Say why trees that may give something away together are not attacked."""
    said = "trees together were not judged: "
    if forest.schema.classes is None and changed_target(forest):
        return said + "the numbers in their leaves are in units of the changed target"
    if adds_steps(forest):
        if not adds_up(forest):
            return said + "by their loss, steps are not of the numbers that are predicted"
        told = column_of_each_tree(forest) is not None
        return None if told else said + "which class a tree is of is not told"
    if forest.tree_classes is not None:
        return said + "they tell different labels apart"
    at_once = forest.answers == "sum" and grown_at_once(forest)
    if at_once and not all_count(forest.trees):
        return said + "the class counts of some of them do not follow from their leaf values"
    if forest.answers == "sum" and not at_once:
        return said + "an ONNX file does not tell whether its leaves hold shares or steps"
    if not at_once and forest.answers not in ("mean", "vote", "confidence"):
        return said + _JOINED.get(forest.answers, "what joins their answers is not known")
    if forest.schema.classes is None and _medians(forest):
        return said + "their leaves hold medians"
    tree = forest.trees[0]
    held = (tree.counts, tree.label) if forest.schema.classes is not None else (tree.value,)
    if all(one is None for one in held):
        return said + (forest.counts_reason or "their leaves hold no labels")
    return None


def _medians(forest: Forest) -> bool:
    """Tell whether trees were grown by absolute errors, also those of a bag."""
    stated = forest.source.parameters.get("criterion") in ("absolute_error", "mae")
    return (
        stated
        or forest.values_are == "medians"
        or any(tree.spread_is == "absolute" for tree in forest.trees)
    )


def _people(case: Case) -> str | None:
    if case.train is None:
        return "trees together were not judged; give --train"
    if len(case.train) * case.forest.n_trees > _MOST_PAIRS:
        return (
            f"trees together were not judged: {len(case.train):,} people in "
            f"{case.forest.n_trees:,} trees are more than {_MOST_PAIRS:,} pairs"
        )
    return None


def _begins(case: Case) -> str | None:
    """Say why it is not known what a boosting answers."""
    each = told_of(case.people("train"))
    told = each is not None and start_of(case.forest, each) is not None
    if told or not adds_steps(case.forest):
        return None
    return "trees together were not judged: where the steps begin is not told"


def _answers(case: Case) -> str | None:
    train = case.train
    told = train is not None and (train.labels is not None or train.targets is not None)
    if train is None or told:
        return None
    no_column = f"{train.origin} has no column of what the model predicts; name it with --target"
    return train.unlabelled or no_column


NEEDS: tuple[Need, ...] = (
    Need(missing=lambda case: not_applicable(case.forest)),
    Need(missing=lambda case: _not_judged(case.forest)),
    Need(missing=_people, asks=("--train",)),
    Need(missing=_answers, asks=("--target",)),
    Need(missing=_begins),
)
"""In this order."""
