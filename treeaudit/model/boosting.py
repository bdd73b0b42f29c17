"""How boosted trees follow from the labels of the people they were trained on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treeaudit.arrays import Float
from treeaudit.model.tree import Tree

__all__ = ["Boosting"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boosting:
    """Two classes, logistic loss, every person in every tree with weight 1.

    Before a tree a person has a score s, the share ``p = 1 / (1 + exp(-s))``, the gradient p
    (``p - 1`` in the second class) and the curvature ``p (1 - p)``. A leaf that holds the
    gradient G and the curvature H moves the score by ``-rate * G / (H + penalty)``.

    Attributes
    ----------
    trees
        Those of which this holds: a forest with others has none.
    start
        The score before the first tree.
    rate, penalty
        As above.
    scale
        What ``Tree.value`` is multiplied with before it is added to the score.
    shift
        What of the values of the first tree is the start.
    mass
        The H of every node of a tree; None where the file does not keep it.
    single
        Whether scores and derivatives are numbers of 32 bits while they are added up.
    derivatives
        How far derivatives are off by rounding, as a part of them.
    stored
        How far values and masses are off by rounding, as a part of them.
    assumptions
        What the file does not say of the above, a sentence each.
    """

    trees: Sequence[Tree]
    start: float
    rate: float
    penalty: float = 0.0
    scale: float = 1.0
    shift: float = 0.0
    mass: Callable[[int], Float | None]
    single: bool
    derivatives: float
    stored: float
    assumptions: tuple[str, ...] = ()
