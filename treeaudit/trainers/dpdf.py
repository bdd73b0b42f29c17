"""DPDF: a private forest with a class histogram at every node, and all its rules.

As printed it is not private: the sensitivity of the Gini index is taken at a
noisy number of records, which is no bound, and noise can make it as small as
it likes. Algorithm 1 also asks two questions more than it divides the budget
by. The sound variant scores by the Gini index times the number of records,
which has a sensitivity of 2 whatever that number is, and loses nothing by it.

References
----------
Fletcher & Islam (2015), A differentially private decision forest, algorithm 1.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from sklearn.utils.validation import check_is_fitted

from treeaudit.dp.curator import Curator
from treeaudit.model.forest import Noise
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.dpdf_growth import Steps, grow_tree
from treeaudit.trainers.dpdf_rules import rules_frame
from treeaudit.trainers.listed import Listed
from treeaudit.trainers.parameters import check_choice, check_whole
from treeaudit.trainers.private_tree_budget import note_what_was_not_asked
from treeaudit.trainers.private_tree_columns import Codes, code_rows, public_codes
from treeaudit.trainers.private_trees import Grown
from treeaudit.trainers.training_rows import TrainingRows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DPDFClassifier", "epsilon_of_a_question"]

Size = Literal["sum", "absolute"]
Loop = Literal["d <= delta", "d < delta"]
Ties = Literal["cut", "kept"]

_SENSITIVITY = (
    "the sensitivity of the Gini index is taken at a noisy number of records: at a claim of 0.1, "
    "one person more can change the root of a tree by a loss of 1.968; variant='sound' bounds it"
)
_LOOP = (
    "line 16 splits while d <= delta, so a path asks 2 delta + 1 questions of a budget divided by "
    "2 delta - 1"
)


def epsilon_of_a_question(epsilon: Fraction, n_trees: int, depth: int) -> Fraction:
    """Return beta / (tau (2 delta - 1)), equation 10.

    Examples
    --------
    >>> [round(float(epsilon_of_a_question(Fraction(1), n, 5)), 3) for n in (1, 4)]
    [0.111, 0.028]
    """
    return epsilon / (n_trees * (2 * depth - 1))


@dataclass(kw_only=True, eq=False, repr=False)
class DPDFClassifier(PrivateClassifier):
    """A private forest whose trees ask different questions first, and all of its rules.

    Parameters
    ----------
    n_estimators
        Trees (tau), all on all records. No more than there are columns, as
        all roots differ.
    max_depth
        Levels of nodes, the root included (delta).
    min_records
        A node of fewer people, as far as noise lets it tell, is a leaf.
    n_bins
        Into how many public bins numbers are cut; the paper has categories only.
    prune
        Whether leaves that are no purer than the node above are cut.
    variant
        ``sound``, or ``published``, which is not private; docs/published.md lists what
        differs from print.
    size
        For ``published``: ``sum`` of the noisy counts (line 15), or of their
        ``absolute`` values (equation 26).
    loop
        For ``published``: how line 16 goes on, ``d <= delta`` as printed or
        ``d < delta``, as section 3 divides the budget.
    ties
        Whether leaves that are exactly as pure as the node above are ``cut`` (equation 27)
        or ``kept`` (line 43).
    n_jobs
        Threads, for predictions: trees are grown one after the other, as their roots
        differ.
    epsilon, schema, neighbours, outside, budget, random_state
        As in `PrivateTrees`; epsilon is beta in the paper.

    Attributes
    ----------
    rules_
        Every rule and sub-rule, with support and confidence.

    Notes
    -----
    Sound variant. Each tree costs epsilon / tau (sequential composition). On a
    path it asks at most delta histograms and, while d < delta, delta - 1 choices, of
    epsilon / (tau (2 delta - 1)) each; the nodes of a level are disjoint
    parts. A histogram has sensitivity 1. A choice is made by permute-and-flip with
    exp(epsilon q / 2), where q is minus the number of records times the Gini
    index: monotone, with a sensitivity of 2 (`treeaudit.dp.scores.GINI`). With the
    exact number of records n, the printed exponent is that of q with a factor of
    2 too many, so nothing is lost. Which roots are left, when a node stops, and the
    pruning follow from answers.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> schema = Schema(features=(sex,), classes=(0, 1))
    >>> model = DPDFClassifier(epsilon=5, schema=schema, max_depth=2)
    >>> model = model.fit([["f"], ["m"]] * 300, [0, 1] * 300)
    >>> model.rules_[["rule", "prediction"]].to_numpy().tolist()
    [['sex = f', 0], ['sex = m', 1]]
    """

    algorithm: ClassVar[str] = "dpdf"
    listed: ClassVar[Listed] = Listed(
        paper="Fletcher & Islam 2015a",
        query="β/(τ(2d-1))",
        tree="greedy",
        depth="5",
        trees="4",
        numbers="public bins",
        published="no epsilon: sensitivity from a noisy size",
    )

    n_estimators: int = 4
    max_depth: int = 5
    min_records: int = 100
    n_bins: int = 10
    prune: bool = True
    size: Size = "sum"
    loop: Loop = "d <= delta"
    ties: Ties = "cut"

    @property
    def rules_(self) -> "pd.DataFrame":
        """Every rule and sub-rule: one row per node below the root, with its noisy counts."""
        check_is_fitted(self, "forest_")
        return rules_frame(self.forest_)

    def _checked(self) -> Fraction:
        check_whole("n_estimators", self.n_estimators, 1, 10_000)
        check_whole("max_depth", self.max_depth, 1, 64)
        check_whole("min_records", self.min_records, 0, 2**31)
        check_whole("n_bins", self.n_bins, 2, 1000)
        check_choice("size", self.size, get_args(Size))
        check_choice("loop", self.loop, get_args(Loop))
        check_choice("ties", self.ties, get_args(Ties))
        return super()._checked()

    def _n_trees(self, columns: tuple[Codes, ...]) -> int:
        useful = sum(codes.n > 1 for codes in columns)
        return max(1, min(int(self.n_estimators), useful))

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        n_trees = self._n_trees(public_codes(rows.schema, int(self.n_bins)))
        return epsilon_of_a_question(epsilon, n_trees, int(self.max_depth))

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published = self.variant == "published"
        longer = published and self.loop == "d <= delta"
        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        n_trees = self._n_trees(cells.codes)
        each = epsilon_of_a_question(epsilon, n_trees, int(self.max_depth))
        steps = Steps(
            epsilon=each,
            split_levels=int(self.max_depth) - (not longer),
            min_records=int(self.min_records),
            published=published,
            absolute=published and self.size == "absolute",
            prune=bool(self.prune),
            ties=self.ties,
        )
        roots: set[int] = set()
        trees = tuple(
            grow_tree(rows, cells, curator, steps, f"tree {number + 1}", roots)
            for number in range(n_trees)
        )
        note_what_was_not_asked(curator, each * n_trees * (2 * steps.split_levels + 1))
        return Grown(
            trees=trees,
            counts_are="noisy",
            counts_reason=f"discrete Laplace noise for an epsilon of {each} on every node",
            answers="confidence",
            noise=Noise(rate=float(curator.rate(each)), counts="nodes"),
            flaws=(_SENSITIVITY, *((_LOOP,) if longer else ())) if published else (),
        )
