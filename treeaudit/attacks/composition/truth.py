"""What people really are and what the model answers: what the equations are held against."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float
from treeaudit.attacks.composition.equations import Said
from treeaudit.attacks.composition.scope import adds_steps
from treeaudit.model.forest import Forest
from treeaudit.people.predict.boosted_scores import called, scores_of
from treeaudit.people.predict.predictions import Answers, class_shares
from treeaudit.people.records import Records

__all__ = ["Truth", "truth_of"]

_TOLERANCE, _GRADES, _WHOLE = 0.01, 20, 1_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """What people really are, and what the model answers; a tolerance of 0 for labels.

    Numbers of few values, and whole ones, are such grades: what is told of them is the nearest.
    """

    real: npt.NDArray[Any]
    own: npt.NDArray[Any]
    tolerance: float = 0.0
    grades: Float | None = None

    def right(self, answer: npt.NDArray[Any]) -> Flag:
        """Tell of whom some answers are right."""
        if self.grades is not None:
            between = (self.grades[1:] + self.grades[:-1]) / 2
            answer = self.grades[np.searchsorted(between, answer)]
        right: Flag = np.abs(answer - self.real) <= self.tolerance
        return right


def truth_of(train: Records, forest: Forest, said: Said, answers: Answers | None = None) -> Truth:
    """Return what the training people are, of the kind that the trees speak of.

    Of ``answers`` every tree was added already, where they are given.
    """
    if adds_steps(forest) and (scores := scores_of(forest, train)) is not None:
        if train.targets is None:
            return Truth(real=train.known_labels, own=called(scores))
        return _of_numbers(train.targets, scores[:, 0])
    if forest.answers == "sum":
        own = _added(train, forest) > 0
        return Truth(real=train.known_labels, own=own.astype(np.intp))
    if said.kind != "numbers":
        shares, _ = class_shares(forest, train) if answers is None else answers.shares()
        return Truth(real=train.known_labels, own=shares.argmax(axis=1))
    real = np.zeros(0) if train.targets is None else train.targets
    numbers = np.zeros(len(train))
    for first, ends in zip(said.start, said.node.T, strict=False):
        numbers += said.mean[first + ends, 0] / forest.n_trees
    return _of_numbers(real, numbers)


def _of_numbers(real: Float, own: Float) -> Truth:
    tolerance = _TOLERANCE * float(real.std())
    return Truth(real=real, own=own, tolerance=tolerance, grades=_grades(real))


def _grades(real: Float) -> Float | None:
    """Return the values that numbers can have, ascending, where these are few or whole."""
    values = np.unique(real)
    if len(values) <= _GRADES:
        return values if len(values) else None
    whole = bool((values == np.rint(values)).all()) and values[-1] - values[0] <= _WHOLE
    return np.arange(values[0], values[-1] + 1) if whole else None


def _added(train: Records, forest: Forest) -> Float:
    """Return the log-odds that trees grown at once add up to, for two classes."""
    base = forest.source.parameters.get("base_score")
    p = base if isinstance(base, float) and 0 < base < 1 else 0.5
    total = np.full(len(train), np.log(p / (1 - p)))
    for i, tree in enumerate(forest.trees):
        total += 0.0 if tree.value is None else tree.value[train.node[:, i]]
    return total
