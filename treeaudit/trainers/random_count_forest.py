"""The first private random forest: random trees, and noisy class counts in their leaves.

As printed it is private if the number of records is public, from which it takes its depth. The
sound variant asks for that number, and spends the rest of epsilon as the paper does.

References
----------
Jagannathan, Pillaipakkamnatt & Wright (2012), A practical differentially private random decision
tree classifier. Fletcher & Islam (2019), a survey, sections 3.3 (equations 11 and 12), 3.4
(equation 15) and 3.6.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from treeaudit.dp.curator import Curator
from treeaudit.model.forest import Noise
from treeaudit.model.schema import Schema
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.random_trees import (
    branching,
    counted,
    least_share,
    leaves_within,
    levels_of,
    people_of,
    random_trees,
)
from treeaudit.trainers.training_rows import TrainingRows

_MOST_TREES, _FEW_TREES, _FEW_PEOPLE = 10, 5, 500

_FLAW = (
    "the depth follows from the exact number of records, which one record more changes: it must "
    "be public (n_records), or be asked for with noise, as variant='sound' does"
)


@dataclass(kw_only=True, eq=False, repr=False)
class RandomCountForestClassifier(PrivateClassifier):
    """Random trees, all on all records, with noisy class counts in every leaf.

    Trees ask at random, from the public schema alone; only the counts of the leaves cost
    epsilon, and the leaves of a tree together cost it once.

    Notes
    -----
    A record is in one leaf of each tree. The counts of the leaves of a tree are disjoint, one
    record changes one of them by one, so discrete Laplace noise at a rate of epsilon / tau
    costs that (equations 11 and 12), and tau trees cost epsilon (sequential composition). What
    is asked at random does not look at the data; depth and number of trees follow from a number
    that is public or noisy.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = RandomCountForestClassifier(epsilon=5.0, schema=schema, max_depth=6)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[20], [95]]).tolist(), float(model.privacy_.epsilon)
    (['no', 'yes'], 5.0)
    """

    algorithm: ClassVar[str] = "random-count-forest"
    listed: ClassVar[Listed] = Listed(
        paper="Jagannathan, Pillaipakkamnatt & Wright 2012",
        query="β/τ",
        tree="random",
        depth="min(m/2, log_b n - 1)",
        trees="10, or 5 below 500 records",
        numbers="random points",
        published="β, if n is public",
    )

    n_estimators: int | None = None
    max_depth: int | None = None
    n_records: int | None = None
    max_leaves: int | None = 4096

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return least_share(epsilon, self.n_records, self.n_estimators or _MOST_TREES)

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        printed = self.variant == "published"
        n, left = people_of(rows, curator, epsilon, self.n_records, printed=printed)
        n_trees = self.n_estimators or (_FEW_TREES if n < _FEW_PEOPLE else _MOST_TREES)
        depth = self.max_depth or forest_depth(rows.schema, n)
        each = left / n_trees
        leaves = leaves_within(self.max_leaves, n_trees)
        trees = random_trees(rows.schema, n_trees, depth, leaves, curator.entropy)
        exact = printed and self.n_records is None
        return Grown(
            trees=counted(trees, rows, lambda name, c: curator.count(name, c, each), self.n_jobs),
            counts_reason=f"discrete Laplace noise for an epsilon of {each} on every leaf",
            answers="mean",
            noise=Noise(rate=float(curator.rate(each)), counts="leaves"),
            flaws=(_FLAW,) if exact else (),
            public=() if self.n_records is None else ("the number of records",),
        )


def forest_depth(schema: Schema, n_people: int) -> int:
    """Return min(m / 2, log_b n - 1), rounded down, and at least 1 (survey, equation 15)."""
    half = len(schema.features) // 2
    return max(1, min(half, levels_of(n_people, branching(schema)) - 1))
