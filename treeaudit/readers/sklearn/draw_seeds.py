"""The seeds from which the people of each tree of a forest were drawn."""

from typing import TypeGuard

import numpy as np

from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.ensembles import FORESTS
from treeaudit.readers.sklearn.found import elements

_HIGHEST = (1 << 31) - 1


def draw_seeds(estimator: Inert) -> tuple[int, ...] | None:
    """Return a seed per tree, or None where the file does not keep them or weights steered draws.

    scikit-learn keeps them in the trees. Where they were overwritten, that of the forest, from
    which it drew them, gives them again. Whether they draw what the trees hold is not looked at.
    """
    if estimator.kind not in FORESTS or estimator.get("bootstrap") is not True:
        return None
    if estimator.get("_sample_weight") is not None:
        return None
    trees = elements(estimator.get("estimators_"))
    own = [tree.get("random_state") for tree in trees if isinstance(tree, Inert)]
    found = tuple(seed for seed in own if _is_seed(seed))
    if len(found) == len(trees) and len({*found}) > 1:
        return found
    first = estimator.get("random_state")
    if not _is_seed(first):
        return None
    source = np.random.RandomState(first)
    return tuple(int(source.randint(_HIGHEST)) for _ in trees)


def _is_seed(seed: object) -> TypeGuard[int]:
    return isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < 1 << 32
