"""How the trees of a boosting of scikit-learn follow from its training labels."""

import math

from treeaudit.model.forest import Boosting, Forest
from treeaudit.readers.first_round import DOUBLE, SINGLE
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.rounds import steps_of

_UNWEIGHTED = "rows had no weights of their own"


def boosting_of(model: Inert, forest: Forest) -> Boosting | None:
    """Return how the trees follow from labels; None where the file does not tell all of it."""
    if forest.counts_are != "likely" or forest.answers != "sum":
        return None
    steps = steps_of(model)
    if not steps or not all(0 < one.p < 1 and one.learnt and one.odds is None for one in steps):
        return None
    step, several = steps[0], len(steps) > 1
    histograms = model.kind.startswith("HistGradient")
    bent = arrived(model.get("monotonic_cst")) is not None
    bent |= arrived(model.get("class_weight")) is not None
    rate = model.get("learning_rate")
    if bent or not isinstance(rate, int | float) or not rate:
        return None
    return Boosting(
        trees=forest.trees,
        start=tuple(math.log(one.p) if several else math.log(one.p / (1 - one.p)) for one in steps),
        shift=(0.0,) * len(steps),
        rate=float(rate) * (1.0 if histograms else step.rate),
        penalty=step.penalty,
        scale=1.0 if histograms else float(rate),
        mass=lambda _: None,
        single=False,
        derivatives=SINGLE if histograms else DOUBLE,
        stored=DOUBLE,
        assumptions=(_UNWEIGHTED,),
    )
