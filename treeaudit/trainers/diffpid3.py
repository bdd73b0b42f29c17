"""DiffPID3, DiffPC4.5 and the noisy-count ID3 of SuLQ: a private tree as first published.

As printed they are private: every constant of appendix A is right. The sound
variant is the same tree with the noise that is needed and no more. All three
scores are monotone, so the exponent needs no factor of 2, and
permute-and-flip chooses the attribute.

References
----------
Friedman & Schuster (2010), Data mining with differential privacy, algorithms
1 to 3.
Blum, Dwork, McSherry & Nissim (2005), Practical privacy: the SuLQ framework.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np

from treeaudit.dp.curator import Curator
from treeaudit.model.forest import Noise
from treeaudit.model.schema import Schema
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.diffpid3_growth import Levels
from treeaudit.trainers.listed import Listed
from treeaudit.trainers.parameters import check_choice, check_share, check_whole
from treeaudit.trainers.private_tree_budget import (
    check_bound,
    check_is_bounded,
    note_what_was_not_asked,
)
from treeaudit.trainers.private_tree_columns import Codes, code_rows, public_codes
from treeaudit.trainers.private_tree_growth import Growth
from treeaudit.trainers.private_trees import Grown
from treeaudit.trainers.pruning import calibrated, pessimistically_pruned
from treeaudit.trainers.splits import SCORES
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["DiffPID3Classifier"]


Criterion = Literal["max", "gini", "information-gain", "noisy-counts"]
Numbers = Literal["ranges", "bins"]


@dataclass(kw_only=True, eq=False, repr=False)
class DiffPID3Classifier(PrivateClassifier):
    """A private ID3 tree: noisy counts of the nodes, one private choice per node.

    Parameters
    ----------
    max_depth
        Levels of splits (d).
    criterion
        ``max``, ``gini`` or ``information-gain``, which needs ``max_records``;
        or ``noisy-counts``, the ID3 on the counts of SuLQ (algorithm 1).
    max_records
        A public bound on the number of records, for ``information-gain``.
    numbers
        ``ranges``: a split point is drawn for every numeric column at every
        node (DiffPC4.5), at an epsilon of B / ((2 + n) d + 2) per question for n such
        columns; ``bins``: they are cut into public bins first, at B / (2 (d + 1)).
    n_bins
        How many bins.
    certainty_factor
        Of the pruning (algorithm 3), the smaller the more is cut. None for none.
    variant
        ``sound``; or ``published``, the exponential mechanism with twice the
        sensitivity, which is private, too, and less accurate.
    epsilon, schema, neighbours, outside, budget, n_jobs, random_state
        As in `PrivateTrees`; epsilon is B in the paper.

    Notes
    -----
    A person is in one node of each level, and in one leaf. The questions about
    them are: at each of at most d + 1 levels a count; at each of at most d levels
    the split points and the choice of the attribute; the class counts of the
    leaf. That is 2 (d + 1) questions, or (2 + n) d + 2, of epsilon each, and they
    add up to B. A count has sensitivity 1. The scores are monotone with the sensitivity S
    of `treeaudit.dp.scores`, so choices with exp(epsilon q / S) cost epsilon. A
    split point is drawn from a public grid by the exponential mechanism with
    the score of the split at that point. With noisy counts, each of the |A|
    attributes left is asked two histograms of epsilon / (2 |A|) each.

    Whether a node stops, calibration and pruning look at nothing but answers. Missing
    values follow a part that is drawn before the data is looked at; the paper
    has none.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> model = DiffPID3Classifier(schema=Schema(features=(sex,), classes=(0, 1)), max_depth=1)
    >>> model.fit([["f"], ["m"]] * 300, [0, 1] * 300).predict([["m"]]).tolist()
    [1]
    >>> float(model.privacy_.epsilon)
    1.0
    """

    algorithm: ClassVar[str] = "diffpid3"
    listed: ClassVar[Listed] = Listed(
        paper="Friedman & Schuster 2010",
        query="β/((2+n)d+2)",
        tree="greedy",
        depth="5",
        trees="1",
        numbers="a private split point for each",
        published="β, if N is public",
    )

    max_depth: int = 5
    criterion: Criterion = "max"
    max_records: int | None = None
    numbers: Numbers = "ranges"
    n_bins: int = 10
    certainty_factor: float | None = 0.25

    def _checked(self) -> Fraction:
        check_whole("max_depth", self.max_depth, 1, 64)
        check_whole("n_bins", self.n_bins, 2, 1000)
        if self.max_records is not None:
            check_whole("max_records", self.max_records, 1, 2**31)
        check_choice("criterion", self.criterion, get_args(Criterion))
        check_choice("numbers", self.numbers, get_args(Numbers))
        if self.certainty_factor is not None:
            check_share("certainty_factor", self.certainty_factor)
        check_is_bounded(self.criterion, self.max_records)
        return super()._checked()

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        drawn = self._drawn(rows.schema)
        codes = public_codes(rows.schema, self.n_bins)
        two = Codes(n=2, edges=np.zeros(1))
        codes = tuple(two if i in drawn else c for i, c in enumerate(codes))
        score, published = SCORES.get(self.criterion), self.variant == "published"
        sensitivity = Fraction(1) if score is None else score.sensitivity(self.max_records or 1)
        each = self._each(rows.schema, epsilon)
        cells = code_rows(rows, codes, later=drawn)
        levels = Levels(
            rows=rows,
            growth=Growth(cells=cells, node=np.zeros(len(rows), dtype=np.int32)),
            curator=curator,
            epsilon=each,
            depth=int(self.max_depth),
            score=score,
            sensitivity=sensitivity * (2 if published else 1),
            mechanism="exponential mechanism" if published else "permute-and-flip",
            numbers=drawn,
        )
        levels.grow()
        note_what_was_not_asked(curator, epsilon)
        nodes = levels.growth.nodes
        none = np.zeros(rows.n_classes, dtype=np.int64)
        classes = np.array([levels.classes.get(i, none) for i in range(len(nodes))])
        people = [levels.people[i] for i in range(len(nodes))]
        counts = calibrated(nodes.parent, people, classes)
        keep = None
        if self.certainty_factor is not None:
            keep = pessimistically_pruned(nodes.parent, counts, float(self.certainty_factor))
        bounded = self.criterion == "information-gain"
        return Grown(
            trees=nodes.trees(counts, keep),
            counts_are="noisy",
            counts_reason=(
                f"discrete Laplace noise for an epsilon of {each} on the people of every "
                "node and the classes of every leaf, made to add up"
            ),
            answers="mean",
            noise=Noise(
                rate=float(curator.rate(each)),
                counts="leaves",
                afterwards=("clipped", "scaled"),
            ),
            public=("that there are at most max_records",) if bounded else (),
        )

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        check_bound(self.criterion, rows, self.max_records)
        histograms = 2 * len(rows.schema.features) if self.criterion == "noisy-counts" else 1
        return self._each(rows.schema, epsilon) / histograms

    def _each(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return what a question costs."""
        return epsilon / ((2 + len(self._drawn(schema))) * int(self.max_depth) + 2)

    def _drawn(self, schema: Schema) -> tuple[int, ...]:
        """Return the columns for which split points are drawn."""
        if self.numbers == "bins" or self.criterion == "noisy-counts":
            return ()
        return tuple(
            i
            for i, f in enumerate(schema.features)
            if f.categories is None and f.low is not None and f.high is not None and f.low < f.high
        )
