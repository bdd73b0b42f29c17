"""A forest of private ID3 trees, each on a bootstrap of the records.

As printed it is private for more than it says: a record that is drawn twice pays once. The sound
variant draws every record by itself, as often as Poisson(1) says, and each tree costs so much less
that the mean over all draws is what was promised.

References
----------
Patil & Singh (2014), Differential private random forest. Fletcher & Islam (2019), a survey,
section 3.6 (equation 18) and table I.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from treeaudit.dp import subsampling
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import factor
from treeaudit.dp.subsampling import below
from treeaudit.model.forest import Noise
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.growth import Choices, grow_by_choice, note_unspent
from treeaudit.trainers.histograms import code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.splits import SCORES
from treeaudit.trainers.training_rows import TrainingRows

Criterion = Literal["max", "gini"]

_FLAW = (
    "a record that a bootstrap draws several times pays for one: a tree of beta / tau costs up to "
    "exp(beta / tau) - 1; variant='sound' divides epsilon by that"
)


@dataclass(kw_only=True, eq=False, repr=False)
class BootstrapForestClassifier(PrivateClassifier):
    """A private random forest: trees of `DiffPID3Classifier`, each on its own bootstrap.

    Notes
    -----
    A path asks d - 1 times for the people of a node and for a choice, and once for the classes
    of a leaf: 2 d - 1 questions (table I; equation 18 counts d). Let a tree cost c for one record
    more in it. A record that is taken K times costs K c, by group privacy, and the law of an
    answer is the mean over K: with K by Poisson(1), independent of the other records, it moves
    by the mean of ``exp(K c)`` at most, ``exp(exp(c) - 1)``, and that bound is tight. With
    ``c = ln(1 + epsilon / tau)`` a tree costs epsilon / tau, and tau trees, each with its own
    draws, cost epsilon (sequential composition). The ledger has a row for what the draws cost
    beyond the questions. Where several records of a person, or a replaced one, are protected,
    epsilon is divided by their number first.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> schema = Schema(features=(sex,), classes=(0, 1))
    >>> model = BootstrapForestClassifier(epsilon=20, schema=schema, n_estimators=5)
    >>> model = model.fit([["f"], ["m"]] * 300, [0, 1] * 300)
    >>> model.predict([["m"]]).tolist(), float(model.privacy_.epsilon)
    ([1], 20.0)
    """

    algorithm: ClassVar[str] = "bootstrap-forest"
    listed: ClassVar[Listed] = Listed(
        paper="Patil & Singh 2014",
        query="β/(τ(2d-1))",
        tree="greedy",
        depth="5, leaves included",
        trees="20",
        numbers="public bins",
        published="τ(exp(β/τ) - 1), more than β",
    )

    n_estimators: int = 20
    max_depth: int = 5
    criterion: Criterion = "max"
    n_bins: int = 10

    def _of_a_tree(self, epsilon: Fraction) -> Fraction:
        """Return what the questions of a tree cost together."""
        if self.variant == "published":
            return epsilon / int(self.n_estimators)
        units = factor(self.neighbours, self.rows_per_person)
        return units * subsampling.poisson_epsilon(epsilon / (units * int(self.n_estimators)))

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return self._of_a_tree(epsilon) / (2 * int(self.max_depth) - 1)

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published, n_trees = self.variant == "published", int(self.n_estimators)
        tree_costs = self._of_a_tree(epsilon)
        choices = Choices(
            epsilon=self._least(rows, epsilon),
            split_levels=int(self.max_depth) - 1,
            counted=True,
            score=SCORES[self.criterion],
            mechanism="exponential mechanism" if published else "permute-and-flip",
            twice=published,
        )
        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        trees = []
        for number in range(n_trees):
            if published:
                drawn = below(curator.entropy, max(1, len(rows)), len(rows))
                times = np.bincount(drawn, minlength=len(rows))
            else:
                times = subsampling.poisson(curator.entropy, len(rows))
            name = f"tree {number + 1}: "
            trees.append(grow_by_choice(rows, cells.drawn(times), curator, choices, name))
        note_unspent(curator, n_trees * tree_costs)
        if not published:
            beyond = epsilon - n_trees * tree_costs
            curator.note("records drawn again", subsampling.BOOTSTRAP, beyond, Fraction(1), 1)
        return Grown(
            trees=tuple(trees),
            counts_reason=f"discrete Laplace noise for an epsilon of {float(choices.epsilon):g}",
            answers="vote",
            noise=Noise(rate=float(curator.rate(choices.epsilon)), counts="leaves"),
            records_are="bootstrap",
            flaws=(_FLAW,) if published else (),
        )
