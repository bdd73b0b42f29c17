"""ID3 by private choices alone: no node is asked how many people it holds.

References
----------
Mohammed, Barouti, Alhadidi & Chen (2015), Secure and private management of healthcare databases
for data mining. Fletcher & Islam (2019), a survey, section 3.8 and table I.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from treeaudit.dp.curator import Curator
from treeaudit.model.forest import Noise
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.growth import Choices, grow_by_choice, note_unspent
from treeaudit.trainers.histograms import code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.splits import SCORES
from treeaudit.trainers.training_rows import TrainingRows

Criterion = Literal["max", "gini"]


@dataclass(kw_only=True, eq=False, repr=False)
class ExponentialID3Classifier(PrivateClassifier):
    """A private ID3 tree that spends nothing on the size of its nodes.

    Notes
    -----
    A path has at most d - 1 choices of a column and one histogram of a leaf: d questions of
    epsilon / d each (section 3.8), which add up to epsilon. Nodes of a level, and leaves, are
    disjoint parts. A choice costs its part with exp(epsilon q / S), the score q being monotone
    with sensitivity S (`treeaudit.dp.scores`); a count has sensitivity 1. Growth stops by depth
    or where no column is left, which does not depend on the records.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> model = ExponentialID3Classifier(schema=Schema(features=(sex,), classes=(0, 1)))
    >>> model = model.fit([["f"], ["m"]] * 300, [0, 1] * 300)
    >>> model.predict([["m"]]).tolist(), float(model.privacy_.epsilon)
    ([1], 1.0)
    """

    algorithm: ClassVar[str] = "exponential-id3"
    listed: ClassVar[Listed] = Listed(
        paper="Mohammed, Barouti, Alhadidi & Chen 2015",
        query="β/d",
        tree="greedy",
        depth="4, leaves included",
        trees="1",
        numbers="public bins",
        published="β, with twice the sensitivity",
    )

    max_depth: int = 4
    criterion: Criterion = "max"
    n_bins: int = 10

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return epsilon / int(self.max_depth)

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published = self.variant == "published"
        choices = Choices(
            epsilon=epsilon / int(self.max_depth),
            split_levels=int(self.max_depth) - 1,
            counted=False,
            score=SCORES[self.criterion],
            mechanism="exponential mechanism" if published else "permute-and-flip",
            twice=published,
        )
        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        tree = grow_by_choice(rows, cells, curator, choices)
        note_unspent(curator, epsilon)
        return Grown(
            trees=(tree,),
            counts_reason=f"discrete Laplace noise for an epsilon of {choices.epsilon} on leaves",
            answers="mean",
            noise=Noise(rate=float(curator.rate(choices.epsilon)), counts="leaves"),
        )
