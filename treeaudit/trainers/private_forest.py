"""Greedy private trees that share the records between them.

Each record goes to one tree, drawn independently, so that all trees together
cost what one of them costs. Splitting the budget instead, so that every tree
sees all records at a part of epsilon, is private as well; neither is ahead of
the other in accuracy (Adult, Nursery, Mushroom; four trees), and sharing the
records reads each record once. The answer is softer than that of one tree, and
its ranking a little better where there are many people; its labels are less accurate
than those of `PrivateTreeClassifier`.

References
----------
Fletcher & Islam (2017): disjoint records for the trees of a forest.
"""

from fractions import Fraction
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassifierMixin

from treeaudit.dp.budget import Budget
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import Neighbours, Variant
from treeaudit.model.schema import Schema
from treeaudit.trainers.columns import Outside
from treeaudit.trainers.parameters import check_whole
from treeaudit.trainers.private_tree_greedy import Greedy
from treeaudit.trainers.private_trees import Grown, PrivateTrees
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["PrivateForestClassifier"]

_MOST_TREES = 10_000


class PrivateForestClassifier(PrivateTrees, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A forest of greedy private trees, each on its own part of the records.

    Parameters
    ----------
    epsilon
        The privacy budget of the fit.
    schema
        What everybody may know of the columns: bounds, categories, classes.
        ``"from-data"`` takes them from the data and marks the model as not
        private.
    n_estimators
        Trees.
    max_depth, criterion, n_bins, leaf_share, cost_of_a_part, max_records
        As in `PrivateTreeClassifier`, for the people of one tree.
    neighbours, variant, outside, budget, n_jobs, random_state
        As there.

    Attributes
    ----------
    forest_
        The released model, a `treeaudit.Forest`.
    privacy_
        The ledger.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn; the classes are those of the schema.

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

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        schema: Schema | str | None = None,
        n_estimators: int = 4,
        max_depth: int | None = None,
        criterion: str = "norm",
        n_bins: int = 32,
        leaf_share: float = 0.3,
        cost_of_a_part: float = 0.003,
        max_records: int | None = None,
        neighbours: Neighbours = "add-remove",
        variant: Variant = "sound",
        outside: Outside = "raise",
        budget: Budget | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,  # noqa: ANN401  # as in scikit-learn
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.criterion = criterion
        self.n_bins = n_bins
        self.leaf_share = leaf_share
        self.cost_of_a_part = cost_of_a_part
        self.max_records = max_records
        self.neighbours = neighbours
        self.variant = variant
        self.outside = outside
        self.budget = budget
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _checked(self) -> Fraction:
        check_whole("n_estimators", self.n_estimators, 1, _MOST_TREES)
        self._greedy()
        return super()._checked()

    def _greedy(self) -> Greedy:
        return Greedy(
            max_depth=self.max_depth,
            criterion=self.criterion,
            n_bins=self.n_bins,
            leaf_share=self.leaf_share,
            cost_of_a_part=self.cost_of_a_part,
            max_records=self.max_records,
            variant=self.variant,
        )

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        return self._greedy().grow(rows, curator, epsilon, n_trees=int(self.n_estimators))
