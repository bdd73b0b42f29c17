"""Greedy private trees that share the records between them.

Each record goes to one tree, drawn independently, so that all trees together
cost what one of them costs. Splitting the budget instead, so that every tree
sees all records at a part of epsilon, is private as well; neither is ahead of
the other in accuracy (Adult, Nursery, Mushroom; four trees), and sharing the
records reads each record once. The answer is softer than that of one tree, and
its ranking a little better where there are many people. On these
tables its labels are less accurate than those of `PrivateTreeClassifier`; on some others,
where votes help, they are more accurate.

References
----------
Fletcher & Islam (2017): disjoint records for the trees of a forest.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from treeaudit.dp.curator import Curator
from treeaudit.trainers.private_tree import GreedyTrees
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.training_rows import TrainingRows


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateForestClassifier(GreedyTrees):
    """A forest of greedy private trees, each on its own part of the records.

    Notes
    -----
    Given which record is in which tree, the nodes of a level of all trees are
    disjoint parts of the people, and the proof of `PrivateTreeClassifier` holds as it
    stands. Records are assigned independently and uniformly, so the
    assignment of the others does not depend on whether somebody is there;
    averaging over it keeps the bound. Balanced parts would not do: there, one
    record moves others.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = PrivateForestClassifier(epsilon=5.0, schema=schema, n_estimators=3, max_depth=1)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[18], [99]]).tolist(), float(model.privacy_.epsilon)
    (['no', 'yes'], 5.0)
    """

    algorithm: ClassVar[str] = "private-forest"
    listed: ClassVar[Listed] = Listed(
        paper="this package",
        query="as private-tree, in each part",
        tree="greedy",
        depth="by people and β",
        trees="4",
        numbers="public points",
        published="β, with twice the sensitivity",
    )

    n_estimators: int = 4

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        return self._grow_greedily(rows, curator, epsilon, n_trees=int(self.n_estimators))
