"""The greedy private tree: the best question per node, the counts of the leaves.

What it takes from the papers: one choice among all questions by a score of low
sensitivity (Friedman & Schuster 2010), public points for numeric columns, noisy
counts in the leaves. What it does otherwise: the scores are monotone, so the
choice may use the whole of epsilon; the choice is made by permute-and-flip; the
score is the Euclidean length (`treeaudit.trainers.splits.NORM`); a level costs one
question instead of two.

References
----------
Friedman & Schuster (2010), Data mining with differential privacy.
McKenna & Sheldon (2020), Permute-and-flip.
"""

from fractions import Fraction
from typing import ClassVar

from treeaudit.dp.curator import Curator
from treeaudit.trainers.listed import Listed
from treeaudit.trainers.private_tree_greedy import GreedyTrees
from treeaudit.trainers.private_trees import Grown
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["PrivateTreeClassifier"]


class PrivateTreeClassifier(GreedyTrees):
    """A decision tree that asks the best questions and releases noisy counts.

    Parameters
    ----------
    max_depth
        Levels of questions. Unless told two more for eight times the (noisy) number of
        people times epsilon, and one more for four times the classes: for two classes 3 for a
        thousand people at epsilon 1, 6 for forty thousand.
    criterion
        How splits are judged: ``norm``, ``gini``, ``max`` or
        ``information-gain``, which needs ``max_records``.
    n_bins
        Into how many equal parts the public range of a number is cut. Unless told a power of
        two from 16 to 256, at least a sixteenth of the (noisy) number of people times epsilon.
    leaf_share
        The share of the budget that goes to the counts of the leaves.
    cost_of_a_part
        A split into a part per category is to be worth this share of all
        people for each part beyond the second, or a split in two is preferred.
        Not in the last level.
    max_records
        A public bound on the number of records, for ``information-gain``.
    variant
        ``sound``; or ``published``, choices by the exponential mechanism with
        twice the sensitivity, as in the literature: private, and less accurate.
    epsilon, schema, neighbours, outside, budget, n_jobs, random_state
        As in `PrivateTrees`.

    Notes
    -----
    Everything asked of the records goes through three kinds of questions, and
    their epsilons add up to the budget (sequential composition; each may depend
    on the answers before it):

    1. how many people there are, a fiftieth of the budget: a count has
       sensitivity 1;
    2. per level, which candidate each node takes, at twice the epsilon of the level
       above, whose nodes hold about twice as many people. The nodes of a level are
       disjoint parts of the people, given the answers so far, so one added
       person changes the scores of one node only. The scores are monotone with
       the sensitivity that `treeaudit.dp.scores` and `NORM` prove, and
       permute-and-flip with ``exp(epsilon * score / sensitivity)`` then moves by
       at most epsilon;
    3. the class counts of the leaves: disjoint parts, one count moves by one.

    Which candidates there are follows from the schema and from the answers above. Depth
    and the cost of a part follow from the noisy number of people. What becomes
    of the counts (`treeaudit.trainers.pruning`) is post-processing.

    Under ``replace-one`` a record leaves one part and enters another; each answer
    has half the rate (`treeaudit.dp.ledger.factor`).

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = PrivateTreeClassifier(epsilon=5.0, schema=schema, max_depth=1)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[18], [99]]).tolist(), float(model.privacy_.epsilon)
    (['no', 'yes'], 5.0)
    """

    algorithm: ClassVar[str] = "private-tree"
    listed: ClassVar[Listed] = Listed(
        paper="this package",
        query="β/50, rest shared out",
        tree="greedy",
        depth="by people and β",
        trees="1",
        numbers="public points",
        published="β, with twice the sensitivity",
    )

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        return self._grow_greedily(rows, curator, epsilon, n_trees=1)
