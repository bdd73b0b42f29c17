"""How the trees of an XGBoost classifier follow from its training labels."""

import math
from collections.abc import Sequence

import numpy as np

from treeaudit.model.forest import Boosting
from treeaudit.model.tree import Tree
from treeaudit.readers.first_round import SINGLE
from treeaudit.readers.xgboost.cover import rate_and_penalty
from treeaudit.readers.xgboost.schema import Booster
from treeaudit.readers.xgboost.tree import StoredTree


def boosting_of(
    booster: Booster, stored: Sequence[StoredTree], trees: Sequence[Tree]
) -> Boosting | None:
    """Return how the trees follow from labels; None where the file does not tell all of it."""
    loss, stated = booster.loss, booster.parameters
    k = loss.n_outputs
    shares = [p for i in range(k) if (p := loss.probability(i)) is not None and 0 < p < 1]
    sigmoid = loss.objective == "binary:logistic" and loss.scale_pos_weight == 1.0 and k == 1
    softmax = loss.objective in ("multi:softprob", "multi:softmax") and k > 2
    plain = (sigmoid or softmax) and stated.get("booster") == "gbtree"
    plain = plain and loss.n_first_round == k and not booster.out_of_turn
    plain = plain and booster.leaf_width == 1
    whole = stated.get("subsample", 1.0) == 1.0 and stated.get("alpha", 0.0) == 0.0
    if not plain or not whole or len(shares) < k:
        return None
    if any(tree.cover is None or tree.value is None for tree in stored):
        return None
    told = rate_and_penalty(stored[0])
    if told is None:
        return None
    rate, penalty = (float(np.float32(one)) for one in told)
    shares = [float(np.float32(p)) for p in shares]
    base = [float(np.float32(x)) for x in loss.base_score]
    start = base * (k // len(base)) if softmax else [math.log(p / (1 - p)) for p in shares]
    return Boosting(
        trees=trees,
        start=tuple(start),
        shift=(0.0,) * k,
        curve=2.0 if softmax else 1.0,
        rate=rate,
        penalty=penalty,
        mass=lambda i: stored[i].cover,
        single=True,
        derivatives=SINGLE,
        stored=SINGLE,
        assumptions=(
            f"learning rate {told[0]:g} and penalty {told[1]:g}, near to which the numbers of the "
            "first tree are",
            "nobody was left out of a tree",
            "rows had no weights of their own",
        ),
    )
