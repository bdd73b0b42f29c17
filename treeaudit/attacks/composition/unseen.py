"""The same rule for unseen people: what all trees say of the population is no leak (TA106).

The attack answers all people alike who share all leaves. So it has an answer for unseen people too,
and what it is right about more often than the model for them, it learns from the population.
"""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Index, Int
from treeaudit.attacks.case import Case
from treeaudit.attacks.composition.certain import Truth, truth_of
from treeaudit.attacks.composition.equations import Said, entries_of
from treeaudit.people.predict.predictions import target_values
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, paired

_SIDES = 1.96


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unseen:
    """Unseen people, and where they end among the training people."""

    truth: Truth  # What they are, and what the model answers
    place: Int  # Shape `(n_people, n_trees)`: in which entry of `Said` each ends
    known: Index  # The positions of those who end where training people do in all trees

    def excess(self, answer: Float | Index) -> Estimate:
        """Return how much more often some answers are right than the model, on the same people."""
        joint, own = self.truth.right(self._all(answer)), self.truth.right(self.truth.own)
        return paired(int((joint & ~own).sum()), int((own & ~joint).sum()), len(own))

    def more_of_labels(self, answer: Float | Index, n: int) -> Float:
        """Return the least that answers find more of each label than the model, less false alarms.

        That is the lower end of a 95 % interval, and 0 where it is below.
        """
        real, joint, own = self.truth.real, self._all(answer), self.truth.own
        least = np.zeros(n)
        for label in np.unique(real).astype(np.intp).tolist():
            net = [np.where(one == label, np.where(one == real, 1, -1), 0) for one in (joint, own)]
            more = net[0] - (net[1] if net[1].sum() > 0 else 0)
            low = more.mean() - _SIDES * more.std() / np.sqrt(len(more))
            least[label] = max(0.0, float(low / (real == label).mean()))
        return least

    def _all(self, answer: Float | Index) -> Float | Index:
        """Return these answers, or those of the model for people unlike all training people."""
        every = self.truth.own.copy()
        every[self.known] = answer[self.known]
        return np.asarray(every)


def unseen_of(case: Case, said: Said, truth: Truth, train: Records) -> Unseen | None:
    """Return the unseen people of a case whose answers are known, if there are any."""
    test, forest = case.test, case.forest
    if test is None or not len(test) or target_values(test) is None:
        return None
    place, known = entries_of(forest, train.node, test.node)
    real = truth_of(test, forest, replace(said, node=place), train=train)
    return Unseen(
        truth=replace(real, tolerance=truth.tolerance, grades=truth.grades),
        place=place,
        known=np.flatnonzero(known),
    )
