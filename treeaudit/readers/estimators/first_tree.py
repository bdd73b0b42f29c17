"""The class counts of the first tree of a boosting of scikit-learn."""

from dataclasses import replace

from treeaudit.model.tree import Tree
from treeaudit.readers.estimators.found import Found
from treeaudit.readers.estimators.grove import Grove
from treeaudit.readers.first_round import FIRST_TREE, SHARES, with_people
from treeaudit.readers.leftovers.leftover_rounds import steps_of

__all__ = ["with_first_counts"]


def with_first_counts(found: Found, grove: Grove) -> Grove:
    """Return the trees of a model, with class counts in the first where its values give them.

    Of two classes: the trees of more are grown for one class each.
    """
    steps, classes = steps_of(found.estimator), grove.schema.classes
    if steps is None or len(steps) != 1 or classes is None or len(classes) != 2:
        return grove
    told = with_people(grove.build(0), steps[0])
    if told is None:
        return grove
    first, people = told

    def build(i: int) -> Tree:
        return first if i == 0 else grove.build(i)

    return replace(
        grove,
        build=build,
        counts_are="likely" if people else "weighted",
        counts_reason=FIRST_TREE if people else SHARES,
    )
