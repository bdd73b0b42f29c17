"""The class counts of the first round of a boosting of scikit-learn."""

from dataclasses import replace

from treeaudit.model.tree import Tree
from treeaudit.readers.first_round import FIRST_ROUND, SHARES, labels_of_first_round, with_people
from treeaudit.readers.residual.rounds import steps_of
from treeaudit.readers.sklearn.found import Found
from treeaudit.readers.sklearn.grove import Grove


def with_first_counts(found: Found, grove: Grove) -> Grove:
    """Return the trees of a model, with class counts in the first where its values give them.

    Of more than two classes each tree of the round tells one of them from all others.
    """
    steps, classes = steps_of(found.estimator), grove.schema.classes
    if steps is None or classes is None or len(classes) != max(len(steps), 2):
        return grove
    n = len(classes)
    told = [with_people(grove.build(i), step, i if n > 2 else 1, n) for i, step in enumerate(steps)]
    first = [one for one in told if one is not None]
    if len(first) < len(steps):
        return grove
    people = all(whole for _, whole in first)

    def build(i: int) -> Tree:
        return first[i][0] if i < len(first) else grove.build(i)

    return replace(
        grove,
        build=build,
        counts_are="likely" if people else "weighted",
        counts_reason=FIRST_ROUND if people else SHARES,
        tree_classes=labels_of_first_round(classes, grove.n_trees) if n > 2 else None,
    )
