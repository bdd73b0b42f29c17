"""How boosted trees follow from the labels of the people they were trained on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treeaudit.arrays import Float
from treeaudit.model.tree import Tree

__all__ = ["Boosting"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boosting:
    """Logistic loss, or that of several classes; every person in every tree with weight 1.

    Of two classes there is one score s, that of the second, with the share
    ``p = 1 / (1 + exp(-s))``. Of K classes there are K scores, moved by K trees a round, and the
    share of each is ``exp(s_k) / sum exp(s)``, with the scores before the round. In a tree of a
    class a person has the gradient p (``p - 1`` in that class) and the curvature
    ``curve * p (1 - p)``. A leaf that holds the gradient G and the curvature H moves the score by
    ``-rate * G / (H + penalty)``. A tree of one leaf need not: it tells what it moves alone.

    Attributes
    ----------
    trees
        Those of which this holds: a forest with others has none.
    start
        The scores before the first tree.
    rate, penalty, curve
        As above.
    scale
        What ``Tree.value`` is multiplied with before it is added to the score.
    shift
        What of the values of the first tree of each score is the start.
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
    start: tuple[float, ...]
    rate: float
    penalty: float = 0.0
    curve: float = 1.0
    scale: float = 1.0
    shift: tuple[float, ...]
    mass: Callable[[int], Float | None]
    single: bool
    derivatives: float
    stored: float
    assumptions: tuple[str, ...] = ()
