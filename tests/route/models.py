"""Random models of many kinds, with who ends where in each of their trees."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.route.inside import calibrated, pipeline, together
from tests.route.numbers import boosting, histogram, isolation, regressor
from tests.route.rows import Drawn
from tests.route.trees import adaboost, bagging, forest, outputs, single

__all__ = ["KINDS", "draw"]

KINDS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "tree": lambda rng: single(rng, "DecisionTreeClassifier"),
    "extra tree": lambda rng: single(rng, "ExtraTreeClassifier"),
    "forest": lambda rng: forest(rng, "RandomForestClassifier", True),
    "forest of all": lambda rng: forest(rng, "RandomForestClassifier", False),
    "extra trees": lambda rng: forest(rng, "ExtraTreesClassifier", False),
    "bagging": bagging,
    "adaboost": adaboost,
    "boosting": lambda rng: boosting(rng, "label"),
    "boosted numbers": lambda rng: boosting(rng, "number"),
    "histogram boosting": lambda rng: histogram(rng, "label"),
    "histogram numbers": lambda rng: histogram(rng, "number"),
    "regressor tree": lambda rng: regressor(rng, False),
    "regressor forest": lambda rng: regressor(rng, True),
    "isolation forest": isolation,
    "outputs": outputs,
    "pipeline": pipeline,
    "vote": lambda rng: together(rng, "VotingClassifier"),
    "stack": lambda rng: together(rng, "StackingClassifier"),
    "calibrated": calibrated,
}
"""By name."""


def draw(kind: str, seed: int) -> tuple[Drawn, np.random.Generator]:
    """Return a model of a kind, the same for the same seed, and where to draw further."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    drawn = KINDS[kind](rng)
    if drawn.sees != "folds" and all((tree.times == 1).all() for tree in drawn.trees):
        drawn = replace(drawn, sees="all")
    return drawn, rng
