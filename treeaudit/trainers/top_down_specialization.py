"""A table that is made less general step by step, published with noisy counts, and its tree.

The groups of the table are the leaves of the tree: `treeaudit.reconstruct` prints them. Without
noise, and with groups of k people, it is `treeaudit.trainers.k_anonymous.k_anonymous`.

References
----------
Mohammed, Chen, Fung & Yu (2011), Differentially private data release for data mining (DiffGen),
algorithm 1. Fletcher & Islam (2019), a survey, section 5.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.curator import Curator
from treeaudit.dp.scores import MAX, UNIT
from treeaudit.model.forest import Noise
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.listed import Listed
from treeaudit.trainers.parameters import check_whole
from treeaudit.trainers.private_tree_budget import note_what_was_not_asked
from treeaudit.trainers.private_tree_columns import code_rows, public_codes
from treeaudit.trainers.private_trees import Grown
from treeaudit.trainers.specialization import Cut
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["TopDownSpecializationClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class TopDownSpecializationClassifier(PrivateClassifier):
    """A private table of generalized people, and the tree that has its groups as leaves.

    Parameters
    ----------
    n_specializations
        How often a value is told apart, in all rows alike (h).
    max_depth
        How often a value may have been specialized before; no bound unless told.
    n_bins
        Into how many public bins numbers are cut, which are halved step by step.
    variant
        ``sound``; or ``published``, the exponential mechanism with twice the sensitivity, which
        is private, too, and less accurate; docs/published.md lists what differs from print.
    epsilon, schema, neighbours, outside, budget, n_jobs, random_state
        As in `PrivateTrees`.

    Notes
    -----
    Half of epsilon goes to h choices of a value, epsilon / 2h each, half to the class counts of
    the groups. The score of a value is the sum, over what it would be specialized to, of the
    largest class (Max, algorithm 1 and section 4): one record more raises it by 0 or 1 in one
    value of each column, never lowers it, so a choice with exp(epsilon' q) costs epsilon'
    (`treeaudit.dp.scores.MAX`). Choices are about all people (sequential composition); groups
    are disjoint parts. Numbers are halved at public points, where the paper draws a point.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> schema = Schema(features=(sex,), classes=(0, 1), target="ill")
    >>> model = TopDownSpecializationClassifier(epsilon=20, schema=schema)
    >>> model = model.fit([["f"], ["m"]] * 300, [0, 1] * 300)
    >>> ta.reconstruct(model.forest_).to_frame()["sex"].tolist()
    ['f', 'm']
    """

    algorithm: ClassVar[str] = "top-down-specialization"
    listed: ClassVar[Listed] = Listed(
        paper="Mohammed, Chen, Fung & Yu 2011",
        query="β/2h, groups β/2",
        tree="greedy, one cut for all rows",
        depth="10 specializations",
        trees="1, and its table",
        numbers="public bins, halved",
        published="β, with twice the sensitivity",
    )

    n_specializations: int = 10
    max_depth: int | None = None
    n_bins: int = 16

    def _checked(self) -> Fraction:
        check_whole("n_specializations", self.n_specializations, 1, 1000)
        check_whole("n_bins", self.n_bins, 2, 1000)
        if self.max_depth is not None:
            check_whole("max_depth", self.max_depth, 1, 64)
        return super()._checked()

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return epsilon / 2

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published, steps = self.variant == "published", int(self.n_specializations)
        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        cut = Cut(cells=cells, max_level=self.max_depth)
        for step in range(steps):
            values = cut.open()
            if not values:
                break
            told = [[cut.classes(part) for part in cut.parts(value)] for value in values]
            scores = [int(MAX.of(np.array(counts))) for counts in told]
            chosen = curator.choose(
                f"specialization {step + 1}",
                [scores],
                epsilon / (2 * steps),
                sensitivity=MAX.sensitivity(1) * (2 if published else 1),
                unit=UNIT,
                mechanism="exponential mechanism" if published else "permute-and-flip",
            )
            cut.specialize(values[int(chosen[0])])
        leaf, growth = cut.leaves(), cut.growth
        counts = np.zeros((len(leaf), rows.n_classes))
        true = rows.by_node(growth.node, len(leaf))[leaf]
        counts[leaf] = curator.count("groups", true, epsilon / 2)
        note_what_was_not_asked(curator, epsilon)
        return Grown(
            trees=(cut.tree(summed(cut.tree(counts), counts)),),
            counts_are="noisy",
            counts_reason=f"discrete Laplace noise for an epsilon of {epsilon / 2} on every group",
            answers="mean",
            noise=Noise(rate=float(curator.rate(epsilon / 2)), counts="leaves"),
        )
