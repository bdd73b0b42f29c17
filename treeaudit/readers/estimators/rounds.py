"""How the trees of a boosting of scikit-learn follow from its training labels."""

import math

from treeaudit.model.boosting import Boosting
from treeaudit.model.forest import Forest
from treeaudit.readers.first_round import DOUBLE, SINGLE
from treeaudit.readers.leftovers.leftover_rounds import steps_of
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert

__all__ = ["boosting_of"]

_UNWEIGHTED = "rows had no weights of their own"


def boosting_of(model: Inert, forest: Forest) -> Boosting | None:
    """Return how the trees follow from labels; None where the file does not tell all of it."""
    if forest.counts_are != "likely" or forest.answers != "sum" or forest.tree_classes is not None:
        return None
    steps = steps_of(model)
    if steps is None or len(steps) != 1 or not 0 < steps[0].p < 1:
        return None
    (step,) = steps
    histograms = model.kind.startswith("HistGradient")
    bent = arrived(model.get("monotonic_cst")) is not None
    bent |= arrived(model.get("class_weight")) is not None
    rate = model.get("learning_rate")
    if bent or not isinstance(rate, int | float) or not rate or not step.learnt:
        return None
    return Boosting(
        trees=forest.trees,
        start=math.log(step.p / (1 - step.p)),
        rate=float(rate),
        penalty=step.penalty,
        scale=1.0 if histograms else float(rate),
        mass=lambda _: None,
        single=False,
        derivatives=SINGLE if histograms else DOUBLE,
        stored=DOUBLE,
        assumptions=(_UNWEIGHTED,),
    )
